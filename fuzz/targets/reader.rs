//! The reader that the environment variable `READER` names.
#![no_main]

use parshall_reading::Reader;
use std::sync::OnceLock;

static READER: OnceLock<Reader> = OnceLock::new();

fn named() -> Reader {
    let name = std::env::var("READER").unwrap_or_default();
    Reader::of(&name).unwrap_or_else(|| {
        let names: Vec<_> = Reader::ALL.iter().map(|reader| reader.name()).collect();
        panic!("READER: found {name:?}; accepted: {}", names.join(", "))
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    parshall_fuzz::execute(*READER.get_or_init(named), bytes);
});
