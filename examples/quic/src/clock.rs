//! Virtual time as the stacks see it: their instants are those of the standard library, counted from any one of them.

use parshall_engine::Instant;
use std::time::Duration;

pub struct Clock(std::time::Instant);

impl Clock {
    pub fn new() -> Self {
        Self(std::time::Instant::now()) // only differences from it are used
    }

    /// A time of the network, in whole nanoseconds.
    pub fn at(&self, now: Instant) -> std::time::Instant {
        self.0 + Duration::from_nanos(now.as_ps() / 1000)
    }

    /// A time of a stack.
    pub fn instant(&self, at: std::time::Instant) -> Instant {
        Instant::from_ps(at.duration_since(self.0).as_nanos() as u64 * 1000)
    }
}
