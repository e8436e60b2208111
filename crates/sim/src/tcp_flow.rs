//! A TCP flow: both ends of a connection, the application above it, and the private parts of its path.
//!
//! Everything here runs in the flow's own time. [`TcpFlow::receive`] is called when the last contended link
//! has accepted a packet, with the moment at which it *will* reach the receiver; receiver, way back and sender are run
//! from there at once. That is right because nobody else can act on these parts in between, and because a flow's
//! inputs come in order: paths are FIFO, and timers that expire before an input are run before it
//! ([`TcpFlow::advance`]).

mod transfers;
mod watched;

use crate::application::Application;
use crate::edge::Edge;
use crate::memory::{prefetch, prefetch_ahead, prefetch_bytes};
use crate::packet::{Entity, Flags, Packet, Waiting};
use crate::probe::FlowProbe;
use crate::random::SmallStream;
use crate::shared::Core;
use crate::tcp_group::{Legs, Place, TcpGroup};
use parshall_congestion::Start;
use parshall_net::markers::Class;
use parshall_records::RecordsError;
use parshall_tcp::sender::Phase;
use parshall_tcp::{Ack, Receiver, Segment, Sender};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::mem::offset_of;

/// A TCP flow.
///
/// What every packet touches stands together (`parshall_tcp::Sender` says why): all up to the first part of `sender`, and the
/// beginning of `application`. The rest is looked at when something special happens.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct TcpFlow {
    /// Packets on their way to the first link, when the first one arrives there (the event queue holds that one), and its
    /// class.
    line: VecDeque<Waiting>,
    first_at: Instant,
    pub(crate) index: u32,
    pub(crate) group: u32,
    /// Number of the connection's first packet: what is left of an earlier connection has smaller ones.
    base: u64,
    first_class: Class,
    measuring: bool,
    // One cache line to here.
    pub(crate) legs: Legs,
    slow_armed: Instant,
    fast_armed: Instant,
    /// Payload that arrived for the first time, bytes.
    delivered: u64,
    /// All that arrived, bytes on the wire, since the warm-up.
    pub(crate) received: u64,
    // A second one.
    pub(crate) receiver: Receiver,
    /// When the packet before left the host: what is sent later does not overtake it.
    left: Instant,
    processing: SmallStream,
    pub(crate) probe: Option<Box<FlowProbe>>,
    pub(crate) edge: Option<Box<Edge>>,
    pub(crate) sender: Sender,
    pub(crate) application: Application,
    /// ACKs on their way to the first contended link of the way back.
    /// The second number says where the SACK blocks are kept.
    pub(crate) acks: VecDeque<(Packet, u32)>,
    /// `delivered` when the warm-up ended.
    delivered_before: u64,
    /// Of the packets sent since the warm-up: those lost in the host or on links.
    pub(crate) dropped: u64,
    pub(crate) started: Instant,
    /// Its number in the records; `index` is its place among the TCP flows.
    pub(crate) id: u32,
    /// The random choices of the next connection's control follow from this.
    random: u64,
    /// The ssthresh of earlier connections that the next one starts from; infinite: none.
    ssthresh: f64,
}

impl TcpFlow {
    pub(crate) fn new(group: &TcpGroup, place: Place, legs: Legs, application: Application) -> Self {
        let control = group.new_control(group.fresh_start(place.id, Instant::ZERO, place.random));
        Self {
            line: VecDeque::new(),
            first_at: Instant::MAX,
            first_class: Class::Out,
            acks: VecDeque::new(),
            sender: Sender::new(&group.tcp, control, 1, Instant::ZERO),
            receiver: Receiver::new(1),
            legs,
            application,
            left: Instant::ZERO,
            processing: place.processing,
            slow_armed: Instant::MAX,
            fast_armed: Instant::MAX,
            delivered: 0,
            delivered_before: 0,
            received: 0,
            dropped: 0,
            edge: Edge::new(&group.marker),
            probe: None,
            started: Instant::MAX,
            id: place.id,
            index: place.index,
            group: place.group,
            base: 1,
            measuring: false,
            random: place.random,
            ssthresh: f64::INFINITY,
        }
    }

    /// The flow comes into being at `now` and asks for its first transfer.
    pub(crate) fn begin(&mut self, core: &mut Core, now: Instant) {
        self.started = now;
        self.application.plan(now);
        self.arm(core);
    }

    /// Asks for the memory that a packet of the flow needs.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_bytes(self, 0..offset_of!(Self, sender) + Sender::HOT_BYTES);
        let application = offset_of!(Self, application);
        prefetch_bytes(self, application..application + Application::HOT_BYTES);
    }

    /// Asks for the memory that the flow points to.
    #[inline]
    pub(crate) fn prefetch_beyond(&self) {
        if let Some(first) = self.line.front() {
            prefetch(first);
        }
        if let Some(store) = self.receiver.out_of_order() {
            prefetch(store);
        }
    }

    // --- data reaches the receiver ---

    /// A packet will reach the receiver `at`.
    #[inline]
    pub(crate) fn receive(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, packet: &Packet) {
        if at >= core.end {
            return;
        }
        if let Some(edge) = &mut self.edge {
            edge.delivered(core, packet, at >= core.warm_up);
        }
        if packet.seq() < self.base {
            return;
        }
        if self.receiver.deadline() != Instant::MAX {
            self.send_waiting_ack(group, core, at, packet);
        }
        let reception = self.receiver.on_segment(&group.tcp, at, &packet.segment());
        if reception.fresh {
            self.delivered += u64::from(packet.bytes() - group.header_bytes);
        }
        if at >= core.warm_up {
            self.received += u64::from(packet.bytes());
            if let Some(latency) = core.latency.as_mut().filter(|_| packet.bytes() > group.header_bytes) {
                latency.tcp_arrived(self.index, at.since(packet.sent));
            }
        } else {
            self.delivered_before = self.delivered;
        }
        if let Some(ack) = &reception.ack {
            self.send_ack(group, core, at, ack);
        }
    }

    /// A packet is about to arrive while an ACK waits: it goes first if its time has come, or if the packet's mark differs.
    #[inline(never)]
    fn send_waiting_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, packet: &Packet) {
        let due = self.receiver.deadline();
        if due < at {
            self.send_delayed_ack(group, core, due);
        } else if let Some(ack) = self.receiver.on_changed_mark(&group.tcp, &packet.segment()) {
            self.send_ack(group, core, at, &ack);
        }
    }

    fn send_delayed_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant) {
        if let Some(ack) = self.receiver.on_timer(at) {
            self.send_ack(group, core, at, &ack);
        }
    }

    #[inline]
    fn send_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        if group.heard_at_once {
            self.on_ack(group, core, at + self.legs.back, ack);
        } else if group.reverse_path.is_empty() {
            self.on_captured_ack(group, core, at, ack);
        } else {
            self.queue_ack(group, core, at, ack);
        }
    }

    /// An ACK joins the line to the first link of the way back.
    #[inline(never)]
    fn queue_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        let mut arrives = at + self.legs.back;
        if group.processing_time > Duration::ZERO {
            let before = self.acks.back().map_or(Instant::ZERO, |(last, _)| last.at);
            arrives = before.max(arrives + self.processing.below(group.processing_time));
        }
        let mut flags = Flags::default();
        flags.set_if(ack.echo_retransmission, Flags::RETRANSMISSION);
        flags.set_if(ack.syn, Flags::SYN);
        flags.set_if(ack.congestion_echo, Flags::CONGESTION_ECHO);
        let slot = core.store_blocks(self.index, at, &ack.sack);
        let packet = Packet::new(arrives, ack.echo, ack.cumulative, group.tcp.ack_size.0 as u32, flags);
        if self.acks.is_empty() {
            core.queue.push(arrives, Entity::Acks(self.index));
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
        let ack = packet.ack(core.sack_slots.take(slot));
        if ack.cumulative >= self.base {
            self.on_ack(group, core, at, &ack);
        }
    }

    // --- ACKs and timers reach the sender ---

    #[inline]
    fn on_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        if at >= core.end {
            return;
        }
        if self.advance(group, core, at) {
            return self.on_logged_ack(group, core, at, ack);
        }
        self.answer(group, core, at, ack);
    }

    /// The sender, brought up to this time, hears an ACK and sends what it lets go.
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    fn answer(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        let round_ended = if core.latency.is_some() && at >= core.warm_up {
            self.on_timed_ack(group, core, at, ack)
        } else {
            self.sender.on_ack(&group.tcp, at, ack)
        };
        if round_ended {
            trim(&mut self.line);
            trim(&mut self.acks);
            if let Some(probe) = &mut self.probe {
                probe.end_round(core, self.id, at, self.sender.statistics());
            }
        }
        self.pump(group, core, at);
        if self.application.active && self.is_complete() {
            self.finish_transfer(group, core, at);
        }
    }

    /// The sender hears an ACK; the RTT sample that it takes is recorded.
    #[inline(never)]
    fn on_timed_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) -> bool {
        let before = self.sender.statistics().rtt_total();
        let round_ended = self.sender.on_ack(&group.tcp, at, ack);
        let sample = self.sender.statistics().rtt_since(before);
        if let (Some(rtt), Some(latency)) = (sample, &mut core.latency) {
            latency.round_trip(self.index, rtt);
        }
        round_ended
    }

    /// Runs whatever is due at the sender strictly before `at`; whether the flow is logged.
    #[inline]
    pub(crate) fn advance(&mut self, group: &TcpGroup, core: &mut Core, at: Instant) -> bool {
        if !self.measuring && at >= core.warm_up {
            self.advance_to(group, core, core.warm_up);
            self.begin_measurement(core.warm_up);
        }
        self.advance_to(group, core, at)
    }

    #[inline]
    fn advance_to(&mut self, group: &TcpGroup, core: &mut Core, at: Instant) -> bool {
        loop {
            let due = self.sender_deadline();
            if due >= at {
                break;
            }
            if self.sample(core, due) {
                self.run_logged_timers(group, core, due);
            } else {
                self.run_timers(group, core, due);
            }
        }
        self.sample(core, at)
    }

    #[inline]
    fn sender_deadline(&self) -> Instant {
        let sender = self.sender.rto_deadline().min(self.sender.pacing_deadline());
        sender.min(self.application.start)
    }

    fn run_timers(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        if self.application.start <= now {
            self.start_transfer(group, core, now);
        }
        if self.sender.rto_deadline() <= now {
            if self.sender.phase() == Phase::Connecting {
                let start = Start { window: 1.0, ..self.start(group, now) }; // RFC 5681 §3.1: the SYN was lost
                self.sender.replace_control(now, group.new_control(start));
            }
            self.sender.on_timer(&group.tcp, now);
        }
        self.pump(group, core, now);
    }

    /// Takes the samples that are due; whether the flow is logged.
    #[inline]
    fn sample(&mut self, core: &mut Core, until: Instant) -> bool {
        let Some(probe) = &mut self.probe else { return false };
        probe.sample_until(core, until, self.id, &self.sender, self.delivered);
        probe.log.is_some()
    }

    /// Sends what may be sent at `now`.
    #[inline]
    fn pump(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        match self.sender.burst(&group.tcp) {
            Some(packets) => {
                for _ in 0..packets {
                    let segment = self.sender.transmit_next(&group.tcp, now);
                    self.send(group, core, &segment);
                }
            }
            None => self.pump_one_by_one(group, core, now),
        }
    }

    #[inline(never)]
    fn pump_one_by_one(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        while let Some(segment) = self.sender.poll_transmit(&group.tcp, now) {
            self.send(group, core, &segment);
        }
    }

    /// A segment joins the line to the first link.
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    fn send(&mut self, group: &TcpGroup, core: &mut Core, segment: &Segment) {
        let bytes = if segment.syn { group.header_bytes } else { self.wire_bytes(group, segment.seq) };
        let packet = Waiting::of_segment(segment, bytes);
        if self.line.is_empty() {
            self.begin_line(group, core, packet);
        }
        join(&mut self.line, packet);
    }

    /// A packet is the first one in line.
    #[inline(never)]
    fn begin_line(&mut self, group: &TcpGroup, core: &mut Core, packet: Waiting) {
        let Some(at) = self.reaches_link(group, packet, core.warm_up) else {
            unreachable!("all packets before it have left, so the access link is free");
        };
        core.queue.push(at, Entity::Data(self.index));
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
            self.lose_in_host(next, warm_up);
        }
        trim(&mut self.line);
        None
    }

    /// The packet first in line does not fit into the queue of its access link.
    #[cold]
    #[inline(never)]
    fn lose_in_host(&mut self, packet: Waiting, warm_up: Instant) {
        self.line.pop_front();
        self.dropped += u64::from(packet.sent >= warm_up);
        if let Some(probe) = &mut self.probe {
            probe.mark_lost(packet.sent);
        }
    }

    /// The host processes packets one after another, in the order of the line, then its access link sends them; behind
    /// that stands the marker. `None`: the access link's queue is full.
    #[inline]
    fn reaches_link(&mut self, group: &TcpGroup, packet: Waiting, warm_up: Instant) -> Option<Instant> {
        let mut leaves = packet.sent;
        if group.processing_time > Duration::ZERO {
            leaves += self.processing.below(group.processing_time);
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

    // --- measurement ---

    /// Payload that arrived for the first time since the warm-up, bytes.
    pub(crate) fn delivered_measured(&self) -> u64 {
        self.delivered - self.delivered_before
    }

    fn begin_measurement(&mut self, warm_up: Instant) {
        self.measuring = true;
        self.sender.settle(warm_up);
        let statistics = self.sender.statistics_mut();
        // A transfer under way keeps its own counts across the restart.
        let application = &mut self.application;
        application.sent_before = application.sent_before.wrapping_sub(statistics.packets_sent);
        application.retransmissions_before =
            application.retransmissions_before.wrapping_sub(statistics.retransmissions);
        application.timeouts_before = application.timeouts_before.wrapping_sub(statistics.timeouts);
        if let Some(probe) = &mut self.probe {
            probe.restart_counts(statistics);
        }
        statistics.restart(warm_up);
    }

    /// A link lost a packet of this flow. It counts if it was counted when it was sent.
    pub(crate) fn on_drop(&mut self, warm_up: Instant, packet: &Packet) {
        let measured = packet.sent >= warm_up;
        self.dropped += u64::from(measured);
        if let Some(edge) = &mut self.edge {
            edge.dropped(packet, measured);
        }
        if let Some(probe) = &mut self.probe {
            probe.mark_lost(packet.sent);
        }
    }

    /// Brings the flow to the end of the simulation.
    pub(crate) fn end(&mut self, group: &TcpGroup, core: &mut Core) -> Result<(), RecordsError> {
        let end = core.end;
        if !self.measuring {
            self.begin_measurement(core.warm_up);
        }
        self.sample(core, end);
        if self.application.active {
            self.sender.settle(end);
            if self.application.bytes.is_some() {
                let row = self.transfer_row(group, None);
                core.record(|tables| tables.transfers.push(row));
            }
        }
        if let Some(probe) = &mut self.probe {
            probe.end(core, self.id);
        }
        if let Some(edge) = &mut self.edge {
            edge.end(core);
        }
        core.take_error()
    }

    // --- events ---

    /// Schedules the next look at this flow's timers, unless one is scheduled early enough.
    #[inline]
    pub(crate) fn arm(&mut self, core: &mut Core) {
        let slow = self.sender.rto_deadline().min(self.application.start);
        if slow < self.slow_armed && slow < core.end {
            self.slow_armed = slow;
            core.queue.push(slow, Entity::SlowTimer(self.index));
        }
        let fast = self.sender.pacing_deadline().min(self.receiver.deadline());
        if fast < self.fast_armed && fast < core.end {
            self.fast_armed = fast;
            core.queue.push(fast, Entity::FastTimer(self.index));
        }
    }

    /// The slow timer fires; the event was the latest one armed, or is forgotten.
    pub(crate) fn on_slow_timer(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        if self.slow_armed == now {
            self.slow_armed = Instant::MAX;
            self.advance(group, core, after(now));
        }
    }

    /// The fast timer fires.
    pub(crate) fn on_fast_timer(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        if self.fast_armed == now {
            self.fast_armed = Instant::MAX;
            if self.receiver.deadline() <= now {
                self.send_delayed_ack(group, core, now);
            }
            self.advance(group, core, after(now));
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
fn trim<T>(line: &mut VecDeque<T>) {
    let (held, capacity) = (line.len(), line.capacity());
    if capacity > 8 && held < capacity / 2 {
        line.shrink_to(held + held / 4 + 4);
    }
}

/// The next representable moment: "up to and including `now`" for functions that run what is strictly before.
fn after(now: Instant) -> Instant {
    now + Duration::from_ps(1)
}
