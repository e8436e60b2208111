//! The arrivals in time: frames, bytes and new connections of the whole trace in equal bins, in constant memory.
//!
//! The bins begin at [`SHORTEST`] and with the first frame. When there are more than [`LIMIT`], each two become one: a trace of any
//! length has between half of the limit and all of it, if it has as many of the shortest.

use crate::path_times::Nanos;
use crate::rows::seconds;
use parshall_records::{RecordsError, Tables, TraceArrivalRow};

/// Bins at most.
const LIMIT: usize = 1 << 16;

/// Length of a bin at first.
const SHORTEST: Nanos = 100_000;

/// One bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    packets: u64,
    bytes: u64,
    connections: u64,
}

impl Bin {
    fn and(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            connections: self.connections + other.connections,
        }
    }
}

/// The arrivals of a trace.
#[derive(Debug)]
pub(crate) struct Arrivals {
    bins: Vec<Bin>,
    length: Nanos,
    /// When the last bin ends.
    end: Nanos,
}

impl Arrivals {
    pub(crate) fn new() -> Self {
        Self { bins: Vec::new(), length: SHORTEST, end: 0 }
    }

    /// A frame passes, `now` after the first one and not before the last.
    #[inline]
    pub(crate) fn frame(&mut self, now: Nanos, bytes: u32, connections: u64) {
        if now >= self.end {
            self.reach(now);
        }
        if let Some(bin) = self.bins.last_mut() {
            bin.packets += 1;
            bin.bytes += u64::from(bytes);
            bin.connections += connections;
        }
    }

    /// Makes the bin of `now` the last one.
    fn reach(&mut self, now: Nanos) {
        while now / self.length >= LIMIT as u64 {
            self.bins = self
                .bins
                .chunks(2)
                .map(|pair| pair.iter().fold(Bin::default(), |sum, bin| sum.and(*bin)))
                .collect();
            self.length *= 2;
        }
        let last = now / self.length;
        self.bins.resize(last as usize + 1, Bin::default());
        self.end = (last + 1).saturating_mul(self.length);
    }

    /// Writes all bins but the last, of which the trace may have a part only.
    pub(crate) fn write(&self, tables: &mut Tables) -> Result<(), RecordsError> {
        let whole = self.bins.len().saturating_sub(1);
        for (index, bin) in self.bins[..whole].iter().enumerate() {
            tables.trace_arrivals.push(TraceArrivalRow {
                time_s: seconds(index as u64 * self.length),
                bin_s: seconds(self.length),
                packets: bin.packets,
                bytes: bin.bytes,
                connections: bin.connections,
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_bins_are_merged() {
        let mut arrivals = Arrivals::new();
        let (mut now, mut bytes) = (0, 0);
        for i in 0..100_000u64 {
            arrivals.frame(now, (i % 1500) as u32, u64::from(i % 1000 == 0));
            bytes += i % 1500;
            now += 700_000 * (1 + i % 7); // 280 s in all: 2.8 million of the shortest bins
        }
        let all = arrivals.bins.iter().fold(Bin::default(), |sum, bin| sum.and(*bin));
        assert_eq!(all, Bin { packets: 100_000, bytes, connections: 100 });
        assert!((LIMIT / 2..=LIMIT).contains(&arrivals.bins.len()), "{}", arrivals.bins.len());
        // One frame each 2.8 ms: as many in each half.
        let half: u64 = arrivals.bins[..arrivals.bins.len() / 2].iter().map(|bin| bin.packets).sum();
        assert!((49_900..50_100).contains(&half), "{half}");
    }

    #[test]
    fn a_time_that_is_damaged_takes_no_memory() {
        let mut arrivals = Arrivals::new();
        for now in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            arrivals.frame(now, 100, 0);
        }
        assert!(arrivals.bins.len() <= LIMIT);
        assert_eq!(arrivals.bins.iter().map(|bin| bin.packets).sum::<u64>(), 5);
    }
}
