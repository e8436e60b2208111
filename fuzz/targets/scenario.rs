//! A resolved scenario.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = parshall_fuzz::scenario::run(bytes);
});
