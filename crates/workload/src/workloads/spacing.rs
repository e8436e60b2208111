//! Even spacing of packets, without drift.
//!
//! Gaps are whole picoseconds, but the remainder is carried from one to the next: packet n leaves n packets'
//! time after packet 0, rounded down, however large n is.

use parshall_units::{Duration, Rate};
use std::num::NonZeroU32;

/// The time of a packet at a rate: `whole` picoseconds and `rest` / `rate` of one.
#[derive(Debug)]
pub(super) struct Spacing {
    whole: u64,
    rest: u64,
    rate: u64,
    packet_bytes: u32,
}

impl Spacing {
    pub(super) fn new(rate: Rate, packet_bytes: NonZeroU32) -> Self {
        const PS_PER_S: u128 = 1_000_000_000_000;
        let (bits, rate) = (u128::from(packet_bytes.get()) * 8, rate.as_bps());
        let (whole, rest) = (bits * PS_PER_S / u128::from(rate), bits * PS_PER_S % u128::from(rate));
        let whole = u64::try_from(whole).unwrap_or(u64::MAX);
        Self { whole, rest: rest as u64, rate, packet_bytes: packet_bytes.get() }
    }

    /// The time of a packet, without the fraction of a picosecond.
    pub(super) fn as_duration(&self) -> Duration {
        Duration::from_ps(self.whole)
    }

    /// The packet's size.
    pub(super) fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }
}

/// Where a flow is in its spacing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// What earlier gaps left, in `rate`-ths of a picosecond; `None` before packet 0.
    carried: Option<u64>,
}

impl Pace {
    /// From the packet before to the next; zero for packet 0.
    #[inline]
    pub(super) fn next(&mut self, spacing: &Spacing) -> Duration {
        let Some(carried) = self.carried else {
            self.carried = Some(0);
            return Duration::ZERO;
        };
        let carried = carried + spacing.rest; // below 2 * rate, which is at most 10^15
        let (extra, left) = if carried >= spacing.rate { (1, carried - spacing.rate) } else { (0, carried) };
        self.carried = Some(left);
        Duration::from_ps(spacing.whole.saturating_add(extra))
    }
}
