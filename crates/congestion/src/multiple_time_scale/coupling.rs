//! The actions of the module on the control that it steers (Table I).
//!
//! *Congestion avoidance.* The control gets the slope epsilon, a factor of what it adds: an ACK counts for epsilon
//! of them, a round trip adds epsilon times as much, and FAST, which steps towards a window that it computes, takes
//! longer steps upwards. *Slow start* (§3.6.1): a timeout associates the window at that time with the contention of
//! then, and slow start ends at the window associated with the contention predicted. The source keeps "the empirical
//! association"; here it is the mean over the timeouts of a level.

use super::MultipleTimeScaleConfig;

parshall_units::choice! {
    /// The quantity that is steered.
    pub enum CouplingKind {
        /// The slope of congestion avoidance.
        CongestionAvoidance = "congestion_avoidance",
        /// The window at which slow start ends after a timeout.
        SlowStart = "slow_start",
        /// Both of these.
        Both = "both",
        /// The level of the rate.
        Level = "level",
    }
}

impl CouplingKind {
    pub(super) fn steers_avoidance(self) -> bool {
        match self {
            Self::CongestionAvoidance | Self::Both => true,
            Self::SlowStart | Self::Level => false,
        }
    }

    pub(super) fn steers_slow_start(self) -> bool {
        match self {
            Self::SlowStart | Self::Both => true,
            Self::CongestionAvoidance | Self::Level => false,
        }
    }
}

/// The control that is steered, and the windows at timeouts by level.
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
            avoidance: config.coupling.steers_avoidance(),
            slow_start: config.coupling.steers_slow_start(),
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
