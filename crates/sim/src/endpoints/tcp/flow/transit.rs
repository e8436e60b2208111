//! A flow's two transit queues: data on its way to the first link, and ACKs on theirs where the way back is contended.

use super::TcpFlow;
use crate::endpoint_kind::{Kind, TransitKind};
use crate::endpoints::tcp::EXCHANGE;
use crate::groups::TcpGroup;
use crate::shared::Core;
use crate::wire;
use parshall_engine::memory::prefetch_ahead;
use parshall_engine::{End, Entity, Owner, Packet, Transit, Waiting};
use parshall_tcp::{Ack, Segment};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;

impl TcpFlow {
    // --- data ---

    /// A segment sets out for the first link.
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    pub(super) fn send(&mut self, group: &TcpGroup, core: &mut Core, segment: &Segment) {
        let bytes = if segment.syn { group.header_bytes } else { self.wire_bytes(group, segment.seq) };
        self.enter_transit(group, core, wire::waiting(segment, bytes));
    }

    #[allow(clippy::inline_always)] // as `send`
    #[inline(always)]
    fn enter_transit(&mut self, group: &TcpGroup, core: &mut Core, packet: Waiting) {
        if self.in_transit.is_empty() {
            self.begin_transit(group, core, packet);
        }
        enter(&mut self.in_transit, packet);
    }

    /// Linux answers the SYN-ACK by itself, before any data (`tcp_rcv_synsent_state_process`): a packet without data
    /// takes its place in queues. The data behind it says the same, so that nothing comes of a loss.
    #[cold]
    pub(super) fn end_handshake(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        if self.sender.take_needless_cut() {
            let start = self.start(group, now);
            self.sender.replace_control(now, group.new_control(start));
        }
        if group.tcp.rules.opening.is_linux() && group.role.is_none() && !group.path.is_empty() {
            let segment = Segment { ecn_capable: false, ..Segment::plain(self.sender.una(), now) };
            self.enter_transit(group, core, wire::waiting(&segment, group.header_bytes));
        }
    }

    /// A packet is the first one in transit.
    #[inline(never)]
    fn begin_transit(&mut self, group: &TcpGroup, core: &mut Core, packet: Waiting) {
        let Some(at) = self.reaches_link(group, packet, core.warm_up) else {
            unreachable!("all packets before it have left, so the access link is free");
        };
        let uncontended = group.path.is_empty();
        let own = Entity::Own(Kind::Tcp, EXCHANGE, self.index);
        core.queue.push(at, if uncontended { own } else { Entity::Transit(TransitKind::Data, self.index) });
    }

    /// The first packet in transit.
    #[inline]
    pub(crate) fn first_in_transit(&self) -> Packet {
        self.in_transit[0].arriving(self.first_at).of_class(self.first_class)
    }

    /// The first packet in transit has been dealt with; when the next one reaches the first link.
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    pub(crate) fn next_in_transit(&mut self, group: &TcpGroup, warm_up: Instant) -> Option<Instant> {
        self.in_transit.pop_front();
        prefetch_ahead(&self.in_transit);
        while let Some(&next) = self.in_transit.front() {
            let at = self.reaches_link(group, next, warm_up);
            if at.is_some() {
                return at;
            }
            self.lose_in_host(group, next, warm_up);
        }
        trim(&mut self.in_transit);
        None
    }

    /// The first packet in transit does not fit into the queue of its access link.
    #[cold]
    #[inline(never)]
    fn lose_in_host(&mut self, group: &TcpGroup, packet: Waiting, warm_up: Instant) {
        self.in_transit.pop_front();
        self.count_loss(group, warm_up, &packet.arriving(packet.sent));
    }

    /// The host processes packets one after another, in their order, then its access link sends them; behind
    /// that stands the marker. `None`: the access link's queue is full.
    #[inline]
    fn reaches_link(&mut self, group: &TcpGroup, packet: Waiting, warm_up: Instant) -> Option<Instant> {
        let mut leaves = packet.sent;
        if group.processing_time > Duration::ZERO {
            // What Linux sends at once is processed at once; an access link spaces it anyway.
            let together = group.tcp.rules.processing.is_linux() && packet.sent == self.sent_before;
            if together && group.access.is_none() {
                leaves = self.left;
            } else {
                leaves += self.processing.below(group.processing_time);
                self.sent_before = packet.sent;
            }
            if group.access.is_none() {
                leaves = leaves.max(self.left);
                self.left = leaves;
            }
        }
        if let Some(link) = &group.access {
            if !link.has_room(leaves, self.left) {
                return None;
            }
            leaves = leaves.max(self.left) + link.transmission(packet.bytes());
            self.left = leaves;
        }
        if let Some(edge) = &mut self.edge {
            self.first_class = edge.enter(leaves, packet.bytes(), packet.sent >= warm_up);
        }
        self.first_at = leaves + self.propagation.to_first_link;
        Some(self.first_at)
    }

    /// Size on the wire: the last packet of a transfer carries what is left.
    #[inline]
    fn wire_bytes(&self, group: &TcpGroup, seq: u64) -> u32 {
        match self.application.bytes {
            Some(bytes) if self.sender.is_last(seq) => group.last_bytes(bytes),
            _ => group.packet_bytes,
        }
    }

    // --- ACKs ---

    /// An ACK sets out for the first link of the way back.
    #[inline(never)]
    pub(super) fn queue_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        let mut arrives = at + self.propagation.back;
        if group.processing_time > Duration::ZERO {
            let before = self.acks.back().map_or(Instant::ZERO, |(last, _)| last.at);
            arrives = before.max(arrives + self.processing.below(group.processing_time));
        }
        let slot = core.sink.store_options(self.index, ack, group.timed_acks);
        let packet = wire::ack_packet(arrives, ack, group.tcp.ack_size.0 as u32);
        if self.acks.is_empty() {
            core.queue.push(arrives, Entity::Transit(TransitKind::Acks, self.index));
        }
        enter(&mut self.acks, (packet, slot));
    }

    /// An ACK on an uncontended way back comes to its end at this time, and others may come before.
    pub(super) fn put_off_ack(&self, group: &TcpGroup, core: &mut Core, leaves: Instant, ack: &Ack) {
        let slot = core.sink.acks.store_any(ack);
        let packet = wire::ack_packet(leaves, ack, group.tcp.ack_size.0 as u32);
        let owner = Owner { transit: TransitKind::Acks, flow: self.index, tag: slot };
        core.put_off(leaves, Transit { packet, owner, hop: 0 }, End::Path);
    }

    /// The first ACK in transit has been dealt with; when the next one reaches the first link of the way back.
    #[inline]
    pub(crate) fn next_ack_in_transit(&mut self) -> Option<Instant> {
        self.acks.pop_front();
        prefetch_ahead(&self.acks);
        let next = self.acks.front().map(|(next, _)| next.at);
        if next.is_none() {
            trim(&mut self.acks);
        }
        next
    }

    /// An ACK that crossed contended links will reach the sender `at`.
    pub(crate) fn receive_ack(
        &mut self,
        group: &TcpGroup,
        core: &mut Core,
        at: Instant,
        (packet, slot): (&Packet, u32),
    ) {
        let ack = wire::ack(packet, &core.sink.acks.take(slot));
        if ack.cumulative >= self.base {
            self.on_ack(group, core, at, &ack);
        }
    }
}

/// Something enters a transit queue.
#[allow(clippy::inline_always)] // a call costs as much as what it does
#[inline(always)]
fn enter<T>(queue: &mut VecDeque<T>, last: T) {
    if queue.len() == queue.capacity() {
        widen(queue);
    }
    queue.push_back(last);
}

/// Room for half more in a transit queue, not for twice as much: these queues are most of what a large simulation remembers.
#[cold]
fn widen<T>(queue: &mut VecDeque<T>) {
    queue.reserve_exact(queue.len() / 2 + 4);
}

/// A transit queue that slow start made long gives its memory back, a round trip after the window was cut or when the flow falls
/// silent.
pub(super) fn trim<T>(queue: &mut VecDeque<T>) {
    let (held, capacity) = (queue.len(), queue.capacity());
    if capacity > 8 && held < capacity / 2 {
        queue.shrink_to(held + held / 4 + 4);
    }
}
