//! The targets of `egg-fuzz` for libFuzzer: `cargo xtask fuzz --engine libfuzzer`.

/// Runs one.
pub fn run(name: &str, input: &[u8]) {
    if let Some(target) = egg_fuzz::target(name) {
        let _ = (target.run)(input);
    }
}
