//! The event queue: what happens next, in the order of time; of events at the same time, in an order that favours nobody.
//!
//! A key is one 128-bit number, so a comparison is one subtraction, and the order of events does not depend on how they are
//! kept. Few events are kept in a [`Heap`], those of few flows' lines in a [`Tournament`] beside it. Of many, the heap has
//! only those of the next moment; a [`Calendar`] keeps the rest, and says whose turn is soon.
//!
//! Key: 64 bits of time, 36 bits for ties, 28 bits of entity.
//!
//! **Ties.** With round numbers in a scenario, packets of two flows reach a link at the same picosecond again and again, and
//! who is first may decide who loses a packet. An order of scheduling would favour some flows for a whole run: it follows from
//! when the head of a flow's line became an event, which says nothing about the network. So the order is drawn anew at
//! every moment: a hash of the run's random words, the time and the entity, which needs no counter.
//!
//! | place in a tie | events |
//! | --- | --- |
//! | first | the end of the warm-up, then the end of a bin: a packet of that moment counts in what begins |
//! | by hash | all others |
//! | then | departures from links whose queue decides at departure: arrivals find the place still taken (`parshall_net::link`) |
//! | then | that all transfers are done |
//! | last | what was scheduled at the moment itself, in the order of scheduling |
//!
//! In a strictly periodic network, where no host takes a random time, all but the first row is in the order of scheduling
//! instead, as in other event-driven simulators. Their results hang on it: ON/OFF sources of equal RTTs and of access links
//! as fast as the bottleneck meet in nearly every packet, and carry a tenth less over a small buffer if these ties are
//! drawn (tests/crosscheck/test_on_off.py).
//!
//! What is scheduled at the moment itself must be last: the event that is being handled stays on top until it is replaced.

mod calendar;
mod heap;
mod tournament;

use crate::packet::Entity;
use crate::random::{fold, Stream};
use calendar::Calendar;
use heap::{Heap, EMPTY};
use parshall_units::Instant;
use rand_core::RngCore;
use tournament::Tournament;

const ENTITY_BITS: u32 = 28;

/// In the bits for ties: after all that was scheduled before the moment itself.
const AT_ONCE: u64 = 1 << 35;

/// 2^64 over the golden ratio: multiples of it are far apart.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

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
    /// The moment of the event that is being handled.
    now: Instant,
    ties: Ties,
}

/// Who is first of those that happen at the same time.
struct Ties {
    /// Of a periodic network: the last place given. After 2^35 events ties are in the order of the entities.
    scheduled: Option<u64>,
    /// Random words of the run.
    words: [u64; 2],
    /// The moment at which something was scheduled for the moment itself, and the last place given then.
    at_once: (Instant, u64),
}

impl EventQueue {
    /// Without events; `random` decides ties, or the order of scheduling.
    pub(crate) fn new(random: &mut Stream, as_scheduled: bool) -> Self {
        Self {
            lines: Tournament::new(),
            near: Heap::new(),
            horizon: Instant::MAX,
            far: None,
            now: Instant::MAX,
            ties: Ties {
                scheduled: as_scheduled.then_some(1),
                words: [random.next_u64(), random.next_u64()],
                at_once: (Instant::MAX, 0),
            },
        }
    }

    /// Makes room for so many events.
    pub(crate) fn reserve(&mut self, events: usize) {
        self.near.reserve(events);
    }

    #[inline]
    fn key(&mut self, at: Instant, entity: Entity) -> u128 {
        debug_assert!(
            at >= self.now || self.now == Instant::MAX,
            "{entity:?} at {at:?}, before {:?}",
            self.now
        );
        let tie = if at == self.now { self.ties.last(at) } else { self.ties.place(at, entity) };
        (u128::from(at.as_ps()) << 64) | u128::from(tie << ENTITY_BITS | u64::from(entity.bits()))
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

    /// The earliest event: it is handled now, and stays until it is replaced or removed.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Instant, Entity)> {
        let first = self.peek();
        if let Some((now, _)) = first {
            self.now = now;
        }
        first
    }

    /// Whether this is the earliest event.
    fn is_top(&self, entity: Entity) -> bool {
        self.peek().is_some_and(|(_, top)| top == entity)
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
        debug_assert!(self.is_top(entity), "{entity:?}, not {:?}", self.peek());
        let key = self.key(at, entity);
        if let Some(place) = self.place(entity) {
            self.lines.set(place, key);
        } else if at < self.horizon {
            self.near.replace_top(key);
        } else {
            self.push_far(key);
            self.pop(entity);
        }
    }

    /// The earliest event, which is of `entity`, happens again at `next`, or no more.
    #[inline]
    pub(crate) fn top_again_at(&mut self, next: Option<Instant>, entity: Entity) {
        match next {
            Some(at) => self.replace_top(at, entity),
            None => self.pop(entity),
        }
    }

    /// Removes the earliest event, which is of `entity`.
    pub(crate) fn pop(&mut self, entity: Entity) {
        debug_assert!(self.is_top(entity), "{entity:?}, not {:?}", self.peek());
        if let Some(place) = self.place(entity) {
            self.lines.set(place, EMPTY);
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

impl Ties {
    /// The place among the events of a moment that is still to come.
    #[inline]
    fn place(&mut self, at: Instant, entity: Entity) -> u64 {
        match (entity, &mut self.scheduled) {
            (Entity::WarmUp, _) => 0,
            (Entity::Bin, _) => 1,
            (_, Some(count)) => {
                *count = (*count + 1).min(AT_ONCE - 1);
                *count
            }
            (Entity::Transmission(_), None) => AT_ONCE,
            (Entity::AllDone, None) => AT_ONCE | 1,
            (_, None) => self.drawn(at, entity),
        }
    }

    /// A place that favours nobody.
    #[inline]
    fn drawn(&self, at: Instant, entity: Entity) -> u64 {
        // Both are spread over their words first: a product of near numbers would make a flow win for long.
        let time = fold(at.as_ps() ^ self.words[0], SPREAD);
        let entity = u64::from(entity.bits()).wrapping_mul(SPREAD) ^ self.words[1];
        fold(time, entity) & (AT_ONCE - 1) | 2
    }

    /// The place after all that is scheduled for this moment, which is now.
    #[cold]
    fn last(&mut self, now: Instant) -> u64 {
        let count = if self.at_once.0 == now { self.at_once.1 + 1 } else { 2 };
        self.at_once = (now, count);
        debug_assert!(count < AT_ONCE);
        AT_ONCE | count
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
    use rand_core::SeedableRng;

    fn queue_of(seed: u64) -> EventQueue {
        EventQueue::new(&mut Stream::seed_from_u64(seed), false)
    }

    /// Steps of a queue beside those of a sorted list: (time from now, what is done, to which line).
    ///
    /// The list is sorted by time, and by the place in a tie that another queue of the same seed gives.
    fn check(steps: Vec<(u64, u8, u32)>, adapted: bool) -> Result<(), TestCaseError> {
        let (mut queue, mut other) = (queue_of(1), queue_of(1));
        let mut model: Vec<(u64, u64, Entity)> = Vec::new();
        let mut now = 0;
        for (order, (delay, step, line)) in (0u32..).zip(steps) {
            if adapted && step >= 4 {
                queue.keep_in_buckets(u32::from(step - 4));
            }
            model.sort_unstable_by_key(|&(time, tie, entity)| (time, tie, entity.bits()));
            let first = model.first().map(|&(time, _, entity)| (Instant::from_ps(time), entity));
            prop_assert_eq!(queue.next(), first);
            other.now = queue.now;
            now = first.map_or(now, |(time, _)| time.as_ps());
            let (time, at) = (now + delay, Instant::from_ps(now + delay));
            let mut place = |entity| other.key(at, entity) as u64 >> ENTITY_BITS;
            match step {
                0 if !model.is_empty() => {
                    queue.pop(model[0].2);
                    model.remove(0);
                }
                1 if !model.is_empty() => {
                    let entity = model[0].2;
                    queue.replace_top(at, entity);
                    model[0] = (time, place(entity), entity);
                }
                _ => {
                    let waits = |entity: Entity| model.iter().any(|&(.., other)| other == entity);
                    let lines = [Entity::Data(line), Entity::Acks(line)];
                    let idle = lines.into_iter().find(|&entity| !waits(entity));
                    let entity = idle.unwrap_or(Entity::SlowTimer(order));
                    queue.push(at, entity);
                    model.push((time, place(entity), entity));
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn is_a_priority_queue(
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

        #[test]
        fn what_is_scheduled_for_the_moment_itself_is_handled_last(
            entities in prop::collection::btree_set(0u32..500, 2..60), seed in any::<u64>(),
        ) {
            let mut queue = queue_of(seed);
            let at = Instant::from_ps(1 << 40);
            for &index in &entities {
                queue.push(at, Entity::Link(index));
            }
            queue.push(at, Entity::AllDone);
            let (_, first) = queue.next().unwrap();
            queue.push(at, Entity::SlowTimer(3));
            queue.push(at, Entity::SlowTimer(1));
            queue.replace_top(at, first);
            let mut order = Vec::new();
            while let Some((_, entity)) = queue.next() {
                order.push(entity);
                queue.pop(entity);
            }
            let late = [Entity::AllDone, Entity::SlowTimer(3), Entity::SlowTimer(1), first];
            prop_assert_eq!(&order[entities.len() - 1..], &late[..]);
        }

        #[test]
        fn what_is_no_packet_has_its_place_in_a_tie(
            time in 1u64..1 << 50, index in 0u32..1000, seed in any::<u64>(),
        ) {
            let mut queue = queue_of(seed);
            let at = Instant::from_ps(time);
            let departure = Entity::Transmission(0);
            let events = [Entity::AllDone, departure, Entity::Data(index), Entity::Bin, Entity::WarmUp];
            for entity in events {
                queue.push(at, entity);
            }
            for &entity in events.iter().rev() {
                prop_assert_eq!(queue.next(), Some((at, entity)));
                queue.pop(entity);
            }
        }
    }

    #[test]
    fn of_a_periodic_network_ties_are_in_the_order_of_scheduling() {
        let mut queue = EventQueue::new(&mut Stream::seed_from_u64(1), true);
        let ms = |number: u32| Instant::from_ps(u64::from(number) * 1_000_000_000);
        queue.push(ms(1), Entity::Data(0));
        for index in 1..10 {
            queue.push(ms(100), Entity::Data(20 - index));
            let (now, first) = queue.next().unwrap();
            assert_eq!((now, first), (ms(index), Entity::Data(0)));
            queue.replace_top(ms(index + 1), Entity::Data(0));
        }
        queue.next();
        queue.pop(Entity::Data(0));
        for index in 1..10 {
            assert_eq!(queue.next(), Some((ms(100), Entity::Data(20 - index))));
            queue.pop(Entity::Data(20 - index));
        }
    }

    /// Of two lines with an event at each of many moments: how often the first one wins.
    fn wins(seed: u64, lines: [Entity; 2], moments: impl Iterator<Item = u64>) -> f64 {
        let ties = queue_of(seed).ties;
        let first = |time| {
            let [one, other] = lines.map(|line| ties.drawn(Instant::from_ps(time), line));
            one < other
        };
        moments.filter(|&time| first(time)).count() as f64
    }

    #[test]
    fn ties_favour_nobody_within_a_run() {
        // Periods of a packet of 1500 B at 20, 48 and 100 Mbit/s, and of round numbers; times as long as a run has.
        const MOMENTS: u64 = 10_000;
        for period in [600_000_000, 250_000_000, 120_000_000, 1_000_000_000, 1 << 28, 1] {
            for [one, other] in [[0, 1], [0, 128], [6, 7], [1 << 23, 3]] {
                for seed in 0..5 {
                    let lines = [Entity::Data(one), Entity::Data(other)];
                    let won = wins(seed, lines, (1..=MOMENTS).map(|n| 10_000_000_000_000 + n * period));
                    let deviation = (won - MOMENTS as f64 / 2.0) / (MOMENTS as f64 / 4.0).sqrt();
                    // Of 120 normal deviates the largest is beyond 5 with probability 7e-5.
                    assert!(deviation.abs() < 5.0, "{one} before {other} every {period} ps: {won}");
                }
            }
        }
    }

    #[test]
    fn wins_of_neighbouring_moments_are_independent() {
        // Who wins now says nothing about who wins a period later: else one flow would win for long.
        const MOMENTS: u64 = 20_000;
        for seed in 0..10 {
            let ties = queue_of(seed).ties;
            for (period, other) in
                [(600_000_000, 1), (600_000_000, 128), (1_000_000_000, 1), (1 << 28, 1), (1, 1)]
            {
                let first = |n: u64| {
                    let at = Instant::from_ps(30_000_000_000_000 + n * period);
                    ties.drawn(at, Entity::Data(0)) < ties.drawn(at, Entity::Data(other))
                };
                let same = (0..MOMENTS).filter(|&n| first(n) == first(n + 1)).count() as f64;
                let deviation = (same - MOMENTS as f64 / 2.0) / (MOMENTS as f64 / 4.0).sqrt();
                // Of 50 normal deviates the largest is beyond 4.8 with probability 8e-5.
                assert!(deviation.abs() < 4.8, "{same} of {MOMENTS}, every {period} ps");
            }
        }
    }

    #[test]
    fn runs_break_the_same_tie_in_different_ways_and_one_run_always_in_the_same() {
        let order = |seed| {
            let mut queue = queue_of(seed);
            (0..10).for_each(|index| queue.push(Instant::from_ps(1_000_000), Entity::Data(index)));
            std::iter::from_fn(|| {
                let (_, entity) = queue.next()?;
                queue.pop(entity);
                Some(entity.bits())
            })
            .collect::<Vec<_>>()
        };
        let orders: std::collections::BTreeSet<_> = (0..50).map(order).collect();
        assert_eq!(orders.len(), 50, "10! orders");
        assert_eq!(order(7), order(7));
    }

    #[test]
    fn all_orders_of_three_are_as_frequent() {
        const RUNS: u64 = 6000;
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..RUNS {
            let ties = queue_of(seed).ties;
            let mut lines = [0, 1, 2];
            lines.sort_by_key(|&index| ties.drawn(Instant::from_ps(60_000_000_000), Entity::Data(index)));
            *counts.entry(lines).or_insert(0u64) += 1;
        }
        let expected = RUNS as f64 / 6.0;
        let chi2: f64 = counts.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        assert!(counts.len() == 6 && chi2 < 25.7, "{counts:?}"); // chi-square, 5 degrees of freedom: 1e-4
    }
}
