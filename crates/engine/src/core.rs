//! The common state of a network's endpoints.

use crate::event::Entity;
use crate::event_queue::EventQueue;
use crate::jitter::{End, Jittered, JitteredPath, Leaves};
use crate::packet::Transit;
use parshall_units::Instant;

/// The common state of all flows: the event queue, the limits of time, and the sink.
pub struct Core<S> {
    /// The events to come.
    pub queue: EventQueue,
    /// Packets that others may overtake, on paths with jitter.
    pub jittered: Jittered,
    /// From here on packets count.
    pub warm_up: Instant,
    /// Nothing happens from here on. Whoever runs the network may bring it forward between two runs.
    pub end: Instant,
    /// The sink that is told of events.
    pub sink: S,
}

impl<S> Core<S> {
    /// No events, between these limits of time.
    pub fn new(warm_up: Instant, end: Instant, sink: S) -> Self {
        Self { queue: EventQueue::new(), jittered: Jittered::default(), warm_up, end, sink }
    }

    /// A packet comes `at` to a path that may have jitter. Returns when it leaves, if none leaves before that comes
    /// later; else its departure is an event of its own.
    #[inline]
    pub fn pass(
        &mut self,
        path: Option<&mut JitteredPath>,
        at: Instant,
        transit: Transit,
        end: End,
    ) -> Option<Instant> {
        let Some(path) = path else { return Some(at) };
        match path.pass(at) {
            Leaves::InOrder(leaves) => {
                self.jittered.told(leaves);
                Some(leaves)
            }
            Leaves::AnyOrder(leaves) => {
                self.put_off(leaves, transit, end);
                None
            }
        }
    }

    /// A packet leaves such a path at this time, as an event of its own. What leaves at the end of the simulation or
    /// later never does.
    pub fn put_off(&mut self, leaves: Instant, transit: Transit, end: End) {
        if leaves < self.end {
            if let Some(number) = self.jittered.store(transit, end) {
                self.queue.push(leaves, Entity::Jittered(number));
            }
        }
    }
}
