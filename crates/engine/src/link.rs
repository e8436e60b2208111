//! A contended link of the running network: what `parshall_net::link` knows, and the packets themselves.

use crate::core::Core;
use crate::event::Entity;
use crate::jitter::JitteredPath;
use crate::packet::{Owner, Packet, Transit};
use crate::random::Stream;
use crate::sink::Sink;
use crate::waiting_packets::WaitingPackets;
use parshall_net::ecn::Ecn;
use parshall_net::link::{Link, Offered, Outcome};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;

/// A contended link.
pub struct LinkState<S: Sink> {
    /// Its transmitter, queue, medium and propagation.
    pub link: Link,
    /// The random stream of its queue and its medium.
    pub random: Stream,
    /// The time of each packet behind the link, beside its delay.
    pub jitter: Option<Box<JitteredPath>>,
    /// The sink's notes on it.
    pub notes: S::OfLink,
    /// Packets that propagate towards another contended link.
    pub(super) in_transit: VecDeque<Transit>,
    /// Packets that wait for their turn, if the queue decides at departure.
    pub(super) waiting: WaitingPackets,
}

/// Why a packet does not go on at once.
pub(super) enum Stopped {
    /// The link dropped or lost it.
    Lost,
    /// The queue decides when its turn comes.
    Waits,
}

impl<S: Sink> LinkState<S> {
    /// An idle link.
    pub fn new(link: Link, random: Stream, notes: S::OfLink) -> Self {
        let (in_transit, waiting) = (VecDeque::new(), WaitingPackets::default());
        Self { link, random, jitter: None, notes, in_transit, waiting }
    }

    /// A packet is offered. If it goes on: when it will have propagated to the link's end.
    #[inline]
    pub(super) fn pass(
        &mut self,
        core: &mut Core<S>,
        now: Instant,
        (packet, owner): (&mut Packet, Owner),
        ecn: Ecn,
    ) -> Result<Instant, Stopped> {
        let offered = Offered { bytes: packet.bytes(), ecn, class: packet.class() };
        match self.link.offer(now, offered, &mut self.random) {
            Outcome::Forwarded { departure, waiting, marked } => {
                core.sink.enqueued(&mut self.notes, now, packet);
                core.sink.forwarded(&mut self.notes, packet, (departure, waiting), now >= core.warm_up);
                if marked {
                    packet.mark();
                    core.sink.marked(&mut self.notes, packet);
                }
                Ok(departure + self.link.delay())
            }
            Outcome::Dropped | Outcome::LostOnMedium => {
                core.sink.dropped(&mut self.notes, owner, packet);
                Err(Stopped::Lost)
            }
            Outcome::Waits => Err(Stopped::Waits),
        }
    }

    /// A packet propagates towards the next contended link and will be there `at`.
    pub(super) fn propagate(&mut self, core: &mut Core<S>, index: u32, at: Instant, mut transit: Transit) {
        transit.packet.at = at;
        if self.in_transit.is_empty() {
            core.queue.push(at, Entity::Link(index));
        }
        self.in_transit.push_back(transit);
    }
}

/// Propagation delay of the links of a path.
pub fn path_delay<S: Sink>(links: &[LinkState<S>], path: &[u32]) -> Duration {
    path.iter().fold(Duration::ZERO, |sum, &link| sum + links[link as usize].link.delay())
}
