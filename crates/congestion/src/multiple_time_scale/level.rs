//! Selective level control: the rate of a rate-based source, moved up or down by predicted contention (§3.1, Fig.
//! 2(b)).
//!
//! The source adds to the output rate where contention is low and takes from it where it is high, and gives no formula
//! (its own use is redundancy in video). Here the shift is linear in the predicted level and symmetric: + `largest`
//! packets/s at level 1, - `largest` at level h, nothing in the middle. The control below keeps its own rate, to which
//! the shift is added at each event; its window moves by the same factor. At least a tenth of the
//! control's rate is left, since a source that falls silent learns nothing. Slow start is not shifted.
//!
//! A congestion event enlarges no window: the level that a reduced one is shifted by counts from the next ACK on.

use super::MultipleTimeScaleConfig;
use crate::hooks;
use crate::{CongestionControl, CongestionEvent, Kind, Windows, MIN_SSTHRESH};

/// Share of the control's own rate that is always left.
const LEAST_SHARE: f64 = 0.1;

/// A control whose rate and window are shifted.
#[derive(Debug)]
pub struct Level {
    shift: Shift,
    control: Kind,
    /// Those of the control, shifted.
    windows: Windows,
    pacing_rate: Option<f64>,
}

/// The shift in force.
#[derive(Clone, Debug)]
pub(super) struct Shift {
    levels: f64,
    /// Packets/s at the lowest contention.
    largest: f64,
    /// Packets/s now.
    added: f64,
}

impl Shift {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        Self { levels: config.levels as f64, largest: config.shift, added: 0.0 }
    }

    /// The shift for an interval with this predicted level; none without a prediction.
    pub(super) fn set(&mut self, predicted: Option<f64>) {
        let middle = 0.5 * (self.levels + 1.0);
        self.added = predicted.map_or(0.0, |level| self.largest * (middle - level) / (middle - 1.0));
    }

    /// By what the control's rate and window are multiplied.
    pub(super) fn factor(&self, rate: f64, window: f64, ssthresh: f64) -> f64 {
        if self.added == 0.0 || window < ssthresh {
            return 1.0;
        }
        // A window of less than a packet would send nothing.
        (1.0 + self.added / rate).max(LEAST_SHARE).max(1.0 / window)
    }
}

impl Level {
    pub(crate) fn new(config: &MultipleTimeScaleConfig, control: Kind) -> Self {
        let (windows, pacing_rate) = (Windows::of(&control), control.pacing_rate());
        Self { shift: Shift::new(config), control, windows, pacing_rate }
    }

    /// The level that is predicted, from the next event on.
    pub(super) fn set(&mut self, predicted: Option<f64>) {
        self.shift.set(predicted);
    }

    /// Takes over windows and rate of the control, shifted.
    fn read(&mut self) {
        self.windows = Windows::of(&self.control);
        self.pacing_rate = self.control.pacing_rate();
        if let Some(rate) = &mut self.pacing_rate {
            let factor = self.shift.factor(*rate, self.windows.window, self.windows.ssthresh);
            *rate *= factor;
            self.windows.window = (self.windows.window * factor).max(1.0); // rounding
        }
    }
}

impl hooks::Wrapper for Level {
    type Inner = Kind;

    fn inner(&self) -> &Kind {
        &self.control
    }

    fn inner_mut(&mut self) -> &mut Kind {
        &mut self.control
    }

    fn on_changed(&mut self) {
        self.read();
    }

    fn window(&self) -> f64 {
        self.windows.window
    }

    fn ssthresh(&self) -> f64 {
        self.windows.ssthresh
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let before = self.windows.window;
        self.control.on_congestion(event);
        self.read();
        self.windows.window = self.windows.window.min(before.max(MIN_SSTHRESH));
    }

    /// The control has a window that is not shifted.
    fn on_undo(&mut self, window: f64, ssthresh: f64) {
        let own = window * self.control.window() / self.windows.window;
        self.control.on_undo(own, ssthresh);
        self.read();
    }

    /// The level, which is shifted from the next event on, is not read anew.
    fn set_slope(&mut self, slope: f64) {
        self.control.set_slope(slope);
    }
}
