//! Payload that the flows of each group delivered over time: every byte counted, whichever flows are sampled.
//!
//! A byte counts in the bin in which its packet reached the end of the last link of its path. That is the propagation to its
//! receiver earlier than its arrival, so that what leaves a link in a bin is never more than the link can transmit, however far
//! the receivers are.

use crate::series::{Widths, FULL};
use parshall_records::{GroupSampleRow, RecordsError, Tables};
use parshall_units::{Duration, Instant};
use std::sync::Arc;

/// The most counts that are kept: with many groups their bins are wider.
const MOST_COUNTS: usize = 400_000;

/// The fewest bins of a group before they are joined.
const FEWEST_BINS: usize = 200;

/// Payload delivered, by group and bin.
#[derive(Debug)]
pub(crate) struct Delivered {
    groups: Vec<Arc<str>>,
    /// Bytes, bin after bin: in each a count a group.
    counts: Vec<u64>,
    widths: Widths,
    /// Bins that are kept before neighbours are joined.
    most: usize,
    /// The bin of the last packet: where it begins, ends, and has its counts.
    begin: Instant,
    end: Instant,
    place: usize,
}

impl Delivered {
    /// `width`: of the first bins, which grow with the run.
    pub(crate) fn of_groups(groups: Vec<Arc<str>>, width: Duration) -> Self {
        let most = (MOST_COUNTS / groups.len().max(1)).clamp(FEWEST_BINS, FULL);
        Self {
            groups,
            counts: Vec::new(),
            widths: Widths::new(width),
            most,
            begin: Instant::ZERO,
            end: Instant::ZERO,
            place: 0,
        }
    }

    /// So many bytes of a group arrive `at`, whose last link ends `propagation` before the receiver.
    #[inline]
    pub(crate) fn add(&mut self, group: u32, (at, propagation): (Instant, Duration), bytes: u64) {
        let at = Instant::from_ps(at.as_ps() - propagation.as_ps());
        if at < self.begin || at >= self.end {
            self.find(at);
        }
        self.counts[self.place + group as usize] += bytes;
    }

    #[inline(never)]
    fn find(&mut self, at: Instant) {
        let mut bin = self.bin(at);
        while bin >= self.most {
            let factor = self.widths.widen();
            self.join(factor);
            bin = self.bin(at);
        }
        let width = self.widths.width();
        self.begin = Instant::ZERO + width.times(bin as u64);
        self.end = self.begin + width;
        self.place = bin * self.groups.len();
        self.counts.resize(self.counts.len().max(self.place + self.groups.len()), 0);
    }

    fn bin(&self, at: Instant) -> usize {
        (at.as_ps() / self.widths.width().as_ps()) as usize
    }

    /// Every `factor` neighbours become one.
    fn join(&mut self, factor: usize) {
        let groups = self.groups.len();
        for from in groups..self.counts.len() {
            let into = from / groups / factor * groups + from % groups;
            let bytes = std::mem::take(&mut self.counts[from]);
            self.counts[into] += bytes;
        }
        self.counts.truncate(self.counts.len().div_ceil(groups * factor) * groups);
        (self.begin, self.end) = (Instant::ZERO, Instant::ZERO);
    }

    /// Writes a row a group and bin, for all of a simulation that ended at `end`.
    pub(crate) fn write(mut self, end: Instant, tables: &mut Tables) -> Result<(), RecordsError> {
        let mut width = self.widths.width();
        while end.as_ps().div_ceil(width.as_ps()) > self.most as u64 {
            self.join(2);
            width = width.times(2);
        }
        let number = end.as_ps().div_ceil(width.as_ps()) as usize;
        self.counts.resize(number * self.groups.len(), 0);
        for (bin, counts) in self.counts.chunks(self.groups.len().max(1)).enumerate() {
            let begin = Instant::ZERO + width.times(bin as u64);
            let bin_s = end.min(begin + width).since(begin).as_secs_f64();
            for (group, &delivered_bytes) in self.groups.iter().zip(counts) {
                let row = GroupSampleRow {
                    group: group.clone(),
                    time_s: begin.as_secs_f64(),
                    bin_s,
                    delivered_bytes,
                };
                tables.group_samples.push(row)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(number: usize) -> Vec<Arc<str>> {
        (0..number).map(|index| index.to_string().into()).collect()
    }

    proptest! {
        #[test]
        fn every_byte_is_counted_once_however_often_bins_are_joined(
            packets in prop::collection::vec((0u32..3, 0u64..200_000_000, 1u64..1500), 1..200),
        ) {
            let mut delivered = Delivered::of_groups(names(3), Duration::from_ps(1000));
            for &(group, at, bytes) in &packets {
                delivered.add(group, (Instant::from_ps(at + 7), Duration::from_ps(7)), bytes);
            }
            let width = delivered.widths.width().as_ps();
            prop_assert!(delivered.counts.len() <= 3 * FULL);
            for group in 0..3 {
                let of_group = |&&(owner, ..): &&(u32, u64, u64)| owner as usize == group;
                let bytes: u64 = packets.iter().filter(of_group).map(|packet| packet.2).sum();
                let counts = delivered.counts.iter().skip(group).step_by(3);
                prop_assert_eq!(counts.sum::<u64>(), bytes);
                for (_, at, _) in packets.iter().filter(of_group) {
                    let bin = (at / width) as usize;
                    let there = packets.iter().filter(of_group).filter(|packet| (packet.1 / width) as usize == bin);
                    prop_assert_eq!(delivered.counts[bin * 3 + group], there.map(|packet| packet.2).sum::<u64>());
                }
            }
        }
    }

    #[test]
    fn many_groups_have_wider_bins() {
        let mut delivered = Delivered::of_groups(names(1000), Duration::from_ps(1));
        (0..100_000)
            .for_each(|at| delivered.add(at % 1000, (Instant::from_ps(u64::from(at)), Duration::ZERO), 1));
        assert!(delivered.counts.len() <= MOST_COUNTS);
        assert_eq!(delivered.counts.iter().sum::<u64>(), 100_000);
    }
}
