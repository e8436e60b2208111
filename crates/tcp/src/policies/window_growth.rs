//! The growth of the window by an ACK.
//!
//! RFC 5681 §3.1 and RFC 7661 ask that the window is used, RFC 3465 counts the packets that are acknowledged. Linux:
//! `tcp_is_cwnd_limited`, `tcp_cwnd_validate`, `tcp_cong_control`.

super::policy! {
    /// Whether and by how much an ACK lets the window grow.
    WindowGrowth = "window_growth" {
        summary: "whether and by how much an ACK lets the window grow",
        rfc: "if the window stopped the last transmission, by the packets acknowledged",
        linux: "in slow start while half of the window is used, else if it stopped a transmission of the round \
            trip; by the packets that are reported for the first time",
        differences: [
            {
                "when the window grows",
                rfc: "if it stopped the last transmission (RFC 5681 §3.1)",
                linux: "in slow start below twice the most packets that were out in the round trip, else if it \
                    stopped a transmission of the round trip: `tcp_is_cwnd_limited`",
            },
            {
                "by how much",
                rfc: "by the packets acknowledged (RFC 3465)",
                linux: "by those that no SACK, and no duplicate ACK, had reported: `tcp_cong_control`, \
                    `tcp_add_reno_sack`",
            },
            {
                "ACKs that SACK packets, and acknowledge none in order (needs `recovery = \"rack\"`)",
                rfc: "the window stays (RFC 5681 §3.1)",
                linux: "grows by what is SACKed once a packet has come more than three behind others, until a timeout \
                    says that packets are lost: `tcp_may_raise_cwnd`, `tcp_check_sack_reordering`, `tcp_enter_loss`",
            },
        ],
    }
}

impl WindowGrowth {
    /// By how many packets an ACK of `acked` new ones counts, on a connection that was open before it or not.
    /// `delivered`: the packets that it reports for the first time, where that is known.
    #[inline]
    pub(crate) fn credit(self, acked: u64, delivered: Option<u64>, was_open: bool) -> f64 {
        match self {
            Self::Rfc if was_open => acked as f64,
            Self::Rfc => 1.0, // RFC 3465 §2.3: no more than one packet an ACK while repairing after a timeout
            Self::Linux => delivered.unwrap_or(acked) as f64,
        }
    }

    /// By how many packets the window grows at an ACK that acknowledges none in order, and reports so many for the first
    /// time; `far`: packets come far behind others. `tcp_may_raise_cwnd`
    #[inline]
    pub(crate) fn credit_out_of_order(self, delivered: Option<u64>, far: bool) -> u64 {
        match self {
            Self::Linux if far => delivered.unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the packets that the ACK which ends a row of duplicate ACKs reports for the first time, without SACK. Linux
    /// takes each duplicate for a packet that arrived (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`).
    #[inline]
    pub(crate) fn delivered_after_duplicates(self, acked: u64, duplicates: u64) -> u64 {
        match self {
            Self::Rfc => acked,
            Self::Linux => acked.saturating_sub(duplicates).max(1),
        }
    }
}

/// The use of the window, as Linux knows it (`tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowUse {
    /// The window stopped a transmission of this round trip.
    limited: bool,
    /// The most packets that were out in it.
    most_out: u64,
    /// The round trip ends when what is below this is acknowledged.
    until: u64,
}

impl WindowUse {
    /// Of a connection whose first packet is `base`.
    pub(crate) fn new(base: u64) -> Self {
        Self { limited: false, most_out: 0, until: base }
    }

    /// Packets were sent, or the window let none go (`limited`): from `una` to `nxt` are out now.
    #[inline]
    pub(crate) fn note(&mut self, (una, nxt): (u64, u64), limited: bool) {
        let out = nxt - una;
        if limited || una >= self.until || (!self.limited && out > self.most_out) {
            *self = Self { limited, most_out: out, until: nxt };
        }
    }

    /// True if a window of so many packets may grow.
    #[inline]
    pub(crate) fn may_grow(&self, window: f64, slow_start: bool) -> bool {
        self.limited || slow_start && window < 2.0 * self.most_out as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_goes_on_while_half_of_the_window_is_used() {
        let mut used = WindowUse::new(1);
        used.note((1, 7), false); // six packets are out, the application has no more
        assert!(used.may_grow(10.0, true), "10 < 2 * 6");
        assert!(!used.may_grow(12.0, true));
        assert!(!used.may_grow(10.0, false), "only in slow start");
    }

    #[test]
    fn being_limited_is_remembered_for_a_round_trip() {
        let mut used = WindowUse::new(1);
        used.note((1, 11), true);
        used.note((5, 12), false); // within the round trip that packet 10 ends
        assert!(used.may_grow(10.0, false));
        used.note((11, 13), false);
        assert!(!used.may_grow(10.0, false));
    }
}
