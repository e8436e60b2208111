//! An oracle: the contention of each interval, known beforehand. It measures what any prediction could gain.
//!
//! Its intervals are multiples of T_L since the beginning of the simulation, those in which a link's traffic is
//! measured, and do not begin with the connection.

use super::MultipleTimeScaleConfig;
use parshall_units::{Duration, Instant};

/// Its knowledge.
#[derive(Clone, Debug)]
pub(super) struct Oracle {
    interval: Duration,
    /// By interval; the last one stays.
    levels: Box<[f64]>,
}

impl Oracle {
    /// The oracle, if there is one.
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Option<Self> {
        let interval = config.interval;
        (!config.oracle.is_empty()).then(|| Self { interval, levels: config.oracle.clone().into() })
    }

    /// The contention of the interval in which `now` is, and when that ends.
    pub(super) fn at(&self, now: Instant) -> (f64, Instant) {
        let index = now.since(Instant::ZERO).as_ps() / self.interval.as_ps();
        let level = self.levels[(index as usize).min(self.levels.len() - 1)];
        (level, Instant::from_ps((index + 1) * self.interval.as_ps()))
    }
}
