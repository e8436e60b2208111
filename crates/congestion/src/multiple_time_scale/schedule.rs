//! Aggressiveness schedules: the slope at a predicted level (§3.4). None grows with contention.

use super::MultipleTimeScaleConfig;

parshall_units::choice! {
    /// Which slope belongs to which level.
    pub enum ScheduleKind {
        /// Linear from A to a.
        InverseLinear = "inverse_linear",
        /// A up to a level, then a.
        Threshold = "threshold",
        /// The number of levels over the level.
        Inverse = "inverse",
        /// One of each level.
        Generalised = "generalised",
    }
}

/// A schedule and its slopes, in slopes of the steered control.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    levels: f64,
    /// A.
    pub(super) largest: f64,
    /// Slope at the highest contention; the source's a.
    smallest: f64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    InverseLinear,
    Threshold(f64),
    Inverse,
    /// The slopes at the levels 1 to h.
    Generalised(Box<[f64]>),
}

impl Schedule {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        let shape = match config.schedule {
            ScheduleKind::InverseLinear => Shape::InverseLinear,
            ScheduleKind::Threshold => Shape::Threshold(config.threshold),
            ScheduleKind::Inverse => Shape::Inverse,
            ScheduleKind::Generalised if config.slopes.is_empty() => {
                Shape::Generalised(vec![1.0; config.levels as usize].into())
            }
            ScheduleKind::Generalised => Shape::Generalised(config.slopes.clone().into()),
        };
        // §3.5: under a metacontrol A begins at a.
        let largest = if config.metacontrol { 1.0 } else { config.aggressiveness };
        Self { levels: config.levels as f64, largest, smallest: config.conservativeness, shape }
    }

    /// epsilon(level), for a level from 1 to h.
    pub(super) fn slope(&self, level: f64) -> f64 {
        match &self.shape {
            Shape::InverseLinear => {
                (self.largest - self.smallest) / (self.levels - 1.0) * (self.levels - level) + self.smallest
            }
            Shape::Threshold(threshold) if level <= *threshold => self.largest,
            Shape::Threshold(_) => self.smallest,
            Shape::Inverse => (self.levels / level).max(self.smallest),
            Shape::Generalised(slopes) => {
                // Between levels in a straight line, so that the slope follows the mean as the other schedules do.
                let below = (level as usize).clamp(1, slopes.len());
                let above = (below + 1).min(slopes.len());
                let share = level - below as f64;
                slopes[below - 1] + share * (slopes[above - 1] - slopes[below - 1])
            }
        }
    }

    /// The slopes by level, if each is set for itself.
    pub(super) fn each(&mut self) -> Option<&mut [f64]> {
        match &mut self.shape {
            Shape::Generalised(slopes) => Some(slopes),
            _ => None,
        }
    }
}
