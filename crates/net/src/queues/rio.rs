//! RED with in and out (Clark & Fang 1998): one drop curve for packets within their flow's profile, a harsher one for
//! the rest.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | q | `Backlog::packets` | packets in the system: those waiting **and the one being transmitted** |
//! | q_in | `Backlog::packets_in` | of these, the ones marked *in* |
//! | min_in, max_in, p_in^max | `in_min`, `in_max`, `in_probability` | packets, packets, 1 |
//! | min_out, max_out, p_out^max | `out_min`, `out_max`, `out_probability` | packets, packets, 1 |
//! | w_q | `averaging` | 1: the instantaneous queue |
//!
//! An arriving packet of class c is dropped with p_c(q): 0 up to min_c, p_c^max (q - min_c) / (max_c - min_c) between
//! the thresholds, 1 from max_c on. q is what the packet finds. So with instantaneous queues and both curves on the
//! total, the system is the birth-death process of Malouch & Liu 2002, eq. (3), which drops with p(i) in state i and
//! never holds more than max_in; with in_min = in_max, *in* packets meet plain tail drop there.
//!
//! The usual RIO (Clark & Fang 1998, §IV) is `in_length = "in"`, `out_length = "total"`, an average and a spaced coin;
//! Malouch & Liu take the total for both, instantaneous, and an independent coin.
//!
//! Clark & Fang do not say how q_in ages while the link is idle: here it decays as RED's average does.

use super::early_drop::{Average, Coin, Curve};
use super::traits::{Drops, Linux, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use crate::markers::Class;
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{ConfigError, Packets};
use rand_core::RngCore;

parshall_units::choice! {
    /// Which packets a curve's queue length counts.
    pub enum Length {
        /// Those marked in.
        In = "in",
        /// All.
        Total = "total",
    }
}

parshall_units::choice! {
    /// The decision by a probability.
    pub enum CoinKind {
        /// Each packet for itself.
        Independent = "independent",
        /// RED's: the gaps between drops of a class are uniform.
        Spaced = "spaced",
    }
}

parshall_units::configuration! {
    /// Parameters of [`Rio`].
    pub struct RioConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "100 packets";
        /// Queue up to which no in-packet is dropped.
        in_min: Packets, default "60 packets", min "0 packets";
        /// Queue from which on every in-packet is dropped.
        in_max: Packets, default "100 packets", min "1 packet";
        /// Drop probability of in-packets just below their upper threshold.
        in_probability: f64, default "0.01", min 0.0, max 1.0;
        /// Queue up to which no out-packet is dropped.
        out_min: Packets, default "20 packets", min "0 packets";
        /// Queue from which on every out-packet is dropped.
        out_max: Packets, default "100 packets", min "1 packet";
        /// Drop probability of out-packets just below their upper threshold.
        out_probability: f64, default "0.06", min 0.0, max 1.0;
        /// The queue that in-packets are held against: of in-packets only, or of all.
        in_length: Length, default "in";
        /// The queue that out-packets are held against.
        // Listed with the default first.
        out_length: Length => Choice("total", "in"), default "total";
        /// Weight of the newest sample in the average queue, or the queue of the moment.
        averaging: f64 => Weight, default "instantaneous", min 1e-9, max 1.0;
        /// Whether drops are drawn independently, or spaced by count as RED's are.
        coin: CoinKind, default "independent";
    }
}

/// RED with in and out. (Boxed, so that links with simpler queues do not get larger.)
#[derive(Clone, Debug)]
pub struct Rio(Box<State>);

#[derive(Clone, Debug)]
struct State {
    config: RioConfig,
    curve_in: Curve,
    curve_out: Curve,
    coin_in: Coin,
    coin_out: Coin,
    average_total: Average,
    average_in: Average,
}

impl Rio {
    pub(crate) const SUMMARY: &'static str =
        "RED with a drop curve for packets in profile and one for the rest";
    pub(crate) const REFERENCE: &'static str = "Clark & Fang, IEEE/ACM ToN 6(4), 1998";
    pub(crate) const TRAITS: Traits = Traits {
        title: "RIO",
        drops: Drops::Early,
        separates: Separates::Profiles,
        marks: false,
        own_rate: false,
        random: true,
        thresholds: &["in_max", "out_max"],
        linux: Linux::Lacks(
            "its `gred` has virtual queues by class, and no curve for the sum of both classes",
        ),
    };

    /// An empty queue.
    pub fn new(config: &RioConfig) -> Self {
        let curve = |min: Packets, max: Packets, max_probability| Curve {
            min: min.0 as f64,
            max: max.0 as f64,
            max_probability,
        };
        Self(Box::new(State {
            curve_in: curve(config.in_min, config.in_max, config.in_probability),
            curve_out: curve(config.out_min, config.out_max, config.out_probability),
            coin_in: Coin::default(),
            coin_out: Coin::default(),
            average_total: Average::default(),
            average_in: Average::default(),
            config: config.clone(),
        }))
    }
}

impl State {
    /// The queue of in-packets is sampled by those that are held against it (Clark & Fang 1998, §IV).
    fn update_averages(&mut self, arrival: &Arrival, backlog: &Backlog) {
        let weight = self.config.averaging;
        self.average_total.decay(weight, arrival, backlog);
        self.average_total.sample(weight, backlog.packets);
        self.average_in.decay(weight, arrival, backlog);
        if arrival.class == Class::In || self.config.out_length == Length::In {
            self.average_in.sample(weight, backlog.packets_in);
        }
    }

    fn average(&self, length: Length) -> f64 {
        match length {
            Length::In => self.average_in.value(),
            Length::Total => self.average_total.value(),
        }
    }

    /// Drop probability of a class, before spacing.
    fn probability(&self, class: Class) -> f64 {
        let (curve, length) = match class {
            Class::In => (&self.curve_in, self.config.in_length),
            Class::Out => (&self.curve_out, self.config.out_length),
        };
        curve.below_max(self.average(length)).unwrap_or(1.0)
    }
}

impl QueueDiscipline for Rio {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("average", "packets", "moving average of the queue"),
        Variable::new("average_in", "packets", "moving average of the in-packets in the queue"),
        Variable::new("probability_in", "", "drop probability of in-packets, before spacing"),
        Variable::new("probability_out", "", "drop probability of out-packets, before spacing"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let state = &*self.0;
        reader("average", state.average(Length::Total));
        reader("average_in", state.average(Length::In));
        reader("probability_in", state.probability(Class::In));
        reader("probability_out", state.probability(Class::Out));
    }

    #[cold] // out of the way of the simpler queues
    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, random: &mut R) -> Verdict {
        let state = &mut *self.0;
        state.update_averages(arrival, backlog);
        if !state.config.limit.has_room(backlog.packets, backlog.bytes, arrival.bytes) {
            return Verdict::Drop;
        }
        let probability = state.probability(arrival.class);
        let coin = match arrival.class {
            Class::In => &mut state.coin_in,
            Class::Out => &mut state.coin_out,
        };
        if coin.is_hit(probability, state.config.coin == CoinKind::Spaced, random) {
            Verdict::Drop
        } else {
            Verdict::Accept
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let config = &self.0.config;
        let order = |low: (&str, Packets), high: (&str, Packets), why: &str| {
            if low.1 <= high.1 {
                return Ok(());
            }
            let accepted = format!("{}, {}, or less{why}", high.0, high.1);
            Err(ConfigError::new(low.0, low.1, accepted))
        };
        order(("in_min", config.in_min), ("in_max", config.in_max), "")?;
        order(("out_min", config.out_min), ("out_max", config.out_max), "")?;
        if config.in_length == config.out_length {
            let why = ": out packets are to be dropped first";
            order(("out_max", config.out_max), ("in_max", config.in_max), why)?;
        }
        let both_rise = config.in_min < config.in_max && config.out_min < config.out_max;
        if both_rise && config.in_probability > config.out_probability {
            let accepted = format!(
                "out_probability, {}, or less: out packets are to be dropped first",
                config.out_probability
            );
            return Err(ConfigError::new("in_probability", config.in_probability, accepted));
        }
        Ok(())
    }

    fn differentiates(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::QueueConfig;
    use parshall_units::{Duration, Instant};
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The source's partially overlapped curves.
    fn config() -> RioConfig {
        RioConfig {
            limit: Limit::Packets(1000),
            in_min: Packets(60),
            in_max: Packets(100),
            in_probability: 0.01,
            out_min: Packets(20),
            out_max: Packets(100),
            out_probability: 0.06,
            in_length: Length::Total,
            out_length: Length::Total,
            averaging: 1.0,
            coin: CoinKind::Independent,
        }
    }

    fn arrival(class: Class) -> Arrival {
        let transmission = Duration::from_millis(1);
        Arrival { now: Instant::ZERO, bytes: 1000, ecn: crate::ecn::Ecn::NotCapable, class, transmission }
    }

    fn backlog(packets: u64, packets_in: u64) -> Backlog {
        Backlog { packets, packets_in, bytes: packets * 1000, ..Backlog::default() }
    }

    /// How often a class is dropped at a constant queue.
    fn drop_share(config: &RioConfig, class: Class, held: &Backlog) -> f64 {
        let mut rio = Rio::new(config);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let rounds = 400_000;
        let drops = (0..rounds)
            .filter(|_| rio.on_arrival(&arrival(class), held, &mut random) == Verdict::Drop)
            .count();
        drops as f64 / f64::from(rounds)
    }

    #[test]
    fn each_class_follows_its_curve() {
        let curves = [
            (Class::In, [(60, 0.0), (80, 0.005), (99, 0.00975), (100, 1.0), (101, 1.0)]),
            (Class::Out, [(20, 0.0), (60, 0.03), (99, 0.059_25), (100, 1.0), (101, 1.0)]),
        ];
        for (class, points) in curves {
            for (queue, expected) in points {
                let share = drop_share(&config(), class, &backlog(queue, 0));
                // Four standard deviations of the share.
                let tolerance = 4.0 * f64::sqrt(expected * (1.0 - expected) / 4e5);
                assert!(
                    (share - expected).abs() <= tolerance,
                    "{class:?} at {queue}: {share}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn equal_thresholds_are_tail_drop() {
        let tail = RioConfig { in_min: Packets(100), in_probability: 0.0, ..config() };
        assert_eq!(drop_share(&tail, Class::In, &backlog(99, 0)), 0.0);
        assert_eq!(drop_share(&tail, Class::In, &backlog(100, 0)), 1.0);
    }

    #[test]
    fn a_curve_sees_the_queue_it_is_told_to() {
        let classic = RioConfig { in_length: Length::In, ..config() };
        assert_eq!(drop_share(&classic, Class::In, &backlog(120, 60)), 0.0);
        assert_eq!(drop_share(&classic, Class::In, &backlog(120, 100)), 1.0);
        assert_eq!(drop_share(&classic, Class::Out, &backlog(120, 0)), 1.0);
        let only_in = RioConfig { out_length: Length::In, ..classic };
        assert_eq!(drop_share(&only_in, Class::Out, &backlog(120, 20)), 0.0);
    }

    #[test]
    fn the_queue_of_in_packets_is_sampled_by_in_packets() {
        let averaged = RioConfig { in_length: Length::In, averaging: 0.1, ..config() };
        let mut rio = Rio::new(&averaged);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..1000 {
            rio.on_arrival(&arrival(Class::Out), &backlog(10, 5), &mut random);
        }
        assert!((rio.0.average_total.value() - 10.0).abs() < 1e-9);
        assert_eq!(rio.0.average_in.value(), 0.0);
        rio.on_arrival(&arrival(Class::In), &backlog(10, 5), &mut random);
        assert!((rio.0.average_in.value() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn spaced_drops_leave_uniform_gaps_in_each_class() {
        // p_b = 1/32 at 60 packets: gaps of out packets are uniform on 1..=32, whatever in packets come between.
        let spaced = RioConfig { coin: CoinKind::Spaced, out_probability: 0.0625, ..config() };
        let mut rio = Rio::new(&spaced);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut gap, mut longest, mut drops) = (0, 0, 0_u32);
        for _ in 0..100_000 {
            rio.on_arrival(&arrival(Class::In), &backlog(60, 0), &mut random);
            gap += 1;
            if rio.on_arrival(&arrival(Class::Out), &backlog(60, 0), &mut random) == Verdict::Drop {
                longest = longest.max(gap);
                gap = 0;
                drops += 1;
            }
        }
        assert_eq!(longest, 32);
        let mean = 100_000.0 / f64::from(drops);
        assert!((mean - 16.5).abs() < 0.5, "{mean}");
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |config: RioConfig| QueueConfig::Rio(config).check().unwrap_err().to_string();
        assert_eq!(
            refused(RioConfig { in_min: Packets(101), ..config() }),
            "in_min: found 101 packets; write in_max, 100 packets, or less"
        );
        assert_eq!(
            refused(RioConfig { out_min: Packets(101), ..config() }),
            "out_min: found 101 packets; write out_max, 100 packets, or less"
        );
        assert_eq!(
            refused(RioConfig { out_max: Packets(101), ..config() }),
            "out_max: found 101 packets; write in_max, 100 packets, or less: out packets are to be dropped first"
        );
        assert_eq!(
            refused(RioConfig { in_probability: 0.1, ..config() }),
            "in_probability: found 0.1; write out_probability, 0.06, or less: out packets are to be dropped first"
        );
        assert!(
            refused(RioConfig { out_probability: 1.5, ..config() }).starts_with("out_probability: found 1.5")
        );
        assert!(refused(RioConfig { in_probability: f64::NAN, ..config() })
            .starts_with("in_probability: found NaN"));
        assert!(refused(RioConfig { averaging: 0.0, ..config() }).starts_with("averaging: found 0"));
        // Queues of their own, and a curve that does not rise, cannot be compared.
        for accepted in [
            config(),
            RioConfig { in_max: Packets(80), in_length: Length::In, ..config() },
            RioConfig { in_min: Packets(100), in_probability: 1.0, ..config() },
        ] {
            assert_eq!(Rio::new(&accepted).check(), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn out_packets_are_never_better_off(
            thresholds in prop::array::uniform4((1u64..200).prop_map(Packets)),
            probabilities in prop::array::uniform2(0.0f64..=1.0),
            queue in 0u64..250,
            seed: u64,
        ) {
            let [mut in_min, mut out_min, mut in_max, mut out_max] = thresholds;
            (in_min, in_max) = (in_min.min(in_max), in_min.max(in_max));
            (out_min, out_max) = (out_min.min(out_max), out_min.max(out_max));
            // The source's condition for a preference, on both thresholds.
            prop_assume!(out_min <= in_min && out_max <= in_max);
            let [a, b] = probabilities;
            let (in_probability, out_probability) = (a.min(b), a.max(b));
            let rio = RioConfig {
                in_min, in_max, in_probability, out_min, out_max, out_probability,
                averaging: 1.0, ..config()
            };
            prop_assert_eq!(Rio::new(&rio).check(), Ok(()));
            // The same random number decides on both.
            let verdict = |class| {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                Rio::new(&rio).on_arrival(&arrival(class), &backlog(queue, queue / 2), &mut random)
            };
            if verdict(Class::Out) == Verdict::Accept {
                prop_assert_eq!(verdict(Class::In), Verdict::Accept);
            }
        }
    }
}
