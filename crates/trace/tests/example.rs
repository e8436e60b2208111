//! The capture that docs/observe.md begins with: the project's own endpoints, 40 s of Reno at the sender.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

mod common;

use common::observe_file;
use common::simulated::{simulate, Point, Setup, SETUP};
use common::wire::{frames, links, PCAP};
use flate2::write::GzEncoder;
use flate2::Compression;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// A short queue and some random loss: many loss events in few packets.
const EXAMPLE: Setup = Setup { seconds: 40, loss: 0.004, packets_per_s: 150, queue: 6, ..SETUP };

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/example.pcap.gz")
}

#[test]
#[ignore = "writes docs/example.pcap.gz"]
fn write_example() {
    let (_, link_type, link) = links()[0].clone();
    let capture = PCAP.file(link_type, &frames(&simulate(&EXAMPLE).captured(Point::Sender), &link, 68));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&capture).unwrap();
    fs::write(path(), encoder.finish().unwrap()).unwrap();
}

#[test]
fn the_example_shows_something() {
    let bytes = fs::read(path()).unwrap();
    assert!(bytes.len() <= 200_000, "{}", bytes.len());
    let observed = observe_file(&bytes);
    let truth = simulate(&EXAMPLE).truth;
    assert_eq!(observed.first("flows", "packets_sent"), truth.sent as f64);
    assert_eq!(observed.first("flows", "packets_dropped"), truth.lost as f64);
    assert!(observed.column("rounds", "round").len() > 400, "enough for a spectrum");
}
