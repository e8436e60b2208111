//! Endpoints: what a flow is to the network.
//!
//! A flow sends packets in one direction or in two. Its packets of one direction, in transit to the first link of their path, are a
//! [`TransitQueue`]: they reach the link in order, so only the first of them is an event. The network takes it from there, offers it
//! to the links of the queue's path, and tells the queue what became of it: delivered, or lost. Timers and the like are events of
//! the kind's own; what else the flows of a kind do together is in [`EndpointKind`]: they are checked and built, end, and have
//! totals.
//!
//! Network, build, results and probes do not know which kinds there are. (Captures and logs know how TCP looks, and the event
//! queue has a faster place for its transit queues.) A new one is a directory or file here, with a type for all its flows that
//! implements [`EndpointKind`] and one for each of its transit queues that implements [`TransitQueue`], and an entry in the call of `endpoints!`
//! below. Transit queues and events are dispatched by a `match`, so each kind's way through the network is code of its own,
//! without virtual calls.
//!
//! *Time.* The network hands over the time of everything, and a flow may run ahead of its clock: after its last contended
//! link a packet's fate is known, so a transit queue hears of a delivery before it happens, with the time at which it will. A kind whose
//! packets come from outside ([`external`]) gives its packets the times at which they came, puts the first of them into the
//! event queue ([`Core`]'s), keeps what is delivered, and gives it out when its time has come.

mod access;
pub(crate) mod datagram;
mod edge;
pub(crate) mod external;
mod place;
pub(crate) mod tcp;

pub(crate) use access::AccessLink;
pub(crate) use edge::Edge;
pub(crate) use place::{Place, Propagation};

use crate::build::{GroupPlan, Problem};
use crate::capture::{Captures, Wires};
use crate::event::{Entity, MOST_KINDS, MOST_TRANSITS};
use crate::network::{meet_first_link, LinkState, Rest};
use crate::packet::{Owner, Packet, Transit};
use crate::qlog::Logs;
use crate::results::Measured;
use crate::scenario::FlowGroup;
use crate::shared::Core;
use crate::SimError;
use datagram::DatagramFlows;
use external::ExternalFlows;
use parshall_net::ecn::Ecn;
use parshall_records::{FlowRow, Tables};
use parshall_units::{Duration, Instant};
use std::collections::TryReserveError;
use tcp::TcpFlows;

/// A flow's packets of one direction, as the network sees them, from when they are sent.
pub(crate) trait TransitQueue {
    /// The first packet in transit, which reaches its first link now, and its tag ([`Owner::tag`]). It stays first until
    /// [`next`](Self::next), so that what the flow answers finds the queue not empty, and its place in the event queue taken.
    fn first(&self) -> (Packet, u32);

    /// The first packet has been dealt with. When the next one reaches the first link; `None`: the queue is empty, and who adds to it
    /// puts it into the event queue.
    fn next(&mut self, core: &mut Core) -> Option<Instant>;

    /// The links that the packets cross, in order; not empty.
    fn path(&self) -> &[u32];

    /// Whether a packet is delivered as soon as its first link has accepted it: there is no other link, no jitter, and no capture.
    fn ends_at_first_link(&self) -> bool;

    /// What a packet says about ECN.
    fn ecn(&self, packet: &Packet) -> Ecn;

    /// The DSCP of a packet.
    fn dscp(&self, packet: &Packet) -> u8;

    /// A packet is at the end of its last link at this time. When it leaves the flow's own part of the path, propagation not counted, if its
    /// departure is no event of its own ([`Core::pass`]).
    fn leave_path(&mut self, core: &mut Core, at: Instant, transit: Transit) -> Option<Instant>;

    /// A packet will leave its last link, propagation included, at this time, which may be ahead of the network's.
    fn deliver(&mut self, core: &mut Core, at: Instant, packet: &Packet, tag: u32);

    /// A link lost a packet.
    fn lose(&mut self, core: &mut Core, packet: &Packet, tag: u32);

    /// A packet has crossed the link number `hop` of its path and reaches its end `at`; links are captured.
    fn capture(&self, core: &mut Core, hop: usize, at: Instant, packet: &Packet, tag: u32);
}

/// All flows of one kind. A flow is known by its place among them, in the order in which they came.
pub(crate) trait EndpointKind {
    // --- being built ---

    /// Whether the flows of such a group are of this kind. The kinds are asked from the last of the list to the first.
    fn takes(&self, spec: &FlowGroup) -> bool;

    /// Memory of a flow, beside what it points to.
    fn flow_bytes(&self) -> usize;

    /// Refuses what this kind cannot do; all that [`add`](Self::add) would refuse.
    fn check(&self, group: &GroupPlan<'_>) -> Result<(), Problem>;

    /// Makes room for so many flows.
    fn reserve(&mut self, flows: usize) -> Result<(), TryReserveError>;

    /// Adds the flows of a group that was checked.
    fn add(&mut self, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem>;

    // --- running ---

    /// An event of the kind's own is the earliest in the queue; it is taken out or put off.
    fn on_event(&mut self, core: &mut Core, now: Instant, event: u8, index: u32);

    /// Asks for the memory that an event of this kind's flows needs, which is due soon.
    fn prefetch(&self, _: Entity) {}

    /// Asks for what the flow of such an event points to.
    fn prefetch_beyond(&self, _: Entity) {}

    /// What ends the simulation, if something in the flows has failed.
    fn fault(&self) -> Option<SimError> {
        None
    }

    // --- being watched ---

    /// Links are captured: says how the packets of this kind look on them.
    fn capture(&mut self, _: &mut Captures, _: &Wires<'_>) {}

    /// Logs the first flows of each group, as many as are sampled.
    fn log(&mut self, _sampled: u32, _: &Tables, _: &mut Logs) -> Result<(), SimError> {
        Ok(())
    }

    // --- ending ---

    /// The longest time that a packet and its answer take outside the links, and the longest that a host takes with one.
    fn longest_delays(&self) -> (Duration, Duration);

    /// Brings the flows to the end of the simulated time.
    fn end(&mut self, core: &mut Core) -> Result<(), SimError>;

    /// The number of a flow in the records: those of later flows are no smaller. `None`: there is no such flow.
    fn id(&self, place: usize) -> Option<u32>;

    /// The totals of a flow; `None`: it is part of another one.
    fn totals(&self, place: usize, measured: &Measured<'_>) -> Option<FlowRow>;
}

/// A link of a transit queue's path.
pub(crate) struct Hop {
    pub(crate) link: u32,
    pub(crate) is_last: bool,
    /// What the packet says about ECN there.
    pub(crate) ecn: Ecn,
}

impl Hop {
    #[inline]
    fn of(queue: &impl TransitQueue, hop: u8, packet: &Packet) -> Self {
        let path = queue.path();
        let is_last = usize::from(hop) + 1 == path.len();
        Self { link: path[usize::from(hop)], is_last, ecn: queue.ecn(packet) }
    }
}

/// The names of kinds, or of transit queues, and their codes.
macro_rules! codes {
    ($(#[$doc:meta])* $Name:ident: $($Entry:ident),*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $Name { $($Entry),* }

        impl $Name {
            pub(crate) const ALL: &[Self] = &[$(Self::$Entry),*];

            /// The one of this code, its place in the list.
            #[inline]
            pub(crate) fn from_code(code: u32) -> Self {
                $(if code == Self::$Entry as u32 { return Self::$Entry; })*
                Self::ALL[Self::ALL.len() - 1]
            }
        }
    };
}

macro_rules! endpoints {
    (
        $($kind:ident: $Kind:ident($Flows:ident) {
            $($Transit:ident => $queue:ident),+
        }),+ $(,)?
    ) => {
        codes! {
            /// A kind of endpoint.
            Kind: $($Kind),+
        }
        codes! {
            /// A direction in which a kind of endpoint sends.
            TransitKind: $($($Transit),+),+
        }

        /// The flows of a network.
        #[derive(Default)]
        pub(crate) struct Endpoints { $(pub(crate) $kind: $Flows),+ }

        impl Endpoints {
            /// All kinds, in the order of the list.
            pub(crate) fn kinds(&self) -> [&dyn EndpointKind; Kind::ALL.len()] {
                [$(&self.$kind),+]
            }

            /// The same, to be changed.
            pub(crate) fn kinds_mut(&mut self) -> [&mut dyn EndpointKind; Kind::ALL.len()] {
                [$(&mut self.$kind),+]
            }

            /// The first packet in transit reaches its first link; what is left to do, if that is more than usual.
            #[inline]
            pub(crate) fn meet_first_link(
                &mut self,
                core: &mut Core,
                links: &mut [LinkState],
                now: Instant,
                (kind, flow): (TransitKind, u32),
            ) -> Option<(Rest, Transit)> {
                match kind {
                    $($(TransitKind::$Transit => {
                        meet_first_link(core, links, now, (kind, flow), self.$kind.$queue(flow))
                    })+)+
                }
            }

            /// An event of a kind's own.
            #[inline]
            pub(crate) fn on_event(&mut self, core: &mut Core, now: Instant, (kind, event): (Kind, u8), index: u32) {
                match kind {
                    $(Kind::$Kind => self.$kind.on_event(core, now, event, index),)+
                }
            }

            /// [`TransitQueue::next`]
            pub(crate) fn next(&mut self, core: &mut Core, (kind, flow): (TransitKind, u32)) -> Option<Instant> {
                match kind {
                    $($(TransitKind::$Transit => self.$kind.$queue(flow).next(core),)+)+
                }
            }

            /// The link number `hop` of a packet's path.
            pub(crate) fn hop(&mut self, owner: Owner, hop: u8, packet: &Packet) -> Hop {
                match owner.transit {
                    $($(TransitKind::$Transit => Hop::of(&self.$kind.$queue(owner.flow), hop, packet),)+)+
                }
            }

            /// [`TransitQueue::dscp`]
            pub(crate) fn dscp(&mut self, owner: Owner, packet: &Packet) -> u8 {
                match owner.transit {
                    $($(TransitKind::$Transit => self.$kind.$queue(owner.flow).dscp(packet),)+)+
                }
            }

            /// [`TransitQueue::leave_path`]
            pub(crate) fn leave_path(&mut self, core: &mut Core, at: Instant, transit: Transit) -> Option<Instant> {
                let Owner { transit: kind, flow, .. } = transit.owner;
                match kind {
                    $($(TransitKind::$Transit => self.$kind.$queue(flow).leave_path(core, at, transit),)+)+
                }
            }

            /// [`TransitQueue::deliver`]
            pub(crate) fn deliver(&mut self, core: &mut Core, owner: Owner, at: Instant, packet: &Packet) {
                match owner.transit {
                    $($(TransitKind::$Transit => self.$kind.$queue(owner.flow).deliver(core, at, packet, owner.tag),)+)+
                }
            }

            /// [`TransitQueue::lose`]
            pub(crate) fn lose(&mut self, core: &mut Core, owner: Owner, packet: &Packet) {
                match owner.transit {
                    $($(TransitKind::$Transit => self.$kind.$queue(owner.flow).lose(core, packet, owner.tag),)+)+
                }
            }

            /// [`TransitQueue::capture`]
            pub(crate) fn capture(&mut self, core: &mut Core, owner: Owner, hop: usize, at: Instant, packet: &Packet) {
                match owner.transit {
                    $($(TransitKind::$Transit => {
                        self.$kind.$queue(owner.flow).capture(core, hop, at, packet, owner.tag);
                    })+)+
                }
            }

            /// [`EndpointKind::prefetch`]
            #[inline]
            pub(crate) fn prefetch(&self, entity: Entity) {
                $(self.$kind.prefetch(entity);)+
            }

            /// [`EndpointKind::prefetch_beyond`]
            #[inline]
            pub(crate) fn prefetch_beyond(&self, entity: Entity) {
                $(self.$kind.prefetch_beyond(entity);)+
            }
        }
    };
}

// The one list of kinds: the field of their flows, the kind, its type, and for each of its transit queues the name and what gives it.
endpoints! {
    tcp: Tcp(TcpFlows) { Data => data, Acks => acks },
    datagrams: Datagrams(DatagramFlows) { Datagrams => packets },
    external: External(ExternalFlows) { ExternalData => data, ExternalAcks => acks },
}

const _: () =
    assert!(TransitKind::ALL.len() <= MOST_TRANSITS as usize && Kind::ALL.len() <= MOST_KINDS as usize);

impl Endpoints {
    /// Which kind the flows of a group are, by its place in the list.
    pub(crate) fn kind_of(&self, spec: &FlowGroup) -> usize {
        self.kinds().iter().rposition(|kind| kind.takes(spec)).unwrap_or(0)
    }
}
