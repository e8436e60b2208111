//! The project's own endpoints, captured at four points: what is observed is what happened.

mod common;

use common::simulated::{simulate, Point, Setup, Truth, SETUP};
use common::wire::{frames, links, PCAP};
use common::{observe_file, Observed};
use parshall_tcp::Recovery;

const POINTS: [Point; 4] = [Point::Sender, Point::Before, Point::After, Point::Receiver];

fn observed(setup: &Setup, point: Point) -> (Truth, Observed) {
    let simulated = simulate(setup);
    let (_, link_type, link) = &links()[0];
    let frames = frames(&simulated.captured(point), link, 96);
    (simulated.truth, observe_file(&PCAP.file(*link_type, &frames)))
}

/// Random loss without a queue to speak of, where windows are small enough for some timeouts.
const LOSSY: Setup = Setup { loss: 0.004, packets_per_s: 10_000, queue: 400, ..SETUP };

fn setups() -> Vec<(&'static str, Setup)> {
    vec![
        ("full queue, SACK", SETUP),
        ("full queue, NewReno", Setup { recovery: Recovery::NewReno, ..SETUP }),
        ("random loss, SACK", LOSSY),
        ("random loss, NewReno", Setup { recovery: Recovery::NewReno, ..LOSSY }),
        ("random loss, no timestamps", Setup { timestamps: false, ..LOSSY }),
        ("random loss, delayed ACKs", Setup { delayed_ack: true, ..LOSSY }),
        ("full queue, delayed ACKs", Setup { delayed_ack: true, ..SETUP }),
        ("much loss, lost ACKs", Setup { loss: 0.03, lost_acks: 0.05, packets_per_s: 10_000, ..SETUP }),
    ]
}

/// The difference in parts of the expected value.
fn off(found: f64, expected: f64) -> f64 {
    (found - expected).abs() / expected.max(1e-9)
}

#[test]
fn losses_retransmissions_and_round_trip_times_are_found_at_every_point() {
    for (name, setup) in setups() {
        for point in POINTS {
            let (truth, observed) = observed(&setup, point);
            let value = |column| observed.first("flows", column);
            let place = format!("{name} at {point:?}");
            // Of a packet whose loss is followed by a timeout, and by nothing else, a point behind the loss sees nothing.
            let unseen =
                if matches!(point, Point::After | Point::Receiver) { truth.timeouts as f64 } else { 0.0 };
            let lost = truth.lost as f64;
            let (found, again) = (value("packets_dropped"), truth.retransmissions as f64);
            assert!(found >= 0.98 * lost - unseen - 1.0, "{place}");
            assert!(value("retransmissions") >= 0.98 * again - unseen - 1.0, "{place}");
            assert!(value("retransmissions") <= again, "{place}");
            assert!(off(value("packets_sent"), truth.sent as f64) < 0.002, "{place}");
            assert!(
                off(value("loss_events") + value("timeouts"), (truth.loss_events + truth.timeouts) as f64)
                    < 0.05,
                "{place}"
            );
            let delivered = observed.first("trace_flows", "delivered_bytes") / 1448.0;
            assert!(off(delivered, truth.delivered_packets as f64) < 0.002, "{place}: delivered {delivered}");
            assert_eq!(observed.first("trace_flows", "out_of_order_packets"), 0.0, "{place}");
            assert_eq!(observed.first("trace_flows", "uncaptured_packets"), 0.0, "{place}");
            assert_eq!(observed.first("trace_flows", "segment_bytes"), 1448.0, "{place}");
            let expected = match point {
                Point::Sender => "sender",
                Point::Before | Point::After => "middle",
                Point::Receiver => "receiver",
            };
            assert_eq!(observed.text("trace_flows", "vantage")[0], expected, "{place}");
            round_trip_time(&setup, point, &truth, &observed, &place);
        }
    }
}

/// The mean is that of the endpoint, the waits of delayed acknowledgements included.
fn round_trip_time(setup: &Setup, point: Point, truth: &Truth, observed: &Observed, place: &str) {
    let mean = observed.first("flows", "mean_rtt_s");
    let handshake = observed.first("trace_flows", "handshake_rtt_s");
    assert!(off(handshake, 0.060) < 0.02, "{place}: {handshake}");
    if !setup.timestamps && matches!(point, Point::After | Point::Receiver) {
        // Without timestamps, what is before the capture point shows in the handshake only.
        assert_eq!(observed.text("trace_flows", "rtt_source")[0], "handshake");
        assert!(mean.is_nan());
    } else {
        let expected = truth.mean_rtt_s;
        assert!(off(mean, expected) < 0.02, "{place}: {mean} of {expected}");
    }
}

#[test]
fn windows_are_those_of_the_sender() {
    for (name, setup) in setups() {
        for point in POINTS {
            let (truth, observed) = observed(&setup, point);
            let starts = observed.column("rounds", "start_s");
            let windows = observed.column("rounds", "window_packets");
            let lost = observed.column("rounds", "lost");
            // How much later than the sender the point sees data.
            let delay = match point {
                Point::Sender => 0.0,
                Point::Before => 0.005,
                Point::After => 0.020,
                Point::Receiver => 0.030,
            };
            let (mut compared, mut same) = (0, 0);
            let mut sums = (0.0, 0.0);
            for i in 2..starts.len() - 1 {
                let at = starts[i] - delay;
                let next = truth.windows.partition_point(|window| window.0 <= at + 1e-4);
                let Some(window) = next.checked_sub(1).map(|before| truth.windows[before]) else { continue };
                // Rounds in congestion avoidance: neither this one nor its neighbours lose anything.
                if lost[i - 2..=i + 1].iter().any(|lost| *lost > 0.0) || window.2 > 500.0 {
                    continue;
                }
                compared += 1;
                sums = (sums.0 + windows[i], sums.1 + window.2);
                same += usize::from((windows[i] - window.2.floor()).abs() <= 1.0);
            }
            let place = format!("{name} at {point:?}: {same} of {compared}, {sums:?}");
            assert!(compared > 600, "{place}");
            let much_loss = setup.lost_acks > 0.0;
            assert!(off(sums.0, sums.1) < if much_loss { 0.05 } else { 0.025 }, "{place}");
            if point == Point::Sender {
                let least = if much_loss { 0.93 } else { 0.98 };
                assert!(same as f64 >= least * compared as f64, "{place}");
            }
        }
    }
}
