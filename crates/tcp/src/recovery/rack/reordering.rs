//! The time by which a packet may be later than others before it counts as lost: the reordering window. RFC 8985 §6.2 step
//! 4

use super::segments::Segments;
use crate::recovery::scoreboard::DUP_THRESH;
use crate::signals::RttEstimate;
use parshall_units::Duration;

/// The multiplier of the reordering window: one more in each round trip with a duplicate, one again after 16 recoveries
/// without.
///
/// | RFC 8985 | here |
/// | --- | --- |
/// | `RACK.reo_wnd_mult` | `quarters`, of the smallest RTT |
/// | `RACK.reo_wnd_persist` | `persist` |
/// | `RACK.dsack_round` | `round_end` |
#[derive(Clone, Copy, Debug)]
pub(super) struct ReorderingWindow {
    quarters: u32,
    /// Recoveries until it is one again.
    persist: u32,
    /// A duplicate below this belongs to the round trip of the last one; 0: there is none.
    round_end: u64,
}

impl ReorderingWindow {
    pub(super) const FIRST: Self = Self { quarters: 1, persist: 0, round_end: 0 };
    const RECOVERIES: u32 = 16;
    /// As in Linux; more than the smoothed RTT it never is.
    const MOST: u32 = 255;

    /// An ACK up to `una` reports a packet that arrived twice; `next` is the next packet to send.
    pub(super) fn widen(&mut self, una: u64, next: u64) {
        if una >= self.round_end {
            *self = Self {
                quarters: (self.quarters + 1).min(Self::MOST),
                persist: Self::RECOVERIES,
                round_end: next,
            };
        }
    }

    /// A recovery ends.
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// Returns the time by which a packet may be late.
    pub(super) fn length(&self, segments: &Segments, rtt: &RttEstimate, recovering: bool) -> Duration {
        if !segments.reordering_seen && (recovering || segments.sacked_count() >= DUP_THRESH) {
            return Duration::ZERO;
        }
        if rtt.srtt() == Duration::ZERO {
            return segments.rtt().over(4); // no ACK has advanced yet
        }
        rtt.min().times(u64::from(self.quarters)).over(4).min(rtt.srtt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::Rules;
    use crate::ranges::Range;
    use parshall_units::Instant;

    /// Smallest RTT 40 ms, smoothed 40 + (520 - 40) / 8 = 100 ms.
    fn rtt() -> RttEstimate {
        let mut rtt = RttEstimate::default();
        for ms in [40, 520] {
            rtt.sample(Duration::from_millis(ms), 1);
        }
        rtt
    }

    #[test]
    fn duplicates_widen_it_once_a_round_trip_for_sixteen_recoveries() {
        let mut segments = Segments::new(1, &Rules::RFC);
        segments.reordering_seen = true;
        let mut window = ReorderingWindow::FIRST;
        let length = |window: &ReorderingWindow| window.length(&segments, &rtt(), true);
        assert_eq!(length(&window), Duration::from_millis(10));
        window.widen(10, 50);
        window.widen(49, 90);
        assert_eq!(length(&window), Duration::from_millis(20));
        window.widen(50, 90);
        assert_eq!(length(&window), Duration::from_millis(30));
        for _ in 0..15 {
            window.recovered();
        }
        assert_eq!(length(&window), Duration::from_millis(30));
        window.recovered();
        assert_eq!(length(&window), Duration::from_millis(10));
        // Never beyond the smoothed RTT.
        for round in 2..100 {
            window.widen(100 * round, 100 * round + 100);
        }
        assert_eq!(length(&window), Duration::from_millis(100));
    }

    #[test]
    fn without_reordering_three_sacked_packets_or_a_recovery_end_all_doubt() {
        let mut segments = Segments::new(1, &Rules::RFC);
        let mut window = ReorderingWindow::FIRST;
        window.widen(10, 50);
        assert_eq!(window.length(&segments, &rtt(), false), Duration::from_millis(20));
        assert_eq!(window.length(&segments, &rtt(), true), Duration::ZERO);
        for number in 1..=4 {
            segments.on_send(Instant::ZERO, number);
        }
        let sacked = [Range { start: 2, end: 5 }, Range::default(), Range::default()];
        segments.on_ack(Instant::ZERO, 1, &sacked, (None, Duration::MAX), |_| {});
        assert_eq!(window.length(&segments, &rtt(), false), Duration::ZERO);
    }
}
