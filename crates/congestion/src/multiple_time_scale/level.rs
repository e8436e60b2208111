//! Selective level control: the rate of a rate-based source, moved up or down by predicted contention (§3.1, Fig. 2(b)).
//!
//! The source adds to the output rate where contention is low and takes from it where it is high, and gives no formula
//! (its own use is redundancy in video). Here the shift is linear in the predicted level and symmetric: + `largest` packets/s at
//! level 1, - `largest` at level h, nothing in the middle. The control below keeps its own rate, to which the shift is
//! added whenever it is read; its window moves by the same factor. At least a tenth of the control's rate is left, since a
//! source that falls silent learns nothing. Slow start is not shifted.

use super::MultipleTimeScaleConfig;

/// Share of the control's own rate that is always left.
const LEAST_SHARE: f64 = 0.1;

/// The shift in force.
#[derive(Clone, Debug)]
pub(super) struct Level {
    levels: f64,
    /// Packets/s at the lowest contention.
    largest: f64,
    shift: f64,
}

impl Level {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        Self { levels: config.levels as f64, largest: config.shift, shift: 0.0 }
    }

    /// The shift for an interval with this predicted level; none without a prediction.
    pub(super) fn set(&mut self, predicted: Option<f64>) {
        let middle = 0.5 * (self.levels + 1.0);
        self.shift = predicted.map_or(0.0, |level| self.largest * (middle - level) / (middle - 1.0));
    }

    /// By what the control's rate and window are multiplied.
    pub(super) fn factor(&self, rate: f64, window: f64, ssthresh: f64) -> f64 {
        if self.shift == 0.0 || window < ssthresh {
            return 1.0;
        }
        // A window of less than a packet would send nothing.
        (1.0 + self.shift / rate).max(LEAST_SHARE).max(1.0 / window)
    }
}
