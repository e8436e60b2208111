//! Which slow start a connection has: the control's own, or one of those that stand before a control with the standard one.

use crate::hystart::HyStartRule;
use crate::limited_slow_start::LimitedRule;
use crate::{
    AckEvent, CongestionControl, CongestionEvent, Control, ControlConfig, Kind, Needs, Start,
    TransmissionStart,
};
use parshall_units::parameters::Reader;
use std::fmt::Debug;

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
                let rule = HyStartRule::new(slow_start.paced);
                Control::plain(Kind::HyStart(Box::new(Behind { rule, control: control.kind })))
            }
            SlowStart::Limited => {
                let rule = LimitedRule { max_ssthresh: slow_start.max_ssthresh };
                Control::plain(Kind::LimitedSlowStart(Box::new(Behind { rule, control: control.kind })))
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

/// What a slow start of another kind does with ACKs before the control hears of them.
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

impl<R: SlowStartRule> CongestionControl for Behind<R> {
    fn needs(&self) -> Needs {
        self.control.needs()
    }

    fn window(&self) -> f64 {
        self.control.window()
    }

    fn ssthresh(&self) -> f64 {
        self.control.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        match self.rule.credit(ack, &mut self.control) {
            Some(credit) => self.control.on_ack(&AckEvent { credit, ..*ack }),
            None => self.control.on_ack(ack),
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.control.on_congestion(event);
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.control.on_timeout(event);
    }

    fn on_idle_restart(&mut self, restart_window: f64) {
        self.control.on_idle_restart(restart_window);
    }

    fn on_transmission_start(&mut self, start: &TransmissionStart) {
        self.control.on_transmission_start(start);
    }

    fn on_recovered(&mut self) {
        self.control.on_recovered();
    }

    fn on_undo(&mut self, window: f64, ssthresh: f64) {
        self.control.on_undo(window, ssthresh);
    }

    fn set_ssthresh(&mut self, ssthresh: f64) {
        self.control.set_ssthresh(ssthresh);
    }

    fn set_window(&mut self, window: f64) {
        self.control.set_window(window);
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.control.pacing_rate()
    }

    fn end_slow_start(&mut self) -> bool {
        self.control.end_slow_start()
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        self.rule.read_variables(reader);
        self.control.read_variables(reader);
    }
}
