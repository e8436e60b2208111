//! The hosts of an emulation: real Linux TCP at both ends of every flow.
//!
//! A host is a thread in a network namespace of its own, with a TUN device and sockets. Hosts come in pairs: the
//! senders' host has the sockets that send, the receivers' host those that receive. Flows whose hosts need different
//! sysctls have different pairs. The packets of a host leave by its TUN device, and the owner of both devices
//! (`parshall-realtime`, or a plain forwarder in the tests) carries them to the other one. Nothing outside the
//! namespaces is changed, and they end with the process, however that ends.
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
//! | [`hosts`] | all pairs of hosts, from their beginning to their end |
//! | [`host`] | one host: its thread |
//! | [`shared`] | the state that all hosts share |
//! | [`row`] | rows of the records |
//! | [`namespace`] | user and network namespaces, sysctls, TUN devices |
//! | [`netlink`] | links and routes |
//! | [`sender`] | the senders' host: workloads drive sockets, TCP_INFO is recorded |
//! | [`receiver`] | the receivers' host: what arrives is counted and discarded |
//! | [`clients`] | clients of exchanges, at the receivers' host; the servers are at the senders' host |
//! | [`exchange`] | reports of the clients to the senders' host, which writes the records |
//! | [`connection`], [`datagram`], [`ports`], [`socket`] | what both hosts have in common |
//! | [`process`] | requirements on the process: open files, its end with its parent's |
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
