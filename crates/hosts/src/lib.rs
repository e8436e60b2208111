//! The hosts of an emulation: real Linux TCP at both ends of every flow.
//!
//! Two threads are two hosts, and where hosts differ (sysctls) there are more such pairs. Each has a network namespace
//! of its own, in it a TUN device, and sockets; the senders' host has those that send, the receivers' host those that
//! receive. What the hosts send comes out of one TUN device as IP packets, and whoever holds both devices (the
//! emulator, or a plain forwarder in the tests) carries them to the other. Nothing outside the two namespaces is
//! touched, and they are gone when the process is, however it ends.
//!
//! ```text
//!   senders' namespace                                        receivers' namespace
//!   10.1.0.0/16 is local                                          10.2.0.0/16 is local
//!   sockets ── kernel's TCP ── TUN ──> [ the emulated network ] ──> TUN ── kernel's TCP ── sockets
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | [`plan`] | what the hosts are to do: flows, their sockets and workloads; the addresses |
//! | [`hosts`] | both hosts, from their beginning to their end |
//! | [`namespace`] | user and network namespaces, sysctls, TUN devices |
//! | [`netlink`] | links and routes |
//! | [`sender`] | the senders' host: workloads drive sockets, TCP_INFO is recorded |
//! | [`receiver`] | the receivers' host: what arrives is counted and discarded |
//! | [`clients`] | there too: clients of exchanges, whose servers are at the senders' host |
//! | [`programs`] | any program at one of the hosts |
//! | [`memory`] | the kernel's memory for TCP |
//! | [`tcp_info`] | the kernel's `struct tcp_info` |
//! | [`abilities`] | what this machine permits |
//! | [`sys`] | the few system calls for which no library has a safe function |
//!
//! Measured on two virtual CPUs that others used as well (Linux 6.18), through a plain forwarder of two threads: one
//! CUBIC flow moves 7 to 20 Gbit/s; 1,000 flows are set up and have a byte acknowledged each 0.1 to 0.2 s after the
//! hosts began; 1,000 paced flows of 1 Gbit/s together take 9 % of a CPU at the senders' host and 6 % at the
//! receivers'. `tests/emulated` prints these figures.
//!
//! Linux only; elsewhere the crate is empty.

#![cfg(target_os = "linux")]

mod abilities;
mod clients;
mod clock;
mod connection;
mod datagram;
mod error;
mod events;
mod exchange;
mod host;
mod hosts;
mod memory;
mod namespace;
mod netlink;
pub mod plan;
mod ports;
mod process;
mod programs;
mod receiver;
mod row;
mod sender;
mod shared;
mod socket;
mod sys;
mod tcp_info;

pub use abilities::Abilities;
pub use error::HostsError;
pub use hosts::{Hosts, Outcome, Tuns};
pub use namespace::{has_sysctl, usual_sysctl, Side};
pub use plan::{FlowPlan, Plan, Sampling, Sysctls, TcpOptions, Transport};
pub use process::die_with_parent;
pub use programs::{Begins, Ended, Program, Running};
pub use row::Row;
pub use sender::{FlowOutcome, Limited};
