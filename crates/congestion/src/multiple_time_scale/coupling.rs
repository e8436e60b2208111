//! How the module acts on the control it steers (Table I).
//!
//! *Congestion avoidance.* To controls that grow by the ACK and use nothing else of it, each ACK counts for epsilon. Those that
//! grow by the round trip, or measure with what they are credited, are told the slope; FAST, which steps towards a
//! window that it computes, takes longer steps upwards. *Slow start* (§3.6.1): a timeout associates the window at that time with the
//! contention of then, and slow start ends at the window associated with the contention predicted. The source keeps "the
//! empirical association"; here it is the mean over the timeouts of a level.

use super::MultipleTimeScaleConfig;
use crate::{CongestionControl, Control};

/// What is steered, and the windows at timeouts by level.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    pub(super) avoidance: bool,
    slow_start: bool,
    /// By level: sum of the windows at timeouts, and their number.
    at_timeouts: Box<[(f64, f64)]>,
}

impl Coupling {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        Self {
            avoidance: matches!(config.coupling.as_str(), "congestion_avoidance" | "both"),
            slow_start: matches!(config.coupling.as_str(), "slow_start" | "both"),
            at_timeouts: vec![(0.0, 0.0); config.levels as usize].into(),
        }
    }

    /// A timeout at a window; the window at which slow start ends, if this is steered and the level is known.
    pub(super) fn on_timeout(
        &mut self,
        window: f64,
        level: Option<usize>,
        predicted: Option<f64>,
    ) -> Option<f64> {
        if !self.slow_start {
            return None;
        }
        let (sum, number) = &mut self.at_timeouts[level? - 1];
        *sum += window;
        *number += 1.0;
        let (sum, number) = self.at_timeouts[libm::round(predicted?) as usize - 1];
        (number > 0.0).then(|| sum / number)
    }
}

/// Tells the slope to controls that take it; for how many ACKs one counts with the others.
pub(super) fn set_slope(control: &mut Control, slope: f64) -> f64 {
    match control {
        Control::Cubic2005(_) | Control::TcpRate(_) => slope,
        control => {
            control.set_slope(slope);
            1.0
        }
    }
}

/// Slow start ends at this window.
pub(super) fn set_ssthresh(control: &mut Control, ssthresh: f64) {
    match control {
        Control::Cubic2005(c) => c.ssthresh = ssthresh,
        Control::TcpRate(c) => c.ssthresh = ssthresh,
        control => control.set_ssthresh(ssthresh),
    }
}
