//! Adaptive RED (Floyd, Gummadi & Shenker 2001): RED that tunes itself to hold the average queue in the middle of its
//! thresholds.
//!
//! | paper | field | unit |
//! | --- | --- | --- |
//! | delay target | `target_delay` | s |
//! | C | from the link's rate and `packet_size` | packets/s |
//! | min_th, max_th, w_q | of `red` | packets, packets, 1 |
//! | max_p | `max_probability` | |
//! | interval | `interval` | s |
//! | alpha, beta | `increase`, `decrease` | |
//!
//! At the first arrival, when the link's rate is known: min_th = max(5, delay target x C / 2), max_th = 3 min_th
//! (§4.3), w_q = 1 - exp(-1 / C) (§4.2), so that the middle of the thresholds is the delay asked for. Then, once an
//! interval (§3): an average above min_th + 0.6 (max_th - min_th) raises max_p by min(alpha, max_p / 4), one below
//! min_th + 0.4 (max_th - min_th) multiplies it by beta; max_p stays within 0.01 and 0.5.
//!
//! As in ns-2.35 (`REDQueue::updateMaxP`), max_p changes at the first arrival after an interval, and once however long
//! the pause before it was. It begins at 0.1.

use super::red::{Red, RedConfig, RedRule};
use super::traits::{Drops, Linux, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, Duration, Instant, Packets};
use rand_core::RngCore;

parshall_units::configuration! {
    /// Parameters of [`AdaptiveRed`].
    pub struct AdaptiveRedConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "100 packets";
        /// Average queueing delay to hold; the queue is not held below 10 packets.
        target_delay: Duration, default "5 ms", min "1 us";
        /// Size of the packets in which queues are counted.
        packet_size: Bytes, default "1500 B", min "1 B", max "65535 B";
        /// Time between two changes of the maximum probability.
        interval: Duration, default "500 ms", min "1 us";
        /// Most that is added to the maximum probability when the average queue is too long.
        increase: f64, default "0.01", min 0.0, max 1.0;
        /// Factor that it keeps when the average queue is too short.
        decrease: f64, default "0.9", min 0.01, max 1.0;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, default "false";
    }
}

/// Lower end of the lower threshold, packets. §4.3
const LEAST_MIN_THRESHOLD: f64 = 5.0;
/// Range of the maximum probability. §3
const MAX_PROBABILITY: (f64, f64) = (0.01, 0.5);
/// Where the maximum probability begins.
const INITIAL_PROBABILITY: f64 = 0.1;

/// Random early detection that tunes itself.
#[derive(Clone, Debug)]
pub struct AdaptiveRed {
    config: AdaptiveRedConfig,
    /// `None` before the first arrival.
    red: Option<Red>,
    max_probability: f64,
    next_update: Instant,
}

impl AdaptiveRed {
    pub(crate) const SUMMARY: &'static str =
        "RED that tunes itself: the average queue is held in the middle of its thresholds";
    pub(crate) const REFERENCE: &'static str = "Floyd, Gummadi & Shenker, 2001";
    pub(crate) const TRAITS: Traits = Traits {
        title: "Adaptive RED",
        drops: Drops::Early,
        separates: Separates::Nothing,
        marks: true,
        own_rate: false,
        random: true,
        thresholds: &[],
        linux: Linux::Lacks("its `red adaptive` holds the middle between two lengths in bytes, not a delay"),
    };

    /// An empty queue.
    pub fn new(config: &AdaptiveRedConfig) -> Self {
        let config = config.clone();
        Self { config, red: None, max_probability: INITIAL_PROBABILITY, next_update: Instant::ZERO }
    }

    /// RED with thresholds and weight for the link's rate, which comes with an arrival. §4.2, §4.3
    fn tuned(&self, arrival: &Arrival) -> Red {
        let bytes_per_s = f64::from(arrival.bytes) / arrival.transmission.as_secs_f64();
        let packets_per_s = bytes_per_s / self.config.packet_size.0 as f64;
        let target_s = self.config.target_delay.as_secs_f64();
        let min_threshold = (target_s * packets_per_s / 2.0).max(LEAST_MIN_THRESHOLD).round() as u64;
        Red::new(&RedConfig {
            limit: self.config.limit,
            min_threshold: Packets(min_threshold),
            max_threshold: Packets(3 * min_threshold),
            max_probability: self.max_probability,
            weight: -libm::expm1(-1.0 / packets_per_s),
            gentle: true,
            count_spacing: true,
            ecn: self.config.ecn,
            rule: RedRule::Paper,
        })
    }

    /// The maximum probability after an interval. §3, Fig. 1
    fn adapted(&self, average: f64, (min, max): (f64, f64)) -> f64 {
        let (least, most) = MAX_PROBABILITY;
        let now = self.max_probability;
        if average > min + 0.6 * (max - min) && now <= most {
            (now + self.config.increase.min(now / 4.0)).min(most)
        } else if average < min + 0.4 * (max - min) && now >= least {
            (now * self.config.decrease).max(least)
        } else {
            now
        }
    }
}

impl QueueDiscipline for AdaptiveRed {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("average", "packets", "moving average of the queue"),
        Variable::new("probability", "", "drop or mark probability, before spacing"),
        Variable::new("max_probability", "", "probability at the upper threshold, which is what adapts"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(red) = &self.red {
            red.read_variables(reader);
        }
        reader("max_probability", self.max_probability);
    }

    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, random: &mut R) -> Verdict {
        let interval = self.config.interval;
        if self.red.is_none() {
            self.next_update = arrival.now + interval;
        }
        let mut red = self.red.take().unwrap_or_else(|| self.tuned(arrival));
        let verdict = red.on_arrival(arrival, backlog, random);
        if arrival.now >= self.next_update {
            self.max_probability = self.adapted(red.average(), red.thresholds());
            red.set_max_probability(self.max_probability);
            self.next_update = arrival.now + interval;
        }
        self.red = Some(red);
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::Ecn;
    use crate::markers::Class;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn config(target_ms: u64) -> AdaptiveRedConfig {
        AdaptiveRedConfig {
            limit: Limit::Packets(1000),
            target_delay: Duration::from_millis(target_ms),
            packet_size: Bytes(1500),
            interval: Duration::from_millis(500),
            increase: 0.01,
            decrease: 0.9,
            ecn: false,
        }
    }

    /// On a link of 12 Mbit/s: 1000 packets/s.
    fn arrival(ms: u64, bytes: u32) -> Arrival {
        let transmission = Duration::from_ps(u64::from(bytes) * 1_000_000_000 / 1500);
        let now = Instant::ZERO + Duration::from_millis(ms);
        Arrival { now, bytes, ecn: Ecn::NotCapable, class: Class::Out, transmission }
    }

    #[test]
    fn thresholds_and_weight_follow_from_the_links_rate() {
        // 1000 packets/s x 40 ms / 2 = 20; 5 ms would be 2.5, which is below the least. A SYN has the rate as well.
        for (target_ms, bytes, min) in [(40, 1500, 20.0), (40, 40, 20.0), (5, 1500, 5.0)] {
            let mut red = AdaptiveRed::new(&config(target_ms)).tuned(&arrival(0, bytes));
            assert_eq!(red.thresholds(), (min, 3.0 * min));
            // An arrival that finds one packet moves the average by w_q = 1 - exp(-1 / 1000).
            let one = Backlog { packets: 1, bytes: 1500, ..Backlog::default() };
            red.on_arrival(&arrival(0, bytes), &one, &mut Xoshiro256PlusPlus::seed_from_u64(1));
            assert!((red.average() - 0.000_999_5).abs() < 1e-9, "{}", red.average());
        }
    }

    #[test]
    fn the_maximum_probability_adapts_by_the_papers_steps() {
        let mut queue = AdaptiveRed::new(&config(5));
        // Thresholds 5 and 15: nothing changes within 9 and 11.
        for (probability, average, expected) in [
            (0.1, 11.5, 0.11),
            (0.02, 11.5, 0.025),
            (0.495, 11.5, 0.5),
            (0.1, 9.0, 0.1),
            (0.1, 11.0, 0.1),
            (0.1, 8.5, 0.09),
            (0.0105, 8.5, 0.01),
        ] {
            queue.max_probability = probability;
            let adapted = queue.adapted(average, (5.0, 15.0));
            assert!((adapted - expected).abs() < 1e-12, "{probability}, {average}: {adapted}");
        }
    }

    #[test]
    fn it_adapts_once_an_interval() {
        let mut queue = AdaptiveRed::new(&config(5));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let short = Backlog { packets: 1, bytes: 1500, ..Backlog::default() };
        for (ms, expected) in [(0, 0.1), (499, 0.1), (500, 0.09), (999, 0.09), (1000, 0.081), (9000, 0.0729)]
        {
            queue.on_arrival(&arrival(ms, 1500), &short, &mut random);
            assert!((queue.max_probability - expected).abs() < 1e-12, "{ms}: {}", queue.max_probability);
        }
        // RED uses it: it is the probability when the average has come to the upper threshold.
        let at_upper = Backlog { packets: 15, bytes: 22_500, ..Backlog::default() };
        for _ in 0..30_000 {
            queue.on_arrival(&arrival(9000, 1500), &at_upper, &mut random);
        }
        let mut probability = None;
        queue.read_variables(&mut |name, value| {
            probability = if name == "probability" { Some(value) } else { probability };
        });
        assert!((probability.unwrap() - 0.0729).abs() < 1e-9, "{probability:?}");
    }
}
