//! The common parts of controls of a window: slow start, the window in use, ssthresh, timeouts, restarts (RFC 5681).
//!
//! A control of this kind is a [`WindowRule`]: how the window grows in congestion avoidance, and which part of it a
//! congestion event leaves. The rest stands here once.

use crate::{AckEvent, CongestionControl, CongestionEvent, Needs, Phase, Signal, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Instant;
use std::fmt::Debug;

/// Smallest ssthresh after a congestion event (RFC 5681 eq. (4)), in packets.
pub const MIN_SSTHRESH: f64 = 2.0;

/// The two windows of RFC 5681, in packets.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// cwnd: [`CongestionControl::window`]
    pub window: f64,
    /// [`CongestionControl::ssthresh`]
    pub ssthresh: f64,
}

impl Windows {
    pub(crate) fn of(control: &impl CongestionControl) -> Self {
        Self { window: control.window(), ssthresh: control.ssthresh() }
    }

    /// True if the window is below ssthresh.
    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Slow start: what is left of the packets acknowledged when the window has come to ssthresh, for congestion
    /// avoidance.
    ///
    /// An ACK of several packets does what an ACK for each of them would do (RFC 5681 eq. (2) and (3)), and so does not
    /// carry the window beyond ssthresh by its whole length, after lost ACKs for instance. Linux divides an ACK
    /// likewise.
    #[inline]
    pub(crate) fn slow_start(&mut self, acked: f64) -> f64 {
        let taken = if acked <= 1.0 { acked } else { acked.min(libm::ceil(self.ssthresh - self.window)) };
        self.window += taken;
        acked - taken
    }
}

/// The window that a congestion event reduces: the congestion window, or what is really in flight if the sender does
/// not use it all (RFC 5681 §3.1, FlightSize). A sender whose window is not a whole number is using all of it when no
/// whole packet more would fit.
pub(crate) fn window_in_use(window: f64, event: &CongestionEvent) -> f64 {
    let in_flight = event.in_flight as f64;
    if in_flight + 1.0 > window {
        window
    } else {
        in_flight
    }
}

/// The rule that distinguishes a control of a window from the others.
pub trait WindowRule: Clone + Debug {
    /// Its parameters.
    type Config;

    /// One line for lists of controls.
    const SUMMARY: &'static str;
    /// Where it is specified.
    const REFERENCE: &'static str;
    /// True if [`MultipleTimeScale`](crate::MultipleTimeScale) can steer it: what it adds is an increase, which a slope
    /// multiplies.
    const STEERABLE: bool = false;
    /// True if its slow start is the standard one, which another can replace.
    const STANDARD_SLOW_START: bool = true;

    /// Its inner variables.
    const VARIABLES: &'static [Variable] = &[];
    /// What its control needs of the endpoint.
    const NEEDS: Needs = Needs::NONE;

    /// The rule at the start of a connection.
    fn new(config: &Self::Config, start: &Start) -> Self;

    /// True if the slow start of this one is the standard one: no other, if its parameters say so.
    fn has_standard_slow_start(&self) -> bool {
        Self::STANDARD_SLOW_START
    }

    /// An ACK arrived, in whatever [phase](crate::Phase), whether the window may grow by it or not.
    fn observe(&mut self, _windows: &mut Windows, _ack: &AckEvent) {}

    /// The window may not grow by this ACK, for another reason than a fast recovery.
    fn on_unused_window(&mut self, _now: Instant) {}

    /// The window may grow. `slope` is a factor of what congestion avoidance adds: 1 but for the large time scale.
    #[inline]
    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        let mut acked = ack.credit;
        if windows.in_slow_start() {
            acked = windows.slow_start(acked); // RFC 5681 eq. (2)
        }
        if acked > 0.0 {
            self.avoid_congestion(windows, ack, acked, slope);
        }
    }

    /// Congestion avoidance: `acked` packets of the ACK count. Not called for rules that [`grow`](Self::grow) in
    /// another way.
    fn avoid_congestion(&mut self, _windows: &mut Windows, _ack: &AckEvent, _acked: f64, _slope: f64) {}

    /// The window that a congestion event reduces: the one in use, but for rules that say otherwise.
    fn window_to_reduce(windows: &Windows, event: &CongestionEvent) -> f64 {
        window_in_use(windows.window, event)
    }

    /// A congestion event or a timeout: the factor that is kept of `used`, the window that is reduced.
    fn reduce(&mut self, used: f64, event: &CongestionEvent) -> f64;

    /// Least factor that is kept at a mark in congestion avoidance, if that is more than at a loss (ABE, RFC 8511 §3).
    fn kept_at_mark(&self) -> f64 {
        0.0
    }

    /// [`CongestionControl::pacing_rate`]
    #[inline]
    fn pacing_rate(&self, _windows: &Windows) -> Option<f64> {
        None
    }

    /// [`CongestionControl::read_variables`]
    fn read_variables(&self, _reader: &mut Reader<'_>) {}

    /// A congestion event has set the window to ssthresh.
    fn on_reduced(&mut self, _windows: &Windows, _event: &CongestionEvent) {}

    /// A timeout has set the window to one packet.
    fn on_timed_out(&mut self, _windows: &Windows) {}

    /// Idle time has taken the window to the restart window.
    fn on_idle_restarted(&mut self) {}

    /// Slow start was ended from outside.
    fn on_slow_start_ended(&mut self, _windows: &Windows) {}
}

/// A control of a window that follows a rule.
#[derive(Clone, Debug)]
pub struct WindowBased<R> {
    pub(crate) windows: Windows,
    slope: f64,
    pub(crate) rule: R,
}

impl<R: WindowRule> WindowBased<R> {
    pub(crate) const SUMMARY: &'static str = R::SUMMARY;
    pub(crate) const REFERENCE: &'static str = R::REFERENCE;
    pub(crate) const VARIABLES: &'static [Variable] = R::VARIABLES;
    pub(crate) const NEEDS: Needs = R::NEEDS;
    pub(crate) const STEERABLE: bool = R::STEERABLE;

    /// A control at the start of a connection.
    pub fn new(config: &R::Config, start: Start) -> Self {
        let windows = Windows { window: start.window, ssthresh: start.ssthresh };
        Self { windows, slope: 1.0, rule: R::new(config, &start) }
    }

    /// RFC 5681 eq. (4)
    fn set_ssthresh_for(&mut self, event: &CongestionEvent) {
        let used = R::window_to_reduce(&self.windows, event);
        let mut kept = self.rule.reduce(used, event);
        if event.signal == Signal::Ecn && !self.windows.in_slow_start() {
            kept = kept.max(self.rule.kept_at_mark());
        }
        self.windows.ssthresh = (used * kept).max(MIN_SSTHRESH);
    }
}

impl<R: WindowRule> CongestionControl for WindowBased<R> {
    fn needs(&self) -> Needs {
        R::NEEDS
    }

    #[inline]
    fn window(&self) -> f64 {
        self.windows.window
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.windows.ssthresh
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckEvent) {
        self.rule.observe(&mut self.windows, ack);
        if ack.may_grow {
            self.rule.grow(&mut self.windows, ack, self.slope);
        } else if ack.phase != Phase::Recovery {
            self.rule.on_unused_window(ack.now);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.set_ssthresh_for(event);
        self.windows.window = self.windows.ssthresh;
        self.rule.on_reduced(&self.windows, event);
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.set_ssthresh_for(event);
        self.windows.window = 1.0;
        self.rule.on_timed_out(&self.windows);
    }

    fn on_idle_restart(&mut self, restart_window: f64) {
        self.windows.window = self.windows.window.min(restart_window);
        self.rule.on_idle_restarted();
    }

    fn end_slow_start(&mut self) -> bool {
        let standard = self.rule.has_standard_slow_start();
        if standard {
            self.windows.ssthresh = self.windows.window.max(MIN_SSTHRESH);
            self.rule.on_slow_start_ended(&self.windows);
        }
        standard
    }

    #[inline]
    fn pacing_rate(&self) -> Option<f64> {
        self.rule.pacing_rate(&self.windows)
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        self.rule.read_variables(reader);
    }

    fn set_slope(&mut self, slope: f64) {
        self.slope = slope;
    }

    fn set_ssthresh(&mut self, ssthresh: f64) {
        self.windows.ssthresh = ssthresh;
    }

    fn set_window(&mut self, window: f64) {
        self.windows.window = window;
    }
}
