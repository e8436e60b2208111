//! The common state of a group's TCP flows.

use super::AccessLink;
use crate::wire::SYN;
use parshall_congestion::{Control, ControlConfig, Knowledge, Start};
use parshall_engine::Packet;
use parshall_net::ecn::Ecn;
use parshall_net::markers::MarkerConfig;
use parshall_tcp::TcpConfig;
use parshall_units::{Duration, Instant};
use std::sync::Arc;

/// Which end of exchanges the flows of a group are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Server,
    Client,
}

/// The common state of a group's flows.
#[derive(Debug)]
pub(crate) struct TcpGroup {
    pub(crate) name: Arc<str>,
    /// Its place among the groups of the scenario.
    pub(crate) number: u32,
    pub(crate) tcp: TcpConfig,
    /// The ECN codepoint of its data packets.
    pub(crate) ecn: Ecn,
    /// The DSCP of its packets, ACKs included.
    pub(crate) dscp: u8,
    pub(crate) control: ControlConfig,
    /// The common knowledge of its connections: a group has one destination.
    pub(crate) knowledge: Option<Knowledge>,
    pub(crate) packet_bytes: u32,
    pub(crate) header_bytes: u32,
    /// Each packet waits a random part of this before it leaves its host; zero: none does.
    pub(crate) processing_time: Duration,
    /// The same of ACKs that cross no contended link: only hosts with Linux's rules take a time with these.
    pub(crate) answer_time: Duration,
    pub(crate) access: Option<AccessLink>,
    /// A timer becomes an event only when no packet of its flow comes before it. Where hosts take no random time,
    /// timers of two flows meet at the same picosecond, in the order in which they were started.
    pub(crate) arms_late: bool,
    pub(crate) marker: MarkerConfig,
    /// True if the end of the simulation waits for its transfers.
    pub(crate) awaited: bool,
    /// Which end of exchanges its flows are, if they are one.
    pub(crate) role: Option<Role>,
    /// Data is received as soon as its first link has accepted it: there is no other, no jitter, and no capture.
    pub(crate) one_link: bool,
    /// The same of ACKs on a contended way back.
    pub(crate) one_link_back: bool,
    /// ACKs are heard as soon as they are sent: the way back is uncontended, and there is neither jitter nor capture.
    pub(crate) heard_at_once: bool,
    /// Somebody reads when an ACK was sent.
    pub(crate) timed_acks: bool,
    /// Links that data crosses; empty: requests on an uncontended way back.
    pub(crate) path: Box<[u32]>,
    /// Links that ACKs cross; empty: the way back is uncontended.
    pub(crate) reverse_path: Box<[u32]>,
}

impl TcpGroup {
    pub(crate) fn payload_bytes(&self) -> u32 {
        self.packet_bytes - self.header_bytes
    }

    /// True if a packet is an ACK without data, of the handshake.
    #[inline]
    pub(crate) fn is_bare(&self, packet: &Packet) -> bool {
        packet.bytes() == self.header_bytes && !packet.flags().has(SYN)
    }

    /// Size on the wire of the last packet of a transfer of `bytes`.
    #[cold]
    pub(crate) fn last_bytes(&self, bytes: u64) -> u32 {
        let payload = u64::from(self.payload_bytes());
        let rest = bytes % payload;
        self.header_bytes + if rest == 0 { payload } else { rest } as u32
    }

    /// Returns the start of a flow's connection that has no knowledge of earlier ones.
    pub(crate) fn fresh_start(&self, flow: u32, at: Instant, random: u64) -> Start {
        let ssthresh = self.tcp.initial_ssthresh.map_or(f64::INFINITY, |packets| packets.0 as f64);
        Start { window: self.tcp.initial_window.0 as f64, ssthresh, random, flow, at }
    }

    /// A congestion control at the start of a connection.
    pub(crate) fn new_control(&self, start: Start) -> Control {
        let mut control = self.control.build_with(start, self.tcp.slow_start());
        if let Some(knowledge) = &self.knowledge {
            control.share(knowledge);
        }
        control
    }
}
