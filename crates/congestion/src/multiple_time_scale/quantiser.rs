//! Throughput as a level of contention: 1 where throughput is high, h where it is low (§2.2, §3.3).
//!
//! In the source the map is monotone, and no more is known of it. It matters: between the extremes so far, one lucky
//! interval pins everything after it at high contention; a fixed range needs to be known; ranks use all levels equally.

use super::MultipleTimeScaleConfig;

parshall_units::choice! {
    /// The levels of throughput.
    pub enum QuantiserKind {
        /// By its rank among the last ones.
        Quantile = "quantile",
        /// By its place between the extremes so far.
        RunningRange = "running_range",
        /// By its place between 0 and a peak.
        FixedRange = "fixed_range",
    }
}

/// The map L, with what it must remember.
#[derive(Clone, Debug)]
pub(super) struct Quantiser {
    levels: usize,
    range: Range,
}

#[derive(Clone, Debug)]
enum Range {
    /// From 0 to this many packets.
    Fixed(f64),
    /// Between the extremes so far.
    Running { low: f64, high: f64 },
    /// The rank among the last values, whole packets, which stand in a ring; `next` is the oldest once it is full.
    Quantile { ring: Box<[u32]>, next: usize, filled: usize },
}

impl Quantiser {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        let range = match config.quantiser {
            QuantiserKind::Quantile => {
                Range::Quantile { ring: vec![0; config.memory as usize].into(), next: 0, filled: 0 }
            }
            QuantiserKind::RunningRange => Range::Running { low: f64::INFINITY, high: f64::NEG_INFINITY },
            QuantiserKind::FixedRange => Range::Fixed(config.peak * config.interval.as_ps() as f64 / 1e12),
        };
        Self { levels: config.levels as usize, range }
    }

    /// An interval brought so many packets: remembers it.
    pub(super) fn add(&mut self, delivered: f64) {
        match &mut self.range {
            Range::Fixed(_) => {}
            Range::Running { low, high } => {
                *low = low.min(delivered);
                *high = high.max(delivered);
            }
            Range::Quantile { ring, next, filled } => {
                ring[*next] = delivered as u32;
                *next = (*next + 1) % ring.len();
                *filled = (*filled + 1).min(ring.len());
            }
        }
    }

    /// The level of contention of an interval that brought so many packets, which is remembered.
    pub(super) fn level(&mut self, delivered: f64) -> usize {
        self.add(delivered);
        self.level_among(delivered, 0.0)
    }

    /// The same beside what is remembered, without becoming part of it.
    pub(super) fn level_beside(&self, delivered: f64) -> usize {
        self.level_among(delivered, 1.0)
    }

    /// `more`: values equal to this one, which are not remembered.
    fn level_among(&self, delivered: f64, more: f64) -> usize {
        let share = match &self.range {
            Range::Fixed(peak) => delivered / peak,
            Range::Running { low, high } => {
                let (low, high) = (low.min(delivered), high.max(delivered));
                // The first values are neither high nor low.
                if high > low {
                    (delivered - low) / (high - low)
                } else {
                    0.5
                }
            }
            Range::Quantile { ring, filled, .. } => {
                let known = &ring[..*filled];
                let delivered = delivered as u32;
                // Twice those below and once those equal to it, in one pass: it is most of an interval's cost.
                let count = |&other: &u32| u32::from(other < delivered) + u32::from(other <= delivered);
                let twice = f64::from(known.iter().map(count).sum::<u32>()) + more;
                0.5 * twice / (*filled as f64 + more)
            }
        };
        let above = ((share * self.levels as f64) as usize).min(self.levels - 1);
        self.levels - above
    }
}
