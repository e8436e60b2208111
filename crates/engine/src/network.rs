//! The running network: links, the flows at their ends, and what happens to them in the order of time.
//!
//! Who owns the clock says how far it goes ([`Network::run`]): to the end at once, as a simulation does, or step by
//! step up to a clock of the real world.

use crate::core::Core;
use crate::event::Entity;
use crate::kinds::Endpoints;
use crate::link::LinkState;
use parshall_units::Instant;

/// A running network.
pub struct Network<E: Endpoints> {
    /// The common state of all flows.
    pub core: Core<E::Sink>,
    /// The links, by which paths name them.
    pub links: Vec<LinkState<E::Sink>>,
    /// The flows.
    pub endpoints: E,
    /// Events so far.
    pub events: u64,
}

/// Why a network stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Nothing is left to happen before the time that was asked for.
    Idle,
    /// A boundary or a notice is due, and taken out of the queue: it is the caller's to handle.
    Due(Instant, Entity),
    /// As many events as were asked for have happened, the last one at this time.
    Enough(Instant),
}

impl<E: Endpoints> Network<E> {
    /// A network of these links, in which nothing happens yet.
    pub fn new(core: Core<E::Sink>, links: Vec<LinkState<E::Sink>>, endpoints: E) -> Self {
        Self { core, links, endpoints, events: 0 }
    }

    /// When the next event is; `None`: nothing happens any more before the end.
    pub fn next_event(&self) -> Option<(Instant, Entity)> {
        self.core.queue.next_before(self.core.end)
    }

    /// Runs what happens before `until`, and before the end, up to so many events.
    #[inline]
    pub fn run(&mut self, until: Instant, most: u64) -> Pause {
        let (limit, enough) = (until.min(self.core.end), self.events.saturating_add(most));
        while let Some((now, entity)) = self.core.queue.next_before(limit) {
            self.look_ahead();
            self.events += 1;
            match entity {
                Entity::Transit(queue, flow) => self.on_transit(now, queue, flow),
                Entity::Own(kind, event, index) => {
                    self.endpoints.on_event(&mut self.core, now, (kind, event), index);
                }
                Entity::Link(index) => self.on_link(now, index),
                Entity::Transmission(index) => self.on_transmission(now, index),
                Entity::Jittered(number) => self.on_jittered(now, number),
                Entity::Boundary(_) | Entity::Notice(_) => {
                    self.core.queue.pop(entity);
                    return Pause::Due(now, entity);
                }
            }
            if self.events == enough {
                return Pause::Enough(now);
            }
        }
        Pause::Idle
    }

    /// Runs all that is left, in a network without boundaries and notices.
    pub fn run_to_end(&mut self) {
        const BETWEEN: u64 = 1 << 14;
        while self.run(Instant::MAX, BETWEEN) != Pause::Idle {
            self.core.queue.adapt();
        }
    }

    /// Asks for the memory of flows whose turn is soon, if there are so many that no cache has it.
    #[inline]
    fn look_ahead(&mut self) {
        let Some(calendar) = self.core.queue.calendar() else { return };
        for _ in 0..2 {
            if let Some(entity) = calendar.look_ahead() {
                self.endpoints.prefetch(entity);
            }
        }
        let Some(begun) = self.core.queue.begun() else { return };
        for entity in begun {
            self.endpoints.prefetch_beyond(entity);
        }
    }
}
