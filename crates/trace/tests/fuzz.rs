//! Damaged files: every reader, on bytes that were a trace once.
//!
//! The corpus, small captures and series made by hand, is in `fuzz/corpus`, a folder a reader; `write_corpus` makes
//! captures and some of the series anew, `fuzz/corpus.py` the others. These mutations are blind, and few enough to be a
//! part of the tests; `make fuzz` has some that are led by the code they reach.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

mod common;
#[path = "../../../fuzz/src/traces.rs"]
mod targets;

use common::wire::{self, frames, links, mss, pcapng, sack, timestamps, Pcap, Segment, PCAP};
use flate2::write::GzEncoder;
use parshall_reading::Reader;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;

/// Damaged files that are read.
const EXECUTIONS: u64 = 20_000;

fn corpus_directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// The readers of this crate, by the names of their folders.
const READERS: [Reader; 4] = [Reader::Captures, Reader::Series, Reader::JsonLogs, Reader::QlogLines];

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folders = READERS.map(|reader| corpus_directory().join(reader.name()));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("the corpus is in fuzz/corpus"));
    let mut all: Vec<(String, Vec<u8>)> = files
        .map(|file| file.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

/// A conversation with a loss, SACK, a retransmission, a duplicate report, and an end.
fn conversation() -> Vec<Segment> {
    let at = |ms: u64| 1_700_000_000_000_000_000 + ms * 1_000_000;
    let stamp = |ms: u64| timestamps(ms as u32, 5);
    let data = |ms: u64, i: u32| Segment::new(at(ms), true, 100 + 1000 * i, 500, 1000).with(&stamp(ms));
    let ack = |ms: u64, number: u32| Segment::new(at(ms), false, 500, number, 0).with(&stamp(ms));
    vec![
        Segment::new(at(0), true, 99, 0, 0).flags(wire::SYN).with(&mss(1012)).with(&wire::SACK_PERMITTED),
        Segment::new(at(20), false, 499, 100, 0).flags(wire::SYN | wire::ACK).with(&mss(1012)),
        Segment::new(at(20), true, 100, 500, 0),
        data(21, 0),
        data(21, 1),
        data(22, 3),
        ack(41, 1100),
        ack(41, 2100).with(&sack(&[(3100, 4100)])),
        data(45, 2),
        data(46, 1),
        ack(66, 4100).with(&sack(&[(1100, 2100), (3100, 4100)])),
        Segment::new(at(70), true, 4100, 500, 0).flags(wire::FIN),
        Segment::new(at(90), false, 500, 4101, 0).flags(wire::FIN),
        Segment::new(at(91), true, 4101, 501, 0).flags(wire::RST),
    ]
}

#[test]
#[ignore = "writes fuzz/corpus"]
fn write_corpus() {
    let write = |name: &str, bytes: &[u8]| fs::write(corpus_directory().join(name), bytes).unwrap();
    for (name, link_type, link) in links() {
        write(&format!("captures/{name}.pcap"), &PCAP.file(link_type, &frames(&conversation(), &link, 100)));
    }
    let (_, link_type, link) = links()[0].clone();
    let packets = frames(&conversation(), &link, 96);
    let pcap = PCAP.file(link_type, &packets);
    write(
        "captures/big-endian.pcap",
        &Pcap { big_endian: true, nanoseconds: false }.file(link_type, &packets),
    );
    write("captures/little.pcapng", &pcapng(false, 9, link_type, &packets));
    write("captures/big.pcapng", &pcapng(true, 0x94, link_type, &packets));
    let ipv6: Vec<_> = conversation()
        .iter()
        .map(|segment| (segment.time_ns, segment.ipv6(true)))
        .map(|(time, bytes)| (time, bytes.len(), bytes[..bytes.len().min(120)].to_vec()))
        .collect();
    write("captures/ipv6.pcap", &PCAP.file(229, &ipv6));
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&pcap).unwrap();
    write("captures/ethernet.pcap.gz", &encoder.finish().unwrap());
    write("captures/ethernet.pcap.zst", &zstd::encode_all(&pcap[..], 3).unwrap());
    write(
        "series/cwnd.csv",
        b"t_s,cwnd_pkts\n0.0,10\n0.1,11\n0.2,12\n0.3,13\n0.31,8\n0.32,6\n0.42,7\n0.52,8\n",
    );
    write(
        "series/tcp_info.csv",
        b"ElapsedTime,SndCwnd,RTT,MinRTT,BytesAcked\n1000,10,20000,19000,0\n2000,20,21000,19000,9000\n",
    );
    write("json_logs/ndt7.json", br#"{"a":[{"TCPInfo":{"ElapsedTime":1,"SndCwnd":10,"RTT":20}},{"TCPInfo":{"ElapsedTime":2,"SndCwnd":9,"RTT":21}}]}"#);
}

/// Changes bytes the way damage and malice do.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Xoshiro256PlusPlus) {
    let mut below = |limit: usize| (random.next_u64() % limit.max(1) as u64) as usize;
    for _ in 0..=below(6) {
        let length = bytes.len();
        let at = below(length);
        match below(9) {
            0 if length > 0 => bytes[at] ^= 1 << below(8),
            1 if length > 0 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
            2 if at + 4 <= length => {
                let word =
                    [0u32, 1, u32::MAX, 1 << 31, 0x0100_0000, 65_536, 262_145, below(length + 64) as u32];
                bytes[at..at + 4].copy_from_slice(&word[below(8)].to_le_bytes());
            }
            3 => bytes.truncate(at),
            4 if at < length => {
                let end = (at + 1 + below(40)).min(length);
                bytes.drain(at..end);
            }
            5 if at < length => {
                let end = (at + 1 + below(120)).min(length);
                let copy = bytes[at..end].to_vec();
                let to = below(length);
                bytes.splice(to..to, copy);
            }
            6 if !other.is_empty() => {
                let from = below(other.len());
                let end = (from + 1 + below(200)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            7 if at + 2 <= length => {
                let half = below(1 << 16) as u16;
                bytes[at..at + 2].copy_from_slice(&half.to_be_bytes());
            }

            _ if length > 0 => bytes[at] = below(256) as u8,
            _ => bytes.push(0xd4),
        }
    }
    bytes.truncate(1 << 14);
}

#[test]
fn mutated_traces_are_read_without_panic() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let corpus = corpus();
    assert!(corpus.len() >= 27);
    let (mut recognised, mut frames, mut flows, mut stopped) = (0u64, 0u64, 0u64, 0u64);
    for execution in 0..EXECUTIONS {
        let pick = |random: &mut Xoshiro256PlusPlus| random.next_u64() as usize % corpus.len();
        let (name, original) = &corpus[pick(&mut random)];
        let other = &corpus[pick(&mut random)].1;
        let mut bytes = original.clone();
        mutate(&mut bytes, other, &mut random);
        let kept = bytes.clone();
        let Ok(summary) = catch_unwind(AssertUnwindSafe(|| parshall_trace::observe_bytes(bytes))) else {
            let path = std::env::temp_dir().join(format!("parshall-fuzz-{execution}"));
            fs::write(&path, kept).unwrap();
            panic!("execution {execution}, from {name}: the file is {}", path.display());
        };
        if let Some(summary) = summary {
            recognised += 1;
            frames += summary.frames;
            flows += u64::from(summary.flows);
            stopped += u64::from(!summary.stopped.is_empty());
        }
    }
    println!(
        "{EXECUTIONS} executions: {recognised} read, {stopped} stopped early, {frames} frames, {flows} flows"
    );
    // Mutations that no reader gets past its first bytes would test nothing.
    assert!(recognised * 2 > EXECUTIONS && frames > 2 * EXECUTIONS && flows * 3 > EXECUTIONS);
}

#[test]
fn the_corpus_is_read() {
    for (name, bytes) in corpus() {
        let [capture, series] = [targets::capture(&bytes), targets::series(&bytes)];
        // Each file is for one target, but for CSV whose columns somebody has to name.
        assert!(capture.is_none() || series.is_none(), "{name}");
        let summary =
            capture.or(series).or_else(|| targets::columns(&bytes)).unwrap_or_else(|| panic!("{name}"));
        assert!(summary.stopped.is_empty() && summary.flows > 0, "{name}: {summary:?}");
    }
}
