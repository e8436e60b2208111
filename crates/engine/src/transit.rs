//! A flow's packets of one direction, as the network sees them.

use crate::core::Core;
use crate::packet::{Packet, Transit};
use parshall_net::ecn::Ecn;
use parshall_units::Instant;

/// A flow's packets of one direction, from when they are sent until they have left their last link.
///
/// They reach the first link of their path in order, so only the first of them is in the event queue. The network takes
/// it from there, offers it to the links of the path, and tells the queue what became of it. After its last link a
/// packet's fate is known: the queue is told of a delivery before it happens, with the time at which it will.
pub trait TransitQueue<S> {
    /// The first packet in transit, which reaches its first link now, and its tag ([`Owner::tag`](crate::Owner::tag)).
    /// It stays first until [`next`](Self::next), so that what the flow answers finds the queue not empty, and its
    /// place in the event queue taken.
    fn first(&self) -> (Packet, u32);

    /// The first packet has been dealt with. When the next one reaches the first link; `None`: the queue is empty, and
    /// who adds to it puts it into the event queue.
    fn next(&mut self, core: &mut Core<S>) -> Option<Instant>;

    /// The links that the packets cross, in order; not empty.
    fn path(&self) -> &[u32];

    /// A shortcut for queues whose path has one link and no jitter, where no sink [watches
    /// crossings](crate::Sink::watches_crossings): a packet is delivered as soon as this link has accepted it, without
    /// a look at anything else. `false` is always right.
    fn ends_at_first_link(&self) -> bool {
        false
    }

    /// What a packet says about ECN.
    fn ecn(&self, packet: &Packet) -> Ecn;

    /// The DSCP of a packet.
    fn dscp(&self, packet: &Packet) -> u8;

    /// A packet is at the end of its last link at this time. When it leaves the flow's own part of the path, propagation
    /// not counted, unless its departure is an event of its own ([`Core::pass`]).
    #[inline]
    fn leave_path(&mut self, _core: &mut Core<S>, at: Instant, _transit: Transit) -> Option<Instant> {
        Some(at)
    }

    /// A packet will leave its last link, propagation included, at this time, which may be ahead of the network's.
    fn deliver(&mut self, core: &mut Core<S>, at: Instant, packet: &Packet, tag: u32);

    /// A link lost a packet.
    fn lose(&mut self, core: &mut Core<S>, packet: &Packet, tag: u32);

    /// A packet has crossed the link number `hop` of its path and reaches its end `at`; told if the sink watches
    /// crossings.
    fn crossed(&self, _core: &mut Core<S>, _hop: usize, _at: Instant, _packet: &Packet, _tag: u32) {}
}

/// A link of a transit queue's path.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The link.
    pub link: u32,
    /// True if it is the last one.
    pub is_last: bool,
    /// The packet's ECN codepoint there.
    pub ecn: Ecn,
}

impl Hop {
    /// The link number `hop` of a packet's path.
    #[inline]
    pub fn of<S>(queue: &impl TransitQueue<S>, hop: u8, packet: &Packet) -> Self {
        let path = queue.path();
        let is_last = usize::from(hop) + 1 == path.len();
        Self { link: path[usize::from(hop)], is_last, ecn: queue.ecn(packet) }
    }
}

/// The further work on a packet that came to its first link, where there is any.
#[derive(Clone, Copy)]
pub enum Rest {
    /// The packet will be at the end of the link at this time, and the sink watches crossings, the link has jitter, or
    /// there is no other link.
    Crossed(Instant),
    /// The queue decides when its turn comes.
    Waits(Ecn),
}
