//! RTT estimate (RFC 6298; RFC 7323 Appendix G where each ACK brings a sample), and that of Linux.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | SRTT | `srtt` | ps |
//! | RTTVAR | `variation` | ps |
//! | alpha', beta' | 1/8 and 1/4, over the samples that a round trip brings | |
//! | `rttvar_us` of Linux | `variation`, times 4 | ps |
//! | `mdev_us`, `mdev_max_us` of Linux | [`Deviation`]: `mean`, `largest` | us, 4 times |

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

/// The deviation of the samples of Linux's estimate: kept apart from it, as nobody else has it.
#[derive(Clone, Debug, Default)]
pub struct Deviation {
    mean: u32,
    /// The largest of the round trip.
    largest: u32,
}

const PS_PER_US: u64 = 1_000_000;

impl RttEstimate {
    /// Takes one of `expected` samples of a round trip. RFC 6298 (2.2), (2.3)
    ///
    /// Each sample counts for so much less as there are more of them, so that the estimate remembers as many round
    /// trips as with one sample in each: RFC 7323 Appendix G.
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

    /// Takes a sample as Linux does (`tcp_rtt_estimator`): each counts in full, however many a round trip brings; what
    /// lasts is the largest variation of a round trip, `least` or more. It goes down by a quarter of the difference at
    /// the ACK that ends one (`ends_round`).
    #[inline]
    pub fn sample_as_linux(
        &mut self,
        deviation: &mut Deviation,
        rtt: Duration,
        ends_round: bool,
        least: Duration,
    ) {
        self.min = self.min.min(rtt);
        let (sample, least) = (rtt.as_ps(), (least.as_ps() / PS_PER_US) as u32);
        if self.srtt == 0 {
            self.srtt = sample.max(1);
            let mean = (sample / PS_PER_US) as u32 * 2;
            *deviation = Deviation { mean, largest: mean.max(least) };
            self.variation = u64::from(deviation.largest) * (PS_PER_US / 4);
            return;
        }
        let off = sample.cast_signed() - self.srtt.cast_signed();
        self.srtt = self.srtt.saturating_add_signed(off / 8).max(1);
        let mut more = (off.unsigned_abs() / PS_PER_US).cast_signed() - i64::from(deviation.mean / 4);
        // An RTT that gets smaller says little of what is to come.
        more >>= if off < 0 && more > 0 { 3 } else { 0 };
        deviation.mean = deviation.mean.saturating_add_signed(more as i32);
        deviation.largest = deviation.largest.max(deviation.mean);
        let mut variation = ((self.variation * 4 / PS_PER_US) as u32).max(deviation.largest);
        // No branches: what an ACK is in this respect, no processor guesses.
        variation -= if ends_round { (variation - deviation.largest) / 4 } else { 0 };
        deviation.largest = if ends_round { least } else { deviation.largest };
        self.variation = u64::from(variation) * (PS_PER_US / 4);
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

    /// `tcp_rtt_estimator`: 1/8 of each sample; the timeout adds what varied most in a round trip, 200 ms at least.
    #[test]
    fn linux_counts_each_sample_in_full() {
        let (mut rtt, mut deviation) = (RttEstimate::default(), Deviation::default());
        let least = Duration::from_millis(200);
        let mut sample = |ms, ends_round| {
            rtt.sample_as_linux(&mut deviation, Duration::from_millis(ms), ends_round, least);
            [rtt.srtt(), rtt.variation().times(4)].map(|time| (time.as_secs_f64() * 1e6).round() / 1e3)
        };
        assert_eq!(sample(80, true), [80.0, 200.0]); // 4 * 80 / 2 = 160 ms
        assert_eq!(sample(160, false), [90.0, 200.0]); // 160 + 80 - 160 / 4 = 200 ms
        assert_eq!(sample(490, false), [140.0, 550.0]); // 200 + 400 - 50 ms
        assert_eq!(sample(140, true), [140.0, 550.0], "the largest of the round trip");
        assert_eq!(sample(140, true), [140.0, 489.844], "less by a quarter of 550 - 309.4 ms");
        let before = deviation.mean;
        rtt.sample_as_linux(&mut deviation, Duration::from_millis(1), false, least);
        assert!(deviation.mean <= before + 139_000 / 8, "smaller RTTs count for an eighth");
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
