//! Percentiles of delays in constant memory.
//!
//! Buckets are log-linear, as in HDR histograms: every power of two is cut into 2^7 equal buckets, and
//! delays below 2^8 ps have a bucket of 1 ps each. A bucket is never wider than 2^-7 of its values, and
//! percentiles, which are bucket middles, are off by at most 2^-8 (0.4 %). The mean, least and largest
//! delay are exact.

use parshall_units::Duration;

/// A power of two has 2^PRECISION buckets.
const PRECISION: u32 = 7;
/// Buckets of a power of two.
const OCTAVE: usize = 1 << PRECISION;
/// All delays below 2^PRECISION ps are the first octave; every higher power of two is one more.
const BUCKETS: usize = (u64::BITS - PRECISION + 1) as usize * OCTAVE;

/// Counts delays by their size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayHistogram {
    counts: Box<[u64]>,
    count: u64,
    sum_ps: u128,
    min_ps: u64,
    max_ps: u64,
}

impl DelayHistogram {
    /// An empty histogram: 58 KiB, whatever is counted later.
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS].into(), count: 0, sum_ps: 0, min_ps: u64::MAX, max_ps: 0 }
    }

    /// Counts a delay.
    #[inline]
    pub fn record(&mut self, delay: Duration) {
        let ps = delay.as_ps();
        self.counts[bucket(ps)] += 1;
        self.count += 1;
        self.sum_ps += u128::from(ps);
        self.min_ps = self.min_ps.min(ps);
        self.max_ps = self.max_ps.max(ps);
    }

    /// Adds what another histogram counted.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.min_ps = self.min_ps.min(other.min_ps);
        self.max_ps = self.max_ps.max(other.max_ps);
    }

    /// Returns the number of counted delays.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean in seconds, exact; `None` if nothing was counted.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ps as f64 / self.count as f64 * 1e-12)
    }

    /// The least delay, exact; `None` if nothing was counted.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(Duration::from_ps(self.min_ps))
    }

    /// The largest delay, exact; `None` if nothing was counted.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(Duration::from_ps(self.max_ps))
    }

    /// The delay that a fraction `q` of the delays do not exceed: of the n counted the one with rank
    /// ceil(q n), from 1; `None` if nothing was counted.
    ///
    /// # Panics
    /// `q` is not in `[0, 1]`.
    pub fn percentile(&self, q: f64) -> Option<Duration> {
        assert!((0.0..=1.0).contains(&q), "a fraction is in [0, 1], found {q}");
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        if rank == self.count {
            return self.max();
        }
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        let (low, width) = range(found);
        let middle = low + (width - 1) / 2;
        Some(Duration::from_ps(middle.clamp(self.min_ps, self.max_ps)))
    }

    /// The buckets that hold any delays, in order: the first delay that belongs to it, the first that no
    /// longer does, and how many there are.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, Duration, u64)> + '_ {
        let occupied = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        occupied.map(|(i, count)| {
            let (low, width) = range(i);
            (Duration::from_ps(low), Duration::from_ps(low.saturating_add(width)), *count)
        })
    }
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The bucket of a delay: which power of two, and then the 7 bits after its leading one.
#[inline]
fn bucket(ps: u64) -> usize {
    let shift = (u64::BITS - PRECISION - 1).saturating_sub(ps.leading_zeros());
    shift as usize * OCTAVE + (ps >> shift) as usize
}

/// The first delay of a bucket, and its width.
fn range(bucket: usize) -> (u64, u64) {
    let shift = (bucket / OCTAVE).saturating_sub(1);
    (((bucket - shift * OCTAVE) as u64) << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Delays of every magnitude.
    fn delays() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift), 1..200)
    }

    fn histogram(delays: &[u64]) -> DelayHistogram {
        let mut histogram = DelayHistogram::new();
        for ps in delays {
            histogram.record(Duration::from_ps(*ps));
        }
        histogram
    }

    #[test]
    fn nothing_counted_has_no_percentile() {
        let empty = DelayHistogram::new();
        assert_eq!(
            (empty.percentile(0.5), empty.mean_s(), empty.min(), empty.max()),
            (None, None, None, None)
        );
        assert_eq!(empty.buckets().count(), 0);
    }

    #[test]
    fn buckets_join_without_gap_or_overlap() {
        let mut end = 0;
        for i in 0..BUCKETS {
            let (low, width) = range(i);
            assert_eq!((low, bucket(low), bucket(low + (width - 1))), (end, i, i));
            assert!(width == 1 || low / width >= 1 << PRECISION);
            end = low.wrapping_add(width);
        }
        assert_eq!(end, 0); // 2^64
    }

    proptest! {
        #[test]
        fn percentiles_are_near_the_exact_ones(mut delays in delays(), q in 0.0..=1.0f64) {
            let ours = histogram(&delays).percentile(q).unwrap().as_ps();
            delays.sort_unstable();
            let rank = ((q * delays.len() as f64).ceil() as usize).max(1);
            let exact = delays[rank - 1];
            prop_assert!(ours.abs_diff(exact) <= exact >> 8, "{ours} and {exact}");
        }

        #[test]
        fn the_ends_and_the_mean_are_exact(delays in delays()) {
            let histogram = histogram(&delays);
            prop_assert_eq!(histogram.min().unwrap().as_ps(), *delays.iter().min().unwrap());
            prop_assert_eq!(histogram.max().unwrap().as_ps(), *delays.iter().max().unwrap());
            prop_assert_eq!(histogram.percentile(1.0), histogram.max());
            let mean = delays.iter().map(|ps| *ps as f64 * 1e-12).sum::<f64>() / delays.len() as f64;
            prop_assert!((histogram.mean_s().unwrap() - mean).abs() <= 1e-12 * mean);
        }

        #[test]
        fn buckets_hold_every_delay_once(delays in delays()) {
            let histogram = histogram(&delays);
            for (low, high, count) in histogram.buckets() {
                let inside = delays.iter().filter(|ps| (low.as_ps()..high.as_ps()).contains(ps)).count();
                // The last bucket's end, 2^64 ps, cannot be written: it is one less, and part of it.
                prop_assert!(inside as u64 == count || high == Duration::MAX);
            }
            prop_assert_eq!(histogram.buckets().map(|(_, _, count)| count).sum::<u64>(), histogram.count());
            prop_assert_eq!(histogram.count(), delays.len() as u64);
        }

        #[test]
        fn merging_is_counting_together(first in delays(), second in delays()) {
            let mut merged = histogram(&first);
            merged.merge(&histogram(&second));
            prop_assert_eq!(merged, histogram(&[first, second].concat()));
        }
    }
}
