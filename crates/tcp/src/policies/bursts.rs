//! Which packets go together.
//!
//! The RFCs know of no segmentation offload: each packet that has room goes, paced ones by themselves. Linux makes
//! bursts: `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_update_skb_after_send`, `__tcp_transmit_skb`.
//!
//! The rate of pacing belongs to it, as the size of a burst follows from the rate.

use parshall_units::Duration;

super::policy! {
    /// Which packets go together.
    Bursts = "bursts" {
        summary: "which packets go together, and how pacing spaces them",
        rfc: "each packet goes when it has room; paced packets go one by one",
        linux: "packets wait for each other and go in the bursts that segmentation offload makes, paced or not",
        differences: [
            {
                "packets that pacing lets go together",
                rfc: "one",
                linux: "what is sent in 1/1024 s, with a share for short RTTs, and two at least (one below 1.2 \
                    Mbit/s): `tcp_tso_autosize`, `bbr_min_tso_segs`. The first ten of a connection go at once, and \
                    what was late is followed sooner: `tcp_update_skb_after_send`. Each hole that is repaired waits \
                    for its own time, and so does what is new behind it: `tcp_xmit_retransmit_queue`",
            },
            {
                "packets that have room",
                rfc: "go",
                linux: "wait if they are less than such a burst and less than a third of the window, the last \
                    packet went within a millisecond, and an ACK is due within another: `tcp_tso_should_defer`",
            },
            {
                "pushed packets",
                rfc: "the last that the application has given",
                linux: "that, and the last of several that are segmented at once, as many as in such a burst: \
                    `__tcp_transmit_skb`",
            },
            {
                "how much is segmented at once",
                rfc: "-",
                linux: "half of the window at most, so that packets of a window below four go one by one: \
                    `tcp_cwnd_test`",
            },
            {
                "until when pacing is at twice the window a round trip",
                rfc: "ssthresh",
                linux: "half of it: `tcp_update_pacing_rate`",
            },
        ],
    }
}

/// First packets of a connection that the next one need not wait for (`tcp_update_skb_after_send`: from the tenth on).
const UNPACED: u8 = 9;
/// 64 KiB of an MSS of 1448 bytes: what is segmented at once, at most.
pub(crate) const SEGMENTED: u64 = 65_536 / 1448;
/// Between packets of 1448 bytes at 1.2 Mbit/s (`bbr_min_tso_rate`).
const SLOW: Duration = Duration::from_ps(1448 * 8 * 1_000_000_000_000 / 1_200_000);

impl Bursts {
    /// First packets of a connection that are not paced.
    pub(crate) fn unpaced(self) -> u8 {
        match self {
            Self::Rfc => 0,
            Self::Linux => UNPACED,
        }
    }

    /// Packets of a paced burst on a connection that sends one every `gap`.
    pub(crate) fn packets(self, gap: Duration, min_rtt: Duration, window: u64) -> u8 {
        match self {
            Self::Rfc => 1,
            Self::Linux => packets_together(gap, min_rtt).min(most_at_once(window) as u8),
        }
    }

    /// Of the time by which a burst goes `late`, how much sooner it may be followed. `tcp_update_skb_after_send`
    pub(crate) fn forgiven(self, late: Duration) -> Duration {
        match self {
            Self::Rfc => Duration::ZERO,
            Self::Linux => late,
        }
    }

    /// Below this window packets are paced at twice the window a round trip. `tcp_update_pacing_rate`
    pub(crate) fn fast_below(self, ssthresh: f64) -> f64 {
        match self {
            Self::Rfc => ssthresh,
            Self::Linux => ssthresh / 2.0,
        }
    }
}

/// Packets that go together where one goes every `gap` (`tcp_tso_autosize`): as many as in 1/1024 s
/// (`sk_pacing_shift`), and a share of what is segmented at once that halves with each 512 us of the smallest RTT
/// (`tcp_tso_rtt_log`).
pub(crate) fn packets_together(gap: Duration, min_rtt: Duration) -> u8 {
    const PS_PER_US: u64 = 1_000_000;
    let in_time = Duration::from_secs_f64(1.0 / 1024.0).as_ps() / gap.as_ps().max(1);
    let halvings = (min_rtt.as_ps() / PS_PER_US) >> 9;
    let for_short = if halvings < u64::from(u64::BITS) { SEGMENTED >> halvings } else { 0 };
    let least = if gap > SLOW { 1 } else { 2 };
    (in_time + for_short).clamp(least, SEGMENTED) as u8
}

/// Returns the packets of a window that go together, at most: half of it, so that two bursts at least are under way
/// (`tcp_cwnd_test`).
pub(crate) fn most_at_once(window: u64) -> u64 {
    (window / 2).clamp(1, SEGMENTED)
}

/// True if two packets that are sent one after another may be segmented at once: they follow each other and are of one buffer.
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

    #[test]
    fn the_rfcs_know_no_bursts() {
        assert_eq!(Bursts::Rfc.packets(gap_at(10_000.0), RTT, 100), 1);
        assert_eq!(Bursts::Linux.packets(gap_at(10_000.0), RTT, 100), 45);
        assert_eq!(Bursts::Linux.packets(gap_at(10_000.0), RTT, 30), 15, "half of the window");
        assert_eq!([Bursts::Rfc, Bursts::Linux].map(|form| form.fast_below(30.0)), [30.0, 15.0]);
    }
}
