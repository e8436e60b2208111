//! A link: losses on the medium, a queue, a transmitter, a propagation delay.
//!
//! Service is in order of arrival, so a packet's departure is known when it arrives and no 'transmission complete'
//! event is needed: the backlog is the list of departures that are still ahead. The exception are queues that decide at
//! departure: their packets are held, and the link is asked for the next one when it falls free ([`Link::hold`],
//! [`Link::transmit`]).
//!
//! A packet that arrives at the very moment of a departure finds the place still taken. In a strictly periodic network
//! (no random processing time at the hosts) that moment is common, not rare: an ACK-clocked sender answers a departure
//! exactly one RTT later, so with equal RTTs every arrival falls on one. Were the place free, a sender that has filled
//! the buffer would keep its slots for ever and others would starve (the phase effects of Floyd & Jacobson 1992 at
//! their extreme); event-driven simulators serve the arrival first too, as it was scheduled earlier. Of several packets
//! that arrive at the same moment, the caller chooses which is first.

mod departures;
mod held;

pub use held::{Label, Transmission};

use crate::ecn::Ecn;
use crate::loss::{Loss, LossConfig};
use crate::markers::Class;
use crate::occupancy::Occupancy;
use crate::queues::{
    Arrival, Backlog, DepartureDiscipline, Discipline, Limit, Most, Queue, QueueConfig, QueueDiscipline,
    Verdict,
};
use crate::rate::Transmitter;
use departures::{Departure, Departures};
use held::WaitingRoom;
use parshall_units::parameters::Reader;
use parshall_units::{Duration, Instant};
use rand_core::RngCore;

/// A packet that is offered to a link.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// Its size on the wire.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its class: within its flow's profile, or not.
    pub class: Class,
}

impl Offered {
    /// A packet of which nothing but the size is known.
    pub fn plain(bytes: u32) -> Self {
        Self { bytes, ecn: Ecn::NotCapable, class: Class::Out }
    }
}

/// The fate of a packet that is offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is queued and leaves.
    Forwarded {
        /// When its last bit is transmitted.
        departure: Instant,
        /// How long it waits before its transmission begins (on a trace: before it leaves).
        waiting: Duration,
        /// True if the queue marked it.
        marked: bool,
    },
    /// The queue dropped it.
    Dropped,
    /// The medium lost it.
    LostOnMedium,
    /// It waits for its turn: the queue decides at departure. It must be handed over, [`Link::hold`].
    Waits,
}

/// Counts since the last [`Link::restart_counts`].
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Packets offered.
    pub arrivals: u64,
    /// Bytes offered.
    pub arrivals_bytes: u64,
    /// Of the packets offered: those that the queue dropped.
    pub dropped: u64,
    /// Packets the medium lost.
    pub medium_losses: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets that have left.
    pub forwarded: u64,
    /// Bytes that have left.
    pub forwarded_bytes: u64,
    /// Sum, over the packets that reached the queue, of the packets they found waiting there.
    pub waiting_found: u64,
    /// Of all these, the packets within their flow's profile.
    pub within: ClassCounts,
}

/// Counts of the packets of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Packets offered.
    pub arrivals: u64,
    /// Packets the queue dropped.
    pub dropped: u64,
    /// Packets the medium lost.
    pub medium_losses: u64,
    /// Packets that have left.
    pub forwarded: u64,
}

impl Counts {
    /// The packets beyond their flow's profile: all the others.
    pub fn beyond(&self) -> ClassCounts {
        ClassCounts {
            arrivals: self.arrivals - self.within.arrivals,
            dropped: self.dropped - self.within.dropped,
            medium_losses: self.medium_losses - self.within.medium_losses,
            forwarded: self.forwarded - self.within.forwarded,
        }
    }
}

/// How a link serves.
#[derive(Clone, Debug)]
enum Service {
    /// In order of arrival, with a queue that decides at arrival.
    Known(Queue),
    /// As a queue decides that is asked at each departure.
    Asked(Box<WaitingRoom>),
}

/// A link in operation.
#[derive(Clone, Debug)]
pub struct Link {
    transmitter: Transmitter,
    delay: Duration,
    service: Service,
    /// What its queue holds at most, if it is drop-tail.
    tail: Option<Most>,
    loss: Option<Loss>,
    /// When the last accepted packet leaves.
    free: Instant,
    /// Departures still ahead.
    departures: Departures,
    backlog_bytes: u64,
    backlog_in: u64,
    occupancy: Occupancy,
    counts: Counts,
    /// How often the counts have started anew.
    period: u8,
}

impl Link {
    /// An idle link.
    pub fn new(transmitter: Transmitter, delay: Duration, queue: &QueueConfig, loss: &LossConfig) -> Self {
        let (tail, service) = match queue.build() {
            Discipline::AtArrival(queue) => (queue.tail().map(Limit::most), Service::Known(queue)),
            Discipline::AtDeparture(queue) => (None, Service::Asked(Box::new(WaitingRoom::new(queue)))),
        };
        Self {
            transmitter,
            delay,
            tail,
            service,
            loss: loss.build(),
            free: Instant::ZERO,
            departures: Departures::new(),
            backlog_bytes: 0,
            backlog_in: 0,
            occupancy: Occupancy::default(),
            counts: Counts::default(),
            period: 0,
        }
    }

    /// Propagation delay.
    #[inline]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// When the last packet that it has accepted for transmission will have reached its other end.
    pub fn delivers_until(&self) -> Instant {
        self.free + self.delay
    }

    /// Tells the values of its queue's inner variables.
    pub fn read_variables(&self, reader: &mut Reader<'_>) {
        match &self.service {
            Service::Known(queue) => queue.read_variables(reader),
            Service::Asked(room) => room.queue.read_variables(reader),
        }
    }

    /// A packet arrives.
    #[inline]
    pub fn offer<R: RngCore>(&mut self, now: Instant, packet: Offered, random: &mut R) -> Outcome {
        let Offered { bytes, class, .. } = packet;
        self.advance(now);
        self.counts.arrivals += 1;
        self.counts.arrivals_bytes += u64::from(bytes);
        if self.loss.as_mut().is_some_and(|loss| loss.next(random)) {
            self.counts.medium_losses += 1;
            self.counts.within.arrivals += class.is_in();
            self.counts.within.medium_losses += class.is_in();
            return Outcome::LostOnMedium;
        }
        let packets = self.departures.len() as u64;
        let waiting = packets.saturating_sub(1);
        self.counts.waiting_found += waiting;
        let verdict = match self.tail {
            Some(most) if most.has_room(packets, self.backlog_bytes, bytes) => Verdict::Accept,
            Some(_) => Verdict::Drop,
            None => match self.ask_queue(now, packet, random) {
                Some(verdict) => verdict,
                None => return Outcome::Waits,
            },
        };
        if verdict == Verdict::Drop {
            self.counts.dropped += 1;
            self.counts.within.arrivals += class.is_in();
            self.counts.within.dropped += class.is_in();
            return Outcome::Dropped;
        }
        let marked = verdict == Verdict::Mark;
        self.counts.marked += u64::from(marked);
        self.occupancy.held(waiting, now);

        let (departure, waits) = self.transmitter.serve(now, self.free, bytes);
        self.free = departure;
        self.departures.push(Departure { at: departure, bytes, class });
        self.backlog_bytes += u64::from(bytes);
        if class == Class::In {
            self.counts.within.arrivals += 1;
            self.backlog_in += 1;
        }
        Outcome::Forwarded { departure, waiting: waits, marked }
    }

    /// The queue's decision about an arriving packet; `None`: it has not decided yet.
    #[inline(never)]
    fn ask_queue<R: RngCore>(&mut self, now: Instant, packet: Offered, random: &mut R) -> Option<Verdict> {
        let Service::Known(queue) = &mut self.service else { return None };
        let Offered { bytes, ecn, class } = packet;
        let packets = self.departures.len() as u64;
        let backlog = Backlog {
            packets,
            packets_in: self.backlog_in,
            bytes: self.backlog_bytes,
            idle_since: (packets == 0).then_some(self.free),
            delay: self.free.since(now),
        };
        let transmission = self.transmitter.transmission(bytes);
        let arrival = Arrival { now, bytes, ecn, class, transmission };
        Some(queue.on_arrival(&arrival, &backlog, random))
    }

    /// Brings the books up to `now`: packets whose departure has passed have left (one that leaves at `now` has not).
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        while self.departures.first_at() < now {
            let Departure { at, bytes, class } = self.departures.pop();
            self.occupancy.held(self.departures.len() as u64, at);
            self.backlog_bytes -= u64::from(bytes);
            self.counts.forwarded += 1;
            self.counts.forwarded_bytes += u64::from(bytes);
            if class == Class::In {
                self.backlog_in -= 1;
                self.counts.within.forwarded += 1;
            }
        }
    }

    /// Packets held at the last [`advance`](Self::advance), the one being transmitted included.
    pub fn queued(&self) -> u64 {
        match &self.service {
            Service::Known(_) => self.departures.len() as u64,
            Service::Asked(room) => room.packets(),
        }
    }

    /// The same without the one being transmitted.
    fn waiting(&self) -> u64 {
        match &self.service {
            Service::Known(_) => (self.departures.len() as u64).saturating_sub(1),
            Service::Asked(room) => room.queue.packets(),
        }
    }

    /// Of these, the ones within their flow's profile.
    pub fn queued_in(&self) -> u64 {
        self.backlog_in
    }

    /// True if its queue treats packets within their flow's profile differently.
    pub fn differentiates(&self) -> bool {
        matches!(&self.service, Service::Known(queue) if queue.differentiates())
    }

    /// Counts start anew at `now` (the end of the warm-up).
    pub fn restart_counts(&mut self, now: Instant) {
        self.advance(now);
        self.counts = Counts::default();
        self.period = self.period.wrapping_add(1);
        self.occupancy.restart(now);
    }

    /// Counts and queue moments up to `now`.
    pub fn measured(&mut self, now: Instant) -> (&Counts, &Occupancy) {
        self.advance(now);
        self.occupancy.lasted(self.waiting(), now);
        (&self.counts, &self.occupancy)
    }

    /// Bits that could be transmitted between two moments.
    pub fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        self.transmitter.capacity_bits(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::BernoulliConfig;
    use crate::queues::{DropTailConfig, Limit};
    use parshall_units::Rate;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn link(limit: Limit, loss: f64) -> Link {
        let transmitter = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
        let queue = QueueConfig::DropTail(DropTailConfig { limit });
        let loss = LossConfig::Bernoulli(BernoulliConfig { probability: loss });
        Link::new(transmitter, Duration::from_millis(5), &queue, &loss)
    }

    #[test]
    fn a_full_buffer_drops_and_the_departure_is_known_at_arrival() {
        // 1500 bytes last 1 ms.
        let mut link = link(Limit::Packets(2), 0.0);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let forwarded = |departure, waiting| Outcome::Forwarded {
            departure: at(departure),
            waiting: Duration::from_millis(waiting),
            marked: false,
        };
        assert_eq!(link.offer(at(0), Offered::plain(1500), &mut random), forwarded(1, 0));
        assert_eq!(link.offer(at(0), Offered::plain(1500), &mut random), forwarded(2, 1));
        assert_eq!(link.offer(at(0), Offered::plain(1500), &mut random), Outcome::Dropped);
        // At the moment of a departure the place is still taken, and free right after.
        assert_eq!(link.offer(at(1), Offered::plain(1500), &mut random), Outcome::Dropped);
        let after = at(1) + Duration::from_ps(1);
        let Outcome::Forwarded { departure, .. } = link.offer(after, Offered::plain(1500), &mut random)
        else {
            panic!()
        };
        assert_eq!(departure, at(3));
        let (counts, occupancy) = link.measured(at(4));
        assert_eq!((counts.arrivals, counts.forwarded, counts.dropped), (5, 3, 2));
        // One packet waits during [0, 2), but for a picosecond.
        assert!((occupancy.mean().unwrap() - 0.5).abs() < 1e-9);
        assert!((occupancy.standard_deviation().unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(occupancy.max(), 1);
    }

    #[test]
    fn a_limit_in_bytes_counts_bytes() {
        let mut link = link(Limit::Bytes(3000), 0.0);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for bytes in [1500, 1400, 100] {
            assert_ne!(link.offer(Instant::ZERO, Offered::plain(bytes), &mut random), Outcome::Dropped);
        }
        assert_eq!(link.offer(Instant::ZERO, Offered::plain(1), &mut random), Outcome::Dropped);
    }

    proptest! {
        #[test]
        fn packets_are_conserved_at_any_moment(
            arrivals in prop::collection::vec((0u64..3_000_000_000, 40u32..3000, any::<bool>()), 1..300),
            limit in 1u64..20,
            loss in 0.0f64..0.3,
            seed: u64,
        ) {
            let mut link = link(Limit::Packets(limit), loss);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let (mut now, mut last) = (Instant::ZERO, Instant::ZERO);
            let mut waited = 0.0;
            for (gap, bytes, within) in arrivals {
                now += Duration::from_ps(gap);
                let packet = Offered { class: Class::within(within), ..Offered::plain(bytes) };
                if let Outcome::Forwarded { departure, waiting, .. } = link.offer(now, packet, &mut random) {
                    prop_assert!(departure > last && departure > now);
                    last = departure;
                    waited += waiting.as_secs_f64();
                }
                prop_assert!(link.queued() <= limit);
                let (queued, queued_in) = (link.queued(), link.queued_in());
                let (counts, _) = link.measured(now);
                let out = counts.forwarded + counts.dropped + counts.medium_losses + queued;
                prop_assert_eq!(counts.arrivals, out);
                for (class, queued) in [(counts.within, queued_in), (counts.beyond(), queued - queued_in)] {
                    prop_assert_eq!(class.arrivals, class.forwarded + class.dropped + class.medium_losses + queued);
                }
            }
            // Little's law, exactly: the area under the queue is the sum of the waits.
            let (_, occupancy) = link.measured(last);
            prop_assert!((occupancy.packet_seconds() - waited).abs() <= 1e-9 + 1e-9 * waited);
        }
    }
}
