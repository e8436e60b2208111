//! Congestion controls: how a sender's window answers to what it hears from the network.
//!
//! A control knows windows and events, no packets, clocks or sockets: the TCP endpoint (or
//! anything else that sends) tells it what happened and reads [`CongestionControl::window`]. Windows
//! are in packets of one MSS and may be fractional; the endpoint sends whole packets.
//!
//! One file per control; [`catalog`] is the one list of them, and every entry passes the same
//! [`conformance`] kit (`tests/conformance.rs`).
//!
//! | term | meaning |
//! | --- | --- |
//! | window (cwnd) | packets that may be in flight |
//! | ssthresh | window at which slow start ends |
//! | congestion event | a loss found by duplicate ACKs or SACK, or an ECN echo: at most one a round trip |

mod bbr;
mod bbr2;
mod bbr3;
mod bbr_linux;
mod bic;
mod bounded_bbr;
pub mod catalog;
mod compound;
pub mod conformance;
mod control;
mod copa;
mod cubic;
mod cubic_2005;
mod cubic_linux;
mod dctcp;
mod deviations;
mod epoch;
mod event;
pub mod external;
mod fast;
mod gcc;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod last_maximum;
mod ledbat;
mod limited_slow_start;
mod linux_window;
mod lp;
mod multiple_time_scale;
mod needs;
mod nv;
mod path_model;
mod prague;
mod rate_based;
mod reno;
mod reno_linux;
mod report;
mod round_rtt;
mod scalable;
mod scream;
mod slow_start;
mod tcp_rate;
mod tfrc;
mod vegas;
mod veno;
mod westwood;
mod window_based;
mod windowed_rtt;
mod yeah;

use parshall_units::parameters::Reader;
use parshall_units::Instant;

pub use bbr::{Bbr, BbrConfig};
pub use bbr2::{Bbr2, Bbr2Config};
pub use bbr3::{Bbr3, Bbr3Config};
pub use bbr_linux::{BbrLinux, BbrLinuxConfig};
pub use bic::{Bic, BicConfig};
pub use catalog::{ControlConfig, Kind};
pub use compound::{Compound, CompoundConfig};
pub use control::Control;
pub use copa::{Copa, CopaConfig};
pub use cubic::{Cubic, CubicConfig};
pub use cubic_2005::{Cubic2005, Cubic2005Config};
pub use cubic_linux::{CubicLinux, CubicLinuxConfig};
pub use dctcp::{Dctcp, DctcpConfig};
pub use deviations::DEVIATIONS;
pub use event::{AckEvent, CongestionEvent, Phase, RateSample, Signal, Start, TransmissionStart};
pub use external::{ExternalConfig, ExternalControl};
pub use fast::{Fast, FastConfig};
pub use gcc::{Gcc, GccConfig};
pub use highspeed::{HighSpeed, HighSpeedConfig};
pub use htcp::{Htcp, HtcpConfig};
pub use hybla::{Hybla, HyblaConfig};
pub use hystart::{HyStart, VARIABLES as HYSTART_VARIABLES};
pub use illinois::{Illinois, IllinoisConfig};
pub use ledbat::{Ledbat, LedbatConfig};
pub use limited_slow_start::LimitedSlowStart;
pub use lp::{Lp, LpConfig};
pub use multiple_time_scale::{
    Block, CouplingKind, Knowledge, Level, MultipleTimeScale, MultipleTimeScaleConfig, QuantiserKind,
    ScheduleKind, Sharing,
};
pub use needs::Needs;
pub use nv::{Nv, NvConfig};
pub use prague::{Prague, PragueConfig};
pub use rate_based::{CongestionSignal, RateBased, RateBasedConfig};
pub use reno::{Reno, RenoConfig};
pub use reno_linux::{RenoLinux, RenoLinuxConfig};
pub use scalable::{Scalable, ScalableConfig};
pub use scream::{Scream, ScreamConfig};
pub use slow_start::{SlowStart, SlowStartChoice};
pub use tcp_rate::{DecreasePer, TcpRate, TcpRateConfig};
pub use tfrc::{Tfrc, TfrcConfig};
pub use vegas::{Vegas, VegasConfig};
pub use veno::{Veno, VenoConfig};
pub use westwood::{Westwood, WestwoodConfig};
pub use window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
pub use yeah::{Yeah, YeahConfig};

/// A congestion control.
pub trait CongestionControl {
    /// What it needs of the endpoint: the same for the whole connection.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// The congestion window in packets; at least 1 and finite.
    fn window(&self) -> f64;

    /// The slow-start threshold in packets; infinite until the first congestion event.
    fn ssthresh(&self) -> f64;

    /// New data was acknowledged. A control that needs [rate samples](Needs::rate_samples) is told of every ACK that reports
    /// packets as delivered, those of SACK too, with its sample.
    fn on_ack(&mut self, ack: &AckEvent);

    /// A packet of a receiver's report: when it was sent, and when it arrived by the receiver's clock. In order of arrival, before
    /// [`on_ack`](Self::on_ack) of the report; for controls that need [arrival times](Needs::arrival_times).
    fn on_arrival(&mut self, _sent: Instant, _arrived: Instant) {}

    /// A loss was found, or ECN echoed: reduce.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// The retransmission timer expired: reduce, and start again from one packet.
    fn on_timeout(&mut self, event: &CongestionEvent);

    /// Data is to be sent after a pause of a retransmission timeout or more. A control with a window of its own lets it be no
    /// larger than the restart window and keeps everything else (RFC 5681 §4.1); one that models the path keeps its model,
    /// as Linux does.
    fn on_idle_restart(&mut self, _restart_window: f64) {}

    /// A packet is about to be sent while none is outstanding.
    fn on_transmission_start(&mut self, _start: &TransmissionStart) {}

    /// Loss recovery ended: everything sent before the congestion event was acknowledged.
    fn on_recovered(&mut self) {}

    /// The standard slow start ends here, on another's word: ssthresh is the window. `false`, and nothing happens, if the
    /// control's slow start is one of its own.
    fn end_slow_start(&mut self) -> bool {
        false
    }

    /// The rate at which to space packets, in packets/s, for controls that [set one](Needs::pacing); `None`: the
    /// endpoint paces by window over RTT if it paces at all.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// What congestion avoidance adds is multiplied by this from now on. Nothing happens in controls that cannot be steered so.
    fn set_slope(&mut self, _slope: f64) {}

    /// Slow start ends at this window from now on.
    fn set_ssthresh(&mut self, _ssthresh: f64) {}

    /// The last reduction answered no loss, as packets were only late; `window` and `ssthresh` are what they were before it. Nothing happens in
    /// controls whose window is no state of their own, but for what they learnt of the loss.
    fn on_undo(&mut self, window: f64, ssthresh: f64) {
        self.set_ssthresh(ssthresh.max(self.ssthresh()));
        self.set_window(window.max(self.window()));
    }

    /// The endpoint has set the window itself, as Linux does in loss recovery. Nothing happens in controls
    /// whose window is no state of their own.
    fn set_window(&mut self, _window: f64) {}

    /// The phase that a cycle of gains has begun with: which one a kernel drew at random, a replay takes over.
    fn set_phase(&mut self, _phase: usize) {}

    /// Tells the values of its inner variables: those of them that the catalog lists which have a value now.
    fn read_variables(&self, _reader: &mut Reader<'_>) {}
}
