//! The opening of a connection.
//!
//! RFC 6298 (5.5) to (5.7), RFC 5681 §3.1, RFC 3168 §6.1.1.1. Linux: `tcp_retransmit_timer`, `tcp_init_transfer`,
//! `tcp_try_undo_spurious_syn`, `tcp_ecn_clear_syn`, `tcp_rcv_synsent_state_process`. It needs `handshake`.

super::policy! {
    /// How a connection opens.
    Opening = "opening" {
        summary: "SYNs that are not answered, and what a connection begins with (needs `handshake`)",
        rfc: "a lost SYN is sent again after twice the time, and its connection begins with one packet",
        linux: "a lost SYN is sent again after the same time, without ECN, and costs nothing but that time",
        differences: [
            {
                "a SYN that is not answered",
                rfc: "sent again after 1, 2, 4 s (RFC 6298 (5.5))",
                linux: "each second five times, then after 2, 4 s: `tcp_retransmit_timer`, `tcp_syn_linear_timeouts`",
            },
            {
                "a SYN that is sent again",
                rfc: "asks for ECN as the first one (RFC 3168 §6.1.1.1 leaves the choice)",
                linux: "does not, so that the connection has no ECN if the first one was lost: `tcp_ecn_clear_syn`",
            },
            {
                "a connection whose SYN was lost",
                rfc: "begins with one packet, and a timeout of 3 s (RFC 5681 §3.1, RFC 6298 (5.7))",
                linux: "begins as others; with one packet after two timeouts of its SYN: `tcp_init_transfer`, \
                    unless the timestamp of the answer says that the first SYN was only late: \
                    `tcp_try_undo_spurious_syn`. Its RTT is that of the SYN's timestamp: `tcp_ack_update_rtt`",
            },
            {
                "the ACK that ends the handshake",
                rfc: "goes with the first data",
                linux: "is a packet of its own, before the data, and takes its place in the queue: \
                    `tcp_rcv_synsent_state_process`",
            },
            {
                "the first samples of the delivery rate",
                rfc: "as others",
                linux: "limited by the application until the first ACK, as the SYN counts as delivered: \
                    `tcp_rate_check_app_limited`",
            },
        ],
    }
}

/// Timeouts of a SYN that Linux does not back off after: `tcp_syn_linear_timeouts`.
const LINEAR_TIMEOUTS: u32 = 4;

/// Timeouts of a SYN after which Linux begins with its initial window all the same: `tcp_init_transfer`.
const TIMEOUTS_BEFORE_CUT: u32 = 1;

impl Opening {
    /// Returns how many times the timeout of a SYN has doubled after so many timeouts.
    pub(crate) fn doublings(self, timeouts: u32) -> u32 {
        match self {
            Self::Rfc => timeouts,
            Self::Linux => timeouts.saturating_sub(LINEAR_TIMEOUTS),
        }
    }

    /// True if the next timeout of a SYN, after so many, makes the connection begin with a window of one packet: that of any
    /// SYN (RFC 5681 §3.1), or the second one.
    pub(crate) fn cuts_window(self, timeouts: u32) -> bool {
        match self {
            Self::Rfc => true,
            Self::Linux => timeouts >= TIMEOUTS_BEFORE_CUT,
        }
    }

    /// True if the window was cut after so many timeouts, and is what it would have been again if none was needed.
    /// `tcp_try_undo_spurious_syn`
    pub(crate) fn undoes_cut(self, timeouts: u32) -> bool {
        self.is_linux() && timeouts > TIMEOUTS_BEFORE_CUT
    }

    /// True if a SYN asks for ECN, sent again or not. `tcp_ecn_clear_syn`
    pub(crate) fn asks_for_ecn(self, retransmission: bool) -> bool {
        !(retransmission && self.is_linux())
    }

    /// True if the answer to a SYN that was sent again gives an RTT, as its timestamp says which one it answers.
    /// `tcp_ack_update_rtt`
    pub(crate) fn times_retransmission(self, timestamps: bool) -> bool {
        self.is_linux() && timestamps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_sends_a_syn_five_times_before_it_waits_longer() {
        assert_eq!([0, 1, 4, 5, 6].map(|lost| Opening::Linux.doublings(lost)), [0, 0, 0, 1, 2]);
        assert_eq!([0, 1, 4].map(|lost| Opening::Rfc.doublings(lost)), [0, 1, 4]);
    }

    #[test]
    fn a_connection_of_linux_forgives_one_lost_syn() {
        assert_eq!([0, 1, 2].map(|lost| Opening::Linux.cuts_window(lost)), [false, true, true]);
        assert!(Opening::Rfc.cuts_window(0));
        assert_eq!([1, 2].map(|lost| Opening::Linux.undoes_cut(lost)), [false, true]);
        assert!(!Opening::Rfc.undoes_cut(2));
        assert!(Opening::Rfc.asks_for_ecn(true) && Opening::Linux.asks_for_ecn(false));
        assert!(!Opening::Linux.asks_for_ecn(true));
    }
}
