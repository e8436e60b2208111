//! Pacing: when the next packet may go.
//!
//! By the RFCs' rules packets are spaced one by one. By Linux's they go in bursts, as segmentation offload makes them: a burst at once, and the
//! next one when it would have left at the rate.

use crate::policies::Bursts;
use parshall_units::{Duration, Instant};

/// First packets of a connection that the next one need not wait for (`tcp_update_skb_after_send`: from the tenth on).
const UNPACED: u8 = 9;
/// 64 KiB of an MSS of 1448 bytes: what is segmented at once, at most.
pub(crate) const SEGMENTED: u64 = 65_536 / 1448;
/// Between packets of 1448 bytes at 1.2 Mbit/s (`bbr_min_tso_rate`).
const SLOW: Duration = Duration::from_ps(1448 * 8 * 1_000_000_000_000 / 1_200_000);

/// The pacing of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    bursts: Bursts,
    /// When what was sent has left, at the rate.
    next: Instant,
    /// By how much the burst under way began later than it could have.
    late: Duration,
    /// Packets that are not spaced still.
    unpaced: u8,
    /// Packets of the burst under way.
    burst_left: u8,
}

impl Pacing {
    /// Of a new connection.
    pub(crate) fn new(bursts: Bursts) -> Self {
        let unpaced = if bursts.is_linux() { UNPACED } else { 0 };
        Self { bursts, next: Instant::ZERO, late: Duration::ZERO, unpaced, burst_left: 0 }
    }

    /// When the next burst may go.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Whether no packet may go at `now`.
    pub(crate) fn holds_back(&self, now: Instant) -> bool {
        self.burst_left == 0 && now < self.next
    }

    /// Whether the next packet is not the first one of a burst, or is not spaced.
    pub(crate) fn is_in_burst(&self) -> bool {
        self.burst_left > 0 || self.unpaced > 0
    }

    /// There is nothing more to send now: the rest of a burst does not go later.
    pub(crate) fn end_burst(&mut self) {
        self.burst_left = 0;
    }

    /// A packet goes at `now`, on a connection that sends one every `gap`.
    pub(crate) fn on_transmission(&mut self, now: Instant, gap: Duration, min_rtt: Duration, window: u64) {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return;
        }
        if self.burst_left == 0 {
            (self.burst_left, self.late) = match self.bursts {
                Bursts::Rfc => (1, Duration::ZERO),
                Bursts::Linux => {
                    let burst = packets_together(gap, min_rtt).min(most_at_once(window) as u8);
                    (burst, now.since(self.next))
                }
            };
            self.next = now;
        }
        self.burst_left -= 1;
        // What went late is followed sooner, by half of its time at most (`tcp_update_skb_after_send`).
        let credit = self.late.min(gap.over(2));
        self.late = self.late - credit;
        self.next += gap - credit;
    }
}

/// Packets that go together where one goes every `gap` (`tcp_tso_autosize`): as many as in 1/1024 s (`sk_pacing_shift`), and a
/// share of what is segmented at once that halves with each 512 us of the smallest RTT (`tcp_tso_rtt_log`).
pub(crate) fn packets_together(gap: Duration, min_rtt: Duration) -> u8 {
    const PS_PER_US: u64 = 1_000_000;
    let in_time = Duration::from_secs_f64(1.0 / 1024.0).as_ps() / gap.as_ps().max(1);
    let halvings = (min_rtt.as_ps() / PS_PER_US) >> 9;
    let for_short = if halvings < u64::from(u64::BITS) { SEGMENTED >> halvings } else { 0 };
    let least = if gap > SLOW { 1 } else { 2 };
    (in_time + for_short).clamp(least, SEGMENTED) as u8
}

/// How many packets of a window go together, at most: half of it, so that two bursts at least are under way (`tcp_cwnd_test`).
pub(crate) fn most_at_once(window: u64) -> u64 {
    (window / 2).clamp(1, SEGMENTED)
}

/// Whether two packets that are sent one after another may be segmented at once: they follow each other and are of one buffer.
pub(crate) fn segments_together(first: u64, second: u64) -> bool {
    second == first + 1 && !first.is_multiple_of(SEGMENTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn gap_at(mbps: f64) -> Duration {
        Duration::from_secs_f64(1448.0 * 8.0 / (mbps * 1e6))
    }

    #[test]
    fn bursts_grow_with_the_rate_and_for_short_round_trips() {
        assert_eq!([1.0, 1.3, 20.0].map(|mbps| packets_together(gap_at(mbps), RTT)), [1, 2, 2]);
        assert_eq!(packets_together(gap_at(100.0), RTT), 8); // 12.5 MB/s / 1024 / 1448
        assert_eq!(packets_together(gap_at(100.0), Duration::from_millis(1)), 8 + 45 / 2);
        assert_eq!(packets_together(gap_at(10_000.0), RTT), 45);
    }

    /// Packets that go from `from` on before one must wait, at 20 Mbit/s.
    fn together(pacing: &mut Pacing, from: Instant) -> u32 {
        let mut sent = 0;
        while !pacing.holds_back(from) {
            pacing.on_transmission(from, gap_at(20.0), RTT, 100);
            sent += 1;
        }
        sent
    }

    #[test]
    fn by_the_rfcs_packets_go_one_by_one_and_by_linux_in_bursts() {
        let start = Instant::ZERO + Duration::from_secs(1);
        let mut rfc = Pacing::new(Bursts::Rfc);
        assert_eq!(together(&mut rfc, start), 1);
        assert_eq!(rfc.next(), start + gap_at(20.0));
        let mut linux = Pacing::new(Bursts::Linux);
        assert_eq!(together(&mut linux, start), 9 + 2, "the first ones are not spaced");
        let next = linux.next();
        assert_eq!(together(&mut linux, next), 2);
        assert_eq!(linux.next(), next + gap_at(20.0).times(2), "it was on time");
        let late = linux.next() + Duration::from_secs(1);
        assert_eq!(together(&mut linux, late), 2);
        assert_eq!(linux.next(), late + gap_at(20.0), "half of the time is forgiven");
    }

    #[test]
    fn a_burst_is_half_of_the_window_at_most() {
        for (window, burst) in [(1, 1), (3, 1), (4, 2), (9, 4), (100, 8)] {
            let mut linux = Pacing { unpaced: 0, ..Pacing::new(Bursts::Linux) };
            let start = Instant::ZERO + Duration::from_secs(1);
            let mut sent = 0;
            while !linux.holds_back(start) {
                linux.on_transmission(start, gap_at(100.0), RTT, window);
                sent += 1;
            }
            assert_eq!(sent, burst, "a window of {window}");
        }
    }

    #[test]
    fn a_burst_that_was_interrupted_is_over() {
        let mut linux = Pacing { unpaced: 0, ..Pacing::new(Bursts::Linux) };
        linux.on_transmission(Instant::ZERO, gap_at(100.0), RTT, 100);
        assert!(!linux.holds_back(Instant::ZERO));
        linux.end_burst();
        assert!(linux.holds_back(Instant::ZERO));
    }
}
