//! A flow of packets from outside: where they are before their first link, and what is counted of them.

use super::outside::{Arrival, Delivery, Outside};
use crate::edge::Edge;
use crate::endpoint_kind::TransitKind;
use crate::groups::{Direction, ExternalGroup, Propagation};
use crate::jitter::OwnJitter;
use crate::measured::Measured;
use crate::plan::{GroupPlan, Problem};
use crate::shared::{Core, Shared};
use parshall_congestion::ControlConfig;
use parshall_engine::jitter::{JitteredPath, Leaves};
use parshall_engine::{Entity, Flags, Packet, Transit, TransitQueue, MAX_BYTES};
use parshall_net::ecn::Ecn;
use parshall_records::FlowRow;
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// Returns the common state of a group's flows.
pub(super) fn in_common(group: &GroupPlan<'_>) -> Result<ExternalGroup, Problem> {
    let spec = group.spec;
    let control = spec.congestion_control.as_ref().map(ControlConfig::name);
    Ok(ExternalGroup {
        name: group.name.clone(),
        packet_bytes: spec.packet_bytes,
        control: control.unwrap_or_default().into(),
        access: group.access()?,
        path: spec.path.clone().into(),
        reverse_path: spec.reverse_path.clone().into(),
        captured: false,
        one_link: [
            group.ends_at_first_link(&spec.path, spec.jitter.as_ref()),
            group.ends_at_first_link(&spec.reverse_path, spec.reverse_jitter.as_ref()),
        ],
    })
}

/// The scenario's values for an external flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalFlowInfo<'a> {
    /// The name of its group.
    pub group: &'a str,
    /// Its number in the records.
    pub number: u32,
    /// Bytes of a full packet, headers included.
    pub packet_bytes: u32,
    /// When it starts.
    pub start: Instant,
    /// Its two-way propagation delay, links included.
    pub rtt: Duration,
    /// The seed of its application's random choices: that of a simulated one in its place.
    pub random: u64,
    /// The records of the first flows of a group: the time between samples, and whether there are rounds.
    pub recorded: (Option<Duration>, bool),
}

/// The totals of an external flow that only the hosts know, since the end of the warm-up; `None`: they do not
/// know.
#[derive(Clone, Debug, Default)]
pub struct HostTotals {
    /// The congestion control that it had; the scenario's if they do not say.
    pub congestion_control: Option<Arc<str>>,
    /// When it started; the scenario's time if they do not say.
    pub started: Option<Instant>,
    /// Rate at which payload reached the receiving application.
    pub goodput_bps: Option<f64>,
    /// Or that payload, bytes.
    pub payload_bytes: Option<u64>,
    /// Packets sent again.
    pub retransmissions: Option<u64>,
    /// Fast recoveries entered.
    pub loss_events: Option<u64>,
    /// Retransmission timeouts.
    pub timeouts: Option<u64>,
    /// Window reductions that answer an ECN echo.
    pub ecn_reductions: Option<u64>,
    /// Mean congestion window over time, packets.
    pub mean_cwnd_packets: Option<f64>,
    /// Mean of the RTT samples, s.
    pub mean_rtt_s: Option<f64>,
    /// Smallest RTT sample, s.
    pub min_rtt_s: Option<f64>,
}

/// A flow of packets from outside.
pub(super) struct ExternalFlow {
    pub(super) id: u32,
    /// Its group, among those of this kind.
    pub(super) group: u32,
    pub(super) rtt: Duration,
    pub(super) started: Instant,
    pub(super) random: u64,
    pub(super) recorded: (Option<Duration>, bool),
    pub(super) edge: Option<Box<Edge>>,
    /// True if the end of the simulation waits for it.
    pub(super) awaited: bool,
    forward: Way,
    reverse: Way,
    /// Data packets since the warm-up: that came, that were lost of these, and bytes that reached the receiver.
    sent: u64,
    dropped: u64,
    received_bytes: u64,
    pub(super) host: HostTotals,
}

/// One direction of a flow.
struct Way {
    /// Before the first link, and behind the last one.
    propagation: (Duration, Duration),
    /// Of the flow's own part of the path.
    jitter: Option<JitteredPath>,
    /// When its last packet left the host.
    left: Instant,
    /// Packets on their way to the first link, in order, and their slots.
    in_transit: VecDeque<(Packet, u32)>,
}

impl Way {
    fn new(first: Duration, last: Duration) -> Self {
        Self { propagation: (first, last), jitter: None, left: Instant::ZERO, in_transit: VecDeque::new() }
    }

    /// When a packet leaves the flow's own part of the path that comes there `at`. What is due outside is put in order there.
    fn leaves(&mut self, at: Instant) -> Instant {
        match self.jitter.as_mut().map(|path| path.pass(at)) {
            Some(Leaves::InOrder(leaves) | Leaves::AnyOrder(leaves)) => leaves,
            None => at,
        }
    }
}

impl ExternalFlow {
    pub(super) fn new(
        (id, group): (u32, u32),
        (rtt, propagation): (Duration, Propagation),
        started: Instant,
        edge: Option<Box<Edge>>,
    ) -> Self {
        Self {
            id,
            group,
            rtt,
            started,
            random: 0,
            recorded: (None, false),
            edge,
            awaited: false,
            forward: Way::new(propagation.to_first_link, propagation.to_receiver),
            reverse: Way::new(propagation.back, propagation.to_sender),
            sent: 0,
            dropped: 0,
            received_bytes: 0,
            host: HostTotals::default(),
        }
    }

    /// Sets the time of its own parts of the path beside the delay.
    pub(super) fn set_jitter(&mut self, OwnJitter { forth, back }: OwnJitter) {
        self.forward.jitter = forth;
        self.reverse.jitter = back;
    }

    /// The totals of the flow.
    pub(super) fn totals(&self, group: &ExternalGroup, measured: &Measured<'_>) -> FlowRow {
        let host = &self.host;
        FlowRow {
            group: group.name.clone(),
            flow: self.id,
            congestion_control: host.congestion_control.as_ref().unwrap_or(&group.control).clone(),
            rtt_base_s: Some(self.rtt.as_secs_f64()),
            start_s: measured.started_s(host.started.unwrap_or(self.started)),
            goodput_bps: host.goodput_bps.or(host.payload_bytes.map(|bytes| measured.rate_bps(bytes))),
            throughput_bps: Some(measured.rate_bps(self.received_bytes)),
            packets_sent: Some(self.sent),
            retransmissions: host.retransmissions,
            packets_dropped: Some(self.dropped),
            loss_rate: (self.sent > 0).then(|| self.dropped as f64 / self.sent as f64),
            loss_events: host.loss_events,
            timeouts: host.timeouts,
            ecn_reductions: host.ecn_reductions,
            mean_cwnd_packets: host.mean_cwnd_packets,
            mean_rtt_s: host.mean_rtt_s,
            min_rtt_s: host.min_rtt_s,
            ..measured.common_row(self.id, self.edge.as_deref())
        }
    }
}

/// The packets of a flow in one direction.
pub(crate) struct Packets<'a> {
    pub(super) index: u32,
    pub(super) flow: &'a mut ExternalFlow,
    pub(super) group: &'a ExternalGroup,
    pub(super) outside: &'a mut Outside,
    pub(super) direction: Direction,
}

impl Packets<'_> {
    fn way(&mut self) -> &mut Way {
        match self.direction {
            Direction::Forward => &mut self.flow.forward,
            Direction::Reverse => &mut self.flow.reverse,
        }
    }

    /// A packet comes from outside at `now`, not before the network's time. In one direction packets keep their order.
    pub(crate) fn hand_in(&mut self, core: &mut Core, now: Instant, arrival: &Arrival) {
        let bytes = arrival.bytes.min(MAX_BYTES);
        let measured = now >= core.warm_up;
        let mut leaves = now.max(self.way().left);
        let mut packet = Packet::new(now, now, type_of_service(arrival), bytes, Flags::default());
        if self.direction == Direction::Forward {
            self.flow.sent += u64::from(measured);
            if let Some(link) = &self.group.access {
                if !link.has_room(now, self.flow.forward.left) {
                    self.flow.dropped += u64::from(measured);
                    return self.outside.lose(arrival.slot);
                }
                leaves += link.transmission(bytes);
            }
            if let Some(edge) = &mut self.flow.edge {
                packet = packet.of_class(edge.enter(leaves, bytes, measured));
            }
        }
        let way = self.way();
        way.left = leaves;
        packet.at = leaves + way.propagation.0;
        if self.path().is_empty() {
            if let Some(captures) = &mut core.sink.captures {
                let comes = leaves + self.flow.forward.propagation.1;
                captures.external_passes(self.flow.group, comes, arrival.slot);
            }
            let at = self.way().leaves(packet.at);
            return self.deliver(core, at, &packet, arrival.slot);
        }
        let (index, kind) = (self.index, self.transit_kind());
        let way = self.way();
        if way.in_transit.is_empty() {
            core.queue.push(packet.at, Entity::Transit(kind, index));
        }
        way.in_transit.push_back((packet, arrival.slot));
    }

    fn transit_kind(&self) -> u8 {
        match self.direction {
            Direction::Forward => TransitKind::ExternalData,
            Direction::Reverse => TransitKind::ExternalAcks,
        }
    }
}

impl TransitQueue<Shared> for Packets<'_> {
    fn first(&self) -> (Packet, u32) {
        match self.direction {
            Direction::Forward => self.flow.forward.in_transit[0],
            Direction::Reverse => self.flow.reverse.in_transit[0],
        }
    }

    fn next(&mut self, _: &mut Core) -> Option<Instant> {
        let way = self.way();
        way.in_transit.pop_front();
        way.in_transit.front().map(|(next, _)| next.at)
    }

    fn path(&self) -> &[u32] {
        match self.direction {
            Direction::Forward => &self.group.path,
            Direction::Reverse => &self.group.reverse_path,
        }
    }

    fn ends_at_first_link(&self) -> bool {
        self.group.one_link[self.direction as usize] && !self.group.captured
    }

    fn ecn(&self, packet: &Packet) -> Ecn {
        packet.ecn(Ecn::ALL[packet.seq() as usize & 3])
    }

    fn dscp(&self, packet: &Packet) -> u8 {
        (packet.seq() >> 2) as u8 & 63
    }

    fn leave_path(&mut self, core: &mut Core, at: Instant, _: Transit) -> Option<Instant> {
        let leaves = self.way().leaves(at);
        core.jittered.told(leaves);
        Some(leaves)
    }

    fn deliver(&mut self, core: &mut Core, at: Instant, packet: &Packet, slot: u32) {
        let arrives = at + self.way().propagation.1;
        let marked = packet.flags().has(Flags::CONGESTION_EXPERIENCED);
        self.outside.push(Delivery {
            at: arrives,
            flow: self.index,
            direction: self.direction,
            slot,
            marked,
        });
        if self.direction == Direction::Reverse || arrives < core.warm_up || arrives >= core.end {
            return;
        }
        self.flow.received_bytes += u64::from(packet.bytes());
        if let Some(latency) = &mut core.sink.latency {
            latency.arrived(self.flow.id, arrives.since(packet.sent));
        }
        if let Some(edge) = &mut self.flow.edge {
            edge.delivered(core, packet, true);
        }
    }

    fn lose(&mut self, core: &mut Core, packet: &Packet, slot: u32) {
        self.outside.lose(slot);
        if self.direction == Direction::Reverse {
            return;
        }
        let measured = packet.sent >= core.warm_up;
        self.flow.dropped += u64::from(measured);
        if let Some(edge) = &mut self.flow.edge {
            edge.dropped(packet, measured);
        }
    }

    fn crossed(&self, core: &mut Core, hop: usize, at: Instant, packet: &Packet, slot: u32) {
        if let Some(captures) = &mut core.sink.captures {
            captures.external((self.flow.group, self.direction), hop, at, (packet, slot));
        }
    }
}

/// What a packet has in the place of its number: DSCP and ECN codepoint, the latter by its place in [`Ecn::ALL`].
fn type_of_service(arrival: &Arrival) -> u64 {
    u64::from(arrival.dscp & 63) << 2 | arrival.ecn as u64
}
