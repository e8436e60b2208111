//! Bytes that were not seen, and how many packets they are taken for.
//!
//! A hole of n bytes is taken for the packets that n bytes are in a segment of their own. What arrives for it later says how many they
//! were: what is left of the hole is estimated anew.

use crate::path_times::Nanos;
use crate::ranges::Ranges;
use crate::segment_size::SegmentSize;
use std::collections::VecDeque;

/// Bytes that were not seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holes(Ranges);

impl Holes {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes in all of them.
    pub(crate) fn total(&self) -> u64 {
        self.0.total()
    }

    /// Those below `end`.
    pub(crate) fn below(&self, end: u64) -> Vec<(u64, u64)> {
        let cut = |range: &(u64, u64)| (range.0, range.1.min(end));
        self.0.touching(0, end).iter().map(cut).filter(|range| range.0 < range.1).collect()
    }

    /// Adds a hole; by how many packets there are more, and the bytes of holes that were forgotten for it.
    pub(crate) fn add(&mut self, size: &SegmentSize, start: u64, end: u64) -> (i64, u64) {
        let touching = self.0.touching(start, end);
        let (low, high) =
            touching.iter().fold((start, end), |all, range| (all.0.min(range.0), all.1.max(range.1)));
        let before: i64 = touching.iter().map(|range| estimate(size, *range)).sum();
        let forgotten = match self.0.touching(0, u64::MAX).first() {
            Some(first) if self.0.len() >= Ranges::LIMIT && touching.is_empty() => first.1 - first.0,
            _ => 0,
        };
        self.0.insert(start, end);
        (estimate(size, (low, high)) - before, forgotten)
    }

    /// Removes what is between; how many bytes of it were there, and by how many packets there are more now.
    pub(crate) fn remove(&mut self, size: &SegmentSize, start: u64, end: u64) -> (u64, i64) {
        if self.0.is_empty() {
            return (0, 0);
        }
        let touching = self.0.touching(start, end);
        let before: i64 = touching.iter().map(|range| estimate(size, *range)).sum();
        let left = |range: &(u64, u64)| {
            let parts =
                [(range.0, range.1.min(start).max(range.0)), (range.0.max(end).min(range.1), range.1)];
            parts.into_iter().filter(|part| part.0 < part.1).map(|part| estimate(size, part)).sum::<i64>()
        };
        let after: i64 = touching.iter().map(left).sum();
        (self.0.remove(start, end), after - before)
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.0.footprint()
    }
}

fn estimate(size: &SegmentSize, range: (u64, u64)) -> i64 {
    size.packets(range.1 - range.0).cast_signed()
}

/// Holes that were acknowledged, and since when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missed {
    holes: Holes,
    since: VecDeque<(u64, Nanos)>,
}

impl Missed {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.holes.is_empty()
    }

    /// Adds a hole that is acknowledged now; as [`Holes::add`].
    pub(crate) fn add(&mut self, now: Nanos, size: &SegmentSize, start: u64, end: u64) -> i64 {
        if self.since.len() >= Ranges::LIMIT {
            self.since.pop_front();
        }
        self.since.push_back((end, now));
        self.holes.add(size, start, end).0
    }

    /// Forgets those that were acknowledged longer ago than `patience`.
    pub(crate) fn forget(&mut self, now: Nanos, patience: Nanos, size: &SegmentSize) {
        while let Some(&(end, at)) = self.since.front() {
            if now.saturating_sub(at) <= patience {
                break;
            }
            self.holes.remove(size, 0, end);
            self.since.pop_front();
        }
        if self.since.is_empty() {
            self.holes = Holes::default();
        }
    }

    /// Removes what is between; as [`Holes::remove`], and how long ago it was acknowledged.
    pub(crate) fn remove(
        &mut self,
        now: Nanos,
        size: &SegmentSize,
        start: u64,
        end: u64,
    ) -> (u64, i64, Nanos) {
        let at = self.since.partition_point(|since| since.0 < end);
        let ago = self.since.get(at).map_or(0, |since| now.saturating_sub(since.1));
        let (bytes, packets) = self.holes.remove(size, start, end);
        (bytes, packets, ago)
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.holes.footprint() + self.since.capacity() * size_of::<(u64, Nanos)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_arrives_says_how_many_packets_a_hole_was() {
        let size = SegmentSize::new(); // 1448, and 1460 at most in one packet
        let mut holes = Holes::default();
        assert_eq!(holes.add(&size, 0, 5000), (4, 0));
        // Five packets of 1000 bytes: four were guessed, so one more in the end.
        let changes: Vec<_> = (0..5).map(|i| holes.remove(&size, 1000 * i, 1000 * (i + 1))).collect();
        assert!(changes.iter().all(|change| change.0 == 1000));
        assert_eq!(changes.iter().map(|change| change.1 + 1).sum::<i64>() + 4, 5);
        assert!(holes.is_empty());
    }

    proptest! {
        #[test]
        fn the_estimates_add_up(steps in prop::collection::vec((0u64..40_000, 1u64..9000, any::<bool>()), 1..60)) {
            let size = SegmentSize::new();
            let (mut holes, mut packets) = (Holes::default(), 0);
            for (start, length, add) in steps {
                let end = start + length;
                packets += if add { holes.add(&size, start, end).0 } else { holes.remove(&size, start, end).1 };
                let all: i64 = holes.0.touching(0, u64::MAX).iter().map(|range| estimate(&size, *range)).sum();
                prop_assert_eq!(packets, all);
            }
        }
    }

    #[test]
    fn acknowledged_holes_are_forgotten_in_time() {
        let size = SegmentSize::new();
        let mut missed = Missed::default();
        missed.add(100, &size, 0, 1000);
        missed.add(200, &size, 1000, 2000);
        missed.forget(250, 100, &size);
        assert_eq!(missed.remove(250, &size, 0, 1000).0, 0);
        assert_eq!(missed.remove(250, &size, 1000, 2000), (1000, -1, 50));
        assert!(missed.is_empty());
    }
}
