//! The newtypes and their arithmetic. A resolved scenario has them as integers of the smallest unit.

use serde::Deserialize;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

const PS_PER_S: u64 = 1_000_000_000_000;

/// A point on the simulated (or real) time axis, in picoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Duration(u64);

/// A data rate in bit/s, above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "u64")]
pub struct Rate(u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Bytes(pub u64);

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Packets(pub u64);

impl Instant {
    /// The start of time.
    pub const ZERO: Self = Self(0);
    /// "Never": later than anything that happens.
    pub const MAX: Self = Self(u64::MAX);

    /// From picoseconds since the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The span since `earlier`, zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than anything that happens.
    pub const MAX: Self = Self(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// From whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * (PS_PER_S / 1000))
    }

    /// From whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// From seconds, to the nearest picosecond; negative values and NaN become zero and values
    /// out of range the longest duration.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * PS_PER_S as f64 + 0.5) as u64)
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.as_ps_f64() / PS_PER_S as f64
    }

    /// Picoseconds, as a number for sums and products; at most 2^63.
    #[inline]
    pub fn as_ps_f64(self) -> f64 {
        // A signed conversion is one instruction, an unsigned one is six.
        self.0.min(i64::MAX as u64).cast_signed() as f64
    }

    /// This span `n` times, the longest duration if that is out of range.
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }

    /// An `n`-th of this span, rounded down.
    #[must_use]
    pub const fn over(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}

impl Rate {
    /// From bit/s; `None` for zero, which no link or source can have.
    pub const fn from_bps(bps: u64) -> Option<Self> {
        if bps == 0 {
            None
        } else {
            Some(Self(bps))
        }
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the time of `bytes` at this rate, to the nearest picosecond.
    pub fn time_for(self, bytes: u64) -> Duration {
        let bits = bytes as u128 * 8;
        let ps = (bits * PS_PER_S as u128 + self.0 as u128 / 2) / self.0 as u128;
        Duration(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

impl TryFrom<u64> for Rate {
    type Error = &'static str;

    fn try_from(bps: u64) -> Result<Self, Self::Error> {
        Self::from_bps(bps).ok_or("a rate of 0 bit/s, at which nothing is ever sent")
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// As [`since`](Self::since).
    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, d: Self) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, d: Self) {
        *self = *self + d;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, d: Self) -> Self {
        Self(self.0.saturating_sub(d.0))
    }
}

/// Prints `value` in the largest of `units` that needs no more than three decimals.
fn print_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    for &(scale, name) in units {
        let step = (scale / 1000).max(1);
        if value >= scale && value.is_multiple_of(step) {
            let (whole, rest) = (value / scale, (value % scale) / step);
            if rest == 0 {
                return write!(f, "{whole} {name}");
            }
            let decimals = format!("{rest:03}");
            return write!(f, "{whole}.{} {name}", decimals.trim_end_matches('0'));
        }
    }
    let (scale, name) = units[units.len() - 1];
    write!(f, "{} {name}", value / scale)
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        let units = [(PS_PER_S, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1000, "ns"), (1, "ps")];
        print_scaled(f, self.0, &units)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1_000_000_000_000, "Tbit/s"),
            (1_000_000_000, "Gbit/s"),
            (1_000_000, "Mbit/s"),
            (1000, "kbit/s"),
            (1, "bit/s"),
        ];
        print_scaled(f, self.0, &units)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units =
            [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB"), (1, "B")];
        print_scaled(f, self.0, &units)
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_times_are_exact_to_the_picosecond() {
        let gigabit = Rate::from_bps(1_000_000_000).unwrap();
        assert_eq!(gigabit.time_for(1500), Duration::from_ps(12_000_000));
        let fast = Rate::from_bps(100_000_000_000).unwrap();
        assert_eq!(fast.time_for(40), Duration::from_ps(3200));
    }

    #[test]
    fn a_span_that_would_be_negative_is_none() {
        let (early, late) = (Instant::ZERO, Instant::ZERO + Duration::from_millis(1));
        assert_eq!(late - early, Duration::from_millis(1));
        assert_eq!(early - late, Duration::ZERO);
    }

    #[test]
    fn a_zero_rate_is_no_rate() {
        assert!(Rate::from_bps(0).is_none());
    }

    #[test]
    fn prints_the_unit_a_person_would_choose() {
        assert_eq!(Duration::from_millis(10).to_string(), "10 ms");
        assert_eq!(Duration::from_ps(1_500_000_000).to_string(), "1.5 ms");
        assert_eq!(Duration::from_ps(1).to_string(), "1 ps");
        assert_eq!(Rate::from_bps(480_000).unwrap().to_string(), "480 kbit/s");
        assert_eq!(Rate::from_bps(48_000_000).unwrap().to_string(), "48 Mbit/s");
        assert_eq!(Bytes(1500).to_string(), "1.5 kB");
    }
}
