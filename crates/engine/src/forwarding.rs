//! The way of packets from link to link, from the first one of a transit queue to that queue, which hears what became of
//! them.

use crate::event::Entity;
use crate::jitter::End;
use crate::kinds::Endpoints;
use crate::link::{LinkState, Stopped};
use crate::network::Network;
use crate::packet::{Owner, Packet, Transit};
use crate::sink::Sink;
use crate::transit::{Hop, Rest};
use parshall_net::ecn::Ecn;
use parshall_net::link::{Label, Offered, Transmission};
use parshall_units::Instant;

impl<E: Endpoints> Network<E> {
    /// The first packet in transit reaches the first link of its path.
    #[inline]
    pub(super) fn on_transit(&mut self, now: Instant, kind: u8, flow: u32) {
        let Self { core, links, endpoints, .. } = self;
        if let Some((rest, transit)) = endpoints.meet_first_link(core, links, now, (kind, flow)) {
            self.finish_meeting(now, rest, transit);
        }
    }

    /// What the first link did not settle.
    #[cold]
    #[inline(never)]
    fn finish_meeting(&mut self, now: Instant, rest: Rest, transit: Transit) {
        let Transit { owner, packet, .. } = transit;
        let Hop { link, is_last, .. } = self.endpoints.hop(owner, 0, &packet);
        match rest {
            Rest::Crossed(at) => self.go_on(now, link, at, (transit, is_last)),
            Rest::Waits(ecn) => self.hold(now, link, ecn, transit),
        }
        let next = self.endpoints.next(&mut self.core, (owner.transit, owner.flow));
        self.core.queue.top_again_at(next, Entity::Transit(owner.transit, owner.flow));
    }

    /// The first of a link's packets in transit reaches the next link.
    pub(super) fn on_link(&mut self, now: Instant, index: u32) {
        let Transit { packet, owner, hop } = self.links[index as usize].in_transit[0];
        self.offer(now, owner, hop, packet);
        let in_transit = &mut self.links[index as usize].in_transit;
        in_transit.pop_front();
        let next = in_transit.front().map(|next| next.packet.at);
        self.core.queue.top_again_at(next, Entity::Link(index));
    }

    /// A packet reaches a contended link of its path that is not the first.
    fn offer(&mut self, now: Instant, owner: Owner, hop: u8, mut packet: Packet) {
        let Hop { link, is_last, ecn } = self.endpoints.hop(owner, hop, &packet);
        let state = &mut self.links[link as usize];
        match state.pass(&mut self.core, now, (&mut packet, owner), ecn) {
            Ok(at) => self.go_on(now, link, at, (Transit { packet, owner, hop: hop + 1 }, is_last)),
            Err(Stopped::Lost) => self.endpoints.lose(&mut self.core, owner, &packet),
            Err(Stopped::Waits) => {
                self.hold(now, link, ecn, Transit { packet, owner, hop: hop + 1 });
            }
        }
    }

    /// A packet has crossed a link, the last of those it counts, and will be at the link's end `at`, without jitter.
    #[inline]
    fn go_on(&mut self, now: Instant, link: u32, at: Instant, (transit, is_last): (Transit, bool)) {
        if self.core.sink.watches_crossings() {
            self.show(now, at, &transit);
        }
        let Self { core, links, .. } = self;
        let state = &mut links[link as usize];
        let Some(at) = core.pass(state.jitter.as_deref_mut(), at, transit, End::Link) else { return };
        if is_last {
            self.deliver(at, transit);
        } else {
            state.propagate(core, link, at, transit);
        }
    }

    /// The sink, which watches crossings, sees a packet that has crossed a link.
    #[cold]
    #[inline(never)]
    fn show(&mut self, now: Instant, at: Instant, transit: &Transit) {
        let Transit { packet, owner, hop } = transit;
        self.endpoints.crossed(&mut self.core, *owner, usize::from(*hop) - 1, at, packet);
        self.core.sink.crossed(now);
    }

    /// A packet is at the end of its last link, and then on its flow's own part of the path.
    #[inline]
    fn deliver(&mut self, at: Instant, transit: Transit) {
        self.core.sink.delivered(at, transit.owner, &transit.packet);
        if let Some(at) = self.endpoints.leave_path(&mut self.core, at, transit) {
            self.endpoints.deliver(&mut self.core, transit.owner, at, &transit.packet);
        }
    }

    /// A packet comes to the end of a path with jitter, at its own time.
    #[inline(never)]
    pub(super) fn on_jittered(&mut self, now: Instant, number: u32) {
        self.core.queue.pop(Entity::Jittered(number));
        let (transit, end) = self.core.jittered.take(number);
        let Transit { packet, owner, hop } = transit;
        if end == End::Path {
            self.endpoints.deliver(&mut self.core, owner, now, &packet);
        } else if self.endpoints.hop(owner, hop - 1, &packet).is_last {
            self.deliver(now, transit);
        } else {
            self.offer(now, owner, hop, packet);
        }
    }

    // --- queues that decide at departure ---

    /// A packet waits at such a link; if the link is idle, the next transmission begins.
    #[inline(never)]
    fn hold(&mut self, now: Instant, index: u32, ecn: Ecn, transit: Transit) {
        let Transit { packet, owner, .. } = transit;
        let dscp = self.endpoints.dscp(owner, &packet);
        let LinkState { link, waiting, random, notes, .. } = &mut self.links[index as usize];
        let offered = Offered { bytes: packet.bytes(), ecn, class: packet.class() };
        let label = Label { flow: owner.flow_number(), dscp, ticket: waiting.store(transit) };
        link.hold(now, offered, label, random);
        self.core.sink.enqueued(notes, now, &packet);
        if link.is_busy() {
            self.lose_dropped(index);
        } else if let Some(next) = self.transmit(now, index) {
            self.core.queue.push(next, Entity::Transmission(index));
        }
    }

    /// A packet has left such a link, or its queue lets the next one go.
    #[inline(never)]
    pub(super) fn on_transmission(&mut self, now: Instant, index: u32) {
        let next = self.transmit(now, index);
        self.core.queue.top_again_at(next, Entity::Transmission(index));
    }

    /// The link is free: the packet whose turn it is begins to leave, and what follows from that is done. Returns when
    /// the link is to be asked again.
    fn transmit(&mut self, now: Instant, index: u32) -> Option<Instant> {
        let LinkState { link, random, .. } = &mut self.links[index as usize];
        let transmission = link.transmit(now, random);
        self.lose_dropped(index);
        let Some(Transmission { ticket, departure, waiting, marked, counted }) = transmission else {
            return self.links[index as usize].link.resumes();
        };
        let state = &mut self.links[index as usize];
        let mut transit = state.waiting.take(ticket);
        self.core.sink.forwarded(&mut state.notes, &transit.packet, (departure, waiting), counted);
        if marked {
            transit.packet.mark();
            self.core.sink.marked(&mut state.notes, &transit.packet);
        }
        let at = departure + state.link.delay();
        let Hop { is_last, .. } = self.endpoints.hop(transit.owner, transit.hop - 1, &transit.packet);
        self.go_on(now, index, at, (transit, is_last));
        Some(departure)
    }

    /// What the queue of a link has dropped is lost.
    fn lose_dropped(&mut self, index: u32) {
        while let Some(ticket) = self.links[index as usize].link.take_dropped() {
            let state = &mut self.links[index as usize];
            let Transit { packet, owner, .. } = state.waiting.take(ticket);
            self.core.sink.dropped(&mut state.notes, owner, &packet);
            self.endpoints.lose(&mut self.core, owner, &packet);
        }
    }
}
