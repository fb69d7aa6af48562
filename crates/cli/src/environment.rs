//! What must be in the environment before the program starts.
//!
//! candle's own threads wait in a busy loop on the cores that rayon's need, and
//! an OpenBLAS older than the processor chooses slow kernels. Both are settled by
//! variables that are read when the libraries are loaded, so the program starts
//! itself once more with them. What the user has set stays.

use std::ffi::OsString;
use std::process::Command;

use egg_gnn::geometry::blas_kernels;

const CANDLE: &str = "CANDLE_NUM_THREADS";
const KERNELS: &str = "OPENBLAS_CORETYPE";
/// Set in the second start, which must be the last.
const MARKER: &str = "EGG_STARTED";

/// Kernels without AVX, which a processor that has it should not be left with.
const OLD_KERNELS: [&str; 18] = [
    "Unknown",
    "Generic",
    "Katmai",
    "Coppermine",
    "Northwood",
    "Prescott",
    "Banias",
    "Atom",
    "Core2",
    "Penryn",
    "Dunnington",
    "Nehalem",
    "Athlon",
    "Opteron",
    "Opteron_SSE3",
    "Barcelona",
    "Bobcat",
    "Nano",
];

/// Starts the program once more if a variable is missing; else, or if that is
/// not possible, does nothing.
pub(crate) fn settle() {
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
        && let Some(better) = better_kernels(&kernels, avx2(), avx512())
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

fn better_kernels(chosen: &str, avx2: bool, avx512: bool) -> Option<&'static str> {
    if !OLD_KERNELS.iter().any(|old| old.eq_ignore_ascii_case(chosen)) {
        return None;
    }
    match (avx2, avx512) {
        (_, true) => Some("SkylakeX"),
        (true, false) => Some("Haswell"),
        (false, false) => None,
    }
}

#[cfg(target_arch = "x86_64")]
fn avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512cd")
}

/// Other processors have not been seen to be underrated.
#[cfg(not(target_arch = "x86_64"))]
fn avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn avx512() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_underrated_processors_get_other_kernels() {
        assert_eq!(better_kernels("Prescott", true, true), Some("SkylakeX"));
        assert_eq!(better_kernels("nehalem", true, false), Some("Haswell"));
        assert_eq!(better_kernels("Prescott", false, false), None);
        for fine in ["Haswell", "Zen", "Cooperlake", "SkylakeX"] {
            assert_eq!(better_kernels(fine, true, true), None, "{fine}");
        }
    }
}
