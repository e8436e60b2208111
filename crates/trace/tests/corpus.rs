//! Invariants of any capture, held against captures that others made: those in the folder that `PARSHALL_CORPUS` names, with
//! all folders in it, else the shared data. None of them is part of the project; without any the test is skipped.
//!
//! | number of a direction | is never |
//! | --- | --- |
//! | retransmissions | more than the packets of segments that may be sent again: some of their bytes stand in the file before, or they come after a later one, or long after their acknowledgement |
//! | delivered bytes | more than the different bytes in the file, and what is counted as not captured |
//! | packets and window probes | fewer than captured segments; without offload, losses and gaps they are as many |
//! | segments that fit nothing | more than those that fit |
//! | packets lost | more than packets sent |
//!
//! The file's content is counted here from its frames, by rules that know nothing of losses or round trips.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

mod common;

use common::{try_observe, Observed, OPTIONS};
use parshall_trace::{decode, each_frame, Content, Endpoint, Flags, Packet};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// After this time data below an acknowledgement may be sent again because the acknowledgement was lost: the least timeout.
const TIMEOUT_NS: u64 = 190_000_000;

/// A segment that is longer than a full one by less is one packet.
const SLACK: f64 = 17.0 / 16.0;

fn folder() -> Option<PathBuf> {
    let data = std::env::var_os("PARSHALL_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let folder = std::env::var_os("PARSHALL_CORPUS").map_or_else(|| data.join("pcap"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Disjoint ranges by their starts.
#[derive(Default)]
struct Bytes(BTreeMap<i64, i64>);

impl Bytes {
    /// Adds `start..end`; how much of it is new.
    fn add(&mut self, start: i64, end: i64) -> i64 {
        let touching: Vec<(i64, i64)> = self
            .0
            .range(..=end)
            .rev()
            .map(|(from, to)| (*from, *to))
            .take_while(|range| range.1 >= start)
            .collect();
        let known: i64 = touching.iter().map(|range| (range.1.min(end) - range.0.max(start)).max(0)).sum();
        let (mut low, mut high) = (start, end);
        for (from, to) in touching {
            self.0.remove(&from);
            (low, high) = (low.min(from), high.max(to));
        }
        self.0.insert(low, high);
        end - start - known
    }
}

/// One direction between two ends, as the frames have it.
#[derive(Default)]
struct Truth {
    syn: Option<u32>,
    last: Option<(u32, i64)>,
    seen: Bytes,
    highest: Option<i64>,
    /// Acknowledgements that advanced, and when.
    acked: Vec<(i64, u64)>,
    different_bytes: u64,
    segments: u64,
    gaps: bool,
    /// Payloads of segments that may have been sent before.
    again: Vec<u32>,
}

impl Truth {
    /// The number nearest to the last one.
    fn extend(&mut self, seq: u32) -> i64 {
        let (last, extended) = self.last.unwrap_or((seq, 1 << 40));
        let number = extended + i64::from(seq.wrapping_sub(last).cast_signed());
        self.last = Some((seq, number));
        number
    }

    fn data(&mut self, now: u64, packet: &Packet) {
        if packet.flags.has(Flags::SYN) && self.syn != Some(packet.seq) {
            (self.seen, self.highest, self.acked) = (Bytes::default(), None, Vec::new());
            self.syn = Some(packet.seq);
            self.last = None;
        }
        if packet.payload == 0 {
            if packet.flags.has(Flags::FIN) && self.last.is_some() {
                let end = self.extend(packet.seq);
                self.highest = self.highest.max(Some(end));
            }
            return;
        }
        let start = self.extend(packet.seq.wrapping_add(u32::from(packet.flags.has(Flags::SYN))));
        let end = start + i64::from(packet.payload);
        let fresh = self.seen.add(start, end);
        self.different_bytes += fresh as u64;
        self.gaps |= self.highest.is_some_and(|highest| start > highest);
        self.segments += 1;
        let at = self.acked.partition_point(|ack| ack.0 < end);
        let answered = self.acked.get(at).is_some_and(|ack| now.saturating_sub(ack.1) > TIMEOUT_NS);
        if fresh < end - start || self.highest.is_some_and(|highest| start < highest) || answered {
            self.again.push(packet.payload);
        }
        self.highest = self.highest.max(Some(end));
    }

    fn acknowledged(&mut self, now: u64, packet: &Packet) {
        let Some((last, extended)) = self.last else { return };
        let number = extended + i64::from(packet.ack.wrapping_sub(last).cast_signed());
        if self.acked.last().is_none_or(|ack| number > ack.0) {
            self.acked.push((number, now));
        }
    }
}

/// Tags of VLANs, as text, and ends.
type Key = (String, String);

/// The directions of a file, by VLAN and ends.
fn truths(bytes: &[u8]) -> HashMap<Key, Truth> {
    let mut all: HashMap<Key, Truth> = HashMap::new();
    let mut vlans: HashMap<String, BTreeSet<String>> = HashMap::new();
    let mut now = 0;
    each_frame(bytes.to_vec(), |frame| {
        now = now.max(frame.time_ns.unwrap_or(0));
        let Content::Tcp(packet) = decode(frame.link_type, frame.data, frame.wire_bytes) else { return };
        let vlan = match (packet.vlan >> 12, packet.vlan & 0xfff) {
            (0, 0) => String::new(),
            (0, tag) => tag.to_string(),
            (outer, tag) => format!("{outer}.{tag}"),
        };
        let end = |end: Endpoint| SocketAddr::new(end.address(), end.port).to_string();
        let (source, destination) = (end(packet.source), end(packet.destination));
        let (name, back) = (format!("{source} > {destination}"), format!("{destination} > {source}"));
        vlans.entry(name.clone()).or_default().insert(vlan.clone());
        all.entry((vlan, name)).or_default().data(now, &packet);
        if packet.flags.has(Flags::ACK) {
            // The way back may be on another VLAN.
            for vlan in vlans.get(&back).into_iter().flatten() {
                if let Some(truth) = all.get_mut(&(vlan.clone(), back.clone())) {
                    truth.acknowledged(now, &packet);
                }
            }
        }
    });
    all
}

/// Sums over the flows of a direction.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    packets: f64,
    retransmissions: f64,
    dropped: f64,
    delivered: f64,
    segment: f64,
    segments: f64,
    merged: f64,
    uncaptured: f64,
    probes: f64,
    odd: f64,
    before: f64,
    out_of_order: f64,
}

fn told(observed: &Observed) -> HashMap<Key, Told> {
    let names = observed.text("trace_flows", "vlan").into_iter().zip(observed.text("trace_flows", "group"));
    let column = |table: &str, name: &str| observed.column(table, name);
    let mut by_flow: HashMap<u64, Told> = HashMap::new();
    let flows = column("flows", "flow");
    for (name, set) in [
        ("packets_sent", (|told: &mut Told, value| told.packets += value) as fn(&mut Told, f64)),
        ("retransmissions", |told, value| told.retransmissions += value),
        ("packets_dropped", |told, value| told.dropped += value),
    ] {
        for (flow, value) in flows.iter().zip(column("flows", name)) {
            set(by_flow.entry(*flow as u64).or_default(), value);
        }
    }
    let flows = column("trace_flows", "flow");
    for (name, set) in [
        ("delivered_bytes", (|told: &mut Told, value| told.delivered += value) as fn(&mut Told, f64)),
        ("segment_bytes", |told, value| told.segment = value),
        ("segments_captured", |told, value| told.segments += value),
        ("merged_segments", |told, value| told.merged += value),
        ("uncaptured_packets", |told, value| told.uncaptured += value),
        ("zero_window_probes", |told, value| told.probes += value),
        ("odd_segments", |told, value| told.odd += value),
        ("lost_before_capture_packets", |told, value| told.before += value),
        ("out_of_order_packets", |told, value| told.out_of_order += value),
    ] {
        for (flow, value) in flows.iter().zip(column("trace_flows", name)) {
            set(by_flow.entry(*flow as u64).or_default(), value);
        }
    }
    let mut sums: HashMap<Key, Told> = HashMap::new();
    for (flow, name) in flows.iter().zip(names) {
        let one = by_flow[&(*flow as u64)];
        let sum = sums.entry(name).or_insert(Told { segment: f64::INFINITY, ..Told::default() });
        *sum = Told {
            packets: sum.packets + one.packets,
            retransmissions: sum.retransmissions + one.retransmissions,
            dropped: sum.dropped + one.dropped,
            delivered: sum.delivered + one.delivered,
            segment: sum.segment.min(one.segment),
            segments: sum.segments + one.segments,
            merged: sum.merged + one.merged,
            uncaptured: sum.uncaptured + one.uncaptured,
            probes: sum.probes + one.probes,
            odd: sum.odd + one.odd,
            before: sum.before + one.before,
            out_of_order: sum.out_of_order + one.out_of_order,
        };
    }
    sums
}

/// Which invariants a direction violates.
fn violated(truth: &Truth, told: &Told) -> Vec<String> {
    let packets = |bytes: &u32| (f64::from(*bytes) / told.segment).ceil().max(1.0);
    let again: f64 = truth.again.iter().map(packets).sum();
    let bytes = truth.different_bytes as f64 + told.uncaptured * told.segment * SLACK;
    let special = told.merged + told.uncaptured + told.before + told.out_of_order + told.retransmissions;
    let plain = !truth.gaps && special == 0.0;
    let with_probes = told.packets + told.probes;
    let rules = [
        ("retransmissions", told.retransmissions <= again),
        ("delivered", truth.segments == 0 || told.delivered <= bytes),
        ("packets", with_probes >= told.segments),
        ("offload", !plain || with_probes == told.segments),
        ("odd", truth.segments == 0 || told.odd <= told.segments),
        ("lost", told.dropped <= told.packets),
    ];
    rules.iter().filter(|rule| !rule.1).map(|rule| rule.0.to_owned()).collect()
}

#[test]
fn invariants_hold_of_captures_that_others_made() {
    let Some(folder) = folder() else {
        println!("skipped: PARSHALL_CORPUS names no folder of captures, and the shared data are not there");
        return;
    };
    let (mut with_tcp, mut directions, mut violations) = (0, 0, Vec::new());
    let files = files(&folder);
    for path in &files {
        let bytes = fs::read(path).unwrap();
        let Ok(observed) = try_observe(&[&bytes], &OPTIONS) else { continue };
        let truths = truths(&bytes);
        if observed.summary.flows == 0 || truths.is_empty() {
            continue;
        }
        with_tcp += 1;
        for (key, told) in told(&observed) {
            let Some(truth) = truths.get(&key) else { continue };
            directions += 1;
            for rule in violated(truth, &told) {
                let (file, name) = (path.strip_prefix(&folder).unwrap().display(), &key.1);
                violations.push((rule.clone(), format!("{rule}: {file}: {name}: {told:?}")));
            }
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (rule, words) in &violations {
        *counts.entry(rule).or_default() += 1;
        println!("{words}");
    }
    println!(
        "{} files, {with_tcp} with TCP data, {directions} directions, violated: {counts:?}",
        files.len()
    );
    assert!(violations.is_empty(), "{counts:?}");
    assert!(directions > 0);
}
