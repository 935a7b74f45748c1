#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lookalike_fuzz::names::run(data));
