//! The event queue: a 4-ary heap of (time, sequence) keys.
//!
//! A key is one 128-bit number, so a comparison is one subtraction and ties are broken by the order of scheduling. The
//! four children of a node fill one cache line, and empty places hold a key later than all, so the
//! inner loop has no bounds to test.
//!
//! Key: 64 bits of time, 36 bits of sequence, 28 bits of entity. The sequence wraps after 7 * 10^10 schedulings; then two
//! events of the same picosecond may change places once, the same way in every run.

use crate::memory::{in_large_pages, prefetch};
use crate::packet::Entity;
use parshall_units::Instant;

const EMPTY: u128 = u128::MAX;
const ENTITY_BITS: u32 = 28;
const SEQUENCE_BITS: u32 = 36;

/// The children of one node.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Family([u128; 4]);

/// What happens next.
pub(crate) struct EventQueue {
    /// Node 0 is the last member of family 0; the children of node n are family n + 1.
    families: Vec<Family>,
    len: usize,
    sequence: u64,
    /// Which child of the root came to be one last.
    newest: usize,
}

/// Families from which on the lower levels are in no near cache.
const MANY: usize = 1 << 12;

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self { families: vec![Family([EMPTY; 4])], len: 0, sequence: 0, newest: 0 }
    }

    /// Makes room for so many events.
    pub(crate) fn reserve(&mut self, events: usize) {
        self.families.reserve_exact(events / 4);
        in_large_pages(self.families.spare_capacity_mut());
    }

    #[inline]
    fn key(&mut self, at: Instant, entity: Entity) -> u128 {
        let sequence = self.sequence & ((1 << SEQUENCE_BITS) - 1);
        self.sequence += 1;
        (u128::from(at.as_ps()) << 64) | u128::from(sequence << ENTITY_BITS | u64::from(entity.bits()))
    }

    #[inline]
    fn get(&self, node: usize) -> u128 {
        self.families[(node + 3) >> 2].0[(node + 3) & 3]
    }

    #[inline]
    fn set(&mut self, node: usize, key: u128) {
        self.families[(node + 3) >> 2].0[(node + 3) & 3] = key;
    }

    /// The earliest event.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Instant, Entity)> {
        let key = self.get(0);
        if key == EMPTY {
            return None;
        }
        Some((Instant::from_ps((key >> 64) as u64), entity_of(key)))
    }

    /// What is likely to come after the earliest event: next to it, and some events later.
    #[inline]
    pub(crate) fn coming(&self) -> Option<(Entity, Entity)> {
        let Family(children) = self.families.get(1)?;
        let next = children.iter().min()?;
        let later = children[self.newest & 3];
        (*next != EMPTY && later != EMPTY).then(|| (entity_of(*next), entity_of(later)))
    }

    /// Whether its events are of more flows than caches hold.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.families.len() > MANY
    }

    /// Schedules an event.
    pub(crate) fn push(&mut self, at: Instant, entity: Entity) {
        let key = self.key(at, entity);
        let mut node = self.len;
        self.len += 1;
        if (node + 3) >> 2 == self.families.len() {
            self.families.push(Family([EMPTY; 4]));
        }
        while node > 0 {
            let parent = (node - 1) >> 2;
            let above = self.get(parent);
            if above <= key {
                break;
            }
            self.set(node, above);
            node = parent;
        }
        self.set(node, key);
    }

    /// Puts another event in the place of the earliest one.
    #[inline]
    pub(crate) fn replace_top(&mut self, at: Instant, entity: Entity) {
        let key = self.key(at, entity);
        self.sift_down(key);
    }

    /// Removes the earliest event.
    pub(crate) fn pop(&mut self) {
        debug_assert!(self.len > 0);
        self.len -= 1;
        let last = self.get(self.len);
        self.set(self.len, EMPTY);
        if self.len > 0 {
            self.sift_down(last);
        }
    }

    #[inline]
    fn sift_down(&mut self, key: u128) {
        if self.is_large() {
            self.sift_down_far(key);
        } else {
            self.sift::<false>(key);
        }
    }

    /// The same in a large queue, which asks for memory ahead.
    #[inline(never)]
    fn sift_down_far(&mut self, key: u128) {
        self.sift::<true>(key);
    }

    #[inline]
    fn sift<const LARGE: bool>(&mut self, key: u128) {
        // The place to fill, as family and member; its children are family `below`.
        let (mut family, mut member) = (0, 3);
        let mut below = 1;
        while let Some(Family(children)) = self.families.get(below) {
            let [a, b, c, d] = *children;
            if LARGE {
                if let Some(grandchildren) = self.families.get(4 * below - 2..4 * below + 2) {
                    grandchildren.iter().for_each(prefetch);
                }
            }
            let (left, at_left) = if b < a { (b, 1) } else { (a, 0) };
            let (right, at_right) = if d < c { (d, 3) } else { (c, 2) };
            let (smallest, best) = if right < left { (right, at_right) } else { (left, at_left) };
            if key <= smallest {
                break;
            }
            self.families[family].0[member] = smallest;
            (family, member) = (below, best);
            if LARGE && below == 1 {
                self.newest = best;
            }
            below = 4 * below + best - 2; // node 4n + 1 + best, where n + 1 = below
        }
        self.families[family].0[member] = key;
    }
}

#[inline]
fn entity_of(key: u128) -> Entity {
    Entity::from_bits(key as u32 & ((1 << ENTITY_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_a_stable_priority_queue(steps in prop::collection::vec((0u64..50, 0u8..4), 1..400)) {
            let mut queue = EventQueue::new();
            let mut model: Vec<(u64, u64, u32)> = Vec::new();
            for (order, (time, step)) in (0u64..).zip(steps) {
                let index = order as u32;
                let entity = Entity::Data(index);
                let at = Instant::from_ps(time);
                model.sort_unstable();
                prop_assert_eq!(queue.len, model.len());
                prop_assert_eq!(
                    queue.peek(),
                    model.first().map(|&(t, _, i)| (Instant::from_ps(t), Entity::Data(i)))
                );
                match step {
                    0 if !model.is_empty() => {
                        queue.pop();
                        model.remove(0);
                    }
                    1 if !model.is_empty() => {
                        queue.replace_top(at, entity);
                        model[0] = (time, order, index);
                    }
                    _ => {
                        queue.push(at, entity);
                        model.push((time, order, index));
                    }
                }
            }
        }
    }
}
