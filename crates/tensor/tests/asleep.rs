//! Spin-waiting threads go to sleep. In a program of its own: what
//! other tests use of the processor would be counted as well.

#![cfg(target_os = "linux")]

use std::time::Duration;

/// Processor time of this process, in ticks of 10 ms.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The program's name, in brackets, may have spaces in it.
    let (_, numbers) = stat.rsplit_once(')').unwrap();
    let number = |at: usize| {
        numbers
            .split_whitespace()
            .nth(at)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    number(11) + number(12)
}

#[test]
fn idle_pool_uses_no_processor_time() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for _ in 0..100 {
        pool.install(|| {
            egg_tensor::threads::parallel_for(3, || std::thread::sleep(Duration::from_micros(100)))
        });
    }
    std::thread::sleep(Duration::from_millis(10));
    let before = ticks();
    std::thread::sleep(Duration::from_millis(500));
    let used = ticks() - before;
    assert!(used <= 5, "{used} ticks of 10 ms within half a second of nothing");
}
