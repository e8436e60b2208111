//! Random early detection (Floyd & Jacobson, IEEE/ACM ToN 1(4), 1993), with the gentle slope (Floyd 2000) and ECN.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | q | `Backlog::packets` | packets, the one being transmitted included |
//! | avg | `average` | packets |
//! | w_q | `weight` | 1: the instantaneous queue |
//! | min_th, max_th | `min_threshold`, `max_threshold` | packets |
//! | max_p | `max_probability` | |
//! | count | in `coin` | packets accepted since the last drop or mark |
//!
//! p_b = max_p (avg - min_th) / (max_th - min_th); with count spacing the packet is hit with p_a = p_b / (1 - count
//! p_b), so that the gaps between hits are uniform and not geometric; without, with p_b by an independent coin. Above
//! max_th: gentle goes from max_p to 1 at 2 max_th; otherwise every packet is hit. Where the drop probability is 1 or
//! the buffer is full, ECN-capable packets are dropped too (RFC 3168 §7).

//!
//! *ns-2's rule.* ns-2.35 (`queue/red.cc`) differs from the paper in two ways that show where the queue is short, at
//! thresholds of a few packets: the packet being transmitted is not part of the queue; and while at most one packet
//! waits none is hit and the count starts anew, however high the average. With `rule = "ns2"` this queue does the same.
//! Its `limit` counts the packet in transmission in either case.

use super::early_drop::{Average, Coin, Curve};
use super::traits::{Drops, Linux, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{ConfigError, Packets};
use rand_core::RngCore;

parshall_units::choice! {
    /// The packets that count as the queue, and the state in which none is hit.
    pub enum RedRule {
        /// The packet being transmitted counts, and the average alone decides (Floyd & Jacobson 1993).
        Paper = "paper",
        /// It does not count, and nothing is hit while at most one packet waits.
        Ns2 = "ns2",
    }
}

parshall_units::configuration! {
    /// Parameters of [`Red`].
    pub struct RedConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "100 packets";
        /// Average queue above which packets are hit.
        min_threshold: Packets, default "5 packets", min "0 packets";
        /// Average queue at which the probability reaches its maximum.
        max_threshold: Packets, default "15 packets", min "1 packet";
        /// Probability at the upper threshold.
        max_probability: f64, default "0.1", min 0.0, max 1.0;
        /// Weight of the newest sample in the average; 1 uses the instantaneous queue.
        weight: f64, default "0.002", min 1e-9, max 1.0;
        /// Whether the probability rises gently from the maximum to 1 at twice the upper threshold.
        gentle: bool, default "true";
        /// Whether hits are spaced by count instead of drawn independently.
        count_spacing: bool, default "true";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, default "false";
        /// What is counted: as in the paper of 1993, the packet being transmitted too; or as ns-2 does, without it, and no packet is hit while at most one waits.
        rule: RedRule, default "paper";
    }
}

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    curve: Curve,
    average: Average,
    coin: Coin,
}

impl Red {
    pub(crate) const SUMMARY: &'static str = "random early detection on the average queue, gentle, with ECN";
    pub(crate) const REFERENCE: &'static str = "Floyd & Jacobson, IEEE/ACM ToN 1(4), 1993";
    pub(crate) const TRAITS: Traits = Traits {
        title: "RED",
        drops: Drops::Early,
        separates: Separates::Nothing,
        marks: true,
        own_rate: false,
        random: true,
        thresholds: &["max_threshold"],
        linux: Linux::Lacks(
            "its `red` takes lengths in bytes and a burst instead of a weight, and is not gentle",
        ),
    };

    /// An empty queue.
    pub fn new(config: &RedConfig) -> Self {
        let curve = Curve {
            min: config.min_threshold.0 as f64,
            max: config.max_threshold.0 as f64,
            max_probability: config.max_probability,
        };
        Self { config: config.clone(), curve, average: Average::default(), coin: Coin::default() }
    }

    /// The average queue, packets.
    pub fn average(&self) -> f64 {
        self.average.value()
    }

    /// The lower and the upper threshold, packets.
    pub(super) fn thresholds(&self) -> (f64, f64) {
        (self.curve.min, self.curve.max)
    }

    /// Another probability at the upper threshold.
    pub(super) fn set_max_probability(&mut self, probability: f64) {
        self.curve.max_probability = probability;
    }

    /// Probability before spacing, as a function of the average queue.
    fn probability(&self) -> f64 {
        let average = self.average.value();
        match self.curve.below_max(average) {
            Some(probability) => probability,
            None if self.config.gentle && average < 2.0 * self.curve.max => {
                let max = self.curve.max_probability;
                max + (1.0 - max) * (average - self.curve.max) / self.curve.max
            }
            None => 1.0,
        }
    }
}

impl QueueDiscipline for Red {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("average", "packets", "moving average of the queue"),
        Variable::new("probability", "", "drop or mark probability, before spacing"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("average", self.average.value());
        reader("probability", self.probability());
    }

    fn check(&self) -> Result<(), ConfigError> {
        let (min, max) = (self.config.min_threshold, self.config.max_threshold);
        if min > max {
            let accepted = format!("max_threshold, {max}, or less");
            return Err(ConfigError::new("min_threshold", min, accepted));
        }
        Ok(())
    }

    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, random: &mut R) -> Verdict {
        let weight = self.config.weight;
        self.average.decay(weight, arrival, backlog);
        let waiting = backlog.packets.saturating_sub(1);
        let by_ns2 = self.config.rule == RedRule::Ns2;
        self.average.sample(weight, if by_ns2 { waiting } else { backlog.packets });
        if !self.config.limit.has_room(backlog.packets, backlog.bytes, arrival.bytes) {
            return Verdict::Drop;
        }
        let probability = if by_ns2 && waiting <= 1 { 0.0 } else { self.probability() };
        if !self.coin.is_hit(probability, self.config.count_spacing, random) {
            Verdict::Accept
        } else if self.config.ecn && arrival.ecn.is_capable() && probability < 1.0 {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::Ecn;
    use crate::markers::Class;
    use parshall_units::{Duration, Instant};
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn config() -> RedConfig {
        RedConfig {
            limit: Limit::Packets(1000),
            min_threshold: Packets(10),
            max_threshold: Packets(30),
            max_probability: 0.1,
            weight: 1.0,
            gentle: true,
            count_spacing: false,
            ecn: true,
            rule: RedRule::Paper,
        }
    }

    fn arrival(ecn: Ecn) -> Arrival {
        let transmission = Duration::from_millis(1);
        Arrival { now: Instant::ZERO, bytes: 1500, ecn, class: Class::Out, transmission }
    }

    /// How often a constant queue of `packets` is hit.
    fn hit_share(config: &RedConfig, packets: u64) -> f64 {
        let mut red = Red::new(config);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let backlog = Backlog { packets, bytes: packets * 1500, ..Backlog::default() };
        let rounds = 200_000;
        let hits = (0..rounds)
            .filter(|_| red.on_arrival(&arrival(Ecn::NotCapable), &backlog, &mut random) == Verdict::Drop)
            .count();
        hits as f64 / f64::from(rounds)
    }

    #[test]
    fn follows_its_curve() {
        for (queue, expected) in [(9, 0.0), (10, 0.0), (20, 0.05), (30, 0.1), (45, 0.55), (60, 1.0)] {
            let share = hit_share(&config(), queue);
            assert!((share - expected).abs() < 0.004, "queue {queue}: {share}, expected {expected}");
        }
        let abrupt = RedConfig { gentle: false, ..config() };
        assert_eq!(hit_share(&abrupt, 30), 1.0);
    }

    #[test]
    fn count_spacing_makes_gaps_uniform() {
        // With p_b = 0.05 gaps are uniform on 1..=20, so their mean is 10.5 and none is longer (§4).
        let spaced = RedConfig { count_spacing: true, ..config() };
        let share = hit_share(&spaced, 20);
        assert!((share - 1.0 / 10.5).abs() < 0.002, "{share}");
    }

    #[test]
    fn ns2s_rule_spares_a_queue_of_one_and_leaves_out_the_packet_in_transmission() {
        let ns2 = RedConfig {
            rule: RedRule::Ns2,
            min_threshold: Packets(0),
            max_threshold: Packets(20),
            ..config()
        };
        assert_eq!((hit_share(&ns2, 1), hit_share(&ns2, 2)), (0.0, 0.0));
        let share = hit_share(&ns2, 11); // ten wait
        assert!((share - 0.05).abs() < 0.004, "{share}");
        // However high the average: it was 29, and one packet waits.
        let mut red = Red::new(&RedConfig { weight: 0.001, min_threshold: Packets(10), ..ns2 });
        red.average.sample(1.0, 29);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let short = Backlog { packets: 2, bytes: 3000, ..Backlog::default() };
        assert!((0..100)
            .all(|_| red.on_arrival(&arrival(Ecn::NotCapable), &short, &mut random) == Verdict::Accept));
        assert!(red.average() > 20.0);
    }

    #[test]
    fn crossed_thresholds_are_refused() {
        let crossed = Red::new(&RedConfig { min_threshold: Packets(40), ..config() });
        let message = crossed.check().unwrap_err().to_string();
        assert_eq!(message, "min_threshold: found 40 packets; write max_threshold, 30 packets, or less");
    }

    #[test]
    fn marks_what_can_be_marked() {
        let mut red = Red::new(&RedConfig { max_probability: 1.0, ..config() });
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let backlog = Backlog { packets: 29, ..Backlog::default() };
        let verdicts: Vec<Verdict> =
            (0..100).map(|_| red.on_arrival(&arrival(Ecn::Ect0), &backlog, &mut random)).collect();
        assert!(verdicts.contains(&Verdict::Mark) && !verdicts.contains(&Verdict::Drop));
        let full = Backlog { packets: 1000, ..Backlog::default() };
        assert_eq!(red.on_arrival(&arrival(Ecn::Ect0), &full, &mut random), Verdict::Drop);
    }

    #[test]
    fn the_average_decays_while_idle() {
        let mut red = Red::new(&RedConfig { weight: 0.1, ..config() });
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let busy = Backlog { packets: 9, ..Backlog::default() };
        for _ in 0..500 {
            red.on_arrival(&arrival(Ecn::NotCapable), &busy, &mut random);
        }
        assert!((red.average() - 9.0).abs() < 0.01);
        let later = Arrival { now: Instant::ZERO + Duration::from_millis(10), ..arrival(Ecn::NotCapable) };
        let idle = Backlog { idle_since: Some(Instant::ZERO), ..Backlog::default() };
        red.on_arrival(&later, &idle, &mut random);
        let expected = 9.0 * libm::pow(0.9, 11.0);
        assert!((red.average() - expected).abs() < 0.01, "{} {expected}", red.average());
    }
}
