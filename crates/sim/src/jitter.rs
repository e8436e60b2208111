//! Paths that delay each packet by its own time ([`parshall_net::jitter`]): links with jitter, and the flows' own parts of paths.
//!
//! Where order is kept, a packet's time is known when it leaves the link before, as everywhere: it costs a draw, and no event. Where order
//! is free, packets come in another order than the one in which their times were drawn, so each of them is an event of its own, at its time:
//! the event queue puts them in order, and what happens at the end of the path happens in the order of time.

use crate::build::{at_key, Problem};
use crate::event::{Entity, MAX_INDEX};
use crate::packet::Transit;
use crate::random::Stream;
use crate::scenario::JitterSpec;
use crate::shared::Core;
use crate::SimError;
use parshall_net::jitter::{Jitter, Order};
use parshall_units::{Duration, Instant};
use parshall_workload::Distribution;
use rand_core::{RngCore, SeedableRng};

/// A path with jitter, and its random stream.
#[derive(Debug)]
pub(crate) struct JitteredPath {
    jitter: Jitter,
    law: Distribution,
    random: Stream,
}

/// When a packet leaves such a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaves {
    /// Then, behind all that came before it.
    InOrder(Instant),
    /// Then, and others may leave before that come later.
    AnyOrder(Instant),
}

impl JitteredPath {
    /// `key`: where the scenario has it; `random`: a stream of its own.
    pub(crate) fn new(spec: &JitterSpec, key: &str, random: Stream) -> Result<Self, Problem> {
        let law = spec.distribution.build().map_err(|error| at_key(&format!("{key}.distribution"), error))?;
        Ok(Self { jitter: Jitter::new(spec.order), law, random })
    }

    /// Another path like it, whose stream follows from this one's.
    fn another(&mut self) -> Self {
        let random = Stream::seed_from_u64(self.random.next_u64());
        Self { jitter: Jitter::new(self.jitter.order()), law: self.law.clone(), random }
    }

    /// A packet comes `at`.
    pub(crate) fn pass(&mut self, at: Instant) -> Leaves {
        let own = Duration::from_secs_f64(self.law.sample(&mut self.random));
        let leaves = self.jitter.pass(at, own);
        match self.jitter.order() {
            Order::Kept => Leaves::InOrder(leaves),
            Order::Free => Leaves::AnyOrder(leaves),
        }
    }
}

/// The jitter of a flow's own parts of its path: there, and back.
#[derive(Debug, Default)]
pub(crate) struct OwnJitter {
    pub(crate) forth: Option<JitteredPath>,
    pub(crate) back: Option<JitteredPath>,
}

impl OwnJitter {
    /// The same of a flow that comes later, as those of open loops do.
    pub(crate) fn of_another(&mut self) -> Self {
        let [forth, back] =
            [&mut self.forth, &mut self.back].map(|path| path.as_mut().map(JitteredPath::another));
        Self { forth, back }
    }
}

/// What a packet reaches at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The end of a link of its path.
    Link,
    /// The end of its flow's own part of the path.
    Path,
}

/// Packets that are events of their own, by number.
#[derive(Debug, Default)]
pub(crate) struct Jittered {
    places: Vec<(Transit, End)>,
    free: Vec<u32>,
    /// When the last of the packets leaves whose time was told before it came: flows may have run so far ahead.
    pub(crate) latest: Instant,
    /// There were more packets at a time than numbers.
    too_many: bool,
}

impl Jittered {
    /// Keeps a packet; returns its number.
    fn store(&mut self, transit: Transit, end: End) -> Option<u32> {
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
    pub(crate) fn told(&mut self, leaves: Instant) {
        self.latest = self.latest.max(leaves);
    }

    /// Refuses to go on if there were too many.
    pub(crate) fn check(&self) -> Result<(), SimError> {
        if self.too_many {
            let problem = format!("more than {MAX_INDEX} packets are on their way at a time; write shorter times, or order = \"kept\"");
            return Err(SimError::invalid("jitter", problem));
        }
        Ok(())
    }
}

impl Core {
    /// A packet comes `at` to a path that may have jitter. Returns when it leaves, if none leaves before that comes later; else its departure is
    /// an event of its own.
    pub(crate) fn pass(
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

    /// A packet leaves such a path at this time, as an event of its own. What leaves at the end of the simulation or later never does.
    pub(crate) fn put_off(&mut self, leaves: Instant, transit: Transit, end: End) {
        if leaves < self.end {
            if let Some(number) = self.jittered.store(transit, end) {
                self.queue.push(leaves, Entity::Jittered(number));
            }
        }
    }
}

#[cfg(test)]
mod tests;
