//! Which slow start a connection has: the control's own, or one of those that stand before a control with the standard
//! one.

use crate::hooks;
use crate::hystart::HyStartRule;
use crate::limited_slow_start::LimitedRule;
use crate::{AckEvent, CongestionControl, Control, ControlConfig, Kind, Start};
use parshall_units::parameters::Reader;
use std::fmt::Debug;

parshall_units::choice! {
    /// A connection's search for its first window.
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
    /// True if packets are spaced, which lets [`SlowStart::HyStart`] take long ACKs as they are.
    pub paced: bool,
}

impl SlowStart {
    /// True if it needs an RTT sample of every ACK.
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
            SlowStart::HyStart | SlowStart::Limited => Control::plain(slow_start.before(control.kind)),
        }
    }

    /// True if its slow start is the standard one, which another can replace.
    pub fn has_standard_slow_start(&self) -> bool {
        match self {
            Self::External(config) => config.has_standard_slow_start(), // known without making one
            control => control.sample().end_slow_start(),
        }
    }
}

impl SlowStartChoice {
    /// A control behind this slow start.
    pub(crate) fn before(self, control: Kind) -> Kind {
        match self.kind {
            SlowStart::Standard => control,
            SlowStart::HyStart => {
                Kind::HyStart(Box::new(Behind { rule: HyStartRule::new(self.paced), control }))
            }
            SlowStart::Limited => {
                let rule = LimitedRule { max_ssthresh: self.max_ssthresh };
                Kind::LimitedSlowStart(Box::new(Behind { rule, control }))
            }
        }
    }
}

/// A slow start of another kind, which gets ACKs before the control does.
pub trait SlowStartRule: Debug {
    /// What the ACK counts for, packets; `None`: as it is.
    fn credit(&mut self, ack: &AckEvent, control: &mut Kind) -> Option<f64>;

    /// Its own inner variables.
    fn read_variables(&self, _reader: &mut Reader<'_>) {}
}

/// A control with the standard slow start, behind the rule of another.
#[derive(Debug)]
pub struct Behind<R> {
    rule: R,
    control: Kind,
}

impl<R: SlowStartRule> hooks::Wrapper for Behind<R> {
    type Inner = Kind;

    fn inner(&self) -> &Kind {
        &self.control
    }

    fn inner_mut(&mut self) -> &mut Kind {
        &mut self.control
    }

    fn on_changed(&mut self) {}

    fn on_ack(&mut self, ack: &AckEvent) {
        match self.rule.credit(ack, &mut self.control) {
            Some(credit) => self.control.on_ack(&AckEvent { credit, ..*ack }),
            None => self.control.on_ack(ack),
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        self.rule.read_variables(reader);
        self.control.read_variables(reader);
    }
}
