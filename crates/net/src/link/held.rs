//! Service by a queue that decides at departure: packets are held until their turn comes.
//!
//! Who drives the link
//! 1. hands over each packet that [`Link::offer`] lets wait: [`Link::hold`];
//! 2. asks for the next packet when one was handed over to an idle link, at each departure, and when a queue that holds
//!    its packets back resumes ([`Link::resumes`]): [`Link::transmit`];
//! 3. takes the packets that the queue has dropped after either: [`Link::take_dropped`].
//!
//! A packet has left when `transmit` is called at its departure. One that arrives at that very moment finds the place
//! taken or free, as the two events are ordered.

use super::{Link, Offered, Service};
use crate::queues::{DepartureDiscipline, DepartureQueue, Held};
use parshall_units::{Duration, Instant};
use rand_core::RngCore;
use std::collections::VecDeque;

/// The facts on a packet that a queue needs at departure besides those of [`Offered`].
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Which flow it is of: the same number for the packets of one flow in one direction.
    pub flow: u32,
    /// The differentiated services code point (DSCP) of its flow, 0 to 63.
    pub dscp: u8,
    /// Its [`Transmission`] will have this number.
    pub ticket: u32,
}

/// A packet's transmission begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Which packet.
    pub ticket: u32,
    /// When its last bit is transmitted.
    pub departure: Instant,
    /// The wait before its transmission began (on a trace: before it leaves).
    pub waiting: Duration,
    /// True if the queue marked it.
    pub marked: bool,
    /// True if it arrived since [`Link::restart_counts`].
    pub counted: bool,
}

/// The packets of a link whose queue decides at departure.
#[derive(Clone, Debug)]
pub(super) struct WaitingRoom {
    pub(super) queue: DepartureQueue,
    /// The packet being transmitted: it has left when the link is free.
    transmitting: Option<Held>,
    /// When to ask the queue again, if it lets none of its packets go yet.
    resumes: Option<Instant>,
    /// Dropped, and not yet taken.
    dropped: VecDeque<Held>,
}

impl WaitingRoom {
    pub(super) fn new(queue: DepartureQueue) -> Self {
        Self { queue, transmitting: None, resumes: None, dropped: VecDeque::new() }
    }

    /// Packets held, the one being transmitted included.
    pub(super) fn packets(&self) -> u64 {
        self.queue.packets() + u64::from(self.transmitting.is_some())
    }
}

impl Link {
    /// A packet waits from `now` on.
    pub fn hold<R: RngCore>(&mut self, now: Instant, packet: Offered, label: Label, random: &mut R) {
        let Service::Asked(room) = &mut self.service else { return };
        let Offered { bytes, ecn, class } = packet;
        let Label { flow, dscp, ticket } = label;
        let waiting = room.queue.packets();
        self.occupancy.lasted(waiting, now);
        self.counts.waiting_found += waiting;
        self.counts.within.arrivals += class.is_in();
        self.backlog_bytes += u64::from(bytes);
        self.backlog_in += class.is_in();
        let beside = room.transmitting.map_or((0, 0), |packet| (1, u64::from(packet.bytes)));
        let before = room.dropped.len();
        let held =
            Held { arrived: now, bytes, ecn, class, flow, ticket, period: self.period, marked: false, dscp };
        room.queue.enqueue(held, beside, random, &mut room.dropped);
        self.count_dropped(before);
    }

    /// True if the time is known at which the queue is asked for its next packet: one is being transmitted, or none may go yet.
    pub fn is_busy(&self) -> bool {
        matches!(&self.service, Service::Asked(room) if room.transmitting.is_some() || room.resumes.is_some())
    }

    /// When to ask for the next packet if [`transmit`](Self::transmit) has given none; `None`: when the next one
    /// arrives.
    pub fn resumes(&self) -> Option<Instant> {
        match &self.service {
            Service::Asked(room) => room.resumes,
            Service::Known(_) => None,
        }
    }

    /// The packet being transmitted has left, if there is one; the next one begins, if one waits.
    pub fn transmit<R: RngCore>(&mut self, now: Instant, random: &mut R) -> Option<Transmission> {
        let Service::Asked(room) = &mut self.service else { return None };
        debug_assert!(room.transmitting.is_none() || self.free <= now, "it is not free");
        self.occupancy.lasted(room.queue.packets(), now);
        if let Some(packet) = room.transmitting.take() {
            self.counts.forwarded += 1;
            self.counts.forwarded_bytes += u64::from(packet.bytes);
            self.counts.within.forwarded += packet.class.is_in();
            self.backlog_bytes -= u64::from(packet.bytes);
            self.backlog_in -= packet.class.is_in();
        }
        let before = room.dropped.len();
        let turn = room.queue.dequeue(now, random, &mut room.dropped);
        room.resumes = if turn.is_none() { room.queue.resumes() } else { None };
        self.count_dropped(before);
        let turn = turn?;
        let (departure, on_trace) = self.transmitter.serve(now, now, turn.packet.bytes);
        self.free = departure;
        self.counts.marked += u64::from(turn.marked);
        if let Service::Asked(room) = &mut self.service {
            room.transmitting = Some(turn.packet);
        }
        Some(Transmission {
            ticket: turn.packet.ticket,
            departure,
            waiting: now.since(turn.packet.arrived) + on_trace,
            marked: turn.marked,
            counted: turn.packet.period == self.period,
        })
    }

    /// A packet that the queue has dropped.
    pub fn take_dropped(&mut self) -> Option<u32> {
        let Service::Asked(room) = &mut self.service else { return None };
        room.dropped.pop_front().map(|packet| packet.ticket)
    }

    /// The books of what was dropped since there were `before` packets in that list. A drop counts where the arrival
    /// was counted, so that no more packets are dropped than arrived.
    fn count_dropped(&mut self, before: usize) {
        let Service::Asked(room) = &self.service else { return };
        for packet in room.dropped.iter().skip(before) {
            if packet.period == self.period {
                self.counts.dropped += 1;
                self.counts.within.dropped += packet.class.is_in();
            }
            self.backlog_bytes -= u64::from(packet.bytes);
            self.backlog_in -= packet.class.is_in();
        }
    }
}

#[cfg(test)]
mod tests;
