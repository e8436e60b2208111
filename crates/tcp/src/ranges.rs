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
    /// Returns the number of packets.
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// True if there is none.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Returns the number of its packets below `limit`.
    pub fn below(self, limit: u64) -> u64 {
        self.end.min(limit).saturating_sub(self.start)
    }
}

/// Runs that stand in the set itself.
const NEAR: usize = 4;

/// Runs beyond these whose memory an emptied set keeps: a burst of losses must not hold memory for ever in a million
/// flows.
const KEPT_RUNS: usize = 4;

/// Disjoint runs in order, no two of them adjacent.
///
/// A run is kept in 8 bytes, as offsets from `origin`: a window spans fewer than 2^32 packets, however large their
/// numbers. The lowest runs stand in the set itself: most sets have no more, and in a million flows memory that a set
/// points to is in no cache.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct RangeSet {
    /// At or below the first packet.
    origin: u64,
    near: [Run; NEAR],
    /// How many of these there are.
    count: usize,
    /// The runs above them; none while there is room in `near`.
    far: VecDeque<Run>,
}

/// The low 32 bits of a [`Range`].
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    start: u32,
    end: u32,
}

impl From<Range> for Run {
    fn from(range: Range) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

impl RangeSet {
    /// True if nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Empties it; keeps the memory of a few runs.
    pub fn clear(&mut self) {
        self.count = 0;
        self.far.clear();
        self.far.shrink_to(KEPT_RUNS);
    }

    /// The packet at or above the origin with these low bits.
    #[inline]
    fn full(&self, low: u32) -> u64 {
        self.origin + u64::from(low.wrapping_sub(self.origin as u32))
    }

    #[inline]
    fn range(&self, run: Run) -> Range {
        Range { start: self.full(run.start), end: self.full(run.end) }
    }

    fn len(&self) -> usize {
        self.count + self.far.len()
    }

    fn get(&self, index: usize) -> Option<Range> {
        let near = self.near[..self.count].get(index);
        near.or_else(|| self.far.get(index.checked_sub(NEAR)?)).map(|&run| self.range(run))
    }

    fn run_mut(&mut self, index: usize) -> &mut Run {
        if index < NEAR {
            &mut self.near[index]
        } else {
            &mut self.far[index - NEAR]
        }
    }

    /// The runs, lowest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.near[..self.count].iter().chain(&self.far).map(|&run| self.range(run))
    }

    /// One past the highest packet; 0 if empty.
    pub fn end(&self) -> u64 {
        self.runs().next_back().map_or(0, |run| run.end)
    }

    /// Index of the first run that ends after `packet`.
    fn position(&self, packet: u64) -> usize {
        match self.runs().next_back() {
            Some(last) if last.end > packet && last.start <= packet => self.len() - 1,
            Some(last) if last.end <= packet => self.len(),
            _ => {
                let is_before = |run: &Run| self.full(run.end) <= packet;
                let near = self.near[..self.count].partition_point(is_before);
                if near < NEAR {
                    near
                } else {
                    NEAR + self.far.partition_point(is_before)
                }
            }
        }
    }

    /// The run that holds `packet`.
    pub fn run_of(&self, packet: u64) -> Option<Range> {
        self.get(self.position(packet)).filter(|run| run.start <= packet)
    }

    /// Adds `range`, calling `added` for each part of it that was not in the set; returns the run that holds it then.
    pub fn insert(&mut self, range: Range, mut added: impl FnMut(Range)) -> Range {
        if range.is_empty() {
            return range;
        }
        if self.is_empty() || range.start < self.origin {
            self.origin = range.start;
        }
        debug_assert!(range.end - self.origin < 1 << 32, "a window of 2^32 packets");
        // Nearly always it is the next packet after all others.
        let last = self.far.back_mut().or(self.near[..self.count].last_mut());
        if let Some(last) = last.filter(|last| range.start as u32 == last.end) {
            last.end = range.end as u32;
            let start = last.start;
            added(range);
            return Range { start: self.full(start), end: range.end };
        }
        // First run that touches the range: its end is at or after the start.
        let first = if range.start == 0 { 0 } else { self.position(range.start - 1) };
        let mut merged = range;
        let mut covered = range.start;
        let mut last = first;
        while let Some(run) = self.get(last).filter(|run| run.start <= range.end) {
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
            self.add(first, merged.into());
        } else {
            *self.run_mut(first) = merged.into();
            if last > first + 1 {
                self.remove(first + 1, last);
            }
        }
        merged
    }

    /// Another run, at this index.
    fn add(&mut self, index: usize, run: Run) {
        if self.count < NEAR {
            self.near.copy_within(index..self.count, index + 1);
            self.near[index] = run;
            self.count += 1;
            return;
        }
        if self.far.len() == self.far.capacity() {
            self.far.reserve_exact(self.far.len() / 4 + KEPT_RUNS); // a quarter more, not twice
        }
        if index < NEAR {
            self.far.push_front(self.near[NEAR - 1]);
            self.near.copy_within(index..NEAR - 1, index + 1);
            self.near[index] = run;
        } else {
            self.far.insert(index - NEAR, run);
        }
    }

    /// Takes out the runs from index `first` to before `end`.
    fn remove(&mut self, first: usize, end: usize) {
        if end > NEAR {
            self.far.drain(first.saturating_sub(NEAR)..end - NEAR);
        }
        if first < self.count {
            let end = end.min(self.count);
            self.near.copy_within(end..self.count, first);
            self.count -= end - first;
            while self.count < NEAR {
                let Some(run) = self.far.pop_front() else { break };
                self.near[self.count] = run;
                self.count += 1;
            }
        }
    }

    /// Removes what is below `packet`, calling `removed` for each part.
    pub fn remove_below(&mut self, packet: u64, mut removed: impl FnMut(Range)) {
        while let Some(run) = self.get(0).filter(|run| run.start < packet) {
            if run.end > packet {
                removed(Range { start: run.start, end: packet });
                self.near[0].start = packet as u32;
                break;
            }
            removed(run);
            self.remove(0, 1);
        }
        self.leave_behind(packet);
    }

    /// Takes out the run that begins at `packet`, if the lowest one does, and returns its end.
    pub fn take_front_at(&mut self, packet: u64) -> Option<u64> {
        let run = self.get(0).filter(|run| run.start == packet)?;
        self.remove(0, 1);
        self.leave_behind(run.end);
        Some(run.end)
    }

    /// Nothing below `packet` is in the set any more.
    fn leave_behind(&mut self, packet: u64) {
        self.origin = self.origin.max(packet);
        if self.is_empty() && self.far.capacity() > KEPT_RUNS {
            self.clear();
        }
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
                    let run = ours.insert(Range { start, end: start + length }, |r| fresh.extend(r.start..r.end));
                    prop_assert!(length == 0 || ours.run_of(start) == Some(run));
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
