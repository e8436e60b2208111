//! A small set of sequence ranges with a limit to its size.
//!
//! `parshall_tcp::ranges` has another one, for the packets of a simulated window: it counts on a span below 2^32, only ever removes
//! from the front, and may grow. What is seen of a real connection has none of that: bytes that are far apart, parts taken out
//! anywhere, and a sender that must not make an observer grow.

/// Disjoint ranges `start..end` in order, no two of them adjacent, at most [`Ranges::LIMIT`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Beyond this many the lowest is forgotten.
    pub(crate) const LIMIT: usize = 256;

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One past the highest.
    #[inline]
    pub(crate) fn end(&self) -> Option<u64> {
        self.0.last().map(|range| range.1)
    }

    /// Returns the number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The ranges that overlap `start..end` or touch it.
    pub(crate) fn touching(&self, start: u64, end: u64) -> &[(u64, u64)] {
        let first = self.0.partition_point(|range| range.1 < start);
        let count = self.0[first..].partition_point(|range| range.0 <= end);
        &self.0[first..first + count]
    }

    /// Returns the total length.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// True if all of `start..end` is in it.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        let at = self.0.partition_point(|range| range.1 <= start);
        self.0.get(at).is_some_and(|range| range.0 <= start && range.1 >= end)
    }

    /// Returns the length of `start..end` that is in it.
    pub(crate) fn overlap(&self, start: u64, end: u64) -> u64 {
        let at = self.0.partition_point(|range| range.1 <= start);
        let touched = self.0[at..].iter().take_while(|range| range.0 < end);
        touched.map(|range| range.1.min(end) - range.0.max(start)).sum()
    }

    /// Adds `start..end`; how much of it is new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let fresh = end - start - self.overlap(start, end);
        let first = self.0.partition_point(|range| range.1 < start);
        let last = first + self.0[first..].partition_point(|range| range.0 <= end);
        if first == last {
            self.0.insert(first, (start, end));
            if self.0.len() > Self::LIMIT {
                self.0.remove(0);
            }
        } else {
            let merged = (self.0[first].0.min(start), self.0[last - 1].1.max(end));
            self.0[first] = merged;
            self.0.drain(first + 1..last);
        }
        fresh
    }

    /// Removes `start..end`; how much of it was there.
    pub(crate) fn remove(&mut self, start: u64, end: u64) -> u64 {
        if start >= end || self.0.is_empty() {
            return 0;
        }
        let first = self.0.partition_point(|range| range.1 <= start);
        let last = first + self.0[first..].partition_point(|range| range.0 < end);
        if first == last {
            return 0;
        }
        let removed = self.overlap(start, end);
        let left = (self.0[first].0, start);
        let right = (end, self.0[last - 1].1);
        let kept = [left, right].into_iter().filter(|range| range.0 < range.1);
        self.0.splice(first..last, kept);
        if self.0.len() > Self::LIMIT {
            self.0.remove(0);
        }
        removed
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.0.capacity() * size_of::<(u64, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(steps in prop::collection::vec((0u64..120, 0u64..20, any::<bool>()), 1..80)) {
            let (mut ours, mut plain) = (Ranges::default(), BTreeSet::new());
            for (start, length, add) in steps {
                let range = start..start + length;
                if add {
                    let fresh = range.clone().filter(|x| plain.insert(*x)).count() as u64;
                    prop_assert_eq!(ours.insert(range.start, range.end), fresh);
                } else {
                    let gone = range.clone().filter(|x| plain.remove(x)).count() as u64;
                    prop_assert_eq!(ours.remove(range.start, range.end), gone);
                }
                prop_assert_eq!(ours.total(), plain.len() as u64);
                prop_assert_eq!(ours.end(), plain.last().map(|x| x + 1));
                prop_assert!(ours.0.windows(2).all(|pair| pair[0].1 < pair[1].0));
                for low in (0..140).step_by(7) {
                    let inside = (low..low + 9).filter(|x| plain.contains(x)).count() as u64;
                    prop_assert_eq!(ours.overlap(low, low + 9), inside);
                    prop_assert_eq!(ours.covers(low, low + 9), inside == 9);
                }
            }
        }
    }

    #[test]
    fn is_bounded() {
        let mut ranges = Ranges::default();
        for i in 0..10_000 {
            ranges.insert(2 * i, 2 * i + 1);
        }
        assert_eq!(ranges.total(), Ranges::LIMIT as u64);
        assert_eq!(ranges.end(), Some(19_999));
    }
}
