//! A host's memory of a connection's ssthresh, for its next connection to the same peer (RFC 2140).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | cwnd, ssthresh | `Ending::window`, `Ending::ssthresh` | packets |
//! | the metric `ssthresh` of Linux | `kept`, infinite for Linux's 0: not known | packets |
//!
//! Linux's rule is that of `tcp_update_metrics` as it is in 2.6.x (`net/ipv4/tcp_input.c`; since 3.6 in
//! `net/ipv4/tcp_metrics.c`), which runs when a connection ends in order, and of `tcp_init_metrics`, which runs when
//! one begins. Since 5.6 it is off unless the setting `tcp_no_ssthresh_metrics_save` is 0; it always was where
//! `tcp_no_metrics_save` is 1.

parshall_units::choice! {
    /// The value that is kept when a connection ends.
    pub enum SsthreshCache {
        /// Nothing.
        Off = "off",
        /// Its ssthresh.
        Last = "last",
        /// The lowest ssthresh of all connections so far.
        Lowest = "lowest",
        /// What Linux keeps, which depends on the state in which the connection ends.
        Linux = "linux",
    }
}

/// The state in which a connection ends.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// cwnd.
    pub window: f64,
    /// Infinite before the first congestion event.
    pub ssthresh: f64,
    /// No loss is outstanding.
    pub open: bool,
    /// The RTT is known, and the retransmission timer is not backed off.
    pub timed: bool,
}

impl SsthreshCache {
    /// Returns the value to keep after a connection, if `kept` was before; infinite: nothing.
    pub fn after(self, kept: f64, end: &Ending) -> f64 {
        match self {
            Self::Off => f64::INFINITY,
            Self::Last if end.ssthresh.is_finite() => end.ssthresh,
            Self::Last => kept,
            Self::Lowest => kept.min(end.ssthresh),
            Self::Linux => linux(kept, end),
        }
    }
}

fn linux(kept: f64, end: &Ending) -> f64 {
    if !end.timed {
        return kept;
    }
    let half = (end.window / 2.0).floor();
    if end.ssthresh.is_infinite() {
        // Slow start of a connection that began without a threshold: what is kept may only grow.
        if kept.is_finite() {
            kept.max(half)
        } else {
            kept
        }
    } else if end.open && end.window > end.ssthresh {
        // Congestion avoidance: the window can be relied on, and the metric goes up or down to it.
        half.max(end.ssthresh)
    } else if kept.is_finite() {
        // Slow start after a timeout, or a window that recovery left at ssthresh: it may only grow.
        kept.max(end.ssthresh)
    } else {
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: f64 = f64::INFINITY;

    fn ending(window: f64, ssthresh: f64) -> Ending {
        Ending { window, ssthresh, open: true, timed: true }
    }

    #[test]
    fn the_lowest_never_grows() {
        let mut kept = NOTHING;
        for (ssthresh, expected) in
            [(NOTHING, NOTHING), (40.0, 40.0), (60.0, 40.0), (12.5, 12.5), (NOTHING, 12.5)]
        {
            kept = SsthreshCache::Lowest.after(kept, &ending(100.0, ssthresh));
            assert_eq!(kept, expected);
        }
    }

    #[test]
    fn the_last_one_follows() {
        assert_eq!(SsthreshCache::Last.after(12.0, &ending(100.0, 60.0)), 60.0);
        assert_eq!(SsthreshCache::Last.after(12.0, &ending(100.0, NOTHING)), 12.0);
        assert_eq!(SsthreshCache::Off.after(12.0, &ending(100.0, 60.0)), NOTHING);
    }

    #[test]
    fn linux_follows_the_window_of_congestion_avoidance_both_ways() {
        assert_eq!(SsthreshCache::Linux.after(10.0, &ending(41.7, 10.0)), 20.0);
        assert_eq!(SsthreshCache::Linux.after(30.0, &ending(21.0, 12.0)), 12.0);
        assert_eq!(SsthreshCache::Linux.after(NOTHING, &ending(50.0, 20.0)), 25.0, "the first one");
    }

    /// A window at or below ssthresh, and one that is not in order, say nothing of the path's share: only growth.
    #[test]
    fn linux_only_raises_it_where_slow_start_or_a_loss_is_not_over() {
        let lost = Ending { open: false, ..ending(50.0, 20.0) };
        for end in [ending(20.0, 20.0), ending(4.0, 20.0), lost] {
            assert_eq!(SsthreshCache::Linux.after(10.0, &end), 20.0);
            assert_eq!(SsthreshCache::Linux.after(30.0, &end), 30.0);
            assert_eq!(SsthreshCache::Linux.after(NOTHING, &end), NOTHING, "nothing was kept");
        }
    }

    #[test]
    fn linux_in_a_first_slow_start_raises_it_to_half_of_the_window() {
        assert_eq!(SsthreshCache::Linux.after(10.0, &ending(64.0, NOTHING)), 32.0);
        assert_eq!(SsthreshCache::Linux.after(40.0, &ending(64.0, NOTHING)), 40.0);
        assert_eq!(SsthreshCache::Linux.after(NOTHING, &ending(64.0, NOTHING)), NOTHING);
    }

    #[test]
    fn linux_learns_nothing_from_a_connection_without_an_rtt() {
        let blind = Ending { timed: false, ..ending(50.0, 20.0) };
        assert_eq!(SsthreshCache::Linux.after(10.0, &blind), 10.0);
    }
}
