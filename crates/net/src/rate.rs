//! The speed of a link: a constant rate, or the times of a recorded trace.
//!
//! A trace is the packet-delivery format of cellular recordings: a line of text holds the milliseconds since the
//! start at which one 1500-byte packet could be delivered; equal lines are several packets; after the last line the
//! trace begins anew, its length being the last timestamp. Packets smaller than that share an opportunity if they were
//! waiting for it, larger ones need several; an opportunity that finds the link empty is lost.

use parshall_units::{Duration, Instant, Rate};
use thiserror::Error;

/// Bytes that one opportunity of a trace delivers.
pub const OPPORTUNITY_BYTES: u64 = 1500;

const PS_PER_MS: u64 = 1_000_000_000;

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TraceError {
    /// A line is no timestamp.
    #[error("line {line}: found {found:?}; accepted: whole milliseconds, one a line")]
    NotATimestamp {
        /// Its number, from 1.
        line: usize,
        /// What it holds.
        found: String,
    },
    /// Time runs backwards.
    #[error("line {line}: {found} ms comes after {before} ms; timestamps must not decrease")]
    Decreasing {
        /// Its number, from 1.
        line: usize,
        /// Its timestamp.
        found: u64,
        /// The one before.
        before: u64,
    },
    /// There is nothing in it.
    #[error("the trace has no timestamps")]
    Empty,
    /// All of it happens at time zero.
    #[error("the trace lasts 0 ms, so it has no rate")]
    NoLength,
}

/// Reads a trace: milliseconds, non-decreasing, the last one positive.
///
/// # Errors
/// See [`TraceError`]; never panics, whatever the bytes.
pub fn parse_trace(text: &str) -> Result<Vec<u64>, TraceError> {
    let mut timestamps = Vec::new();
    let mut before = 0;
    for (index, line) in text.lines().enumerate() {
        let entry = line.trim();
        if entry.is_empty() {
            continue;
        }
        let line = index + 1;
        // A year and more is no recording; the bound keeps times in picoseconds in range.
        let found = entry.parse::<u64>().ok().filter(|&ms| ms <= 100 * 86_400_000);
        let found = found
            .ok_or_else(|| TraceError::NotATimestamp { line, found: entry.chars().take(40).collect() })?;
        if found < before {
            return Err(TraceError::Decreasing { line, found, before });
        }
        before = found;
        timestamps.push(found);
    }
    check_trace(&timestamps).map(|()| timestamps)
}

fn check_trace(timestamps: &[u64]) -> Result<(), TraceError> {
    match timestamps.last() {
        None => Err(TraceError::Empty),
        Some(0) => Err(TraceError::NoLength),
        Some(_) => Ok(()),
    }
}

/// A link's transmitter.
#[derive(Clone, Debug)]
pub enum Transmitter {
    /// At a constant rate.
    Constant {
        /// The rate.
        rate: Rate,
        /// The last two packet sizes and their transmission times, the last one first: most links carry data and ACKs.
        cached: [(u32, Duration); 2],
    },
    /// By a trace.
    Trace(TraceTransmitter),
}

/// Transmits at the opportunities of a trace.
#[derive(Clone, Debug)]
pub struct TraceTransmitter {
    timestamps_ms: Vec<u64>,
    /// Next opportunity: index, and completed passes through the trace.
    next: usize,
    passes: u64,
    /// The opportunity in use, and what is left of it.
    current: Instant,
    left: u64,
}

impl Transmitter {
    /// A constant rate.
    pub fn constant(rate: Rate) -> Self {
        Self::Constant { rate, cached: [(0, Duration::ZERO); 2] }
    }

    /// A trace.
    ///
    /// # Errors
    /// The trace is empty or has no length.
    pub fn trace(timestamps_ms: Vec<u64>) -> Result<Self, TraceError> {
        check_trace(&timestamps_ms)?;
        Ok(Self::Trace(TraceTransmitter {
            timestamps_ms,
            next: 0,
            passes: 0,
            current: Instant::ZERO,
            left: 0,
        }))
    }

    /// When a packet that arrives at `now` has left, if the one before it leaves at `free`, and how long it waits
    /// before its transmission begins (on a trace: before it leaves).
    #[inline]
    pub fn serve(&mut self, now: Instant, free: Instant, bytes: u32) -> (Instant, Duration) {
        match self {
            Self::Constant { .. } => {
                let waiting = free.since(now);
                (now + waiting + self.transmission(bytes), waiting)
            }
            Self::Trace(trace) => {
                let departure = trace.departure(now, bytes);
                (departure, departure.since(now))
            }
        }
    }

    /// Returns the time of a packet (for a trace: on average).
    #[inline]
    pub fn transmission(&mut self, bytes: u32) -> Duration {
        match self {
            Self::Constant { rate, cached } => {
                if cached[0].0 != bytes {
                    cached.swap(0, 1);
                    if cached[0].0 != bytes {
                        cached[0] = (bytes, rate.time_for(u64::from(bytes)));
                    }
                }
                cached[0].1
            }
            Self::Trace(trace) => Duration::from_secs_f64(f64::from(bytes) * 8.0 / trace.mean_bps()),
        }
    }

    /// Bits that could be transmitted between two moments.
    pub fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        match self {
            Self::Constant { rate, .. } => rate.as_bps() as f64 * to.since(from).as_secs_f64(),
            Self::Trace(trace) => {
                let packets = trace.opportunities_until(to) - trace.opportunities_until(from);
                (packets * OPPORTUNITY_BYTES * 8) as f64
            }
        }
    }
}

impl TraceTransmitter {
    fn length_ms(&self) -> u64 {
        *self.timestamps_ms.last().expect("checked when made")
    }

    fn mean_bps(&self) -> f64 {
        let bits = (self.timestamps_ms.len() as u64 * OPPORTUNITY_BYTES * 8) as f64;
        bits / (self.length_ms() as f64 / 1000.0)
    }

    /// Opportunities in `[0, time)`.
    fn opportunities_until(&self, time: Instant) -> u64 {
        let Some(last) = time.as_ps().checked_sub(1) else { return 0 };
        let length_ps = self.length_ms().saturating_mul(PS_PER_MS);
        let (passes, rest) = (last / length_ps, last % length_ps);
        let in_pass = self.timestamps_ms.partition_point(|&ms| ms.saturating_mul(PS_PER_MS) <= rest);
        passes * self.timestamps_ms.len() as u64 + in_pass as u64
    }

    fn take_opportunity(&mut self) {
        let ms = self.passes.saturating_mul(self.length_ms()).saturating_add(self.timestamps_ms[self.next]);
        self.current = Instant::from_ps(ms.saturating_mul(PS_PER_MS));
        self.left = OPPORTUNITY_BYTES;
        self.next += 1;
        if self.next == self.timestamps_ms.len() {
            self.next = 0;
            self.passes += 1;
        }
    }

    fn departure(&mut self, now: Instant, bytes: u32) -> Instant {
        let mut needed = u64::from(bytes.max(1));
        loop {
            let waited_for_it = self.current >= now;
            if waited_for_it {
                let used = needed.min(self.left);
                self.left -= used;
                needed -= used;
                if needed == 0 {
                    return self.current;
                }
            }
            self.take_opportunity();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_ms(ms: u64) -> Instant {
        Instant::from_ps(ms * PS_PER_MS)
    }

    #[test]
    fn packets_leave_at_opportunities() {
        let mut link = Transmitter::trace(vec![2, 5, 5, 10]).unwrap();
        let mut leave = |now, bytes| link.serve(at_ms(now), Instant::ZERO, bytes).0;
        assert_eq!(leave(0, 1500), at_ms(2));
        assert_eq!(leave(0, 1500), at_ms(5));
        assert_eq!(leave(1, 700), at_ms(5));
        assert_eq!(leave(1, 700), at_ms(5)); // shares the second opportunity at 5 ms
        assert_eq!(leave(6, 1500), at_ms(10)); // what was left at 5 ms has passed
        assert_eq!(leave(6, 3000), at_ms(15)); // 12 and 15 ms: the trace begins anew
        assert_eq!(leave(100, 1500), at_ms(100)); // the opportunity at 10 ms of the tenth pass
    }

    #[test]
    fn capacity_counts_opportunities() {
        let link = Transmitter::trace(vec![2, 5, 5, 10]).unwrap();
        assert_eq!(link.capacity_bits(at_ms(0), at_ms(100)), 40.0 * 12_000.0 - 12_000.0);
        assert_eq!(link.capacity_bits(at_ms(3), at_ms(6)), 2.0 * 12_000.0);
    }

    #[test]
    fn refuses_what_is_no_trace() {
        for (text, message) in [
            ("", "no timestamps"),
            ("0\n0\n", "lasts 0 ms"),
            ("1\nx\n", "line 2: found \"x\""),
            ("5\n\n4\n", "line 3: 4 ms comes after 5 ms"),
            ("-1\n", "line 1"),
            ("99999999999999999999\n", "line 1"),
        ] {
            let error = parse_trace(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9\\n\\r \\-x.]{0,200}") {
            let _ = parse_trace(&text);
        }

        #[test]
        fn departures_are_in_order_and_never_early(
            gaps in prop::collection::vec(0u64..20, 1..20),
            packets in prop::collection::vec((0u64..30, 1u32..4000), 1..100),
        ) {
            let mut timestamps: Vec<u64> =
                gaps.iter().scan(0, |t, g| { *t += g; Some(*t) }).collect();
            timestamps.push(timestamps.last().unwrap() + 1);
            let mut link = Transmitter::trace(timestamps).unwrap();
            let (mut now, mut last) = (Instant::ZERO, Instant::ZERO);
            for (gap, bytes) in packets {
                now += Duration::from_millis(gap);
                let departure = link.serve(now, last, bytes).0;
                prop_assert!(departure >= now && departure >= last);
                last = departure;
            }
        }
    }
}
