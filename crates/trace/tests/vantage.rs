//! Round-trip times of senders that are not bulk transfers by the book: the truth is known by construction.

mod common;

use common::wire::{self, frames, mss, timestamps, Segment, PCAP};
use common::{observe_file, Observed};

const US: u64 = 1000;
const MS: u64 = 1000 * US;
const EPOCH: u64 = 1_700_000_000_000_000_000;

/// One way between the client and the server, whose capture it is.
const ONE_WAY: u64 = 20 * MS;

fn observed(mut segments: Vec<Segment>) -> Observed {
    segments.sort_by_key(|segment| segment.time_ns);
    observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)))
}

/// The server's clock, a millisecond a tick.
fn stamp(time: u64) -> u32 {
    (time / MS) as u32
}

/// A handshake at the server, done at time 0.
fn opened() -> Vec<Segment> {
    let at = |before: u64| EPOCH - before;
    vec![
        Segment::new(at(2 * ONE_WAY + 100 * US), true, 99, 0, 0)
            .flags(wire::SYN)
            .with(&mss(1460))
            .with(&timestamps(1, 0)),
        Segment::new(at(2 * ONE_WAY), false, 499, 100, 0)
            .flags(wire::SYN | wire::ACK)
            .with(&mss(1460))
            .with(&timestamps(0, 1)),
        Segment::new(at(0), true, 100, 500, 0).with(&timestamps(2, 0)),
    ]
}

/// Requests, each as long as the others, half a second apart; the server answers at once and the client acknowledges.
fn requests(bytes: usize, count: u64) -> Vec<Segment> {
    let mut segments = opened();
    let (mut seq, mut answer, mut echo) = (100, 500, 0);
    for i in 1..=count {
        let at = i * 500 * MS;
        segments.push(
            Segment::new(EPOCH + at, true, seq, answer, bytes)
                .flags(wire::PSH)
                .with(&timestamps(stamp(at), echo)),
        );
        seq += bytes as u32;
        echo = stamp(at) + 1;
        segments.push(
            Segment::new(EPOCH + at + MS, false, answer, seq, 1000)
                .flags(wire::PSH)
                .with(&timestamps(echo, stamp(at))),
        );
        answer += 1000;
        let acknowledged = EPOCH + at + MS + 2 * ONE_WAY;
        segments
            .push(Segment::new(acknowledged, true, seq, answer, 0).with(&timestamps(stamp(at) + 20, echo)));
    }
    segments
}

#[test]
fn a_pause_of_the_application_is_no_round_trip() {
    // Also where all requests are as long as each other, or as a full packet.
    for bytes in [40, 300, 1448] {
        let seen = observed(requests(bytes, 20));
        assert_eq!(seen.text("trace_flows", "vantage")[0], "receiver");
        assert_eq!(seen.text("trace_flows", "rtt_source")[0], "handshake");
        assert!(seen.first("flows", "mean_rtt_s").is_nan(), "{}", seen.first("flows", "mean_rtt_s"));
        assert!((seen.first("flows", "min_rtt_s") - 0.0401).abs() < 1e-6);
        // The answers are acknowledged by a host that is two ways off.
        assert!((seen.column("flows", "mean_rtt_s")[1] - 0.040).abs() < 1e-6);
        assert_eq!(seen.text("trace_flows", "vantage")[1], "sender");
    }
}

#[test]
fn without_the_handshake_the_round_trip_of_requests_is_not_known() {
    let mut segments = requests(300, 20);
    segments.drain(..3);
    let seen = observed(segments);
    assert_eq!(seen.text("trace_flows", "vantage")[0], "");
    assert!(seen.first("flows", "mean_rtt_s").is_nan());
    assert!(seen.first("flows", "min_rtt_s").is_nan());
}

/// Uploads of 30 packets through a window of 10, with pauses of a second between them.
fn uploads() -> Vec<Segment> {
    let mut segments = opened();
    let mut first = 100u32;
    for upload in 0..10u64 {
        let begins = 1000 * MS * (upload + 1);
        let mut sent: Vec<(u64, u32)> = Vec::new(); // when, and what it echoes
        for k in 0..30usize {
            let (at, echo) = match k.checked_sub(10) {
                // An acknowledgement of the packet ten before lets this one go.
                Some(before) => {
                    let acknowledged = sent[before].0 + ONE_WAY;
                    (acknowledged + ONE_WAY, stamp(acknowledged))
                }
                None => (begins + k as u64 * MS, stamp(begins - 800 * MS)),
            };
            sent.push((at, echo));
            let seq = first + 1448 * k as u32;
            let payload = if k == 29 { 700 } else { 1448 };
            let flags = if k == 29 { wire::PSH } else { 0 };
            let arrived = EPOCH + at + ONE_WAY;
            let data = Segment::new(arrived, true, seq, 500, payload).flags(flags);
            segments.push(data.with(&timestamps(stamp(at), echo)));
            let ack = Segment::new(arrived, false, 500, seq + payload as u32, 0);
            segments.push(ack.with(&timestamps(stamp(at + ONE_WAY), stamp(at))));
        }
        first += 29 * 1448 + 700;
    }
    segments
}

#[test]
fn what_a_window_held_back_is_one() {
    let seen = observed(uploads());
    assert_eq!(seen.text("trace_flows", "vantage")[0], "receiver");
    let (mean, samples) = (seen.first("flows", "mean_rtt_s"), seen.first("trace_flows", "rtt_samples"));
    assert!((mean - 0.040).abs() < 0.02 * 0.040, "{mean}");
    assert!(samples >= 150.0, "{samples}");
}

/// A sender that thinks for 106 ms before its first byte, and always echoes the timestamp of the SYN-ACK; `before` is the time
/// from the capture to the sender and back, of a round trip of 500 ms. A window of 40 packets.
fn old_bsd(before: u64) -> Vec<Segment> {
    let rtt = 500 * MS;
    let beyond = rtt - before;
    let spacing = rtt / 40;
    let mut segments = vec![
        Segment::new(EPOCH, true, 99, 0, 0).flags(wire::SYN).with(&mss(1460)).with(&timestamps(1, 0)),
        Segment::new(EPOCH + beyond, false, 499, 100, 0)
            .flags(wire::SYN | wire::ACK)
            .with(&mss(1460))
            .with(&timestamps(7, 1)),
        Segment::new(EPOCH + rtt, true, 100, 500, 0).with(&timestamps(2, 7)),
    ];
    for k in 0..2000u32 {
        let at = EPOCH + rtt + 106 * MS + u64::from(k) * spacing;
        let value = stamp(at - EPOCH);
        segments.push(Segment::new(at, true, 100 + 1448 * k, 500, 1448).with(&timestamps(value, 7)));
        let ack = Segment::new(at + beyond, false, 500, 100 + 1448 * (k + 1), 0);
        segments.push(ack.with(&timestamps(stamp(at + beyond - EPOCH), value)));
    }
    segments
}

#[test]
fn a_sender_that_never_renews_its_echo() {
    for (before, vantage) in [(900 * US, "sender"), (200 * MS, "middle")] {
        let seen = observed(old_bsd(before));
        assert_eq!(seen.text("trace_flows", "vantage")[0], vantage);
        for column in ["min_rtt_s", "mean_rtt_s"] {
            let rtt = seen.first("flows", column);
            assert!((rtt - 0.5).abs() < 0.002, "{vantage}: {column} {rtt}");
        }
        let windows = seen.column("rounds", "window_packets");
        // The last one is not finished, and the first one waits for an echo, which is when it shows that none comes. A slot
        // ends at the margin of 5 % that the last part of the round trip has.
        assert!((48..=51).contains(&windows.len()), "{vantage}: {} rounds", windows.len());
        let late = &windows[3..windows.len() - 1];
        assert!(late.iter().all(|window| (39.0..=41.0).contains(window)), "{vantage}: {windows:?}");
    }
}
