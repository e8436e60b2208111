//! What the fuzz targets do with bytes; tests of the crates run the same on the corpus.

pub mod recordings;
pub mod scenario;
pub mod traces;

use parshall_bpf::Object;
use parshall_net::rate::{parse_trace, Transmitter};
use parshall_reading::{of_bytes, Reader};
use parshall_workload::CdfFile;

/// Has a reader read these bytes. Each reader has an arm: one without does not compile.
pub fn execute(reader: Reader, bytes: &[u8]) {
    match reader {
        Reader::Captures => drop(traces::capture(bytes)),
        Reader::Series => drop((traces::series(bytes), traces::columns(bytes))),
        Reader::JsonLogs | Reader::QlogLines => drop(traces::series(bytes)),
        Reader::Recordings => drop(recordings::replay(bytes)),
        Reader::RateTraces => drop(document(reader, bytes).and_then(|text| rate_trace(&text))),
        Reader::CdfFiles => drop(document(reader, bytes).and_then(|text| distribution(&text))),
        Reader::Scenarios => drop(scenario::run(bytes)),
        Reader::BpfObjects => drop(document(reader, bytes).and_then(|elf| Object::of_bytes(elf, "memory").ok())),
        // What is in these is read by Python, from the bytes that the door gives.
        Reader::Numbers | Reader::Controls => drop(document(reader, bytes)),
    }
}

fn document(reader: Reader, bytes: &[u8]) -> Option<Vec<u8>> {
    of_bytes(bytes.to_vec(), reader).ok()
}

/// A link that follows the trace, and how long a packet takes there.
fn rate_trace(text: &[u8]) -> Option<()> {
    let timestamps = parse_trace(&String::from_utf8_lossy(text)).ok()?;
    Transmitter::trace(timestamps).ok()?.transmission(1500);
    Some(())
}

/// The points of a distribution function.
fn distribution(text: &[u8]) -> Option<()> {
    let points = CdfFile::parse(text).ok()?.points(1460.0);
    assert_eq!(points.last()?[1], 1.0);
    Some(())
}
