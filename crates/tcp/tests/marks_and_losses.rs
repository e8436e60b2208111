//! A loss and a mark in one round trip: DCTCP and Prague halve at the loss whatever a mark told before it (RFC 8257
//! §3.5, RFC 9331 §4.3), and answer no mark of that round trip after it; a control for which a mark is a loss reduces
//! once (RFC 3168 §6.1.2).

mod path;

use parshall_congestion::{CongestionControl, ControlConfig, DctcpConfig, PragueConfig, RenoConfig, Start};
use parshall_tcp::{Recovery, Sender, TcpConfig};
use parshall_units::{Duration, Instant, Packets};
use path::{config, Path};

const RECOVERIES: [Recovery; 3] = [Recovery::NewReno, Recovery::Sack, Recovery::Rack];
/// Packets of the only window in flight.
const WINDOW: u64 = 100;

/// Controls that answer a mark by the share of packets that are marked. Prague halves at its first mark, since it has
/// no average yet.
fn scalable() -> [(&'static str, ControlConfig); 2] {
    [
        ("dctcp", ControlConfig::Dctcp(DctcpConfig { gain: 0.0625, initial_alpha: 0.05 })),
        ("prague", ControlConfig::Prague(PragueConfig { gain: 0.0625, reference_rtt: Duration::ZERO })),
    ]
}

fn reno() -> ControlConfig {
    ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 })
}

/// The outcome of the round trip of a window of [`WINDOW`] packets.
struct Course {
    /// Windows before and after each reduction.
    reductions: Vec<(f64, f64)>,
    marks_answered: u64,
    losses_answered: u64,
}

/// One packet of the window is lost and another is marked, each if there is one.
fn course(control: &ControlConfig, recovery: Recovery, lost: Option<u64>, marked: Option<usize>) -> Course {
    let config = TcpConfig {
        ecn: true,
        accurate_ecn: control.build(Start::NEW).needs().accurate_ecn,
        prr: false,
        initial_window: Packets(WINDOW),
        ..config(recovery)
    };
    let mut path = Path::new(config.clone(), 0);
    let start = Start { window: WINDOW as f64, ssthresh: 50.0, ..Start::NEW };
    path.sender = Sender::new(&config, control.build(start), 1, Instant::ZERO);
    path.sender.supply(4 * WINDOW);
    path = path.losing(lost.as_slice());
    path.pump();
    if let Some(marked) = marked {
        let index = marked - usize::from(lost.is_some_and(|lost| (lost as usize) < marked));
        path.segments[index].1.congestion_experienced = true;
    }
    let mut reductions = Vec::new();
    let mut before = path.sender.control().window();
    while path.sender.una() < WINDOW && path.step() {
        let after = path.sender.control().window();
        if after < before {
            reductions.push((before, after));
        }
        before = after;
    }
    let statistics = path.sender.statistics();
    assert_eq!(statistics.timeouts, 0);
    Course { reductions, marks_answered: statistics.ecn_reductions, losses_answered: statistics.loss_events }
}

#[test]
fn a_loss_after_a_mark_halves_what_the_mark_left() {
    for (name, control) in &scalable() {
        for recovery in RECOVERIES {
            // While more than half of the window is in flight: pacing sends none of these ACKs' packets yet.
            for (marked, lost) in [(0, 1), (5, 20), (5, 40), (20, 30), (40, 45)] {
                let Course { reductions, marks_answered, losses_answered } =
                    course(control, recovery, Some(lost), Some(marked));
                let at = format!("{name}, {recovery:?}, packet {marked} marked, {lost} lost: {reductions:?}");
                assert_eq!((reductions.len(), marks_answered, losses_answered), (2, 1, 1), "{at}");
                let (before, after) = reductions[1];
                assert!(after <= before / 2.0 && after > before / 2.0 - 1.0, "{at}");
            }
        }
    }
}

#[test]
fn a_mark_after_a_loss_reduces_nothing_more() {
    for (name, control) in &scalable() {
        for recovery in RECOVERIES {
            for (lost, marked) in [(1, 10), (20, 60), (60, 99)] {
                let Course { reductions, marks_answered, .. } =
                    course(control, recovery, Some(lost), Some(marked));
                let at = format!("{name}, {recovery:?}, packet {lost} lost, {marked} marked: {reductions:?}");
                assert_eq!((reductions.len(), marks_answered), (1, 0), "{at}");
            }
        }
    }
}

#[test]
fn a_control_for_which_a_mark_is_a_loss_reduces_once() {
    for recovery in RECOVERIES {
        for (marked, lost) in [(5, 20), (20, 5), (88, 89)] {
            let Course { reductions, .. } = course(&reno(), recovery, Some(lost), Some(marked as usize));
            assert_eq!(reductions.len(), 1, "{recovery:?}, {marked} marked, {lost} lost: {reductions:?}");
            let kept = reductions[0].1 / reductions[0].0;
            assert!((kept - 0.5).abs() < 0.01, "{kept}");
        }
    }
}
