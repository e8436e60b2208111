//! Kinds of endpoints, and all endpoints of a network.
//!
//! A kind is a type for all its flows, which implements [`Flows`], with functions that give a
//! [`TransitQueue`](crate::TransitQueue) of a flow. [`codes!`](crate::codes) numbers kinds and queues, and
//! [`endpoints!`](crate::endpoints) joins kinds into one type that implements [`Endpoints`]. Queues and events are
//! dispatched by a `match` over the codes, so each kind's way through the network is code of its own.

use crate::core::Core;
use crate::event::Entity;
use crate::link::LinkState;
use crate::packet::{Owner, Packet, Transit};
use crate::sink::Sink;
use crate::transit::{Hop, Rest};
use parshall_units::Instant;

/// All flows of one kind, while they run.
pub trait Flows<S> {
    /// An event of the kind's own is the earliest in the queue; it is taken out or put off.
    fn on_event(&mut self, core: &mut Core<S>, now: Instant, event: u8, index: u32);

    /// Asks for the memory that an event of this kind's flows needs, which is due soon.
    fn prefetch(&self, _: Entity) {}

    /// Asks for what the flow of such an event points to.
    fn prefetch_beyond(&self, _: Entity) {}
}

/// All endpoints of a network: [`endpoints!`](crate::endpoints) implements it.
pub trait Endpoints {
    /// What is told of events.
    type Sink: Sink;

    /// The first packet in transit reaches its first link; what is left to do, if that is more than usual.
    fn meet_first_link(
        &mut self,
        core: &mut Core<Self::Sink>,
        links: &mut [LinkState<Self::Sink>],
        now: Instant,
        of: (u8, u32),
    ) -> Option<(Rest, Transit)>;

    /// An event of a kind's own: the kind, the event, the index.
    fn on_event(&mut self, core: &mut Core<Self::Sink>, now: Instant, of: (u8, u8), index: u32);

    /// [`TransitQueue::next`](crate::TransitQueue::next) of a queue and a flow
    fn next(&mut self, core: &mut Core<Self::Sink>, of: (u8, u32)) -> Option<Instant>;

    /// The link number `hop` of a packet's path.
    fn hop(&mut self, owner: Owner, hop: u8, packet: &Packet) -> Hop;

    /// [`TransitQueue::dscp`](crate::TransitQueue::dscp)
    fn dscp(&mut self, owner: Owner, packet: &Packet) -> u8;

    /// [`TransitQueue::leave_path`](crate::TransitQueue::leave_path)
    fn leave_path(&mut self, core: &mut Core<Self::Sink>, at: Instant, transit: Transit) -> Option<Instant>;

    /// [`TransitQueue::deliver`](crate::TransitQueue::deliver)
    fn deliver(&mut self, core: &mut Core<Self::Sink>, owner: Owner, at: Instant, packet: &Packet);

    /// [`TransitQueue::lose`](crate::TransitQueue::lose)
    fn lose(&mut self, core: &mut Core<Self::Sink>, owner: Owner, packet: &Packet);

    /// [`TransitQueue::crossed`](crate::TransitQueue::crossed)
    fn crossed(
        &mut self,
        core: &mut Core<Self::Sink>,
        owner: Owner,
        hop: usize,
        at: Instant,
        packet: &Packet,
    );

    /// [`Flows::prefetch`]
    fn prefetch(&self, entity: Entity);

    /// [`Flows::prefetch_beyond`]
    fn prefetch_beyond(&self, entity: Entity);
}

/// Numbers names from 0: `codes! { pub Kind: Tcp, Datagrams }` gives `Kind::Tcp` = 0 and `Kind::Datagrams` = 1, of type
/// `u8`.
#[macro_export]
macro_rules! codes {
    ($(#[$doc:meta])* $visibility:vis $Name:ident: $($Entry:ident),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $visibility struct $Name;

        #[allow(non_upper_case_globals, dead_code, missing_docs)]
        impl $Name {
            $crate::codes!(@number $visibility, 0, $($Entry)+);
        }
    };
    (@number $visibility:vis, $code:expr, $Entry:ident $($Later:ident)*) => {
        $visibility const $Entry: u8 = $code;
        $crate::codes!(@number $visibility, $code + 1, $($Later)*);
    };
    (@number $visibility:vis, $code:expr,) => {};
}

/// Joins kinds of endpoints into one type:
///
/// ```ignore
/// endpoints! {
///     /// The flows of a network.
///     pub struct All for Counts {
///         // field: type = code of the kind { code of the transit queue => function that gives it, ... }
///         tcp: TcpFlows = Kind::Tcp { Queue::Data => data, Queue::Acks => acks },
///         quic: Hosts<Quic> = Kind::Quic { Queue::Forth => forth, Queue::Back => back },
///     }
/// }
/// ```
///
/// The sink is what stands behind `for`; attributes, such as `derive`, are kept. Codes are below
/// [`MOST_KINDS`](crate::event::MOST_KINDS) and [`MOST_TRANSITS`](crate::event::MOST_TRANSITS), and no two are the
/// same; the transit queues of codes 0 and 1 are served fastest.
#[macro_export]
macro_rules! endpoints {
    (
        $(#[$doc:meta])* $visibility:vis struct $Name:ident for $Sink:ty {
            $($kind:ident: $Flows:ty = $code:path { $($transit:path => $queue:ident),+ $(,)? }),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        $visibility struct $Name { $(#[allow(missing_docs)] $visibility $kind: $Flows),+ }

        $crate::endpoints!(@check [$($code)+] [$($($transit)+)+]);

        impl $crate::Endpoints for $Name {
            type Sink = $Sink;

            #[inline]
            fn meet_first_link(
                &mut self,
                core: &mut $crate::Core<$Sink>,
                links: &mut [$crate::LinkState<$Sink>],
                now: $crate::Instant,
                (queue, flow): (u8, u32),
            ) -> Option<($crate::Rest, $crate::Transit)> {
                match queue {
                    $($($transit => {
                        $crate::meet_first_link(core, links, now, (queue, flow), self.$kind.$queue(flow))
                    })+)+
                    _ => $crate::endpoints!(@none queue),
                }
            }

            #[inline]
            fn on_event(
                &mut self,
                core: &mut $crate::Core<$Sink>,
                now: $crate::Instant,
                (kind, event): (u8, u8),
                index: u32,
            ) {
                match kind {
                    $($code => $crate::Flows::on_event(&mut self.$kind, core, now, event, index),)+
                    _ => $crate::endpoints!(@none kind),
                }
            }

            fn next(
                &mut self,
                core: &mut $crate::Core<$Sink>,
                (queue, flow): (u8, u32),
            ) -> Option<$crate::Instant> {
                match queue {
                    $($($transit => $crate::TransitQueue::next(&mut self.$kind.$queue(flow), core),)+)+
                    _ => $crate::endpoints!(@none queue),
                }
            }

            fn hop(&mut self, owner: $crate::Owner, hop: u8, packet: &$crate::Packet) -> $crate::Hop {
                match owner.transit {
                    $($($transit => $crate::Hop::of::<$Sink>(&self.$kind.$queue(owner.flow), hop, packet),)+)+
                    queue => $crate::endpoints!(@none queue),
                }
            }

            fn dscp(&mut self, owner: $crate::Owner, packet: &$crate::Packet) -> u8 {
                match owner.transit {
                    $($($transit => {
                        $crate::TransitQueue::<$Sink>::dscp(&self.$kind.$queue(owner.flow), packet)
                    })+)+
                    queue => $crate::endpoints!(@none queue),
                }
            }

            fn leave_path(
                &mut self,
                core: &mut $crate::Core<$Sink>,
                at: $crate::Instant,
                transit: $crate::Transit,
            ) -> Option<$crate::Instant> {
                let $crate::Owner { transit: queue, flow, .. } = transit.owner;
                match queue {
                    $($($transit => {
                        $crate::TransitQueue::leave_path(&mut self.$kind.$queue(flow), core, at, transit)
                    })+)+
                    _ => $crate::endpoints!(@none queue),
                }
            }

            fn deliver(
                &mut self,
                core: &mut $crate::Core<$Sink>,
                owner: $crate::Owner,
                at: $crate::Instant,
                packet: &$crate::Packet,
            ) {
                match owner.transit {
                    $($($transit => $crate::TransitQueue::deliver(
                        &mut self.$kind.$queue(owner.flow), core, at, packet, owner.tag,
                    ),)+)+
                    queue => $crate::endpoints!(@none queue),
                }
            }

            fn lose(&mut self, core: &mut $crate::Core<$Sink>, owner: $crate::Owner, packet: &$crate::Packet) {
                match owner.transit {
                    $($($transit => {
                        $crate::TransitQueue::lose(&mut self.$kind.$queue(owner.flow), core, packet, owner.tag);
                    })+)+
                    queue => $crate::endpoints!(@none queue),
                }
            }

            fn crossed(
                &mut self,
                core: &mut $crate::Core<$Sink>,
                owner: $crate::Owner,
                hop: usize,
                at: $crate::Instant,
                packet: &$crate::Packet,
            ) {
                match owner.transit {
                    $($($transit => $crate::TransitQueue::crossed(
                        &self.$kind.$queue(owner.flow), core, hop, at, packet, owner.tag,
                    ),)+)+
                    queue => $crate::endpoints!(@none queue),
                }
            }

            #[inline]
            fn prefetch(&self, entity: $crate::Entity) {
                $($crate::Flows::<$Sink>::prefetch(&self.$kind, entity);)+
            }

            #[inline]
            fn prefetch_beyond(&self, entity: $crate::Entity) {
                $($crate::Flows::<$Sink>::prefetch_beyond(&self.$kind, entity);)+
            }
        }
    };
    (@none $code:ident) => { unreachable!("the list of endpoints has no code {}", $code) };
    (@check [$($code:path)+] [$($transit:path)+]) => {
        const _: () = {
            $(assert!(($code as u32) < $crate::event::MOST_KINDS);)+
            $(assert!(($transit as u32) < $crate::event::MOST_TRANSITS);)+
        };
    };
}
