//! A flow's two lines: data on its way to the first link, and ACKs on theirs where the way back is contended.

use super::TcpFlow;
use crate::endpoints::tcp::group::TcpGroup;
use crate::endpoints::tcp::EXCHANGE;
use crate::endpoints::{Kind, LineKind};
use crate::event::Entity;
use crate::memory::prefetch_ahead;
use crate::packet::{Flags, Packet, Waiting};
use crate::shared::Core;
use parshall_tcp::{Ack, Rules, Segment};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;

impl TcpFlow {
    // --- data ---

    /// A segment joins the line to the first link.
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    pub(super) fn send(&mut self, group: &TcpGroup, core: &mut Core, segment: &Segment) {
        let bytes = if segment.syn { group.header_bytes } else { self.wire_bytes(group, segment.seq) };
        self.join_line(group, core, Waiting::of_segment(segment, bytes));
    }

    #[allow(clippy::inline_always)] // as `send`
    #[inline(always)]
    fn join_line(&mut self, group: &TcpGroup, core: &mut Core, packet: Waiting) {
        if self.line.is_empty() {
            self.begin_line(group, core, packet);
        }
        join(&mut self.line, packet);
    }

    /// Linux answers the SYN-ACK by itself, before any data (`tcp_rcv_synsent_state_process`): a packet without data takes its place in queues.
    /// The data behind it says the same, so that nothing comes of a loss.
    #[cold]
    pub(super) fn end_handshake(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        if group.tcp.rules == Rules::Linux && group.role.is_none() && !group.path.is_empty() {
            let segment = Segment { ecn_capable: false, ..Segment::plain(self.sender.una(), now) };
            self.join_line(group, core, Waiting::of_segment(&segment, group.header_bytes));
        }
    }

    /// A packet is the first one in line.
    #[inline(never)]
    fn begin_line(&mut self, group: &TcpGroup, core: &mut Core, packet: Waiting) {
        let Some(at) = self.reaches_link(group, packet, core.warm_up) else {
            unreachable!("all packets before it have left, so the access link is free");
        };
        let uncontended = group.path.is_empty();
        let own = Entity::Own(Kind::Tcp, EXCHANGE, self.index);
        core.queue.push(at, if uncontended { own } else { Entity::Line(LineKind::Data, self.index) });
    }

    /// The packet first in line.
    #[inline]
    pub(crate) fn first_in_line(&self) -> Packet {
        self.line[0].arriving(self.first_at).of_class(self.first_class)
    }

    /// The packet first in line has been dealt with; when the next one reaches the first link.
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    pub(crate) fn next_in_line(&mut self, group: &TcpGroup, warm_up: Instant) -> Option<Instant> {
        self.line.pop_front();
        prefetch_ahead(&self.line);
        while let Some(&next) = self.line.front() {
            let at = self.reaches_link(group, next, warm_up);
            if at.is_some() {
                return at;
            }
            self.lose_in_host(group, next, warm_up);
        }
        trim(&mut self.line);
        None
    }

    /// The packet first in line does not fit into the queue of its access link.
    #[cold]
    #[inline(never)]
    fn lose_in_host(&mut self, group: &TcpGroup, packet: Waiting, warm_up: Instant) {
        self.line.pop_front();
        self.dropped += u64::from(packet.sent >= warm_up);
        let bare = group.is_bare(&packet.arriving(packet.sent));
        if let Some(probe) = self.probe.as_mut().filter(|_| !bare) {
            probe.mark_lost(packet.sent);
        }
    }

    /// The host processes packets one after another, in the order of the line, then its access link sends them; behind
    /// that stands the marker. `None`: the access link's queue is full.
    #[inline]
    fn reaches_link(&mut self, group: &TcpGroup, packet: Waiting, warm_up: Instant) -> Option<Instant> {
        let mut leaves = packet.sent;
        if group.processing_time > Duration::ZERO {
            // What Linux sends at once is processed at once; an access link spaces it anyway.
            if group.tcp.rules == Rules::Linux && packet.sent == self.sent_before && group.access.is_none() {
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
        self.first_at = leaves + self.legs.to_first_link;
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

    /// An ACK joins the line to the first link of the way back.
    #[inline(never)]
    pub(super) fn queue_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        let mut arrives = at + self.legs.back;
        if group.processing_time > Duration::ZERO {
            let before = self.acks.back().map_or(Instant::ZERO, |(last, _)| last.at);
            arrives = before.max(arrives + self.processing.below(group.processing_time));
        }
        let mut flags = Flags::default();
        flags.set_if(ack.echo_retransmission, Flags::RETRANSMISSION);
        flags.set_if(ack.syn, Flags::SYN);
        flags.set_if(ack.congestion_echo, Flags::CONGESTION_ECHO);
        let slot = core.store_options(self.index, ack, group.timed_acks);
        let packet = Packet::new(arrives, ack.echo, ack.cumulative, group.tcp.ack_size.0 as u32, flags);
        if self.acks.is_empty() {
            core.queue.push(arrives, Entity::Line(LineKind::Acks, self.index));
        }
        join(&mut self.acks, (packet, slot));
    }

    /// The ACK first in line has been dealt with; when the next one reaches the first link of the way back.
    #[inline]
    pub(crate) fn next_ack_in_line(&mut self) -> Option<Instant> {
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
        let ack = packet.ack(&core.sack_slots.take(slot));
        if ack.cumulative >= self.base {
            self.on_ack(group, core, at, &ack);
        }
    }
}

/// Something joins a line.
#[allow(clippy::inline_always)] // a call costs as much as what it does
#[inline(always)]
fn join<T>(line: &mut VecDeque<T>, last: T) {
    if line.len() == line.capacity() {
        widen(line);
    }
    line.push_back(last);
}

/// Room for half more in a line, not for twice as much: lines are most of what a large simulation remembers.
#[cold]
fn widen<T>(line: &mut VecDeque<T>) {
    line.reserve_exact(line.len() / 2 + 4);
}

/// A line that slow start made long gives its memory back, a round trip after the window was cut or when the flow falls
/// silent.
pub(super) fn trim<T>(line: &mut VecDeque<T>) {
    let (held, capacity) = (line.len(), line.capacity());
    if capacity > 8 && held < capacity / 2 {
        line.shrink_to(held + held / 4 + 4);
    }
}
