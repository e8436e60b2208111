//! Run-length sets of packet numbers.
//!
//! A window of 170,000 packets (10 Gbit/s x 200 ms) with a few holes is a few runs, so every operation costs
//! the number of runs at most, and nearly always O(log runs): new runs come at the end, old ones go at the front.

use std::collections::VecDeque;

/// The packets `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First packet.
    pub start: u64,
    /// One past the last packet.
    pub end: u64,
}

impl Range {
    /// How many packets.
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// How many of its packets are below `limit`.
    pub fn below(self, limit: u64) -> u64 {
        self.end.min(limit).saturating_sub(self.start)
    }
}

/// Runs whose memory an emptied set keeps: a burst of losses must not hold memory for ever in a million flows.
const KEPT_RUNS: usize = 4;

/// Disjoint runs in order, no two of them adjacent.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    runs: VecDeque<Range>,
}

impl RangeSet {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Empties it; keeps the memory of a few runs.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.runs.shrink_to(KEPT_RUNS);
    }

    /// The runs, lowest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.runs.iter().copied()
    }

    /// One past the highest packet; 0 if empty.
    pub fn end(&self) -> u64 {
        self.runs.back().map_or(0, |run| run.end)
    }

    /// Index of the first run that ends after `packet`.
    fn position(&self, packet: u64) -> usize {
        match self.runs.back() {
            Some(last) if last.end > packet && last.start <= packet => self.runs.len() - 1,
            Some(last) if last.end <= packet => self.runs.len(),
            _ => self.runs.partition_point(|run| run.end <= packet),
        }
    }

    /// The run that holds `packet`.
    pub fn run_of(&self, packet: u64) -> Option<Range> {
        let run = *self.runs.get(self.position(packet))?;
        (run.start <= packet).then_some(run)
    }

    /// Adds `range`, calling `added` for each part of it that was not in the set.
    pub fn insert(&mut self, range: Range, mut added: impl FnMut(Range)) {
        if range.is_empty() {
            return;
        }
        // First run that touches the range: its end is at or after the start.
        let first = if range.start == 0 { 0 } else { self.position(range.start - 1) };
        let mut merged = range;
        let mut covered = range.start;
        let mut last = first;
        while let Some(&run) = self.runs.get(last) {
            if run.start > range.end {
                break;
            }
            if covered < run.start {
                added(Range { start: covered, end: run.start });
            }
            covered = covered.max(run.end);
            merged.start = merged.start.min(run.start);
            merged.end = merged.end.max(run.end);
            last += 1;
        }
        if covered < range.end {
            added(Range { start: covered, end: range.end });
        }
        if last == first {
            if self.runs.len() == self.runs.capacity() {
                self.runs.reserve_exact(self.runs.len() / 4 + KEPT_RUNS); // a quarter more, not twice
            }
            self.runs.insert(first, merged);
        } else {
            self.runs[first] = merged;
            if last > first + 1 {
                self.runs.drain(first + 1..last);
            }
        }
    }

    /// Removes what is below `packet`, calling `removed` for each part.
    pub fn remove_below(&mut self, packet: u64, mut removed: impl FnMut(Range)) {
        while let Some(run) = self.runs.front_mut() {
            if run.end <= packet {
                removed(*run);
                self.runs.pop_front();
            } else {
                if run.start < packet {
                    removed(Range { start: run.start, end: packet });
                    run.start = packet;
                }
                return;
            }
        }
        if self.runs.capacity() > KEPT_RUNS {
            self.clear();
        }
    }

    /// Takes out the run that begins at `packet`, if the lowest one does, and returns its end.
    pub fn take_front_at(&mut self, packet: u64) -> Option<u64> {
        let run = *self.runs.front()?;
        if run.start != packet {
            return None;
        }
        self.runs.pop_front();
        if self.runs.is_empty() {
            self.clear();
        }
        Some(run.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(steps in prop::collection::vec((0u64..200, 0u64..12, 0u64..20), 1..120)) {
            let mut ours = RangeSet::default();
            let mut plain = BTreeSet::new();
            let mut floor = 0;
            for (start, length, kind) in steps {
                if kind == 0 {
                    floor = start.max(floor);
                    let mut count = 0;
                    ours.remove_below(floor, |r| count += r.len());
                    let kept: BTreeSet<u64> = plain.range(floor..).copied().collect();
                    prop_assert_eq!(count as usize, plain.len() - kept.len());
                    plain = kept;
                } else {
                    let mut fresh = BTreeSet::new();
                    ours.insert(Range { start, end: start + length }, |r| fresh.extend(r.start..r.end));
                    let expected: BTreeSet<u64> =
                        (start..start + length).filter(|p| !plain.contains(p)).collect();
                    prop_assert_eq!(&fresh, &expected);
                    plain.extend(start..start + length);
                }
                let listed: Vec<u64> = ours.runs().flat_map(|r| r.start..r.end).collect();
                prop_assert_eq!(listed, plain.iter().copied().collect::<Vec<_>>());
                let runs: Vec<Range> = ours.runs().collect();
                prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
                for packet in 0..215 {
                    prop_assert_eq!(ours.run_of(packet).is_some(), plain.contains(&packet));
                }
            }
        }
    }
}
