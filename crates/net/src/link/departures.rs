//! The packets that a link has accepted and that have not left: when each will.

use crate::markers::Class;
use parshall_units::Instant;

/// A packet that a link holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// When it will have left.
    pub(super) at: Instant,
    pub(super) bytes: u32,
    pub(super) class: Class,
}

/// Departures still ahead, in their order.
///
/// A ring whose size is a power of two, so that a place in it is found without a comparison, and with the time of the
/// first departure at hand: each packet on a link asks whether it is over. With a `VecDeque` these questions were a
/// fifth of what a link does for a packet.
#[derive(Clone, Debug)]
pub(super) struct Departures {
    first_at: Instant,
    first: usize,
    len: usize,
    /// A power of two of them; those that are not in use hold anything.
    places: Vec<Departure>,
}

const UNUSED: Departure = Departure { at: Instant::MAX, bytes: 0, class: Class::Out };

impl Departures {
    pub(super) fn new() -> Self {
        Self { first_at: Instant::MAX, first: 0, len: 0, places: vec![UNUSED; 4] }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// When the first of them is; [`Instant::MAX`]: there is none.
    #[inline]
    pub(super) fn first_at(&self) -> Instant {
        self.first_at
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        (self.first + number) & (self.places.len() - 1)
    }

    /// Another one after all others.
    #[inline]
    pub(super) fn push(&mut self, departure: Departure) {
        if self.len == self.places.len() {
            self.widen();
        }
        if self.len == 0 {
            self.first_at = departure.at;
        }
        let place = self.place(self.len);
        self.places[place] = departure;
        self.len += 1;
    }

    /// Takes the first one out; there must be one.
    #[inline]
    pub(super) fn pop(&mut self) -> Departure {
        debug_assert!(self.len > 0);
        let departure = self.places[self.place(0)];
        self.first = self.place(1);
        self.len -= 1;
        self.first_at = if self.len > 0 { self.places[self.first].at } else { Instant::MAX };
        departure
    }

    #[cold]
    #[inline(never)]
    fn widen(&mut self) {
        self.places.rotate_left(self.first);
        self.first = 0;
        self.places.resize(2 * self.places.len(), UNUSED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn is_a_queue(steps in prop::collection::vec(prop::option::weighted(0.6, 0u64..1000), 0..400)) {
            let (mut departures, mut model) = (Departures::new(), VecDeque::new());
            for (number, step) in (0u32..).zip(steps) {
                match step {
                    Some(time) => {
                        let at = Instant::from_ps(time);
                        departures.push(Departure { at, bytes: number, class: Class::In });
                        model.push_back((at, number));
                    }
                    None if model.is_empty() => {}
                    None => {
                        let Departure { at, bytes, .. } = departures.pop();
                        prop_assert_eq!(Some((at, bytes)), model.pop_front());
                    }
                }
                prop_assert_eq!(departures.len(), model.len());
                prop_assert_eq!(departures.first_at(), model.front().map_or(Instant::MAX, |&(at, _)| at));
            }
        }
    }
}
