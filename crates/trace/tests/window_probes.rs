//! Probes of a closed window: one byte at its left edge.

mod common;

use common::observe_file;
use common::wire::{self, frames, mss, Segment, PCAP};

const MS: u64 = 1_000_000;
const EPOCH: u64 = 1_700_000_000_000_000_000;

/// Ten packets of 1000 B; after the fifth the window is closed for three seconds and probed five times. `taken`: the receiver
/// takes the last probe's byte.
fn stalled(taken: bool) -> Vec<Segment> {
    let at = |ms: u64| EPOCH + ms * MS;
    let mut segments = vec![
        Segment::new(at(0), true, 99, 0, 0).flags(wire::SYN).with(&mss(1000)),
        Segment::new(at(40), false, 499, 100, 0).flags(wire::SYN | wire::ACK).with(&mss(1000)),
        Segment::new(at(40), true, 100, 500, 0),
    ];
    let data = |ms: u64, seq: u32| Segment::new(at(ms), true, seq, 500, 1000);
    for i in 0..5u32 {
        segments.push(data(50, 100 + 1000 * i));
        let window = if i == 4 { 0 } else { 5000 };
        segments.push(Segment { window, ..Segment::new(at(90), false, 500, 1100 + 1000 * i, 0) });
    }
    for (i, ms) in [300, 600, 1100, 2000, 2900].into_iter().enumerate() {
        segments.push(Segment::new(at(ms), true, 5100, 500, 1));
        let number = if taken && i == 4 { 5101 } else { 5100 };
        segments.push(Segment { window: 0, ..Segment::new(at(ms + 40), false, 500, number, 0) });
    }
    let edge = 5100 + u32::from(taken);
    segments.push(Segment::new(at(3000), false, 500, edge, 0));
    for i in 0..5u32 {
        segments.push(data(3040 + u64::from(i), edge + 1000 * i));
        segments.push(Segment::new(at(3080 + u64::from(i)), false, 500, edge + 1000 * (i + 1), 0));
    }
    segments.sort_by_key(|segment| segment.time_ns);
    segments
}

#[test]
fn are_neither_data_nor_losses() {
    for taken in [false, true] {
        let observed = observe_file(&PCAP.file(101, &frames(&stalled(taken), &[], 65_535)));
        assert_eq!(observed.first("trace_flows", "zero_window_probes"), 5.0);
        let byte = f64::from(u8::from(taken));
        assert_eq!(observed.first("flows", "packets_sent"), 10.0 + byte, "taken: {taken}");
        assert_eq!(observed.first("trace_flows", "delivered_bytes"), 10_000.0 + byte);
        for (table, column) in [
            ("flows", "retransmissions"),
            ("flows", "packets_dropped"),
            ("flows", "timeouts"),
            ("flows", "loss_events"),
            ("trace_flows", "uncaptured_packets"),
            ("trace_flows", "out_of_order_packets"),
        ] {
            assert_eq!(observed.first(table, column), 0.0, "{column}, taken: {taken}");
        }
        assert!((observed.first("flows", "mean_rtt_s") - 0.040).abs() < 1e-6);
    }
}

#[test]
fn keep_alives_are_none() {
    let mut segments = stalled(false);
    let end = segments.last().unwrap().time_ns;
    for i in 1..4 {
        // One garbage byte below the left edge.
        segments.push(Segment::new(end + 1000 * i * MS, true, 10_099, 500, 1));
        segments.push(Segment::new(end + (1000 * i + 40) * MS, false, 500, 10_100, 0));
    }
    let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    assert_eq!(observed.first("trace_flows", "zero_window_probes"), 5.0);
    assert_eq!(observed.first("flows", "packets_sent"), 10.0);
    assert_eq!(observed.first("flows", "retransmissions"), 0.0);
}
