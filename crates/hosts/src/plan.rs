//! The plan of the hosts.
//!
//! Flow n of the plan, from 0, has an address pair of its own: 10.1.0.0 + n + 1 at the sender, 10.2.0.0 + n + 1 at the
//! receiver. So the emulated network knows the flow of a packet by its addresses, and each flow can have its own path,
//! delay and queue class. All connections of a flow, or of an open loop, have its addresses.
//!
//! Senders with the same sysctls share a host, and so do their receivers: a *pair* of hosts. Each host has all
//! addresses of its side, but only the flows of its pair.
//!
//! In the records a flow's number is its place in the plan, from 0. All connections of an open loop have that of the
//! loop.

use crate::error::HostsError;
use parshall_units::{Duration, Instant, Rate};
use parshall_workload::Source;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The most flows that the address plan has room for.
pub const MAX_FLOWS: usize = 65_000;

/// Bits of both networks.
pub const PREFIX_BITS: u8 = 16;

/// Network of the senders' addresses.
pub const SENDERS: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 0);

/// Network of the receivers' addresses.
pub const RECEIVERS: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 0);

/// The address of flow n in one of the two networks.
pub fn address(network: Ipv4Addr, flow: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(network.to_bits() + flow + 1)
}

/// The flow that an address belongs to; `None`: none of ours.
///
/// ```
/// use parshall_hosts::plan::{address, flow_of, RECEIVERS, SENDERS};
///
/// assert_eq!(address(SENDERS, 300).to_string(), "10.1.1.45");
/// assert_eq!(flow_of(address(RECEIVERS, 300)), Some(300));
/// assert_eq!(flow_of(std::net::Ipv4Addr::new(10, 1, 0, 0)), None);
/// ```
pub fn flow_of(address: Ipv4Addr) -> Option<u32> {
    let bits = address.to_bits();
    let network = Ipv4Addr::from_bits(bits & 0xffff_0000);
    let number = bits & 0xffff;
    (network == SENDERS || network == RECEIVERS).then_some(number).and_then(|number| number.checked_sub(1))
}

/// The plan of a run, complete before the hosts begin.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The flows; the place of each decides its addresses.
    pub flows: Vec<FlowPlan>,
    /// Largest IP packet of the TUN devices, in bytes.
    pub mtu: u32,
    /// Totals cover the time from here to the end.
    pub warm_up: Instant,
    /// When everything ends.
    pub end: Instant,
    /// The sysctls of each pair of hosts; at least one pair.
    pub pairs: Vec<Sysctls>,
}

/// Names below `/proc/sys` with dots, as `net.ipv4.tcp_sack`, and values; set in both namespaces of a pair, later ones
/// last. `net.ipv4.tcp_no_metrics_save` is 1 unless it is given, so that no connection starts from what an earlier one
/// learned.
pub type Sysctls = Vec<(String, String)>;

/// Random numbers of a source; the generator that the simulator uses, so that the same seed draws the same.
pub(crate) type Stream = Xoshiro256PlusPlus;

/// A flow, or an open loop that opens connections.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// The name of its group, for the records.
    pub group: Arc<str>,
    /// The pair of hosts, by its place in the plan.
    pub pair: u32,
    /// When it starts.
    pub start: Instant,
    /// Two-way propagation delay of its path, for the records.
    pub rtt_base: Duration,
    /// Its largest packet on the wire, in bytes; at most the MTU.
    pub packet_bytes: u32,
    /// The source of its application.
    pub source: Source,
    /// Where the random numbers of its source start.
    pub seed: u64,
    /// The differentiated services code point of its packets: 0 to 63. (Answers of TCP have it if the sysctl
    /// net.ipv4.tcp_reflect_tos is 1.)
    pub dscp: u8,
    /// TCP or UDP, and the options of its sockets.
    pub transport: Transport,
    /// When it has rows in `flow_samples`; `None`: it has none.
    pub samples: Option<Sampling>,
    /// True if it has rows in `rounds`.
    pub rounds: bool,
}

/// Time between samples; at least a millisecond, and no less than lets all flows together be read 20,000 times a
/// second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// At multiples of an interval.
    Every(Duration),
    /// A smoothed round trip.
    EachRoundTrip,
}

/// The sockets of a flow.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A TCP connection, or one after another.
    Tcp(TcpOptions),
    /// UDP.
    Datagrams,
    /// No socket of ours: programs have the addresses (`Hosts::begin_program`), and `source` does nothing.
    Programs {
        /// Initial window of TCP connections between them, by routes.
        initial_window: Option<u32>,
        /// Their congestion control unless their sockets name another, by routes too: a network namespace may have a
        /// default of its own only of those that any user may have (net.ipv4.tcp_allowed_congestion_control).
        congestion_control: Option<Arc<str>>,
    },
}

impl Transport {
    /// Connections of a flow side by side.
    pub(crate) fn streams(&self) -> u32 {
        match self {
            Self::Tcp(options) => options.streams,
            Self::Datagrams | Self::Programs { .. } => 1,
        }
    }

    pub(crate) fn initial_window(&self) -> Option<u32> {
        match self {
            Self::Tcp(options) => options.initial_window,
            Self::Datagrams => None,
            Self::Programs { initial_window, .. } => *initial_window,
        }
    }
}

/// Options of TCP sockets; `None`: what the kernel does.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    /// The kernel's name of the congestion control.
    pub congestion_control: Arc<str>,
    /// True if it sets a rate of its own, which samples record then.
    pub sets_rate: bool,
    /// True if all transfers of the flow are sent on one connection; else each has its own.
    pub persistent: bool,
    /// Connections side by side, each with a source of its own; of an open loop 1.
    pub streams: u32,
    /// At most this rate (SO_MAX_PACING_RATE).
    pub pacing: Option<Rate>,
    /// SO_SNDBUF, bytes of the kernel's memory.
    pub send_buffer: Option<u32>,
    /// SO_RCVBUF of the receiver, bytes of the kernel's memory.
    pub receive_buffer: Option<u32>,
    /// Initial window, by a route to the flow's address.
    pub initial_window: Option<u32>,
}

impl Plan {
    /// Connections, and flows of datagrams, side by side.
    pub fn connections(&self) -> usize {
        self.flows.iter().map(|flow| flow.transport.streams() as usize).sum()
    }

    /// The flows of a pair of hosts, with their places in the plan.
    pub(crate) fn of_pair(&self, pair: u32) -> impl Iterator<Item = (u32, &FlowPlan)> {
        (0..).zip(&self.flows).filter(move |(_, flow)| flow.pair == pair)
    }

    /// Refuses what no host can do.
    pub(crate) fn check(&self, available: &[String]) -> Result<(), HostsError> {
        if self.flows.len() > MAX_FLOWS {
            let accepted = format!("at most {MAX_FLOWS} flows have addresses");
            return Err(HostsError::plan("flows", self.flows.len().to_string(), accepted));
        }
        if !(MIN_MTU..=MAX_MTU).contains(&self.mtu) {
            let accepted = format!("a TUN device takes packets of {MIN_MTU} to {MAX_MTU} bytes");
            return Err(HostsError::plan("mtu", self.mtu.to_string(), accepted));
        }
        if self.warm_up >= self.end {
            let accepted = "the warm-up ends before the run does";
            return Err(HostsError::plan("warm_up", format!("{} s", self.warm_up.as_secs_f64()), accepted));
        }
        if let Some((name, _)) = self.pairs.iter().flatten().find(|(name, _)| !name.starts_with("net.")) {
            return Err(HostsError::plan("sysctls", name, "sysctls of a network namespace begin with net."));
        }
        if let Some(flow) = self.flows.iter().find(|flow| flow.pair as usize >= self.pairs.len()) {
            let accepted = format!("there are {} pairs of hosts", self.pairs.len());
            return Err(HostsError::plan("pair", flow.pair.to_string(), accepted));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            flow.check(self.mtu, available).map_err(|(key, found, accepted)| {
                HostsError::plan(format!("flows[{index}].{key}"), found, accepted)
            })?;
        }
        Ok(())
    }
}

/// A TUN device's limits; IPv4 needs 68 bytes at least, and below that of a TCP packet with options nothing works.
const MIN_MTU: u32 = 128;
const MAX_MTU: u32 = 65_521;

/// A key, what was found, and what is accepted.
type Problem = (&'static str, String, String);

impl FlowPlan {
    fn check(&self, mtu: u32, available: &[String]) -> Result<(), Problem> {
        if !(MIN_MTU..=mtu).contains(&self.packet_bytes) {
            let accepted = format!("packets have {MIN_MTU} bytes to the MTU, {mtu} bytes");
            return Err(("packet_bytes", self.packet_bytes.to_string(), accepted));
        }
        if self.transport.initial_window() == Some(0) {
            return Err(("initial_window", "0".into(), "a window of at least 1 packet".into()));
        }
        match (&self.transport, &self.source) {
            (Transport::Tcp(TcpOptions { streams, .. }), Source::Arrivals(_)) if *streams != 1 => {
                let accepted = "an open loop opens a connection for each transfer by itself: 1";
                Err(("streams", streams.to_string(), accepted.into()))
            }
            (Transport::Tcp(TcpOptions { streams, .. }), Source::Exchanges(..)) if *streams != 1 => {
                let accepted = "a client has one connection; write a larger count for more clients: 1";
                Err(("streams", streams.to_string(), accepted.into()))
            }
            (Transport::Programs { congestion_control: None, .. }, _) => Ok(()),
            (_, Source::Controlled) => {
                let accepted = "no kernel sends datagrams at the rate of a congestion control";
                Err(("workload", "rate_controlled".into(), accepted.into()))
            }
            (Transport::Tcp(_), Source::Datagrams(_)) => {
                Err(("workload", "datagrams over TCP".into(), "datagrams are sent over UDP".into()))
            }
            (Transport::Datagrams, Source::Transfers(_) | Source::Exchanges(..) | Source::Arrivals(_)) => {
                Err(("workload", "transfers over UDP".into(), "transfers are sent over TCP".into()))
            }
            (
                Transport::Tcp(TcpOptions { congestion_control: control, .. })
                | Transport::Programs { congestion_control: Some(control), .. },
                _,
            ) if !available.iter().any(|name| **name == **control) => {
                let accepted = format!("this kernel has {}", available.join(", "));
                Err(("congestion_control", control.to_string(), accepted))
            }
            _ => Ok(()),
        }
    }
}
