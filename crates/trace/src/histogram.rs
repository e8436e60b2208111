//! Quantiles of round-trip times in little memory: a count for each of 64 intervals of a power of two, from the least to the largest
//! that was seen. A quantile is off by less than 1 % of its value.

use crate::path_times::Nanos;

/// An octave has 2^[`PRECISION`] intervals.
const PRECISION: u32 = 6;

/// Counts times by their length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    /// Number of the interval that `counts` begins with.
    first: usize,
    counts: Vec<u32>,
}

impl Histogram {
    #[inline]
    pub(crate) fn record(&mut self, time: Nanos) {
        let place = interval(time);
        if let Some(count) = place.checked_sub(self.first).and_then(|at| self.counts.get_mut(at)) {
            *count = count.saturating_add(1);
        } else {
            self.widen(place);
        }
    }

    /// The first time in an interval.
    #[cold]
    fn widen(&mut self, place: usize) {
        if self.counts.is_empty() {
            self.first = place;
        } else if place < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - place));
            self.first = place;
        }
        let at = place - self.first;
        self.counts.resize(self.counts.len().max(at + 1), 0);
        self.counts[at] += 1;
    }

    /// The time that a share `q` of those counted does not exceed, in nanoseconds, by linear interpolation in its interval;
    /// `None` if there was none.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        let total: u64 = self.counts.iter().copied().map(u64::from).sum();
        let rank = q * total as f64;
        let mut below = 0.0;
        for (at, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = f64::from(*count);
            if below + count >= rank {
                let (low, width) = bounds(self.first + at);
                return Some(low + width * ((rank - below) / count).clamp(0.0, 1.0));
            }
            below += count;
        }
        None
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.counts.capacity() * size_of::<u32>()
    }
}

/// Below 2^[`PRECISION`] ns each has its own; above, which power of two, and then the bits after its leading one.
#[inline]
fn interval(time: Nanos) -> usize {
    let shift = (u64::BITS - PRECISION - 1).saturating_sub(time.leading_zeros());
    ((shift as usize) << PRECISION) + (time >> shift) as usize
}

/// The least time of an interval, and how wide it is.
fn bounds(place: usize) -> (f64, f64) {
    let octave = 1 << PRECISION;
    let shift = (place / octave).saturating_sub(1);
    let width = (1u64 << shift) as f64;
    ((place - shift * octave) as f64 * width, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_within_an_interval(mut times in prop::collection::vec(1u64..1 << 40, 1..300)) {
            let mut histogram = Histogram::default();
            for time in &times {
                histogram.record(*time);
            }
            times.sort_unstable();
            for q in [0.5, 0.95, 0.99] {
                let rank = ((q * times.len() as f64).ceil() as usize).clamp(1, times.len());
                let (exact, found) = (times[rank - 1] as f64, histogram.quantile(q).unwrap());
                prop_assert!((found - exact).abs() <= exact / 64.0 + 1.0, "{q}: {found} for {exact}");
            }
        }
    }

    #[test]
    fn takes_memory_for_what_was_seen_alone() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.footprint()), (None, 0));
        for time in [40_000_000, 41_000_000, 39_000_000] {
            histogram.record(time);
        }
        assert!(histogram.footprint() < 200, "{}", histogram.footprint());
        histogram.record(0);
        histogram.record(u64::MAX);
        assert_eq!(histogram.counts.iter().sum::<u32>(), 5);
    }
}
