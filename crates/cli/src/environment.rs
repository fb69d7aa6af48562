//! What must be in the environment before the program starts.
//!
//! candle's own threads wait in a busy loop on the cores that rayon's need, and
//! an OpenBLAS older than the processor chooses slow kernels. Both are set by
//! variables that are read when the libraries are loaded, so the program starts
//! itself once more with them. What the user has set stays.

use std::ffi::OsString;
use std::process::Command;

use egg_gnn::geometry::blas_kernels;
use egg_gnn::results::better_openblas_kernels;

const CANDLE: &str = "CANDLE_NUM_THREADS";
const KERNELS: &str = "OPENBLAS_CORETYPE";
/// Set in the second start, which must be the last.
const MARKER: &str = "EGG_STARTED";

/// Starts the program once more if a variable is missing; else, or if that is
/// not possible, does nothing.
pub(crate) fn reexec_with_env() {
    if std::env::var_os(MARKER).is_some() {
        return;
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let mut missing = Vec::new();
    if !is_set(CANDLE) {
        missing.push((CANDLE, "1"));
    }
    if !is_set(KERNELS)
        && let Some(kernels) = blas_kernels()
        && let Some(&better) = better_openblas_kernels(&kernels).first()
    {
        missing.push((KERNELS, better));
    }
    if missing.is_empty() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut again = Command::new(program);
    again.args(std::env::args_os().skip(1).collect::<Vec<OsString>>());
    again.envs(missing).env(MARKER, "1");
    start(again);
}

/// The process becomes the other one.
#[cfg(unix)]
fn start(mut again: Command) {
    use std::os::unix::process::CommandExt;
    // It returns only if it failed: then the work is done here, slower.
    let _ = again.exec();
}

/// The process waits for the other one.
#[cfg(not(unix))]
fn start(mut again: Command) {
    if let Ok(status) = again.status() {
        std::process::exit(status.code().unwrap_or(1));
    }
}
