//! RTT estimate (RFC 6298; RFC 7323 Appendix G where each ACK brings a sample).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | SRTT | `srtt` | ps |
//! | RTTVAR | `variation` | ps |
//! | alpha', beta' | 1/8 and 1/4, over the samples that a round trip brings | |

use parshall_units::Duration;

/// Smoothed RTT, its variation, and the smallest RTT.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RttEstimate {
    srtt: u64,
    variation: u64,
    min: Duration,
}

impl Default for RttEstimate {
    fn default() -> Self {
        Self { srtt: 0, variation: 0, min: Duration::MAX }
    }
}

impl RttEstimate {
    /// Takes one of `expected` samples of a round trip. RFC 6298 (2.2), (2.3)
    ///
    /// Each sample counts for so much less as there are more of them, so that the estimate remembers as many round trips as
    /// with one sample in each: RFC 7323 Appendix G.
    #[inline]
    pub fn sample(&mut self, rtt: Duration, expected: u64) {
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
    #[inline]
    pub fn srtt(&self) -> Duration {
        Duration::from_ps(self.srtt)
    }

    /// RTTVAR; zero before the first sample.
    #[inline]
    pub fn variation(&self) -> Duration {
        Duration::from_ps(self.variation)
    }

    /// Smallest sample; [`Duration::MAX`] before the first.
    #[inline]
    pub fn min(&self) -> Duration {
        self.min
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
mod tests {
    use super::*;

    #[test]
    fn follows_the_rfc() {
        let mut rtt = RttEstimate::default();
        rtt.sample(Duration::from_millis(100), 1);
        assert_eq!((rtt.srtt(), rtt.variation()), (Duration::from_millis(100), Duration::from_millis(50)));
        rtt.sample(Duration::from_millis(200), 1);
        // RTTVAR = 3/4 * 50 + 1/4 * 100 = 62.5 ms, SRTT = 7/8 * 100 + 1/8 * 200 = 112.5 ms
        assert_eq!(rtt.srtt(), Duration::from_ps(112_500_000_000));
        assert_eq!(rtt.variation(), Duration::from_ps(62_500_000_000));
        assert_eq!(rtt.min(), Duration::from_millis(100));
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
        // 100 equal samples of one round trip: with full weights RTTVAR would be 0.75^100 of what it was.
        let mut rtt = RttEstimate::default();
        rtt.sample(Duration::from_millis(300), 1);
        for _ in 0..100 {
            rtt.sample(Duration::from_millis(300), 100);
        }
        // (1 - 1/400)^100 of RTTVAR = 150 ms
        let expected = (0..100).fold(0.150, |variation, _| variation * (1.0 - 0.0025));
        assert!((rtt.variation().as_secs_f64() - expected).abs() < 1e-9);
        // What counts is how many round trips have passed, to within the coarseness of one sample a round.
        let (one, hundred) = (alternating(40, 1), alternating(40, 100));
        let timeout = |rtt: &RttEstimate| (rtt.srtt() + rtt.variation().times(4)).as_secs_f64();
        let ratio = timeout(&hundred) / timeout(&one);
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }
}
