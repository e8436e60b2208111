//! The event queue: what happens next, in the order of time; of events at the same time, in the order of scheduling.
//!
//! A key is one 128-bit number, so a comparison is one subtraction, and the order of events does not depend on how they
//! are kept. Few events are kept in a heap, those of few flows' transit queues in a tournament beside it. Of many, the
//! heap has only those of the next moment; a calendar keeps the rest, and says whose turn is soon.
//!
//! Key: 64 bits of time, 34 bits of sequence, 30 bits of entity. Boundaries come before all else of their moment: a
//! packet of that moment counts in what begins. Long before the sequence has no more bits, after 8 * 10^9 schedulings,
//! the events that wait are numbered anew in the order that they have.
//!
//! Packets of two flows meet at the same picosecond only where no host takes a random time (`processing_time = "0 s"`).
//! The order of scheduling is what other event-driven simulators have there, and what they find hangs on it: ON/OFF
//! sources of equal RTTs and of access links as fast as the bottleneck meet in nearly every packet, and carry a tenth
//! less over a small buffer if these ties are drawn (tests/crosscheck/test_on_off.py).

mod calendar;
mod heap;
mod key;
mod tournament;

use crate::event::{Entity, BOUNDARIES};
use crate::memory::{no_advice, Advice};
use calendar::Calendar;
use heap::{Heap, EMPTY};
use key::{entity_of, time_of, ENTITY_BITS, SEQUENCE_BITS};
use parshall_units::Instant;
use tournament::Tournament;

/// The sequence begins behind the events that are first of their moment.
const FIRST: u64 = BOUNDARIES as u64;

/// Beyond this the events are numbered anew; what is scheduled before that is noticed has room in the bits.
const MOST_SEQUENCE: u64 = 1 << (SEQUENCE_BITS - 1);

/// Events from which on a heap's lower levels are in no near cache.
const MANY: usize = 1 << 14;

/// The events to come.
pub struct EventQueue {
    /// The first packets of the first two transit queues of each flow, if there are few flows.
    transits: Tournament,
    /// Of the other events those before `horizon`, and never none if there are any.
    near: Heap,
    horizon: Instant,
    /// The events from `horizon` on; absent while a heap serves all.
    far: Option<Box<Calendar>>,
    sequence: u64,
    advice: Advice,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl EventQueue {
    /// No events.
    pub fn new() -> Self {
        Self {
            transits: Tournament::new(),
            near: Heap::new(),
            horizon: Instant::MAX,
            far: None,
            sequence: FIRST,
            advice: no_advice,
        }
    }

    /// Makes room for so many events. The advice is given about this memory, and about what the queue takes later.
    pub fn reserve(&mut self, events: usize, advice: Advice) {
        self.advice = advice;
        self.near.reserve(events, advice);
    }

    #[allow(clippy::inline_always)] // with a kind of entity that is known, next to nothing
    #[inline(always)]
    fn key(&mut self, at: Instant, entity: Entity) -> u128 {
        let place = if let Entity::Boundary(number) = entity {
            u64::from(number)
        } else {
            self.sequence += 1;
            self.sequence
        };
        (u128::from(at.as_ps()) << 64) | u128::from(place << ENTITY_BITS | u64::from(entity.bits()))
    }

    /// The place of an event in the tournament, if it has one: the first two transit queues of the list have, which
    /// should be those of most packets.
    #[allow(clippy::inline_always)] // as `key`
    #[inline(always)]
    fn place(&self, entity: Entity) -> Option<usize> {
        match entity {
            Entity::Transit(0, index) if self.transits.is_on() => Some(2 * index as usize),
            Entity::Transit(1, index) if self.transits.is_on() => Some(2 * index as usize + 1),
            _ => None,
        }
    }

    /// The earliest event, if it is before `limit`.
    #[inline]
    pub fn next_before(&self, limit: Instant) -> Option<(Instant, Entity)> {
        let key = self.transits.least().min(self.near.least());
        let at = Instant::from_ps(time_of(key)); // of no event: later than any limit
        if at < limit {
            Some((at, entity_of(key)))
        } else {
            None
        }
    }

    /// The earliest event.
    pub fn peek(&self) -> Option<(Instant, Entity)> {
        let key = self.transits.least().min(self.near.least());
        (key != EMPTY).then(|| (Instant::from_ps(time_of(key)), entity_of(key)))
    }

    /// True if this is the earliest event.
    fn is_top(&self, entity: Entity) -> bool {
        self.peek().is_some_and(|(_, top)| top == entity)
    }

    /// Schedules an event. A transit queue has one at a time.
    pub fn push(&mut self, at: Instant, entity: Entity) {
        let key = self.key(at, entity);
        while let Some(place) = self.place(entity) {
            if place < self.transits.places() {
                return self.transits.set(place, key);
            }
            self.make_places(place);
        }
        if at < self.horizon {
            self.near.push(key);
        } else {
            self.push_far(key);
        }
    }

    /// The earliest event, which is of `entity`, happens again.
    #[allow(clippy::inline_always)] // as `key`
    #[inline(always)]
    pub fn replace_top(&mut self, at: Instant, entity: Entity) {
        debug_assert!(self.is_top(entity), "{entity:?}, not {:?}", self.peek());
        let key = self.key(at, entity);
        if let Some(place) = self.place(entity) {
            self.transits.set(place, key);
        } else if at < self.horizon {
            self.near.replace_top(key);
        } else {
            self.push_far(key);
            self.pop(entity);
        }
    }

    /// The earliest event, which is of `entity`, happens again at `next`, or no more.
    #[allow(clippy::inline_always)] // as `key`
    #[inline(always)]
    pub fn top_again_at(&mut self, next: Option<Instant>, entity: Entity) {
        match next {
            Some(at) => self.replace_top(at, entity),
            None => self.pop(entity),
        }
    }

    /// Removes the earliest event, which is of `entity`.
    pub fn pop(&mut self, entity: Entity) {
        debug_assert!(self.is_top(entity), "{entity:?}, not {:?}", self.peek());
        if let Some(place) = self.place(entity) {
            self.transits.set(place, EMPTY);
        } else {
            self.near.pop();
            self.turn();
        }
    }

    #[inline(never)]
    fn push_far(&mut self, key: u128) {
        match &mut self.far {
            Some(calendar) => calendar.insert(key),
            None => self.near.push(key),
        }
        self.turn();
    }

    /// Nothing is left of the moment that was near: the next one is.
    #[inline]
    fn turn(&mut self) {
        if let (true, Some(calendar)) = (self.near.is_empty(), &mut self.far) {
            self.horizon = calendar.turn(&mut self.near);
        }
    }

    // --- how they are kept ---

    /// Makes a place for another transit queue, or ends the tournament if they are too many.
    #[cold]
    fn make_places(&mut self, place: usize) {
        if place < tournament::MOST {
            self.transits.widen();
        } else {
            self.transits.end().for_each(|key| self.near.push(key));
        }
    }

    /// Keeps the events in the way that suits their number and density; now and then is often enough.
    pub fn adapt(&mut self) {
        if self.sequence > MOST_SEQUENCE {
            self.number_anew();
        }
        let shift = match &mut self.far {
            Some(calendar) => calendar.better_shift(),
            None if self.near.len() > MANY => Some(calendar::shift_for(&self.near)),
            None => None,
        };
        let Some(shift) = shift else { return };
        self.keep_in_buckets(shift);
    }

    /// Numbers all events from the beginning, in the order that they have.
    #[cold]
    fn number_anew(&mut self) {
        let has_places = self.transits.is_on();
        let mut keys: Vec<u128> = self.near.end().chain(self.transits.end()).collect();
        if let Some(mut far) = self.far.take() {
            far.drain(|key| keys.push(key));
        }
        if has_places {
            self.transits = Tournament::new();
        }
        self.horizon = Instant::MAX;
        self.sequence = FIRST;
        keys.sort_unstable();
        for key in keys {
            self.push(Instant::from_ps(time_of(key)), entity_of(key));
        }
    }

    /// Keeps all events in a new calendar of that width.
    fn keep_in_buckets(&mut self, shift: u32) {
        let Some((now, _)) = self.peek() else { return };
        let room = self.near.len() + self.far.as_ref().map_or(0, |calendar| calendar.len());
        let mut calendar = Box::new(Calendar::new(now, shift, room, self.advice));
        self.near.end().chain(self.transits.end()).for_each(|key| calendar.insert(key));
        if let Some(mut old) = self.far.take() {
            old.drain(|key| calendar.insert(key));
        }
        self.horizon = calendar.turn(&mut self.near);
        self.far = Some(calendar);
    }

    /// The calendar, if there are so many events that their flows are in no near cache.
    #[inline]
    pub(crate) fn calendar(&mut self) -> Option<&mut Calendar> {
        self.far.as_deref_mut()
    }

    /// The events of the moment that has just begun.
    pub(crate) fn begun(&mut self) -> Option<impl Iterator<Item = Entity> + '_> {
        let calendar = self.far.as_deref_mut()?;
        calendar.has_turned().then(|| self.near.keys().map(entity_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is done to a queue between two steps that must change no order.
    fn undisturbed(_: &mut EventQueue, _: u8) {}

    /// Steps of a queue beside those of a sorted list: (time from now, what is done, to which flow).
    fn check(steps: Vec<(u64, u8, u32)>, disturb: impl Fn(&mut EventQueue, u8)) -> Result<(), TestCaseError> {
        let mut queue = EventQueue::new();
        let mut model: Vec<(u64, u64, Entity)> = Vec::new();
        let mut now = 0;
        for (order, (delay, step, flow)) in (0u64..).zip(steps) {
            disturb(&mut queue, step);
            model.sort_unstable_by_key(|&(time, order, _)| (time, order));
            now = model.first().map_or(now, |&(time, ..)| time);
            let (time, at) = (now + delay, Instant::from_ps(now + delay));
            let first = model.first().map(|&(time, _, entity)| (Instant::from_ps(time), entity));
            prop_assert_eq!(queue.peek(), first);
            match step {
                0 if !model.is_empty() => {
                    queue.pop(model[0].2);
                    model.remove(0);
                }
                1 if !model.is_empty() => {
                    let entity = model[0].2;
                    queue.replace_top(at, entity);
                    model[0] = (time, order, entity);
                }
                _ => {
                    let waits = |entity: Entity| model.iter().any(|&(.., other)| other == entity);
                    let queues = [0, 1].map(|queue| Entity::Transit(queue, flow));
                    let idle = queues.into_iter().find(|&entity| !waits(entity));
                    let entity = idle.unwrap_or(Entity::Own(0, 0, order as u32));
                    queue.push(at, entity);
                    model.push((time, order, entity));
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn is_a_stable_priority_queue(
            steps in prop::collection::vec((0u64..50, 0u8..4, 0u32..80), 1..400),
        ) {
            check(steps, undisturbed)?;
        }

        #[test]
        fn more_lines_than_places_change_no_order(
            steps in prop::collection::vec((0u64..50, 0u8..4, 0u32..200), 1..400),
        ) {
            check(steps, undisturbed)?;
        }

        #[test]
        fn a_calendar_changes_no_order(
            // With buckets of 1 ps there are 64 of them, and 4096 in seasons.
            steps in prop::collection::vec((prop_oneof![0u64..500, 0u64..20_000], 0u8..10, 0u32..200), 1..600),
        ) {
            check(steps, |queue, step| {
                if step >= 4 {
                    queue.keep_in_buckets(u32::from(step - 4));
                }
            })?;
        }

        #[test]
        fn new_numbers_change_no_order(
            steps in prop::collection::vec((0u64..50, 0u8..8, 0u32..200), 1..600), many in any::<bool>(),
        ) {
            check(steps, |queue, step| {
                if step == 4 && many {
                    queue.keep_in_buckets(3);
                }
                if step >= 5 {
                    queue.sequence = MOST_SEQUENCE + 1;
                    queue.adapt();
                    assert!(queue.sequence < MOST_SEQUENCE);
                }
            })?;
        }

        #[test]
        fn boundaries_come_before_the_packets_of_their_moment(
            time in 1u64..1 << 50, packets in prop::collection::vec(0u32..1000, 0..20),
        ) {
            let mut queue = EventQueue::new();
            let at = Instant::from_ps(time);
            let packets = packets.into_iter().map(Entity::Link);
            let pushed: Vec<Entity> = packets.chain([Entity::Boundary(1), Entity::Boundary(0)]).collect();
            for &entity in &pushed {
                queue.push(at, entity);
            }
            let [packets @ .., second, first] = &pushed[..] else { unreachable!() };
            for &entity in [first, second].into_iter().chain(packets) {
                prop_assert_eq!(queue.peek(), Some((at, entity)));
                queue.pop(entity);
            }
        }
    }
}
