//! Children in a process group of their own, so that a stage that hangs can be
//! ended with everything it started.
//!
//! The price is that the terminal's Ctrl-C no longer reaches them, nor does a
//! CI runner's SIGTERM to us: both are passed on by hand. std has no signals,
//! and three functions of libc don't justify a dependency.

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicI32, Ordering};

    // The same numbers on every Unix that Rust builds for.
    const SIGHUP: c_int = 1;
    const SIGINT: c_int = 2;
    const SIGKILL: c_int = 9;
    const SIGTERM: c_int = 15;
    const SIG_DFL: usize = 0;

    unsafe extern "C" {
        fn kill(pid: i32, signal: c_int) -> c_int;
        fn raise(signal: c_int) -> c_int;
        fn signal(signal: c_int, handler: usize) -> usize;
    }

    /// The group of the child that runs now; 0 when there is none.
    static CURRENT: AtomicI32 = AtomicI32::new(0);

    extern "C" fn pass_on(number: c_int) {
        let group = CURRENT.load(Ordering::SeqCst);
        // SAFETY: kill, signal and raise are async-signal-safe and touch no
        // memory of ours. `group` is positive, so `-group` names exactly the
        // group that `separate` made.
        unsafe {
            if group > 0 {
                kill(-group, number);
            }
            signal(number, SIG_DFL);
            raise(number);
        }
    }

    pub(crate) fn forward_signals() {
        let handler: extern "C" fn(c_int) = pass_on;
        for number in [SIGHUP, SIGINT, SIGTERM] {
            // SAFETY: the handler has the C signature `signal` expects, lives
            // for the whole program, and calls async-signal-safe functions only.
            unsafe {
                signal(number, handler as usize);
            }
        }
    }

    pub(crate) fn separate(command: &mut Command) {
        command.process_group(0);
    }

    pub(crate) fn watch(child: Option<&Child>) {
        let group = child.map_or(0, |child| child.id() as i32);
        CURRENT.store(group, Ordering::SeqCst);
    }

    /// Ends the group a `separate` child leads.
    pub(crate) fn kill_group(child: &mut Child) {
        let group = child.id() as i32;
        if group > 0 {
            // SAFETY: a plain system call. The group is that of a child which
            // we have not given up yet; if it is gone the call does nothing.
            unsafe {
                kill(-group, SIGKILL);
            }
        }
    }

    #[cfg(test)]
    pub(crate) mod tests {
        use std::os::unix::process::ExitStatusExt;
        use std::path::Path;
        use std::process::{Command, Stdio};
        use std::time::{Duration, Instant};

        use super::*;

        /// Tells the second start of this program which file to write to.
        const FILE: &str = "XTASK_TEST_SIGNALS";

        /// A signal to us ends us, and a separate child with us. In a process of its
        /// own: it does not come back.
        #[test]
        fn signals_are_passed_on() {
            if let Some(file) = std::env::var_os(FILE) {
                return wait_for_a_signal(Path::new(&file));
            }
            for number in [SIGHUP, SIGINT, SIGTERM] {
                let name = format!("xtask-signals-{}-{number}", std::process::id());
                let file = std::env::temp_dir().join(name);
                let mut child = Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "process_group::unix::tests::signals_are_passed_on"])
                    .env(FILE, &file)
                    .stdout(Stdio::null())
                    .spawn()
                    .unwrap();
                let written = || {
                    let text = std::fs::read_to_string(&file).unwrap_or_default();
                    text.ends_with('\n').then(|| text.trim().to_owned())
                };
                let sleeper = soon(written).expect("the child of the child was started");
                let pid = i32::try_from(child.id()).unwrap();
                // SAFETY: a plain system call on a child that was not waited for yet.
                assert_eq!(unsafe { kill(pid, number) }, 0);
                assert_eq!(child.wait().unwrap().signal(), Some(number));
                assert!(is_soon_gone(&sleeper), "it lives after signal {number}");
                std::fs::remove_file(file).unwrap();
            }
        }

        fn wait_for_a_signal(file: &Path) {
            forward_signals();
            let mut command = Command::new("sleep");
            separate(command.arg("60"));
            let mut child = command.spawn().unwrap();
            watch(Some(&child));
            // Only now: whoever reads it may send the signal at once.
            std::fs::write(file, format!("{}\n", child.id())).unwrap();
            child.wait().unwrap();
        }

        pub(crate) fn is_soon_gone(process: &str) -> bool {
            let pid = process.parse().unwrap();
            let is_gone = || {
                // The kernel may take a moment to reap it.
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                // SAFETY: a plain system call; signal 0 only asks.
                (stat.contains(") Z ") || unsafe { kill(pid, 0) } != 0).then_some(())
            };
            soon(is_gone).is_some()
        }

        fn soon<T>(check: impl Fn() -> Option<T>) -> Option<T> {
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(20) {
                if let Some(found) = check() {
                    return Some(found);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            None
        }
    }
}

#[cfg(all(test, unix))]
pub(crate) use unix::tests;
#[cfg(unix)]
pub(crate) use unix::{forward_signals, kill_group, separate, watch};

/// Elsewhere only the child itself can be ended.
#[cfg(not(unix))]
mod other {
    use std::process::{Child, Command};

    pub(crate) fn forward_signals() {}
    pub(crate) fn separate(_: &mut Command) {}
    pub(crate) fn watch(_: Option<&Child>) {}
    pub(crate) fn kill_group(child: &mut Child) {
        let _ = child.kill();
    }
}

#[cfg(not(unix))]
pub(crate) use other::{forward_signals, kill_group, separate, watch};
