//! A network of links and endpoints in virtual time.
//!
//! The engine knows packets, queues, links and time. It knows no TCP, no table and no operating system: it reads no
//! clock, opens no file and draws no random number but from the seed that it is given, so a run gives the same bytes on
//! any machine, and it builds for `wasm32-unknown-unknown`.
//!
//! # Endpoints
//!
//! A host is an [`Endpoint`]: [`on_packet`](Endpoint::on_packet), [`on_timer`](Endpoint::on_timer), and
//! [`next`](Endpoint::next), the time at which it wants to be woken. [`Hosts`] puts pairs of them at the ends of paths;
//! `examples/dumbbell.rs` is a whole network in 80 lines. An endpoint that simulates both of its ends itself implements
//! [`TransitQueue`] and [`Flows`] instead, and then a packet costs one event (below). [`endpoints!`] joins any kinds
//! into one type, so that each kind's way through the network is code of its own, without a dynamic call.
//!
//! # Sinks
//!
//! A [`Sink`] is told what links do with packets: accepted, forwarded, marked, dropped, delivered. What it does not
//! look at costs nothing, and `()` looks at nothing.
//!
//! # Time, and why a packet costs one event
//!
//! Only *contended* places need a global order of events: the links that several flows share. Everything else is
//! private to one flow, so a kind of endpoint may run it as soon as its inputs are known, in the flow's own time, which
//! may be ahead of the global clock:
//!
//! * a link says at a packet's arrival when it will have left (first come, first served), so there is no
//!   'transmission complete' event (but where the queue decides at departure);
//! * after its last contended link a packet's arrival at the receiver, the answer's arrival at the sender and what the sender sends
//!   then follow without anybody else's say, so they can be computed at once;
//! * packets of a flow reach the first link in order, so only the first of each [`TransitQueue`] is in the event queue.
//!
//! A packet through a dumbbell is thus one [`replace_top`](EventQueue::replace_top) of the event queue, and one visit
//! to its flow's memory.
//!
//! | file | what |
//! | --- | --- |
//! | [`event_queue`], [`event`] | a 4-ary heap; with few flows a tournament of their transit queues beside it, with very many events a calendar before it |
//! | [`packet`] | a packet, and whose it is |
//! | [`link`], `waiting_packets` | a link with the packets that it holds |
//! | [`transit`] | what a flow's packets of one direction are to the network |
//! | [`jitter`] | paths that delay each packet by its own time |
//! | [`core`](mod@core) | what endpoints share: event queue, limits of time, sink |
//! | [`network`], `first_link`, `forwarding` | the way of packets from link to link, in the order of time |
//! | [`kinds`] | kinds of endpoints, and the macros that join them |
//! | [`sink`] | what is told of events |
//! | [`hosts`] | endpoints of `on_packet`, `on_timer` and `next` |
//! | [`random`] | named random streams |
//! | [`memory`] | hints about the memory of many flows |

pub mod core;
pub mod event;
pub mod event_queue;
mod first_link;
mod forwarding;
pub mod hosts;
pub mod jitter;
pub mod kinds;
pub mod link;
pub mod memory;
pub mod network;
pub mod packet;
pub mod random;
pub mod sink;
pub mod transit;
mod waiting_packets;

pub use crate::core::Core;
pub use event::{Entity, MAX_INDEX};
pub use event_queue::EventQueue;
pub use first_link::meet_first_link;
pub use hosts::{Datagram, Endpoint, Hosts, Outbox, Way};
pub use jitter::{End, JitteredPath};
pub use kinds::{Endpoints, Flows};
pub use link::{path_delay, LinkState};
pub use network::{Network, Pause};
pub use packet::{Flags, Owner, Packet, Transit, Waiting, MAX_BYTES};
pub use parshall_units::{Duration, Instant};
pub use sink::Sink;
pub use transit::{Hop, Rest, TransitQueue};
