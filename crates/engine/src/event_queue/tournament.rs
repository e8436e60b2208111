//! A tournament: the earliest of a moderate number of events, always the same ones.
//!
//! Of a flow's packets only the first one in transit is an event, so each transit queue can have a place of its own: a
//! leaf of a complete 4-ary tree in which every node holds the earliest of its four children. An event that replaces
//! another one at its place changes the nodes on the way to the root. This way is known beforehand, so the processor
//! reads all of it at once, and no test has an outcome that it could not guess; in a heap one level's outcome says
//! where the next one is, and how many there are. With more than [`MOST`] places the way is so long, and so little of
//! it in the first cache, that a heap is faster.
//!
//! | | |
//! | --- | --- |
//! | family 0 | the four children of the root |
//! | family 4 f + m + 1 | the children of member m of family f |
//! | `leaves` | the first family of leaves |
//! | `levels` | families from a leaf to the root; 0 if there is no tournament |
//!
//! Reference: D. E. Knuth, The Art of Computer Programming 3, §5.4.1 (trees of winners).

use super::heap::{Family, EMPTY};

/// Places there can be: four levels.
pub(super) const MOST: usize = 256;

/// The earliest of the events that have a place.
pub(super) struct Tournament {
    families: Vec<Family>,
    leaves: usize,
    levels: usize,
    least: u128,
}

impl Tournament {
    /// No events.
    pub(super) fn new() -> Self {
        Self { families: vec![Family::NONE], leaves: 0, levels: 1, least: EMPTY }
    }

    /// None, with no places for any.
    fn over() -> Self {
        Self { families: Vec::new(), leaves: 0, levels: 0, least: EMPTY }
    }

    /// True if there is one.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.levels > 0
    }

    /// Ends it, and gives its keys away.
    pub(super) fn end(&mut self) -> impl Iterator<Item = u128> {
        let old = std::mem::replace(self, Self::over());
        old.families.into_iter().skip(old.leaves).flat_map(|family| family.0).filter(|&key| key != EMPTY)
    }

    /// Returns the number of places.
    #[inline]
    pub(super) fn places(&self) -> usize {
        4 * (self.families.len() - self.leaves)
    }

    /// Four times as many places.
    #[cold]
    pub(super) fn widen(&mut self) {
        let (leaves, levels) = (self.families.len(), self.levels + 1);
        let mut families = vec![Family::NONE; 4 * leaves + 1];
        let old = std::mem::take(&mut self.families);
        families[leaves..].iter_mut().zip(&old[self.leaves..]).for_each(|(new, &old)| *new = old);
        *self = Self { families, leaves, levels, least: self.least };
        for place in (0..self.places()).step_by(4) {
            self.set(place, self.families[leaves + place / 4].0[0]); // whose way to the root is new
        }
    }

    /// The earliest event; [`EMPTY`] if there is none.
    #[inline]
    pub(super) fn least(&self) -> u128 {
        self.least
    }

    /// The event at a place; [`EMPTY`] for none.
    #[inline]
    pub(super) fn set(&mut self, place: usize, key: u128) {
        match self.levels {
            1 => self.climb::<1>(place, key),
            2 => self.climb::<2>(place, key),
            3 => self.climb::<3>(place, key),
            _ => self.climb::<4>(place, key),
        }
    }

    /// Of a known number of levels, so that they stand one after another: in a loop the compiler would branch to
    /// choose.
    #[inline(never)]
    fn climb<const LEVELS: usize>(&mut self, place: usize, key: u128) {
        let (mut family, mut member) = (self.leaves + (place >> 2), place & 3);
        let mut least = key;
        for _ in 0..LEVELS {
            let Family(keys) = &mut self.families[family];
            keys[member] = least;
            // These do not wait for the level below.
            let others = earlier(keys[member ^ 1], earlier(keys[member ^ 2], keys[member ^ 3]));
            least = earlier(least, others);
            (family, member) = (family.wrapping_sub(1) >> 2, family.wrapping_sub(1) & 3);
        }
        self.least = least;
    }
}

/// The earlier of two keys, without a branch.
#[inline]
fn earlier(a: u128, b: u128) -> u128 {
    if b < a {
        b
    } else {
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_root_is_the_earliest(steps in prop::collection::vec((0..MOST, prop::option::of(0u128..1000)), 1..400)) {
            let mut tournament = Tournament::new();
            let mut model = vec![EMPTY; MOST];
            for (place, key) in steps {
                let key = key.unwrap_or(EMPTY);
                while place >= tournament.places() {
                    tournament.widen();
                    prop_assert_eq!(tournament.least(), *model.iter().min().unwrap());
                }
                tournament.set(place, key);
                model[place] = key;
                prop_assert_eq!(tournament.least(), *model.iter().min().unwrap());
            }
            let kept: Vec<u128> = model.into_iter().filter(|&key| key != EMPTY).collect();
            prop_assert_eq!(tournament.end().collect::<Vec<_>>(), kept);
            prop_assert!(!tournament.is_on() && tournament.least() == EMPTY);
        }
    }
}
