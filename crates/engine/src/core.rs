//! What the endpoints of a network share.

use crate::event_queue::EventQueue;
use parshall_units::Instant;

/// What all flows share: the event queue, the limits of time, and the sink.
pub struct Core<S> {
    /// What happens next.
    pub queue: EventQueue,
    /// From here on packets count.
    pub warm_up: Instant,
    /// Nothing happens from here on. Whoever runs the network may bring it forward between two runs.
    pub end: Instant,
    /// What is told of events.
    pub sink: S,
}

impl<S> Core<S> {
    /// No events, between these limits of time.
    pub fn new(warm_up: Instant, end: Instant, sink: S) -> Self {
        Self { queue: EventQueue::new(), warm_up, end, sink }
    }
}
