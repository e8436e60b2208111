//! A 4-ary heap of keys.
//!
//! The four children of a node fill one cache line, and empty places hold a key later than all, so the
//! inner loop has no bounds to test.

use crate::memory::{bytes_of, Advice};

/// No key: later than all.
pub(super) const EMPTY: u128 = u128::MAX;

/// The children of one node.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Family(pub(super) [u128; 4]);

impl Family {
    pub(super) const NONE: Self = Self([EMPTY; 4]);
}

/// The earliest key on top.
pub(super) struct Heap {
    /// Node 0 is the last member of family 0; the children of node n are family n + 1.
    families: Vec<Family>,
    len: usize,
}

impl Heap {
    pub(super) fn new() -> Self {
        Self { families: vec![Family::NONE], len: 0 }
    }

    /// Makes room for so many keys.
    pub(super) fn reserve(&mut self, keys: usize, advice: Advice) {
        self.families.reserve_exact(keys / 4);
        advice(bytes_of(self.families.spare_capacity_mut()));
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn get(&self, node: usize) -> u128 {
        self.families[(node + 3) >> 2].0[(node + 3) & 3]
    }

    #[inline]
    fn set(&mut self, node: usize, key: u128) {
        self.families[(node + 3) >> 2].0[(node + 3) & 3] = key;
    }

    /// The earliest key; [`EMPTY`] if there is none.
    #[inline]
    pub(super) fn least(&self) -> u128 {
        self.get(0)
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u128> {
        let key = self.least();
        (key != EMPTY).then_some(key)
    }

    /// All keys, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u128> + '_ {
        (0..self.len).map(|node| self.get(node))
    }

    /// Gives all keys and the memory away.
    pub(super) fn end(&mut self) -> impl Iterator<Item = u128> {
        let old = std::mem::replace(self, Self::new());
        (0..old.len).map(move |node| old.get(node))
    }

    pub(super) fn push(&mut self, key: u128) {
        let mut node = self.len;
        self.len += 1;
        if (node + 3) >> 2 == self.families.len() {
            self.families.push(Family::NONE);
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

    /// Puts another key in the place of the earliest one.
    #[inline(never)]
    pub(super) fn replace_top(&mut self, key: u128) {
        // The place to fill, as family and member; its children are family `below`.
        let (mut family, mut member) = (0, 3);
        let mut below = 1;
        while let Some(Family(children)) = self.families.get(below) {
            let [a, b, c, d] = *children;
            let (left, at_left) = if b < a { (b, 1) } else { (a, 0) };
            let (right, at_right) = if d < c { (d, 3) } else { (c, 2) };
            let (smallest, best) = if right < left { (right, at_right) } else { (left, at_left) };
            if key <= smallest {
                break;
            }
            self.families[family].0[member] = smallest;
            (family, member) = (below, best);
            below = 4 * below + best - 2; // node 4n + 1 + best, where n + 1 = below
        }
        self.families[family].0[member] = key;
    }

    /// Removes the earliest key.
    pub(super) fn pop(&mut self) {
        debug_assert!(self.len > 0);
        self.len -= 1;
        let last = self.get(self.len);
        self.set(self.len, EMPTY);
        if self.len > 0 {
            self.replace_top(last);
        }
    }
}
