//! Congestion controls: how a sender's window answers to what it hears from the network.
//!
//! A control knows windows and events, no packets, clocks or sockets: the TCP endpoint (or
//! anything else that sends) tells it what happened and reads [`CongestionControl::window`]. Windows
//! are in packets of one MSS and may be fractional; the endpoint sends whole packets.
//!
//! One file per control; [`catalog`] is the one list of them, and every entry passes the same
//! conformance tests (`tests/conformance.rs`).
//!
//! | term | meaning |
//! | --- | --- |
//! | window (cwnd) | packets that may be in flight |
//! | ssthresh | window at which slow start ends |
//! | congestion event | a loss found by duplicate ACKs or SACK, or an ECN echo: at most one a round trip |

mod bbr;
mod bbr3;
mod bic;
pub mod catalog;
mod cubic;
mod cubic_2005;
mod dctcp;
mod epoch;
mod event;
mod fast;
mod highspeed;
mod htcp;
mod hystart;
mod multiple_time_scale;
mod path_model;
mod rate_based;
mod reno;
mod scalable;
mod tcp_rate;
mod vegas;

pub use bbr::{Bbr, BbrConfig};
pub use bbr3::{Bbr3, Bbr3Config};
pub use bic::{Bic, BicConfig};
pub use catalog::{Control, ControlConfig};
pub use cubic::{Cubic, CubicConfig};
pub use cubic_2005::{Cubic2005, Cubic2005Config};
pub use dctcp::{Dctcp, DctcpConfig};
pub use event::{AckEvent, CongestionEvent, RateSample, Signal, Start};
pub use fast::{Fast, FastConfig};
pub use highspeed::{HighSpeed, HighSpeedConfig};
pub use htcp::{Htcp, HtcpConfig};
pub use hystart::{HyStart, SlowStart};
pub use multiple_time_scale::{Knowledge, MultipleTimeScale, MultipleTimeScaleConfig};
pub use rate_based::{RateBased, RateBasedConfig};
pub use reno::{Reno, RenoConfig};
pub use scalable::{Scalable, ScalableConfig};
pub use tcp_rate::{TcpRate, TcpRateConfig};
pub use vegas::{Vegas, VegasConfig};

/// Smallest ssthresh after a congestion event (RFC 5681 eq. (4)), in packets.
pub const MIN_SSTHRESH: f64 = 2.0;

/// A congestion control.
pub trait CongestionControl {
    /// The congestion window in packets; at least 1 and finite.
    fn window(&self) -> f64;

    /// The slow-start threshold in packets; infinite until the first congestion event.
    fn ssthresh(&self) -> f64;

    /// New data was acknowledged outside loss recovery (after a timeout: also while the lost data is sent again). A control
    /// that sets a pacing rate is told of every ACK, with its [`sample`](AckEvent::sample).
    fn on_ack(&mut self, ack: &AckEvent);

    /// A loss was found, or ECN echoed: reduce.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// The retransmission timer expired: reduce, and start again from one packet.
    fn on_timeout(&mut self, event: &CongestionEvent);

    /// Data is to be sent after a pause of a retransmission timeout or more. A control with a window of its own lets it be no
    /// larger than the restart window and keeps everything else (RFC 5681 §4.1); one that models the path keeps its model,
    /// as Linux does.
    fn on_idle_restart(&mut self, _restart_window: f64) {}

    /// Loss recovery ended: everything sent before the congestion event was acknowledged.
    fn on_recovered(&mut self) {}

    /// The standard slow start ends here, on another's word: ssthresh is the window. `false`, and nothing happens, if the
    /// control's slow start is one of its own.
    fn end_slow_start(&mut self) -> bool {
        false
    }

    /// The rate at which to space packets, in packets/s, for controls that set one; `None`: the
    /// endpoint paces by window over RTT if it paces at all.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// The largest slope of the large time scale (A, in slopes of the control that it steers); `None` without one.
    fn largest_slope(&self) -> Option<f64> {
        None
    }
}

/// Slow start: what is left of the packets acknowledged when the window has come to ssthresh, for congestion avoidance.
///
/// An ACK of several packets does what an ACK for each of them would do (RFC 5681 eq. (2) and (3)), and so does not carry the
/// window beyond ssthresh by its whole length, after lost ACKs for instance. Linux divides an ACK likewise.
#[inline]
pub(crate) fn slow_start(window: &mut f64, ssthresh: f64, acked: f64) -> f64 {
    let taken = if acked <= 1.0 { acked } else { acked.min(libm::ceil(ssthresh - *window)) };
    *window += taken;
    acked - taken
}

/// The window that a congestion event reduces: the congestion window, or what is really in
/// flight if the sender does not use it all (RFC 5681 §3.1, FlightSize). A sender whose window is not a whole
/// number is using all of it when no whole packet more would fit.
pub(crate) fn window_in_use(window: f64, event: &CongestionEvent) -> f64 {
    let in_flight = event.in_flight as f64;
    if in_flight + 1.0 > window {
        window
    } else {
        in_flight
    }
}
