//! How much each control adds in a round trip and keeps at a loss, as its source's table says.
//!
//! The decreases are those of Guillier, Hablot & Vicat-Blanc Primet 2007, table 2, where it has the control.

mod common;

use common::default_config;
use parshall_congestion::catalog::CATALOG;
use parshall_congestion::{AckEvent, CongestionControl, CongestionEvent, Control, Phase, Signal, Start};
use parshall_units::{Duration, Instant};

struct Factors {
    name: &'static str,
    /// Window at the loss.
    window: f64,
    /// Factor kept.
    kept: f64,
    /// Packets added in the round trip after a loss at that window.
    increase: f64,
    source: &'static str,
}

const fn row(name: &'static str, window: f64, kept: f64, increase: f64, source: &'static str) -> Factors {
    Factors { name, window, kept, increase, source }
}

const TABLE: &[Factors] = &[
    row("reno", 100.0, 0.5, 1.0, "RFC 5681 eq. (3), (4)"),
    row("reno", 10_000.0, 0.5, 1.0, "RFC 5681 eq. (3), (4)"),
    row("cubic", 10.0, 0.7, 9.0 / 17.0, "RFC 9438 §4.3: 3 (1 - beta)/(1 + beta)"),
    row("cubic", 100.0, 0.7, 2.08, "RFC 9438 §4.2: 0.4 ((t - K)^3 + K^3) after t = 0.1 s, K = 4.22 s"),
    row("cubic_2005", 6.0, 0.8, 1.0 / 3.0, "Rhee & Xu 2005: 3 beta/(2 - beta)"),
    row("cubic_2005", 1e5, 0.8, 16.0, "Rhee & Xu 2005: 160 packets a second"),
    row("bic", 10.0, 0.5, 1.0, "Xu, Harfoush & Rhee 2004: Reno below 14 packets"),
    row(
        "bic",
        400.0,
        0.875,
        25.0 * 0.787,
        "Xu, Harfoush & Rhee 2004: half of the way, 2 (1 - exp(-1/2)) of it in a round trip",
    ),
    row("bic", 10_000.0, 0.875, 32.0, "Xu, Harfoush & Rhee 2004: S_max"),
    row("highspeed", 30.0, 0.5, 1.0, "RFC 3649 §5: Reno below 38 packets"),
    row("highspeed", 495.0, 0.63, 3.81, "RFC 3649 appendix B"),
    row("highspeed", 83_000.0, 0.9, 70.49, "RFC 3649 §5"),
    row("scalable", 12.0, 0.5, 1.0, "Kelly 2003: Reno up to 16 packets"),
    row("scalable", 1000.0, 0.875, 8.79, "Kelly 2003: exp(0.01) - 1 of the window"),
    row("htcp", 100.0, 0.5, 1.0, "Leith & Shorten 2004: the first second"),
    row("westwood", 100.0, 0.5, 1.0, "Grieco & Mascolo 2004: Reno, before the first sample of the bandwidth"),
    row("hybla", 1000.0, 0.5, 15.9, "Caini & Firrincieli 2004: rho^2 = 16 at 100 ms"),
    row("veno", 100.0, 0.5, 1.0, "Fu & Liew 2003, before the first round trip"),
    row("illinois", 1000.0, 0.5, 9.93, "Liu, Basar & Srikant 2008, with an empty queue"),
    row("yeah", 1000.0, 0.875, 8.79, "Baiocchi et al. 2007, with an empty queue: as Scalable TCP"),
    row("lp", 100.0, 0.5, 1.0, "Kuzmanovic & Knightly 2006, with an empty queue"),
    row("vegas", 100.0, 0.5, 1.0, "Brakmo & Peterson 1995, with an empty queue"),
    row("fast", 1000.0, 0.5, 50.0, "Jin, Wei & Low 2004 eq. (6): gamma alpha with an empty queue"),
];

fn build(name: &str, start: Start) -> Control {
    let entry = CATALOG.iter().find(|entry| entry.name == name).expect("in the catalog");
    default_config(entry).build(start)
}

const RTT: Duration = Duration::from_millis(100);

/// ACKs of one window, spread over a round trip without queueing.
fn round_trip(control: &mut Control, now: &mut Instant) {
    let packets = control.window().ceil() as u64;
    for i in 0..packets {
        *now += RTT.over(packets);
        control.on_ack(&AckEvent {
            now: *now,
            phase: Phase::Open,
            acked: 1,
            credit: control.window() / packets as f64,
            rtt: Some(RTT),
            one_way_delay: None,
            srtt: RTT,
            min_rtt: RTT,
            in_flight: packets,
            may_grow: true,
            round_ended: i == 0,
            ecn_echo: false,
            sample: None,
        });
    }
}

#[test]
fn decreases_are_those_of_the_sources() {
    for &Factors { name, window, kept, source, .. } in TABLE {
        let mut control = build(name, Start { window, ssthresh: window, ..Start::NEW });
        let event = CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: window as u64 };
        control.on_congestion(&event);
        let ours = control.window() / window;
        assert!((ours - kept).abs() < 0.005, "{name} at {window}: keeps {ours}, {source}");
    }
}

#[test]
fn increases_are_those_of_the_sources() {
    for &Factors { name, window, increase, source, .. } in TABLE {
        let mut control = build(name, Start { window, ssthresh: window, ..Start::NEW });
        let mut now = Instant::ZERO;
        control.on_congestion(&CongestionEvent { now, signal: Signal::Loss, in_flight: window as u64 });
        let before = control.window();
        round_trip(&mut control, &mut now);
        let ours = control.window() - before;
        assert!(
            (ours - increase).abs() < 0.02 * increase + 0.02,
            "{name} at {window}: adds {ours}, {source}"
        );
    }
}
