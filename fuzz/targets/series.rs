//! A text series: congestion windows, TCP_INFO.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = parshall_fuzz::traces::series(bytes);
});
