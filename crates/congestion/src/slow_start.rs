//! Which slow start a connection has: the control's own, or one of those that stand before a control with the standard one.

use crate::hystart::HyStart;
use crate::limited_slow_start::LimitedSlowStart;
use crate::{CongestionControl, Control, ControlConfig, Kind, Start};

parshall_units::choice! {
    /// How a connection looks for its first window.
    pub enum SlowStart {
        /// Until a loss, or ssthresh (RFC 5681).
        Standard = "standard",
        /// Until the RTT grows (RFC 9406).
        HyStart = "hystart++",
        /// Until a loss, or ssthresh, in steps that are bounded (RFC 3742).
        Limited = "limited",
    }
}

/// A slow start of choice.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartChoice {
    /// Which one.
    pub kind: SlowStart,
    /// Of [`SlowStart::Limited`]: the window in packets from which on steps are bounded.
    pub max_ssthresh: f64,
    /// Whether packets are spaced, which lets [`SlowStart::HyStart`] take long ACKs as they are.
    pub paced: bool,
}

impl SlowStart {
    /// Whether it needs an RTT sample of every ACK.
    pub fn needs_timestamps(self) -> bool {
        self == Self::HyStart
    }
}

impl ControlConfig {
    /// A control at the start of a connection, with a slow start of choice.
    pub fn build_with(&self, start: Start, slow_start: SlowStartChoice) -> Control {
        let control = self.build(start);
        match slow_start.kind {
            SlowStart::Standard => control,
            SlowStart::HyStart => {
                Control::plain(Kind::HyStart(Box::new(HyStart::new(control.kind, slow_start.paced))))
            }
            SlowStart::Limited => {
                let limited = LimitedSlowStart::new(control.kind, slow_start.max_ssthresh);
                Control::plain(Kind::LimitedSlowStart(Box::new(limited)))
            }
        }
    }

    /// Whether its slow start is the standard one, which another can replace.
    pub fn has_standard_slow_start(&self) -> bool {
        match self {
            Self::External(config) => config.has_standard_slow_start(), // known without making one
            control => control.sample().end_slow_start(),
        }
    }
}
