//! Congestion controls: how a sender's window responds to signals of the network.
//!
//! A control knows windows and events, no packets, clocks or sockets: the TCP endpoint (or
//! anything else that sends) calls its hooks and reads [`CongestionControl::window`]. Windows
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
mod hooks;
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
pub use hooks::CongestionControl;
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
