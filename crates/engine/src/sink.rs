//! Sinks: what is told of events in the network.

use crate::packet::{Owner, Packet};
use parshall_units::{Duration, Instant};

/// Is told what becomes of packets, and is at hand for the endpoints as [`Core::sink`](crate::Core::sink).
///
/// Calls are static, and a method that is not overridden costs nothing. Flows may run ahead of the network's clock, so
/// a time that is told may be later than the times of events that follow.
pub trait Sink {
    /// What it notes of each link, beside the link.
    type OfLink;

    /// A link has accepted a packet.
    #[inline]
    fn enqueued(&mut self, _link: &mut Self::OfLink, _now: Instant, _packet: &Packet) {}

    /// It is known when a packet leaves the link, and how long it waits before its transmission; `measured`: whether it
    /// counts, as one that came after the warm-up.
    #[inline]
    fn forwarded(
        &mut self,
        _link: &mut Self::OfLink,
        _packet: &Packet,
        (_departure, _waiting): (Instant, Duration),
        _measured: bool,
    ) {
    }

    /// A link's queue has marked a packet.
    #[inline]
    fn marked(&mut self, _link: &mut Self::OfLink, _packet: &Packet) {}

    /// A link's queue has dropped a packet, or its medium has lost it.
    #[inline]
    fn dropped(&mut self, _link: &mut Self::OfLink, _owner: Owner, _packet: &Packet) {}

    /// A packet will be at the end of its last link at this time.
    #[inline]
    fn delivered(&mut self, _at: Instant, _owner: Owner, _packet: &Packet) {}

    /// True if [`TransitQueue::crossed`](crate::TransitQueue::crossed) is to be told of each link that a packet has
    /// crossed. It is asked often, and must not change while the network runs.
    #[inline]
    fn watches_crossings(&self) -> bool {
        false
    }

    /// The transit queue was told of a packet that has crossed a link. Nothing earlier than `now` will be told any
    /// more.
    fn crossed(&mut self, _now: Instant) {}
}

/// Looks at nothing.
impl Sink for () {
    type OfLink = ();
}
