//! The TCP endpoint, sans-IO: a [`Sender`] and a [`Receiver`] that are handed segments, ACKs and the time.
//!
//! Neither reads a clock, owns a timer or touches a socket. Whoever drives them
//! 1. passes what arrives: [`Sender::on_ack`], [`Receiver::on_segment`];
//! 2. asks what to send until there is nothing more: [`Sender::poll_transmit`];
//! 3. calls [`Sender::on_timer`] and [`Receiver::on_timer`] when their `deadline` has come.
//!
//! Data is counted in packets of one MSS, numbered from the connection's base by 64-bit numbers that never
//! wrap; how many bytes the last one carries is the driver's knowledge. The network between the two may lose
//! and duplicate packets, and deliver them in any order.
//!
//! | file | mechanism | source |
//! | --- | --- | --- |
//! | [`sender`] | what an ACK does, what goes next: a connection and its loss recovery | RFC 5681, 3042, 3465 |
//! | `connection` | numbers, phase, round trips, ECN reduction; knows no recovery | RFC 5681, 3168 |
//! | [`recovery`] | the loss recoveries: a connection chooses one when it is built | |
//! | `recovery/classic.rs` | Tahoe, Reno, NewReno | RFC 5681, 6582 |
//! | `recovery/sack.rs`, [`recovery::scoreboard`] | what was SACKed, what is lost, pipe | RFC 6675 |
//! | `recovery/rack.rs` | losses found by time, tail loss probes | RFC 8985 |
//! | `recovery/prr.rs` | proportional rate reduction | RFC 6937 |
//! | `pacing` | packets spaced one by one, or in Linux's bursts | Linux |
//! | [`rto`] | retransmission timeout | RFC 6298 |
//! | `timer_wheel` | timers that expire at ticks of a clock | Linux |
//! | [`policies`] | where Linux does otherwise than the RFCs: one file a policy, with both forms | Linux |
//! | [`receiver`] | cumulative and selective ACKs, delayed ACKs, ECN echo | RFC 5681, 2018, 3168 |
//! | [`DEVIATIONS`] | where all this does otherwise than its sources, on purpose | |
//! | [`ssthresh_cache`] | ssthresh of earlier connections | RFC 2140, Linux |
//! | `info` | what a sender knows, in the terms of `TCP_INFO` | Linux |
//! | [`ranges`] | run-length sets of packet numbers | |
//! | [`signals`] | RTT estimate, round trips, delivery rate | RFC 6298, draft-ietf-ccwg-bbr |

pub mod config;
mod connection;
mod deviations;
mod info;
mod pacing;
pub mod policies;
pub mod ranges;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod segment;
pub mod sender;
pub mod signals;
pub mod ssthresh_cache;
pub mod statistics;
mod timer_wheel;

pub use config::TcpConfig;
pub use deviations::DEVIATIONS;
pub use info::Info;
pub use policies::{Rules, POLICIES};
pub use receiver::Receiver;
pub use recovery::Recovery;
pub use rto::RtoFloor;
pub use segment::{Ack, SackBlocks, Segment};
pub use sender::Sender;
pub use ssthresh_cache::SsthreshCache;
pub use statistics::Statistics;
