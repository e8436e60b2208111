//! Flows of datagrams: each leaves at its time, over UDP, and is never answered.
//!
//! This host sleeps at least [`SHORTEST_SLEEP`], so what falls due within it leaves together. A datagram's size counts
//! the headers of IP and UDP, as in the simulator; one that is smaller than these is as large as they are.

use super::context::Context;
use super::probe::{measured_s, FlowOutcome};
use super::totals::Limited;
use crate::clock::{nanos, seconds, Nanos};
use crate::datagram::{Stamp, HEADER_BYTES};
use crate::error::{HostsError, Tried};
use crate::plan::{address, FlowPlan, Stream, RECEIVERS, SENDERS};
use crate::ports::Ports;
use crate::socket;
use parshall_records::FlowRow;
use parshall_workload::DatagramSource;
use rustix::io::Errno;
use rustix::net::{connect, send, SendFlags, SocketAddrV4, SocketType};
use std::os::fd::OwnedFd;

/// Sending one packet at a time at the rates of today would be one wake-up for each.
const SHORTEST_SLEEP: Nanos = 50_000;

/// Datagrams sent in one go, before others have their turn.
const A_TURN: u32 = 64;

/// Larger ones do not exist.
const MAX_PAYLOAD: usize = 65_507;

pub(crate) struct DatagramFlow {
    plan: u32,
    socket: OwnedFd,
    source: DatagramSource,
    random: Stream,
    /// The next datagram: when it leaves, in picoseconds, so that no fraction is lost, and its size on the wire.
    next_ps: u64,
    next_bytes: u32,
    payload: Vec<u8>,
    /// Since the warm-up.
    sent: u64,
    /// Of these, what the kernel had no room for.
    refused: u64,
}

impl DatagramFlow {
    pub(super) fn new(
        plan: u32,
        flow: &FlowPlan,
        source: DatagramSource,
        random: Stream,
    ) -> Result<Self, HostsError> {
        let socket = socket::open(SocketType::DGRAM, address(SENDERS, plan), 0)?;
        socket::set_dscp(&socket, flow.dscp)?;
        connect(&socket, &SocketAddrV4::new(address(RECEIVERS, plan), Ports::DATAGRAMS))
            .tried("connect a socket of datagrams")?;
        let mut flow = Self {
            plan,
            socket,
            source,
            random,
            next_ps: flow.start.as_ps(),
            next_bytes: 0,
            payload: vec![0; MAX_PAYLOAD.min(flow.packet_bytes as usize)],
            sent: 0,
            refused: 0,
        };
        flow.draw();
        Ok(flow)
    }

    fn draw(&mut self) {
        let datagram = self.source.next(&mut self.random);
        self.next_ps = self.next_ps.saturating_add(datagram.gap.as_ps());
        self.next_bytes = datagram.bytes;
    }

    pub(super) fn next_at(&self) -> Nanos {
        (self.next_ps / 1000).cast_signed()
    }

    /// Sends what is due; when to come again.
    pub(super) fn send_due(&mut self, context: &Context) -> Result<Nanos, HostsError> {
        for _ in 0..A_TURN {
            let now = context.clock.now();
            if self.next_at() > now {
                return Ok(self.next_at().max(now + SHORTEST_SLEEP));
            }
            self.send(context, now)?;
            self.draw();
        }
        Ok(self.next_at())
    }

    fn send(&mut self, context: &Context, now: Nanos) -> Result<(), HostsError> {
        let measured = u64::from(self.next_at() >= context.warm_up);
        let bytes = self.next_bytes.saturating_sub(HEADER_BYTES) as usize;
        let Some(payload) = self.payload.get_mut(..bytes) else {
            let key = format!("flows[{}].workload", self.plan);
            let accepted = format!("at most packet_bytes, {} bytes", context.flow(self.plan).packet_bytes);
            return Err(HostsError::plan(key, format!("a datagram of {} bytes", self.next_bytes), accepted));
        };
        Stamp { sent: now }.write(payload);
        self.sent += measured;
        match send(&self.socket, payload, SendFlags::DONTWAIT) {
            Ok(_) => Ok(()),
            Err(Errno::AGAIN | Errno::NOBUFS) => {
                self.refused += measured;
                Ok(())
            }
            // An answer of the other host to an earlier datagram (ICMP): this one is sent again.
            Err(Errno::CONNREFUSED) => {
                send(&self.socket, payload, SendFlags::DONTWAIT).map(drop).tried("send a datagram")
            }
            Err(error) => Err(error).tried("send a datagram"),
        }
    }

    /// The run ends. What was due by then and is not sent, this host had no time for.
    pub(super) fn end(&mut self, context: &Context, now: Nanos) -> FlowOutcome {
        let mut unsent = 0;
        while self.next_at() < now {
            unsent += u64::from(self.next_at() >= context.warm_up);
            self.draw();
        }
        let flow = context.flow(self.plan);
        let row = FlowRow {
            group: flow.group.clone(),
            flow: self.plan,
            rtt_base_s: Some(flow.rtt_base.as_secs_f64()),
            start_s: seconds(nanos(flow.start).min(now)),
            packets_sent: Some(self.sent),
            retransmissions: Some(0),
            loss_events: Some(0),
            timeouts: Some(0),
            ecn_reductions: Some(0),
            ..FlowRow::default()
        };
        FlowOutcome {
            row,
            plan: self.plan,
            arrived_bytes: None,
            is_datagrams: true,
            measured_s: measured_s(context.warm_up, now),
            limited: Limited::default(),
            refused: self.refused,
            unsent,
            failure: None,
        }
    }
}
