//! A capture: pcap or pcapng, also compressed.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = parshall_fuzz::traces::capture(bytes);
});
