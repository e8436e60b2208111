//! Paths that delay each packet by its own time ([`parshall_net::jitter`]): links with jitter, and the flows' own parts
//! of paths.
//!
//! Where order is kept, a packet's time is known when it leaves the link before, as everywhere: it costs a draw, and no
//! event. Where order is free, packets come in another order than the one in which their times were drawn, so each of
//! them is an event of its own, at its time: the event queue puts them in order, and what happens at the end of the
//! path happens in the order of time.

use crate::event::MAX_INDEX;
use crate::packet::Transit;
use crate::random::Stream;
use parshall_net::jitter::{Jitter, Order};
use parshall_units::{Duration, Instant};
use rand_core::{RngCore, SeedableRng};
use std::sync::Arc;

/// Draws the time of its own that a packet takes.
pub type OwnTimes = Arc<dyn Fn(&mut Stream) -> Duration + Send + Sync>;

/// A path with jitter, and its random stream.
pub struct JitteredPath {
    jitter: Jitter,
    own: OwnTimes,
    random: Stream,
}

impl std::fmt::Debug for JitteredPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("JitteredPath").field("jitter", &self.jitter).finish_non_exhaustive()
    }
}

/// When a packet leaves such a path.
#[derive(Clone, Copy, Debug)]
pub enum Leaves {
    /// Then, behind all that came before it.
    InOrder(Instant),
    /// Then, and others may leave before that come later.
    AnyOrder(Instant),
}

impl JitteredPath {
    /// A path that no packet has come to; `random`: a stream of its own.
    pub fn new(order: Order, own: OwnTimes, random: Stream) -> Self {
        Self { jitter: Jitter::new(order), own, random }
    }

    /// Another path like it, whose stream follows from this one's.
    #[must_use]
    pub fn another(&mut self) -> Self {
        let random = Stream::seed_from_u64(self.random.next_u64());
        Self::new(self.jitter.order(), self.own.clone(), random)
    }

    /// A packet comes `at`.
    pub fn pass(&mut self, at: Instant) -> Leaves {
        let leaves = self.jitter.pass(at, (self.own)(&mut self.random));
        match self.jitter.order() {
            Order::Kept => Leaves::InOrder(leaves),
            Order::Free => Leaves::AnyOrder(leaves),
        }
    }
}

/// The destination of a packet at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end of a link of its path.
    Link,
    /// The end of its flow's own part of the path.
    Path,
}

/// Packets that are events of their own, by number.
#[derive(Debug, Default)]
pub struct Jittered {
    places: Vec<(Transit, End)>,
    free: Vec<u32>,
    latest: Instant,
    too_many: bool,
}

impl Jittered {
    /// Keeps a packet; returns its number.
    pub(crate) fn store(&mut self, transit: Transit, end: End) -> Option<u32> {
        if let Some(number) = self.free.pop() {
            self.places[number as usize] = (transit, end);
            return Some(number);
        }
        let number = self.places.len() as u32;
        if number > MAX_INDEX {
            self.too_many = true;
            return None;
        }
        self.places.push((transit, end));
        Some(number)
    }

    /// Gives a packet back; its number can be used again.
    pub(crate) fn take(&mut self, number: u32) -> (Transit, End) {
        self.free.push(number);
        self.places[number as usize]
    }

    /// It is told that a packet will leave its path at this time.
    pub fn told(&mut self, leaves: Instant) {
        self.latest = self.latest.max(leaves);
    }

    /// When the last of the packets leaves whose time was told before it came: flows may have run so far ahead.
    pub fn latest(&self) -> Instant {
        self.latest
    }

    /// The most packets that there were at a time.
    pub fn most(&self) -> usize {
        self.places.len()
    }

    /// True if there were more at a time than numbers: those are lost.
    pub fn too_many(&self) -> bool {
        self.too_many
    }
}
