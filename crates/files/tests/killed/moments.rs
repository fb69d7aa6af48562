//! Programs that are killed at random moments. For the tests of every crate that
//! keeps something on disk; they take this file in by its path.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Of the moments; `EGG_KILL_SEED` sets another.
const SEED: u64 = 9;

/// How often a run that ended before the kill is repeated with an earlier kill.
const MAX_TRIES: usize = 30;

/// Kills of each kind: a few, or with `cargo xtask test --full` fifty.
pub(crate) fn count() -> usize {
    match std::env::var_os("EGG_TEST_FULL") {
        Some(_) => 50,
        None => 5,
    }
}

/// Moments of kills, spread over the length of a run: one in each of several equal
/// parts of it, at random within the part.
pub(crate) struct Moments {
    length: Duration,
    seed: u64,
    state: u64,
}

impl Moments {
    /// `length` is how long an undisturbed run takes.
    pub(crate) fn over(length: Duration) -> Self {
        let seed = std::env::var("EGG_KILL_SEED")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(SEED);
        Self {
            length,
            seed,
            state: seed,
        }
    }

    /// From 0 to 1: splitmix64.
    fn random(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Kills [`count`] runs. `start` begins one in its own folder; `judge` checks what a killed run
    /// left behind and gets a message that says how to repeat it.
    pub(crate) fn kill<P>(
        &mut self,
        mut start: impl FnMut() -> (Command, P),
        mut judge: impl FnMut(P, &str),
    ) {
        let count = count();
        for index in 0..count {
            let mut part = (index as f64 + self.random()) / count as f64;
            let mut tries = 0;
            let (place, after) = loop {
                let (mut command, place) = start();
                let after = self.length.mul_f64(part);
                if is_killed(&mut command, after) {
                    break (place, after);
                }
                tries += 1;
                assert!(
                    tries < MAX_TRIES,
                    "it ends in less than {after:?} and can't be killed"
                );
                part *= 0.8;
            };
            let seed = self.seed;
            judge(
                place,
                &format!(
                    "kill {} of {count}, after {:.4} s of {:.4} (EGG_KILL_SEED={seed})",
                    index + 1,
                    after.as_secs_f64(),
                    self.length.as_secs_f64()
                ),
            );
        }
    }
}

/// Starts a program and kills it (SIGKILL); `false` if it had ended by itself.
fn is_killed(command: &mut Command, after: Duration) -> bool {
    let begin = Instant::now();
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after.saturating_sub(begin.elapsed()));
    child.kill().unwrap();
    !ended_by_itself(&mut child)
}

fn ended_by_itself(child: &mut Child) -> bool {
    let status = child.wait().unwrap();
    assert!(status.code().is_none_or(|code| code == 0), "it failed: {status}");
    status.code().is_some()
}
