//! Rate-based linear increase and exponential decrease (Park & Tuan, ACM TOMACS 10(2), 2000, §3.6.4 and the last row of
//! Table I).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | lambda | `rate` | packets/s |
//! | gamma | `throughput` | packets/s that arrived, of those sent at one rate |
//! | delta | `increase` | packets/s a second |
//! | b | `decrease` | 1/s |
//!
//! d lambda / dt = delta, or -b lambda under congestion. It is decided once a round trip, from what arrived in it: over
//! datagrams from one report of the receiver, over TCP from the ACKs of a round. Between decisions the rate stands
//! still, so that a round trip of length T adds delta T, or leaves exp(-b T).
//!
//! Readings.
//! - *Congestion.* The source has d gamma / d lambda < 0, and allows "various measures" in its place. The default is a
//!   loss. In a queue that serves in order of arrival, who sends more always gets more: the gradient is positive up to
//!   any rate, and its sign near capacity is that of the rounding to whole packets. `gradient` is there to see that;
//!   unchanged rates or throughputs count as no congestion.
//! - *Beginning.* The source has none: the initial window a round trip. There is no slow start.
//! - *Over TCP* what is lost is sent again at the same rate, and the window only keeps a silent network from being
//!   flooded: it holds two round trips. After a timeout the rate is a packet a round trip.
//!
//! A rate that the application does not use is not tested, and stays.

use crate::report::{Report, Round};
use crate::{AckEvent, CongestionControl, CongestionEvent, Needs, Start, MIN_SSTHRESH};
use parshall_units::parameters::{Reader, Variable};

parshall_units::choice! {
    /// The signal of congestion.
    pub enum CongestionSignal {
        /// A lost packet.
        Loss = "loss",
        /// Throughput that moves against the rate.
        Gradient = "gradient",
    }
}

parshall_units::configuration! {
    /// Parameters of [`RateBased`].
    pub struct RateBasedConfig {
        /// Packets/s added in a second without congestion.
        increase: f64, default "100", min 1e-6, max 1e9;
        /// Share of the rate taken in a second of congestion, continuously: the rate falls to 1/e in 1/`decrease` seconds.
        decrease: f64, default "1", min 1e-6, max 1000.0;
        /// What congestion is: a loss, or throughput that moves against the rate.
        congestion: CongestionSignal, default "loss";
        /// Largest rate in packets/s.
        ceiling: f64, default "100000", min 1.0, max 1e9;
    }
}

/// Taken for the RTT before there is one: the initial window goes at once.
const UNKNOWN_RTT_S: f64 = 1e-3;

/// Linear increase, exponential decrease of a rate.
#[derive(Clone, Debug)]
pub struct RateBased {
    config: RateBasedConfig,
    /// Factor of the increase; 1 but for the large time scale.
    slope: f64,
    window: f64,
    srtt_s: f64,
    /// 0 before the first round trip ended.
    rate: f64,
    /// The rate before: that of the packets that were acknowledged in this round trip.
    rate_before: f64,
    /// Rate and throughput of the packets that were acknowledged in the last round trip.
    last: Option<(f64, f64)>,
    report: Report,
}

impl RateBased {
    pub(crate) const SUMMARY: &'static str = "linear increase and exponential decrease of a rate";
    pub(crate) const REFERENCE: &'static str = "Park & Tuan, ACM TOMACS 10(2), 2000";
    pub(crate) const NEEDS: Needs = Needs { from_reports: true, ..Needs::MODEL_OF_THE_PATH };
    pub(crate) const STEERABLE: bool = true;
    pub(crate) const VARIABLES: &'static [Variable] =
        &[Variable::new("rate", "packets/s", "the rate, without the level of selective level control")];

    /// A control at the start of a connection.
    pub fn new(config: &RateBasedConfig, start: Start) -> Self {
        Self {
            config: config.clone(),
            slope: 1.0,
            window: start.window,
            srtt_s: UNKNOWN_RTT_S,
            rate: 0.0,
            rate_before: 0.0,
            last: None,
            report: Report::NONE,
        }
    }

    /// d lambda / dt, over a round trip.
    fn decide(&mut self, round: Round) {
        if self.rate == 0.0 {
            self.rate = self.window / self.srtt_s;
            self.rate_before = self.rate;
        }
        let throughput = round.delivered / round.length_s;
        let congested = match self.config.congestion {
            CongestionSignal::Loss => round.lost > 0.0,
            CongestionSignal::Gradient => self
                .last
                .is_some_and(|(rate, before)| (self.rate_before - rate) * (throughput - before) < 0.0),
        };
        self.last = Some((self.rate_before, throughput));
        self.rate_before = self.rate;
        if congested {
            self.rate *= libm::exp(-self.config.decrease * round.length_s);
        } else {
            self.rate += self.slope * self.config.increase * round.length_s;
        }
        self.rate = self.rate.max(1.0 / self.srtt_s).min(self.config.ceiling);
        self.window = (2.0 * self.rate * self.srtt_s).max(MIN_SSTHRESH);
    }
}

impl CongestionControl for RateBased {
    fn needs(&self) -> Needs {
        Self::NEEDS
    }

    fn window(&self) -> f64 {
        self.window
    }

    /// There is no slow start.
    fn ssthresh(&self) -> f64 {
        MIN_SSTHRESH
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if let Some(round) = self.report.round(ack, &mut self.srtt_s) {
            self.decide(round);
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("rate", self.rate);
    }

    fn on_congestion(&mut self, _: &CongestionEvent) {
        self.report.lose();
    }

    fn on_timeout(&mut self, _: &CongestionEvent) {
        self.rate = self.rate.min(1.0 / self.srtt_s);
        self.last = None;
        self.window = 1.0;
    }

    fn set_slope(&mut self, slope: f64) {
        self.slope = slope;
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(if self.rate > 0.0 { self.rate } else { self.window / self.srtt_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RateSample;
    use parshall_units::{Duration, Instant};

    fn config() -> RateBasedConfig {
        RateBasedConfig { increase: 100.0, decrease: 1.0, congestion: CongestionSignal::Loss, ceiling: 1e5 }
    }

    /// A report: so many packets arrived in the last 100 ms.
    fn report(now: Instant, arrived: u64, lost: u64) -> AckEvent {
        let rtt = Duration::from_millis(100);
        AckEvent {
            acked: arrived,
            credit: arrived as f64,
            round_ended: true,
            sample: Some(RateSample {
                delivered: arrived,
                prior_delivered: 0,
                rate: None,
                newly_delivered: arrived,
                newly_lost: lost,
                lost,
                in_flight: arrived,
                sent_in_flight: arrived,
                next_send: Duration::ZERO,
                app_limited: false,
            }),
            ..AckEvent::of_one_packet(now, rtt)
        }
    }

    /// Rates after round trips through a path of `capacity` packets/s without a queue.
    fn rates(config: &RateBasedConfig, capacity: f64, rounds: u32) -> Vec<f64> {
        let mut control =
            RateBased::new(config, Start { window: 10.0, ssthresh: f64::INFINITY, ..Start::NEW });
        let (mut now, mut sent) = (Instant::ZERO + Duration::from_millis(100), 100.0_f64);
        let mut found = Vec::new();
        for _ in 0..rounds {
            let arrived = sent.min(capacity) * 0.1;
            control.on_ack(&report(now, arrived as u64, u64::from(sent > capacity)));
            sent = control.pacing_rate().unwrap();
            found.push(control.rate);
            now += Duration::from_millis(100);
        }
        found
    }

    #[test]
    fn adds_delta_a_second_and_loses_exp_minus_b_in_a_second_of_congestion() {
        let found = rates(&config(), 1e9, 12);
        // The second round trip is the first with a rate, that of the initial window: 10 packets in 100 ms.
        assert!((found[1] - 110.0).abs() < 1e-9 && (found[11] - 210.0).abs() < 1e-9, "{found:?}");
        let found = rates(&config(), 1.0, 12);
        assert!(
            (found[11] / found[1] - libm::exp(-1.0)).abs() < 1e-9,
            "ten round trips of 100 ms: {found:?}"
        );
    }

    #[test]
    fn stays_near_what_the_path_takes() {
        let found = rates(&config(), 500.0, 400);
        let late = &found[200..];
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        // Above 500 a round trip is lost at a time, a tenth of the rate; then 10 packets/s a round trip are added.
        assert!(mean > 450.0 && mean < 510.0, "{mean}");
        assert!(late.iter().all(|&rate| rate > 440.0 && rate < 520.0), "{late:?}");
    }

    #[test]
    fn the_gradient_is_blind_to_losses() {
        let gradient = RateBasedConfig { congestion: CongestionSignal::Gradient, ..config() };
        // Throughput that follows the rate at any rate, as in a queue that others fill, is no congestion.
        let found = rates(&gradient, 1e9, 50);
        assert!(found.windows(2).skip(1).all(|pair| pair[1] > pair[0]));
        let mut control =
            RateBased::new(&gradient, Start { window: 10.0, ssthresh: f64::INFINITY, ..Start::NEW });
        let mut now = Instant::ZERO + Duration::from_millis(100);
        let mut rate = 0.0;
        for arrived in [100, 100, 100, 90, 80] {
            rate = control.rate;
            control.on_ack(&report(now, arrived, 0));
            now += Duration::from_millis(100);
        }
        assert!(control.rate < rate, "less arrived of more: {} after {rate}", control.rate);
    }

    #[test]
    fn the_ceiling_holds() {
        let low = RateBasedConfig { ceiling: 150.0, ..config() };
        assert_eq!(rates(&low, 1e9, 30).last(), Some(&150.0));
    }
}
