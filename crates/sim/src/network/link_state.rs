//! A contended link of the running network: what `parshall_net::link` knows, and the packets themselves.

use crate::event::Entity;
use crate::jitter::JitteredPath;
use crate::packet::{Packet, Transit};
use crate::probe::LinkProbe;
use crate::random::Stream;
use crate::shared::Core;
use crate::waiting_packets::WaitingPackets;
use parshall_net::ecn::Ecn;
use parshall_net::link::{Link, Offered, Outcome};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// A contended link.
pub(crate) struct LinkState {
    pub(crate) name: Arc<str>,
    pub(crate) link: Link,
    /// Whether records count the classes of packets apart: the queue does, or a marked flow crosses the link.
    pub(crate) classed: bool,
    pub(crate) random: Stream,
    /// What each packet takes behind the link, beside its delay.
    pub(crate) jitter: Option<Box<JitteredPath>>,
    /// Packets that propagate towards another contended link.
    pub(super) in_transit: VecDeque<Transit>,
    /// Packets that wait for their turn, if the queue decides at departure.
    pub(super) waiting: WaitingPackets,
    pub(crate) probe: LinkProbe,
}

/// Why a packet does not go on at once.
pub(super) enum Stopped {
    /// The link dropped or lost it.
    Lost,
    /// The queue decides when its turn comes.
    Waits,
}

impl LinkState {
    pub(crate) fn new(name: Arc<str>, link: Link, random: Stream, probe: LinkProbe) -> Self {
        let classed = link.differentiates();
        Self {
            name,
            link,
            classed,
            random,
            jitter: None,
            in_transit: VecDeque::new(),
            waiting: WaitingPackets::default(),
            probe,
        }
    }

    /// A packet is offered. If it goes on: when it will have propagated to the link's end.
    #[inline]
    pub(super) fn pass(
        &mut self,
        now: Instant,
        packet: &mut Packet,
        ecn: Ecn,
        warm_up: Instant,
    ) -> Result<Instant, Stopped> {
        let offered = Offered { bytes: packet.bytes(), ecn, class: packet.class() };
        match self.link.offer(now, offered, &mut self.random) {
            Outcome::Forwarded { departure, waiting, marked } => {
                self.probe.waited(waiting, now >= warm_up);
                if marked {
                    packet.mark();
                }
                Ok(departure + self.link.delay())
            }
            Outcome::Dropped | Outcome::LostOnMedium => Err(Stopped::Lost),
            Outcome::Waits => Err(Stopped::Waits),
        }
    }

    /// A packet propagates towards the next contended link and will be there `at`.
    pub(crate) fn propagate(&mut self, core: &mut Core, index: u32, at: Instant, mut transit: Transit) {
        transit.packet.at = at;
        if self.in_transit.is_empty() {
            core.queue.push(at, Entity::Link(index));
        }
        self.in_transit.push_back(transit);
    }
}

/// Propagation delay of the links of a path.
pub(crate) fn path_delay(links: &[LinkState], path: &[u32]) -> Duration {
    path.iter().fold(Duration::ZERO, |sum, &link| sum + links[link as usize].link.delay())
}
