//! Losses told from needless retransmissions, whatever the sender's recovery: Tahoe, Reno and NewReno go back over a whole
//! window, and nothing but the acknowledgements says what of it had arrived.

mod common;

use common::simulated::{simulate, Point, Setup, Simulated, SETUP};
use common::wire::{frames, links, PCAP};
use common::{observe_file, Observed};
use parshall_tcp::Recovery;

const RECOVERIES: [Recovery; 4] = [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack];

/// Random loss without a queue to speak of.
const RANDOM: Setup = Setup { loss: 0.004, packets_per_s: 10_000, queue: 400, ..SETUP };
const MUCH: Setup = Setup { loss: 0.02, ..RANDOM };

/// A network, and the share by which the losses found may differ from those that happened.
fn networks() -> [(&'static str, Setup, f64); 8] {
    [
        ("full queue", SETUP, 0.02),
        ("full queue, no timestamps", Setup { timestamps: false, ..SETUP }, 0.02),
        ("full queue, delayed ACKs", Setup { delayed_ack: true, ..SETUP }, 0.02),
        ("short queue", Setup { queue: 8, ..SETUP }, 0.02),
        ("random loss", RANDOM, 0.02),
        ("much loss", MUCH, 0.02),
        // A retransmission beside the one at the edge fills a hole, and one delayed acknowledgement answers both: it looks
        // needless, until no duplicate comes.
        (
            "much loss, delayed ACKs, no timestamps",
            Setup { delayed_ack: true, timestamps: false, ..MUCH },
            0.02,
        ),
        // Where the duplicate is lost that would have shown a retransmission to be needless, it counts as a loss: a
        // duplicate in 50 here, and there are as many of them as losses.
        ("full queue, lost ACKs", Setup { lost_acks: 0.02, ..SETUP }, 0.05),
    ]
}

fn observed(simulated: &Simulated, point: Point) -> Observed {
    let (_, link_type, link) = &links()[0];
    observe_file(&PCAP.file(*link_type, &frames(&simulated.captured(point), link, 96)))
}

/// How many rounds lost something and are marked, are marked but lost nothing, lost something and are not marked.
#[derive(Debug, Default)]
struct Confusion {
    both: usize,
    marked: usize,
    missed: usize,
}

impl Confusion {
    fn add(&mut self, lost_at: &[f64], observed: &Observed) {
        let starts = observed.column("rounds", "start_s");
        let marked = observed.column("rounds", "lost");
        for (i, pair) in starts.windows(2).enumerate() {
            // What was sent at the very instant at which a round begins may belong to the one before.
            let within = |early: f64, late: f64| {
                let from = lost_at.partition_point(|at| *at < pair[0] - early);
                lost_at.get(from).is_some_and(|at| *at < pair[1] + late)
            };
            match (marked[i] > 0.0, within(1e-6, 1e-6), within(-1e-6, -1e-6)) {
                (true, true, _) => self.both += 1,
                (true, false, _) => self.marked += 1,
                (false, _, true) => self.missed += 1,
                _ => {}
            }
        }
    }

    fn precision(&self) -> f64 {
        self.both as f64 / (self.both + self.marked) as f64
    }

    fn recall(&self) -> f64 {
        self.both as f64 / (self.both + self.missed) as f64
    }
}

#[test]
fn losses_are_told_from_needless_retransmissions_without_duplicate_reports() {
    for recovery in RECOVERIES {
        let mut rounds = Confusion::default();
        let (mut lost, mut found, mut needless, mut told) = (0, 0.0, 0, 0.0);
        for (place, (name, setup, tolerance)) in networks().into_iter().enumerate() {
            let simulated = simulate(&Setup { recovery, ..setup });
            let truth = &simulated.truth;
            // Between sender and loss the same shows as at the sender: two networks are enough.
            let points = [Point::Sender, Point::Before].into_iter().take(if place < 2 { 2 } else { 1 });
            for point in points {
                let seen = observed(&simulated, point);
                let losses = seen.first("flows", "packets_dropped");
                let place = format!("{recovery:?}, {name}, {point:?}: {losses} of {}", truth.lost);
                assert_eq!(seen.first("flows", "retransmissions"), truth.retransmissions as f64, "{place}");
                // A packet lost at the very end is not sent again.
                assert!(losses >= 0.98 * truth.lost as f64 - 1.0, "{place}");
                assert!(losses <= (1.0 + tolerance) * truth.lost as f64 + 1.0, "{place}");
                if point == Point::Sender {
                    rounds.add(&truth.lost_at, &seen);
                    (lost, found) = (lost + truth.lost, found + losses);
                    needless += truth.needless;
                    told += seen.first("trace_flows", "spurious_retransmissions");
                }
            }
        }
        println!("{recovery:?}: {found} of {lost} losses, {told} of {needless} needless, rounds {rounds:?}");
        assert!(rounds.recall() >= 0.98 && rounds.precision() >= 0.98, "{recovery:?}: {rounds:?}");
        assert!((found / lost as f64 - 1.0).abs() < 0.01, "{recovery:?}: {found} of {lost}");
        // The test means something where there is something to tell apart.
        assert!(recovery == Recovery::Sack || needless > 200, "{recovery:?}: {needless}");
        assert!(
            told >= 0.95 * needless as f64 - 1.0 && told <= needless as f64,
            "{recovery:?}: {told} of {needless}"
        );
    }
}

#[test]
fn behind_the_losses_the_same_shows() {
    for recovery in RECOVERIES {
        let simulated = simulate(&Setup { recovery, ..SETUP });
        for point in [Point::After, Point::Receiver] {
            let seen = observed(&simulated, point);
            let place = format!("{recovery:?}, {point:?}");
            assert_eq!(seen.first("flows", "packets_dropped"), simulated.truth.lost as f64, "{place}");
            let told = seen.first("trace_flows", "spurious_retransmissions");
            assert_eq!(told, simulated.truth.needless as f64, "{place}");
        }
    }
}
