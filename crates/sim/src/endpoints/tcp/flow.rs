//! A TCP flow: both ends of a connection, the application above it, and the private parts of its path.
//!
//! Everything here runs in the flow's own time. [`TcpFlow::receive`] is called when the last contended link
//! has accepted a packet, with the moment at which it *will* reach the receiver; receiver, way back and sender are run
//! from there at once. That is right because nobody else can act on these parts in between, and because a flow's
//! inputs come in order of time: paths are FIFO, or their packets are events ([`jitter`](crate::jitter)), and timers that
//! expire before an input are run before it ([`TcpFlow::advance`]).

mod measurement;
mod transfers;
mod transit;
mod watched;

use super::application::Application;
use super::exchanges::Exchange;
use super::probe::FlowProbe;
use super::{FAST_TIMER, SLOW_TIMER};
use crate::edge::Edge;
use crate::endpoint_kind::Kind;
use crate::groups::{Place, Propagation, Role, TcpGroup};
use crate::jitter::OwnJitter;
use crate::shared::Core;
use crate::wire::{self, PUSH};
use parshall_congestion::Start;
use parshall_engine::memory::{prefetch, prefetch_bytes};
use parshall_engine::random::SmallStream;
use parshall_engine::Entity;
use parshall_engine::{Packet, Waiting};
use parshall_net::markers::Class;
use parshall_tcp::{Ack, Receiver, Sender};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::mem::offset_of;
use transit::trim;

/// A TCP flow.
///
/// What every packet touches stands together (`parshall_tcp::Sender` says why): all up to the first part of `sender`, and the
/// beginning of `application`. The rest is looked at when something special happens.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct TcpFlow {
    /// Packets on their way to the first link, when the first one arrives there (the event queue holds that one), and its
    /// class.
    in_transit: VecDeque<Waiting>,
    first_at: Instant,
    pub(crate) index: u32,
    pub(crate) group: u32,
    /// Number of the connection's first packet: what is left of an earlier connection has smaller ones.
    base: u64,
    first_class: Class,
    measuring: bool,
    // One cache line to here.
    pub(crate) propagation: Propagation,
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
    /// When that packet was sent.
    sent_before: Instant,
    /// When the last ACK left the host that takes a time with ACKs.
    answered: Instant,
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
    /// Of its own parts of the path.
    pub(crate) jitter: Option<Box<OwnJitter>>,
    /// Of the server of exchanges: what it and its client do.
    pub(crate) exchange: Option<Box<Exchange>>,
}

impl TcpFlow {
    /// `random`: what the random choices of its controls follow from.
    pub(super) fn new(
        group: &TcpGroup,
        place: Place,
        random: u64,
        propagation: Propagation,
        application: Application,
    ) -> Self {
        let control = group.new_control(group.fresh_start(place.id, Instant::ZERO, random));
        Self {
            in_transit: VecDeque::new(),
            first_at: Instant::MAX,
            first_class: Class::Out,
            acks: VecDeque::new(),
            sender: Sender::new(&group.tcp, control, 1, Instant::ZERO),
            receiver: Receiver::new(1),
            propagation,
            application,
            left: Instant::ZERO,
            sent_before: Instant::MAX,
            answered: Instant::ZERO,
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
            random,
            ssthresh: f64::INFINITY,
            jitter: None,
            exchange: None,
        }
    }

    /// The flow comes into being at `now` and asks for its first transfer.
    pub(crate) fn begin(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        self.started = now;
        self.application.plan(now);
        self.arm(group, core);
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
        if let Some(first) = self.in_transit.front() {
            prefetch(first);
        }
        if let Some(store) = self.receiver.store() {
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
        if packet.seq() < self.base || group.is_bare(packet) {
            return;
        }
        if self.receiver.may_send_before(&group.tcp, at) {
            self.send_waiting_ack(group, core, at, packet);
        }
        let reception = self.receiver.on_segment(&group.tcp, at, &wire::segment(packet));
        if reception.fresh {
            let payload = u64::from(packet.bytes() - group.header_bytes);
            self.delivered += payload;
            if let Some(delivered) = core.sink.delivered.as_mut().filter(|_| group.role != Some(Role::Client))
            {
                delivered.add(group.number, (at, self.propagation.to_receiver), payload);
            }
            if let Some(role) = group.role {
                self.turn(role, core, at);
            }
        }
        if at >= core.warm_up {
            self.received += u64::from(packet.bytes());
            let counts = packet.bytes() > group.header_bytes && group.role != Some(Role::Client);
            if let Some(latency) = core.sink.latency.as_mut().filter(|_| counts) {
                latency.arrived(self.id, at.since(packet.sent));
            }
        } else {
            self.delivered_before = self.delivered;
        }
        if let Some(ack) = &reception.ack {
            self.send_ack(group, core, at, ack);
        }
    }

    /// A packet is about to arrive while an ACK waits: it goes first if its time has come, or if the receiver says so.
    #[inline(never)]
    fn send_waiting_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, packet: &Packet) {
        while self.receiver.deadline() < at {
            self.send_delayed_ack(group, core, self.receiver.deadline());
        }
        if let Some(ack) = self.receiver.ack_before(&group.tcp, at, &wire::segment(packet)) {
            self.send_ack(group, core, at, &ack);
        }
    }

    fn send_delayed_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant) {
        if let Some(ack) = self.receiver.on_timer(&group.tcp, at) {
            self.send_ack(group, core, at, &ack);
        }
    }

    /// The receiving host sends data at `now`: an ACK that waits goes with it.
    pub(super) fn send_ack_with_data(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        if let Some(ack) = self.receiver.hurry(now) {
            self.send_ack(group, core, now, &ack);
        }
    }

    #[inline]
    fn send_ack(&mut self, group: &TcpGroup, core: &mut Core, mut at: Instant, ack: &Ack) {
        if group.answer_time > Duration::ZERO {
            at = self.answered.max(at + self.processing.below(group.answer_time));
            self.answered = at;
        }
        if group.heard_at_once {
            self.on_ack(group, core, at + self.propagation.back, ack);
        } else if group.reverse_path.is_empty() {
            self.on_watched_ack(group, core, at, ack);
        } else {
            self.queue_ack(group, core, at, ack);
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
        let round_ended = if core.sink.latency.is_some() && at >= core.warm_up {
            self.on_timed_ack(group, core, at, ack)
        } else {
            self.sender.on_ack(&group.tcp, at, ack)
        };
        if ack.syn {
            self.end_handshake(group, core, at);
        }
        if round_ended {
            trim(&mut self.in_transit);
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
        let sample = self.sender.statistics().rtt_since(before).filter(|_| group.role != Some(Role::Client));
        if let (Some(rtt), Some(latency)) = (sample, &mut core.sink.latency) {
            latency.round_trip(self.id, rtt);
        }
        round_ended
    }

    /// Runs whatever is due at the sender strictly before `at`; whether the flow is logged.
    #[inline]
    pub(crate) fn advance(&mut self, group: &TcpGroup, core: &mut Core, at: Instant) -> bool {
        if !self.measuring && at >= core.warm_up {
            self.advance_past_warm_up(group, core);
        }
        self.advance_to(group, core, at)
    }

    #[cold]
    #[inline(never)]
    fn advance_past_warm_up(&mut self, group: &TcpGroup, core: &mut Core) {
        self.advance_to(group, core, core.warm_up);
        self.begin_measurement(core.warm_up);
    }

    #[inline]
    fn advance_to(&mut self, group: &TcpGroup, core: &mut Core, at: Instant) -> bool {
        if self.sender_deadline() < at {
            self.run_due(group, core, at);
        }
        self.sample(core, at)
    }

    #[inline(never)]
    fn run_due(&mut self, group: &TcpGroup, core: &mut Core, at: Instant) {
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
            if self.sender.syn_timeout_cuts_window(&group.tcp) {
                let start = Start { window: 1.0, ..self.start(group, now) };
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
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    fn pump(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        let packets = match self.sender.burst(&group.tcp, now) {
            Some(packets) => {
                for _ in 0..packets {
                    let segment = self.sender.transmit_next(&group.tcp, now);
                    self.send(group, core, &segment);
                }
                packets as usize
            }
            None => self.pump_one_by_one(group, core, now),
        };
        if packets > 1 && group.tcp.rules.bursts.is_linux() {
            if packets == 2 {
                self.push_second();
            } else {
                self.push_bursts(group, packets);
            }
        }
    }

    /// Returns how many packets are sent.
    #[inline(never)]
    fn pump_one_by_one(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) -> usize {
        let mut packets = 0;
        while let Some(segment) = self.sender.poll_transmit(&group.tcp, now) {
            self.send(group, core, &segment);
            packets += 1;
        }
        packets
    }

    /// The same as [`push_bursts`](Self::push_bursts) of two packets, as most often: they are one burst or none, whatever the rate.
    #[inline(never)]
    fn push_second(&mut self) {
        let (first, second) = (self.in_transit.len() - 2, self.in_transit.len() - 1);
        if self.sender.segments_together(self.in_transit[first].seq(), self.in_transit[second].seq()) {
            self.in_transit[second].set(PUSH);
        }
    }

    /// Of the last so many packets in transit, which were sent together, those that end what Linux segments at once are pushed.
    #[inline(never)]
    fn push_bursts(&mut self, group: &TcpGroup, packets: usize) {
        let first = self.in_transit.len() - packets;
        let mut bursts = self.sender.bursts(&group.tcp);
        for place in first..self.in_transit.len() {
            let next = self.in_transit.get(place + 1).map(|next| next.seq());
            let packet = &mut self.in_transit[place];
            if bursts.push(packet.seq(), next) {
                packet.set(PUSH);
            }
        }
    }

    // --- events ---

    /// Schedules the next look at this flow's timers, unless the flow is looked at early enough.
    #[inline]
    pub(crate) fn arm(&mut self, group: &TcpGroup, core: &mut Core) {
        let slow = self.sender.rto_deadline().min(self.application.start);
        let fast = self.sender.pacing_deadline().min(self.receiver.deadline());
        if slow >= self.slow_armed && fast >= self.fast_armed {
            return;
        }
        let before = self.next_of_transit(group).min(core.end);
        if slow < self.slow_armed.min(before) {
            self.slow_armed = slow;
            core.queue.push(slow, Entity::Own(Kind::Tcp, SLOW_TIMER, self.index));
        }
        if fast < self.fast_armed.min(before) {
            self.fast_armed = fast;
            core.queue.push(fast, Entity::Own(Kind::Tcp, FAST_TIMER, self.index));
        }
    }

    /// When the first packet in transit has the flow looked at, which arms the timers that are due later: most are put
    /// off by what the packet leads to. A flow that is sampled has its rows written in the order of all its timers.
    #[inline]
    fn next_of_transit(&self, group: &TcpGroup) -> Instant {
        if group.arms_late && self.probe.is_none() && !self.in_transit.is_empty() {
            self.first_at
        } else {
            Instant::MAX
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

/// The next representable moment: "up to and including `now`" for functions that run what is strictly before.
fn after(now: Instant) -> Instant {
    now + Duration::from_ps(1)
}
