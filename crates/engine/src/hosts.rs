//! Hosts in pairs: endpoints that are told of packets and timers, and say when they want to be woken.
//!
//! | step | event |
//! | --- | --- |
//! | a host sends a packet: the propagation segment before its first link | the first of its transit queue |
//! | the links of its path | those of links |
//! | the propagation segment behind the last link, then the other host's [`on_packet`](Endpoint::on_packet) | one of this kind's own |
//! | [`on_timer`](Endpoint::on_timer) at the time of [`next`](Endpoint::next) | one of this kind's own |
//!
//! A host hears of everything in the order of time.

use crate::core::Core;
use crate::event::Entity;
use crate::kinds::Flows;
use crate::packet::{Flags, Packet, MAX_BYTES};
use crate::transit::TransitQueue;
use parshall_net::ecn::Ecn;
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;

/// A host. It reads no clock: all functions are told the time.
pub trait Endpoint {
    /// What its packets carry, which the network hands to the other host as it is.
    type Payload;

    /// A packet has arrived; what is sent in answer goes to `out`.
    fn on_packet(&mut self, now: Instant, packet: Datagram<Self::Payload>, out: &mut Outbox<Self::Payload>);

    /// The time has come that [`next`](Self::next) named.
    fn on_timer(&mut self, now: Instant, out: &mut Outbox<Self::Payload>);

    /// When the host wants to be woken: asked after each of the other two, and once at the beginning. `None`: by a
    /// packet only.
    fn next(&self) -> Option<Instant>;
}

/// A packet, as hosts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram<P> {
    /// Its size on the wire: at most [`MAX_BYTES`].
    pub bytes: u32,
    /// Its ECN codepoint: CE once a queue has marked it.
    pub ecn: Ecn,
    /// Its content.
    pub payload: P,
}

/// The packets that a host sends, in this order.
#[derive(Debug)]
pub struct Outbox<P>(Vec<Datagram<P>>);

impl<P> Outbox<P> {
    /// Sends a packet.
    pub fn send(&mut self, packet: Datagram<P>) {
        self.0.push(packet);
    }
}

/// The way of a host's packets to the other host.
#[derive(Clone, Debug)]
pub struct Way {
    /// Propagation before the first link.
    pub before: Duration,
    /// The links that are crossed, in order; none: only the propagation.
    pub links: Box<[u32]>,
    /// Propagation behind the last link.
    pub behind: Duration,
    /// The DSCP of its packets.
    pub dscp: u8,
}

impl Way {
    /// Over one link, or none, with so much propagation before and behind it together.
    pub fn over(links: &[u32], propagation: Duration) -> Self {
        let before = propagation.over(2);
        Self { before, links: links.into(), behind: propagation - before, dscp: 0 }
    }
}

/// Pairs of hosts. In pair n, host 2 n is the first and host 2 n + 1 the second.
pub struct Hosts<E: Endpoint> {
    /// The kind's code, and those of the transit queues of first and second hosts.
    codes: (u8, [u8; 2]),
    ends: Vec<Host<E>>,
    /// Of packets under way, by their tags.
    payloads: Slots<Datagram<E::Payload>>,
    out: Outbox<E::Payload>,
}

struct Host<E> {
    endpoint: E,
    /// To the other host.
    way: Way,
    /// Packets on their way to the first link, and their tags.
    in_transit: VecDeque<(Packet, u32)>,
    /// Packets that have left the last link of the other host's way, by the time of their arrival, and their tags.
    arriving: VecDeque<(Instant, bool, u32)>,
    /// The earliest events that are scheduled: of its timer, and of its next arrival.
    timer: Instant,
    arrival: Instant,
}

/// A packet arrives at a host.
const ARRIVAL: u8 = 0;
/// A host's timer.
const TIMER: u8 = 1;

impl<E: Endpoint> Default for Hosts<E> {
    /// None, of the kind and transit queues with the codes 0, and 0 and 1.
    fn default() -> Self {
        Self::new(0, [0, 1])
    }
}

impl<E: Endpoint> Hosts<E> {
    /// None, of a kind with these codes.
    pub fn new(kind: u8, queues: [u8; 2]) -> Self {
        Self { codes: (kind, queues), ends: Vec::new(), payloads: Slots::default(), out: Outbox(Vec::new()) }
    }

    /// Adds a pair of hosts, each with its way to the other one. Returns the pair's number.
    pub fn add<S>(&mut self, core: &mut Core<S>, first: (E, Way), second: (E, Way)) -> u32 {
        for (endpoint, way) in [first, second] {
            let (in_transit, arriving) = Default::default();
            let (timer, arrival) = (Instant::MAX, Instant::MAX);
            self.ends.push(Host { endpoint, way, in_transit, arriving, timer, arrival });
            self.arm(core, self.ends.len() - 1);
        }
        self.ends.len() as u32 / 2 - 1
    }

    /// The hosts, pair after pair.
    pub fn iter(&self) -> impl Iterator<Item = &E> {
        self.ends.iter().map(|host| &host.endpoint)
    }

    /// The packets of a pair's first host.
    pub fn forth(&mut self, pair: u32) -> Packets<'_, E> {
        Packets { hosts: self, host: 2 * pair as usize }
    }

    /// The packets of a pair's second host.
    pub fn back(&mut self, pair: u32) -> Packets<'_, E> {
        Packets { hosts: self, host: 2 * pair as usize + 1 }
    }

    /// A host has acted: its packets set out, and its timer is scheduled.
    fn follow<S>(&mut self, core: &mut Core<S>, now: Instant, index: usize) {
        let mut out = std::mem::take(&mut self.out.0);
        for packet in out.drain(..) {
            self.send(core, now, index, packet);
        }
        self.out.0 = out;
        self.arm(core, index);
    }

    fn send<S>(&mut self, core: &mut Core<S>, now: Instant, index: usize, packet: Datagram<E::Payload>) {
        let host = &mut self.ends[index];
        let bytes = packet.bytes.min(MAX_BYTES);
        let sent = Packet::new(now + host.way.before, now, packet.ecn as u64, bytes, Flags::default());
        let tag = self.payloads.store(packet);
        if host.way.links.is_empty() {
            return self.arrives(core, index ^ 1, (sent.at, false, tag), index);
        }
        if host.in_transit.is_empty() {
            core.queue.push(sent.at, Entity::Transit(self.codes.1[index & 1], index as u32 / 2));
        }
        host.in_transit.push_back((sent, tag));
    }

    /// A packet of host `from` will arrive at a host, behind the last propagation segment. (Packets may overtake each
    /// other.)
    fn arrives<S>(
        &mut self,
        core: &mut Core<S>,
        index: usize,
        (left, marked, tag): (Instant, bool, u32),
        from: usize,
    ) {
        let at = left + self.ends[from].way.behind;
        let arriving = &mut self.ends[index].arriving;
        let place = arriving.partition_point(|&(earlier, ..)| earlier <= at);
        arriving.insert(place, (at, marked, tag));
        self.expect(core, index);
    }

    /// Schedules the next arrival, unless an event that is early enough is.
    fn expect<S>(&mut self, core: &mut Core<S>, index: usize) {
        let host = &mut self.ends[index];
        let Some(&(at, ..)) = host.arriving.front().filter(|first| first.0 < host.arrival) else { return };
        host.arrival = at;
        core.queue.push(at, Entity::Own(self.codes.0, ARRIVAL, index as u32));
    }

    /// The packets that are due arrive.
    fn on_arrival<S>(&mut self, core: &mut Core<S>, now: Instant, index: usize) {
        if self.ends[index].arrival > now {
            return; // a packet overtook the one that this event was scheduled for, and another event is
        }
        self.ends[index].arrival = Instant::MAX;
        while let Some(&(at, marked, tag)) = self.ends[index].arriving.front().filter(|first| first.0 <= now)
        {
            self.ends[index].arriving.pop_front();
            let Some(mut packet) = self.payloads.take(tag) else { continue };
            if marked {
                packet.ecn = Ecn::Ce;
            }
            self.ends[index].endpoint.on_packet(at, packet, &mut self.out);
            self.follow(core, now, index);
        }
        self.expect(core, index);
    }

    fn on_timer<S>(&mut self, core: &mut Core<S>, now: Instant, index: usize) {
        let host = &mut self.ends[index];
        if host.timer > now {
            return; // an earlier time was wanted after this one was scheduled, and has passed
        }
        host.timer = Instant::MAX;
        if host.endpoint.next().is_some_and(|next| next <= now) {
            host.endpoint.on_timer(now, &mut self.out);
        }
        self.follow(core, now, index);
    }

    /// Timers are lazy: one that was put off fires at the earlier time, and is scheduled again.
    fn arm<S>(&mut self, core: &mut Core<S>, index: usize) {
        let host = &mut self.ends[index];
        let Some(next) = host.endpoint.next().filter(|&next| next < host.timer) else { return };
        host.timer = next;
        core.queue.push(next, Entity::Own(self.codes.0, TIMER, index as u32));
    }
}

impl<S, E: Endpoint> Flows<S> for Hosts<E> {
    fn on_event(&mut self, core: &mut Core<S>, now: Instant, event: u8, index: u32) {
        core.queue.pop(Entity::Own(self.codes.0, event, index));
        match event {
            ARRIVAL => self.on_arrival(core, now, index as usize),
            _ => self.on_timer(core, now, index as usize),
        }
    }
}

/// The packets of a host.
pub struct Packets<'a, E: Endpoint> {
    hosts: &'a mut Hosts<E>,
    host: usize,
}

impl<E: Endpoint> Packets<'_, E> {
    fn host(&self) -> &Host<E> {
        &self.hosts.ends[self.host]
    }
}

impl<S, E: Endpoint> TransitQueue<S> for Packets<'_, E> {
    fn first(&self) -> (Packet, u32) {
        self.host().in_transit[0]
    }

    fn next(&mut self, _: &mut Core<S>) -> Option<Instant> {
        let in_transit = &mut self.hosts.ends[self.host].in_transit;
        in_transit.pop_front();
        in_transit.front().map(|(packet, _)| packet.at)
    }

    fn path(&self) -> &[u32] {
        &self.host().way.links
    }

    fn ecn(&self, packet: &Packet) -> Ecn {
        packet.ecn(Ecn::ALL[packet.seq() as usize & 3])
    }

    fn dscp(&self, _: &Packet) -> u8 {
        self.host().way.dscp
    }

    fn deliver(&mut self, core: &mut Core<S>, at: Instant, packet: &Packet, tag: u32) {
        let marked = packet.flags().has(Flags::CONGESTION_EXPERIENCED);
        self.hosts.arrives(core, self.host ^ 1, (at, marked, tag), self.host);
    }

    fn lose(&mut self, _: &mut Core<S>, _: &Packet, tag: u32) {
        self.hosts.payloads.take(tag);
    }
}

/// Things by number; a number that is free is used again.
struct Slots<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    fn store(&mut self, thing: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(thing);
            return slot;
        }
        self.slots.push(Some(thing));
        self.slots.len() as u32 - 1
    }

    fn take(&mut self, slot: u32) -> Option<T> {
        self.free.push(slot);
        self.slots[slot as usize].take()
    }
}
