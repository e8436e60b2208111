//! RTT estimate and retransmission timeout (RFC 6298; RFC 7323 Appendix G where each ACK brings a sample).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | SRTT | `srtt` | ps |
//! | RTTVAR | `variation` | ps |
//! | alpha', beta' | 1/8 and 1/4, over the samples that a round trip brings | |
//! | G | `TcpConfig::rto_granularity` | ps |

use crate::TcpConfig;
use parshall_units::Duration;

parshall_units::choice! {
    /// What the smallest timeout is a bound of.
    pub enum RtoFloor {
        /// Of the whole timeout. RFC 6298 (2.4)
        Timeout = "timeout",
        /// Of what it adds to the smoothed RTT for its variation, as in Linux: the timeout is at least SRTT + `min_rto`.
        Variation = "variation",
    }
}

/// Smoothed RTT, its variation, and the timeout they give.
#[derive(Clone, Debug)]
pub struct RttEstimate {
    srtt: u64,
    variation: u64,
    min: Duration,
    /// Doublings of the timeout since the last sample.
    backoff: u32,
    /// The SYN was lost, and no sample has come yet.
    syn_lost: bool,
}

/// The least timeout of data after a lost SYN, until there is a sample. RFC 6298 (5.7)
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

impl Default for RttEstimate {
    fn default() -> Self {
        Self { srtt: 0, variation: 0, min: Duration::MAX, backoff: 0, syn_lost: false }
    }
}

impl RttEstimate {
    /// Takes one of `expected` samples of a round trip, which also ends the backoff. RFC 6298 (2.2), (2.3), §5
    ///
    /// Each sample counts for so much less as there are more of them, so that the estimate remembers as many round trips as
    /// with one sample in each: RFC 7323 Appendix G.
    #[inline]
    pub fn sample(&mut self, rtt: Duration, expected: u64) {
        self.backoff = 0;
        self.min = self.min.min(rtt);
        let rtt = rtt.as_ps();
        if self.srtt == 0 {
            self.srtt = rtt.max(1);
            self.variation = rtt / 2;
        } else {
            let share = 1.0 / expected.max(1).cast_signed() as f64;
            let deviation = self.srtt.abs_diff(rtt);
            self.variation = moved(self.variation, deviation, share / 4.0);
            self.srtt = moved(self.srtt, rtt, share / 8.0).max(1);
        }
    }

    /// SRTT; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        Duration::from_ps(self.srtt)
    }

    /// RTTVAR; zero before the first sample.
    pub fn variation(&self) -> Duration {
        Duration::from_ps(self.variation)
    }

    /// Smallest sample; [`Duration::MAX`] before the first.
    pub fn min(&self) -> Duration {
        self.min
    }

    /// The timeout to arm now, backed off as often as it expired. RFC 6298 (2.1)-(2.5), (5.5)
    #[inline]
    pub fn timeout(&self, config: &TcpConfig) -> Duration {
        let base = if self.srtt == 0 {
            config.initial_rto.max(if self.syn_lost { AFTER_LOST_SYN } else { Duration::ZERO })
        } else {
            let srtt = Duration::from_ps(self.srtt);
            let variation = Duration::from_ps(4 * self.variation).max(config.rto_granularity);
            match config.rto_floor {
                RtoFloor::Timeout => (srtt + variation).max(config.min_rto),
                RtoFloor::Variation => srtt + variation.max(config.min_rto),
            }
        };
        base.times(1 << self.backoff.min(32)).min(config.max_rto.max(config.min_rto))
    }

    /// The timer expired.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// The connection is set up, and its SYN was sent more than once: no sample (Karn). RFC 6298 (5.7)
    pub fn syn_was_lost(&mut self) {
        self.backoff = 0;
        self.syn_lost = true;
    }

    /// How often the timer expired since the last sample.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
}

/// A moving average after a new value with this weight.
#[inline]
fn moved(average: u64, new: u64, weight: f64) -> u64 {
    // By way of signed numbers, whose conversion is one instruction.
    let step = weight * (new.cast_signed() - average.cast_signed()) as f64;
    average.saturating_add_signed(step as i64)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Recovery, SsthreshCache};
    use parshall_congestion::SlowStart;
    use parshall_units::{Bytes, Packets};

    pub(crate) fn config() -> TcpConfig {
        TcpConfig {
            initial_window: Packets(2),
            initial_ssthresh: None,
            slow_start: SlowStart::Standard,
            receive_window: None,
            recovery: Recovery::NewReno,
            prr: false,
            limited_transmit: false,
            delayed_ack: None,
            min_rto: Duration::from_millis(200),
            rto_floor: RtoFloor::Timeout,
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(1),
            rto_granularity: Duration::from_millis(1),
            timestamps: true,
            ecn: false,
            accurate_ecn: false,
            l4s: false,
            pacing: false,
            handshake: false,
            ssthresh_cached: SsthreshCache::Off,
            persistent: false,
            byte_counting: true,
            ack_size: Bytes(40),
        }
    }

    #[test]
    fn follows_the_rfc() {
        let config = config();
        let mut rtt = RttEstimate::default();
        assert_eq!(rtt.timeout(&config), Duration::from_secs(1));
        rtt.sample(Duration::from_millis(100), 1);
        // SRTT 100 ms, RTTVAR 50 ms
        assert_eq!(rtt.timeout(&config), Duration::from_millis(300));
        rtt.sample(Duration::from_millis(200), 1);
        // RTTVAR = 3/4 * 50 + 1/4 * 100 = 62.5 ms, SRTT = 112.5 ms
        assert_eq!(rtt.srtt(), Duration::from_ps(112_500_000_000));
        assert_eq!(rtt.timeout(&config), Duration::from_ps(362_500_000_000));
        for _ in 0..200 {
            rtt.sample(Duration::from_millis(20), 1);
        }
        assert_eq!(rtt.timeout(&config), Duration::from_millis(200));
        assert_eq!(rtt.min(), Duration::from_millis(20));
    }

    #[test]
    fn doubles_to_its_limit_and_forgets() {
        let config = config();
        let mut rtt = RttEstimate::default();
        rtt.sample(Duration::from_millis(100), 1);
        let expected = [300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000];
        for ms in expected {
            assert_eq!(rtt.timeout(&config), Duration::from_millis(ms));
            rtt.back_off();
        }
        rtt.sample(Duration::from_millis(100), 1);
        assert_eq!(
            rtt.timeout(&config),
            Duration::from_ps(287_500_000_000 - 12_500_000_000 - 25_000_000_000)
        );
    }

    #[test]
    fn a_lost_syn_makes_the_first_timeout_of_data_three_seconds() {
        let config = config();
        let mut rtt = RttEstimate::default();
        rtt.back_off();
        rtt.syn_was_lost();
        assert_eq!(rtt.timeout(&config), Duration::from_secs(3));
        rtt.sample(Duration::from_millis(100), 1);
        assert_eq!(rtt.timeout(&config), Duration::from_millis(300));
    }

    /// `rounds` round trips of `samples` samples each, whose RTTs alternate between 100 and 140 ms.
    fn alternating(rounds: u64, samples: u64) -> RttEstimate {
        let mut rtt = RttEstimate::default();
        for sample in 0..rounds * samples {
            let ms = if (sample / samples).is_multiple_of(2) { 100 } else { 140 };
            rtt.sample(Duration::from_millis(ms), samples);
        }
        rtt
    }

    #[test]
    fn the_variation_lasts_for_round_trips_and_not_for_acks() {
        // 100 equal samples of one round trip: with full weights 4 RTTVAR would be 0.75^100 of what it was.
        let config = config();
        let mut rtt = RttEstimate::default();
        rtt.sample(Duration::from_millis(300), 1);
        for _ in 0..100 {
            rtt.sample(Duration::from_millis(300), 100);
        }
        // (1 - 1/400)^100 of RTTVAR = 150 ms
        let expected = 0.3 + 4.0 * 0.15 * power(1.0 - 0.0025, 100);
        assert!((rtt.timeout(&config).as_secs_f64() - expected).abs() < 1e-9);
        // What counts is how many round trips have passed, to within the coarseness of one sample a round.
        let (one, hundred) = (alternating(40, 1), alternating(40, 100));
        let ratio = hundred.timeout(&config).as_secs_f64() / one.timeout(&config).as_secs_f64();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    fn power(base: f64, times: i32) -> f64 {
        (0..times).fold(1.0, |product, _| product * base)
    }

    #[test]
    fn linux_adds_its_floor_to_the_smoothed_rtt() {
        let linux = TcpConfig { rto_floor: RtoFloor::Variation, ..config() };
        let mut rtt = RttEstimate::default();
        for _ in 0..200 {
            rtt.sample(Duration::from_millis(250), 1);
        }
        assert_eq!(rtt.timeout(&config()), Duration::from_millis(251)); // G
        assert_eq!(rtt.timeout(&linux), Duration::from_millis(450));
    }
}
