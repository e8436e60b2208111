//! A flow's own access link: a rate, and the queue before it.
//!
//! The queue of a host's interface may have a limit, as Linux's `txqueuelen`: a packet that finds it full is lost within its host. What the
//! queue holds is known by the time until the link is free. With T the transmission time of a full packet, which nearly all
//! packets are, n packets (the one in transmission included) take more than (n - 1) T and at most n T. So a packet that finds
//! a limit of L of them is one that would wait longer than (L - 1) T.

use parshall_units::{Duration, Instant, Rate};

/// The access links of a group.
#[derive(Debug)]
pub(crate) struct AccessLink {
    rate: Rate,
    /// Full packets are nearly all: their transmission time is divided out once.
    full: (u32, Duration),
    /// What would wait longer finds no room.
    longest_wait: Duration,
}

impl AccessLink {
    /// Links of a rate, whose queues hold so many packets, the one in transmission included; `None`: without limit.
    pub(crate) fn new(rate: Rate, packet_bytes: u32, limit: Option<u32>) -> Self {
        let transmission = rate.time_for(u64::from(packet_bytes));
        let longest_wait =
            limit.map_or(Duration::MAX, |limit| transmission.times(u64::from(limit.saturating_sub(1))));
        Self { rate, full: (packet_bytes, transmission), longest_wait }
    }

    #[inline]
    pub(crate) fn transmission(&self, bytes: u32) -> Duration {
        if bytes == self.full.0 {
            self.full.1
        } else {
            self.rate.time_for(u64::from(bytes))
        }
    }

    /// True if a packet that comes `at` finds room, where the link is free again at `free`.
    #[inline]
    pub(crate) fn has_room(&self, at: Instant, free: Instant) -> bool {
        free <= at + self.longest_wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 12_000_000;

    fn link(limit: Option<u32>) -> AccessLink {
        AccessLink::new(Rate::from_bps(1_000_000_000).unwrap(), 1500, limit)
    }

    /// How many of so many packets that come at once are accepted.
    fn accepted(link: &AccessLink, packets: u32, at: Instant) -> u32 {
        let (mut free, mut count) = (Instant::ZERO, 0);
        for _ in 0..packets {
            if link.has_room(at, free) {
                free = at.max(free) + link.transmission(1500);
                count += 1;
            }
        }
        count
    }

    #[test]
    fn a_queue_holds_as_many_packets_as_its_limit() {
        for limit in [1, 2, 1000] {
            assert_eq!(accepted(&link(Some(limit)), 2000, Instant::from_ps(5)), limit);
        }
        assert_eq!(accepted(&link(None), 2000, Instant::ZERO), 2000);
    }

    #[test]
    fn a_packet_that_is_nearly_sent_still_counts() {
        let (link, free) = (link(Some(1)), Instant::from_ps(T));
        assert!(!link.has_room(Instant::from_ps(T - 1), free));
        assert!(link.has_room(free, free));
    }
}
