//! Pacing: when the next packet may go.
//!
//! How many packets go together, the policy [`Bursts`] says. A burst goes at once, and the next one when the burst
//! would have left at the rate.

use crate::policies::Bursts;
use parshall_units::{Duration, Instant};

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
        let unpaced = bursts.unpaced();
        Self { bursts, next: Instant::ZERO, late: Duration::ZERO, unpaced, burst_left: 0 }
    }

    /// When the next burst may go.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// True if no packet may go at `now`.
    pub(crate) fn holds_back(&self, now: Instant) -> bool {
        self.burst_left == 0 && now < self.next
    }

    /// True if the next packet is not the first one of a burst, or is not spaced.
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
            self.burst_left = self.bursts.packets(gap, min_rtt, window);
            self.late = self.bursts.forgiven(now.since(self.next));
            self.next = now;
        }
        self.burst_left -= 1;
        // By half of its time at most (`tcp_update_skb_after_send`).
        let credit = self.late.min(gap.over(2));
        self.late = self.late - credit;
        self.next += gap - credit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn gap_at(mbps: f64) -> Duration {
        Duration::from_secs_f64(1448.0 * 8.0 / (mbps * 1e6))
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
