//! Symmetric metacontrol: A grows by nu an interval where throughput grew with it, and shrinks by nu where it fell
//! (§3.5).
//!
//! | symbol | here |
//! | --- | --- |
//! | gamma_l | throughput of an interval that followed one of level l |
//! | A_l | A in that interval |
//!
//! The sign of d gamma_l / d A_l is that of the differences between the last two intervals that followed level l. The
//! source says "the latest time block classified into the same level", which may also mean the level of the interval
//! itself (`block = "classified"`): then throughput is compared within a level, which is defined by throughput. Where A
//! or throughput did not change, A goes on in its last direction, upwards at first.
//! The source's dA/dt has no unit of time: nu is by interval. A stays within a and [`LIMIT`].
//!
//! Under the generalised schedule the slope of each level is moved for itself, and drags its neighbours along where
//! the schedule would grow with contention.

use super::schedule::Schedule;
use super::MultipleTimeScaleConfig;

parshall_units::choice! {
    /// Which intervals are compared at a level.
    pub enum Block {
        /// Those that followed one of this level.
        Following = "following",
        /// Those of this level.
        Classified = "classified",
    }
}

/// Largest slope that the metacontrol sets: far above what any network rewards.
pub(super) const LIMIT: f64 = 1000.0;

/// Finds A while running.
#[derive(Clone, Debug)]
pub(super) struct Metacontrol {
    adjustment: f64,
    block: Block,
    /// By level: slope and throughput of the last interval that counts for it; of the generalised schedule, that used
    /// its slope.
    last: Box<[Option<(f64, f64)>]>,
    /// The level before the interval that is going on, and the index of the slope in force.
    running: Option<(usize, usize)>,
    /// Taken last.
    direction: f64,
}

impl Metacontrol {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        let last = vec![None; config.levels as usize].into();
        Self { adjustment: config.adjustment, block: config.block, last, running: None, direction: 1.0 }
    }

    pub(super) fn forget(&mut self) {
        self.running = None;
    }

    /// An interval ended that brought `delivered` packets and has the level `level`; `predicted` is that of the next.
    pub(super) fn on_interval(
        &mut self,
        delivered: f64,
        level: usize,
        predicted: f64,
        schedule: &mut Schedule,
    ) {
        if let Some((before, index)) = self.running {
            let counts_for = match self.block {
                Block::Following => before,
                Block::Classified => level,
            };
            let (slope, key) =
                schedule.each().map_or((None, counts_for - 1), |slopes| (Some(slopes[index]), index));
            let slope = slope.unwrap_or(schedule.largest);
            let direction = self.direction(key, slope, delivered);
            self.last[key] = Some((slope, delivered));
            let moved = (slope + direction * self.adjustment).clamp(1.0, LIMIT);
            match schedule.each() {
                None => schedule.largest = moved,
                Some(slopes) => {
                    slopes[index] = moved;
                    slopes[..index].iter_mut().for_each(|slope| *slope = slope.max(moved));
                    slopes[index + 1..].iter_mut().for_each(|slope| *slope = slope.min(moved));
                }
            }
        }
        self.running = Some((level, libm::round(predicted) as usize - 1));
    }

    /// The sign of d gamma_l / d A_l, and the direction taken last where it is not defined.
    fn direction(&mut self, key: usize, slope: f64, delivered: f64) -> f64 {
        if let Some((earlier, brought)) = self.last[key] {
            let moved = slope - earlier;
            if libm::fabs(moved) > 0.5 * self.adjustment && delivered != brought {
                self.direction = if (moved > 0.0) == (delivered > brought) { 1.0 } else { -1.0 };
            }
        }
        self.direction
    }
}
