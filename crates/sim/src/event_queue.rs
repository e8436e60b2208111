//! The event queue: what happens next, in the order of (time, sequence).
//!
//! A key is one 128-bit number, so a comparison is one subtraction and ties are broken by the order of scheduling: the order
//! of events does not depend on how they are kept. Few events are kept in a [`Heap`], those of few flows' lines in a
//! [`Tournament`] beside it. Of many, the heap has only those of the next moment; a [`Calendar`] keeps the rest, and says
//! whose turn is soon.
//!
//! Key: 64 bits of time, 36 bits of sequence, 28 bits of entity. The sequence wraps after 7 * 10^10 schedulings; then two
//! events of the same picosecond may change places once, the same way in every run.

mod calendar;
mod heap;
mod tournament;

use crate::packet::Entity;
use calendar::Calendar;
use heap::{Heap, EMPTY};
use parshall_units::Instant;
use tournament::Tournament;

const ENTITY_BITS: u32 = 28;
const SEQUENCE_BITS: u32 = 36;

/// Events from which on a heap's lower levels are in no near cache.
const MANY: usize = 1 << 14;

/// What happens next.
pub(crate) struct EventQueue {
    /// The first packet of each flow's line and the first one of its ACKs, if there are few flows.
    lines: Tournament,
    /// Of the other events those before `horizon`, and never none if there are any.
    near: Heap,
    horizon: Instant,
    /// The events from `horizon` on; absent while a heap serves all.
    far: Option<Box<Calendar>>,
    sequence: u64,
}

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self { lines: Tournament::new(), near: Heap::new(), horizon: Instant::MAX, far: None, sequence: 0 }
    }

    /// Makes room for so many events.
    pub(crate) fn reserve(&mut self, events: usize) {
        self.near.reserve(events);
    }

    #[inline]
    fn key(&mut self, at: Instant, entity: Entity) -> u128 {
        let sequence = self.sequence & ((1 << SEQUENCE_BITS) - 1);
        self.sequence += 1;
        (u128::from(at.as_ps()) << 64) | u128::from(sequence << ENTITY_BITS | u64::from(entity.bits()))
    }

    /// The place of an event in the tournament, if it has one.
    #[inline]
    fn place(&self, entity: Entity) -> Option<usize> {
        match entity {
            Entity::Data(index) if self.lines.is_on() => Some(2 * index as usize),
            Entity::Acks(index) if self.lines.is_on() => Some(2 * index as usize + 1),
            _ => None,
        }
    }

    /// The earliest event.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Instant, Entity)> {
        let key = self.lines.least().min(self.near.least());
        (key != EMPTY).then(|| (Instant::from_ps(time_of(key)), entity_of(key)))
    }

    /// Schedules an event. A flow's line has one at a time.
    pub(crate) fn push(&mut self, at: Instant, entity: Entity) {
        let key = self.key(at, entity);
        while let Some(place) = self.place(entity) {
            if place < self.lines.places() {
                return self.lines.set(place, key);
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
    #[inline]
    pub(crate) fn replace_top(&mut self, at: Instant, entity: Entity) {
        let key = self.key(at, entity);
        if let Some(place) = self.place(entity) {
            self.lines.set(place, key);
        } else if at < self.horizon {
            self.near.replace_top(key);
        } else {
            self.push_far(key);
            self.pop();
        }
    }

    /// The earliest event, which is of `entity`, happens again at `next`, or no more.
    #[inline]
    pub(crate) fn top_again_at(&mut self, next: Option<Instant>, entity: Entity) {
        match next {
            Some(at) => self.replace_top(at, entity),
            None => self.pop(),
        }
    }

    /// Removes the earliest event.
    pub(crate) fn pop(&mut self) {
        let first = self.lines.least();
        match self.place(entity_of(first)) {
            Some(place) if first < self.near.least() => self.lines.set(place, EMPTY),
            _ => {
                self.near.pop();
                self.turn();
            }
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

    /// Makes a place for another line, or ends the tournament if they are too many.
    #[cold]
    fn make_places(&mut self, place: usize) {
        if place < tournament::MOST {
            self.lines.widen();
        } else {
            self.lines.end().for_each(|key| self.near.push(key));
        }
    }

    /// Keeps the events in the way that suits their number and density; now and then is often enough.
    pub(crate) fn adapt(&mut self) {
        let shift = match &mut self.far {
            Some(calendar) => calendar.better_shift(),
            None if self.near.len() > MANY => Some(calendar::shift_for(&self.near)),
            None => None,
        };
        let Some(shift) = shift else { return };
        self.keep_in_buckets(shift);
    }

    /// Keeps all events in a new calendar of that width.
    fn keep_in_buckets(&mut self, shift: u32) {
        let Some((now, _)) = self.peek() else { return };
        let room = self.near.len() + self.far.as_ref().map_or(0, |calendar| calendar.len());
        let mut calendar = Box::new(Calendar::new(now, shift, room));
        self.near.end().chain(self.lines.end()).for_each(|key| calendar.insert(key));
        if let Some(mut old) = self.far.take() {
            old.drain_into(&mut calendar);
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

fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

#[inline]
fn entity_of(key: u128) -> Entity {
    Entity::from_bits(key as u32 & ((1 << ENTITY_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Steps of a queue beside those of a sorted list: (time from now, what is done, to which line).
    fn check(steps: Vec<(u64, u8, u32)>, adapted: bool) -> Result<(), TestCaseError> {
        let mut queue = EventQueue::new();
        let mut model: Vec<(u64, u64, Entity)> = Vec::new();
        let mut now = 0;
        for (order, (delay, step, line)) in (0u64..).zip(steps) {
            if adapted && step >= 4 {
                queue.keep_in_buckets(u32::from(step - 4));
            }
            model.sort_unstable_by_key(|&(time, order, _)| (time, order));
            now = model.first().map_or(now, |&(time, ..)| time);
            let (time, at) = (now + delay, Instant::from_ps(now + delay));
            prop_assert_eq!(
                queue.peek(),
                model.first().map(|&(time, _, entity)| (Instant::from_ps(time), entity))
            );
            match step {
                0 if !model.is_empty() => {
                    queue.pop();
                    model.remove(0);
                }
                1 if !model.is_empty() => {
                    let entity = model[0].2;
                    queue.replace_top(at, entity);
                    model[0] = (time, order, entity);
                }
                _ => {
                    let waits = |entity: Entity| model.iter().any(|&(.., other)| other == entity);
                    let lines = [Entity::Data(line), Entity::Acks(line)];
                    let idle = lines.into_iter().find(|&entity| !waits(entity));
                    let entity = idle.unwrap_or(Entity::SlowTimer(order as u32));
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
            check(steps, false)?;
        }

        #[test]
        fn more_lines_than_places_change_no_order(
            steps in prop::collection::vec((0u64..50, 0u8..4, 0u32..200), 1..400),
        ) {
            check(steps, false)?;
        }

        #[test]
        fn a_calendar_changes_no_order(
            steps in prop::collection::vec((0u64..500, 0u8..10, 0u32..200), 1..600),
        ) {
            check(steps, true)?;
        }
    }
}
