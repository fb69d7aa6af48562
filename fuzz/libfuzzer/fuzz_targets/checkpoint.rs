#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| egg_fuzz_libfuzzer::run("checkpoint", input));
