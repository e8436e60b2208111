//! Smallest and largest RTT of a sliding time, for controls that compare the two.

use crate::path_model::WindowedMax;
use parshall_units::{Duration, Instant};

/// The largest RTT of late.
#[derive(Clone, Debug)]
pub(crate) struct LargestRtt(WindowedMax);

impl LargestRtt {
    pub(crate) fn new() -> Self {
        Self(WindowedMax::new(0))
    }

    /// An RTT in seconds; what is older than `length` is forgotten.
    pub(crate) fn update(&mut self, now: Instant, rtt_s: f64, length: Duration) {
        self.0.set_length(length.as_ps());
        self.0.update(now.as_ps(), rtt_s);
    }

    /// Seconds; 0 before the first.
    pub(crate) fn get(&self) -> f64 {
        self.0.max()
    }
}

/// The smallest RTT of late: the inverse of the largest inverse.
#[derive(Clone, Debug)]
pub(crate) struct SmallestRtt(WindowedMax);

impl SmallestRtt {
    pub(crate) fn new() -> Self {
        Self(WindowedMax::new(0))
    }

    /// An RTT in seconds, above 0; what is older than `length` is forgotten.
    pub(crate) fn update(&mut self, now: Instant, rtt_s: f64, length: Duration) {
        self.0.set_length(length.as_ps());
        self.0.update(now.as_ps(), 1.0 / rtt_s);
    }

    /// Seconds; `None` before the first.
    pub(crate) fn get(&self) -> Option<f64> {
        (self.0.max() > 0.0).then(|| 1.0 / self.0.max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forget_what_is_old() {
        let (mut smallest, mut largest) = (SmallestRtt::new(), LargestRtt::new());
        assert_eq!((smallest.get(), largest.get()), (None, 0.0));
        let length = Duration::from_millis(100);
        let mut found = Vec::new();
        for (ms, rtt_s) in [(0, 0.2), (10, 0.1), (50, 0.4), (105, 0.3), (160, 0.25)] {
            let now = Instant::ZERO + Duration::from_millis(ms);
            smallest.update(now, rtt_s, length);
            largest.update(now, rtt_s, length);
            found.push((smallest.get().unwrap(), largest.get()));
        }
        let expected = [(0.2, 0.2), (0.1, 0.2), (0.1, 0.4), (0.1, 0.4), (0.25, 0.3)];
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found.0 - expected.0).abs() < 1e-12 && found.1 == expected.1,
                "{found:?}, expected {expected:?}"
            );
        }
    }
}
