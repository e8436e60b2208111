//! The way of a packet to the first link of its path.

use crate::core::Core;
use crate::event::Entity;
use crate::link::{LinkState, Stopped};
use crate::packet::{Owner, Transit};
use crate::sink::Sink;
use crate::transit::{Rest, TransitQueue};
use parshall_units::Instant;

/// The first packet in transit reaches the first link of its path; what is left to do. This is the whole way of a
/// packet through a dumbbell, so it is code of each transit queue's own.
#[allow(clippy::inline_always)] // one call for each kind of transit queue
#[inline(always)]
pub fn meet_first_link<S: Sink, Q: TransitQueue<S>>(
    core: &mut Core<S>,
    links: &mut [LinkState<S>],
    now: Instant,
    (kind, flow): (u8, u32),
    mut sender: Q,
) -> Option<(Rest, Transit)> {
    let (mut packet, tag) = sender.first();
    let link = sender.path()[0];
    let state = &mut links[link as usize];
    let ecn = sender.ecn(&packet);
    let owner = Owner { transit: kind, flow, tag };
    match state.pass(core, now, (&mut packet, owner), ecn) {
        Ok(at) if sender.ends_at_first_link() => {
            core.sink.delivered(at, owner, &packet);
            sender.deliver(core, at, &packet, tag);
        }
        Ok(at) if !core.sink.watches_crossings() && state.jitter.is_none() && sender.path().len() > 1 => {
            state.propagate(core, link, at, Transit { packet, owner, hop: 1 });
        }
        Ok(at) => return Some((Rest::Crossed(at), Transit { packet, owner, hop: 1 })),
        Err(Stopped::Lost) => sender.lose(core, &packet, tag),
        Err(Stopped::Waits) => return Some((Rest::Waits(ecn), Transit { packet, owner, hop: 1 })),
    }
    let next = sender.next(core);
    core.queue.top_again_at(next, Entity::Transit(kind, flow));
    None
}
