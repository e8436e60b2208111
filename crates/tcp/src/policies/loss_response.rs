//! The effect of losses on the window, beyond the first reduction.
//!
//! RFC 5681 §3.1 for timeouts, RFC 8985 §6.3 for losses after one. Linux: `tcp_enter_loss`, `tcp_time_to_recover`,
//! `tcp_fastretrans_alert`.

super::policy! {
    /// What losses do to the window, beyond the first reduction.
    LossResponse = "loss_response" {
        summary: "the window after a timeout, and losses that are found during a repair",
        rfc: "one packet after a timeout, ssthresh from the packets in flight; losses during a repair reduce no \
            further",
        linux: "what RACK takes to be in the network after a timeout, ssthresh from the window; losses during a \
            repair begin another recovery",
        differences: [
            {
                "ssthresh after a timeout",
                rfc: "from the packets in flight (RFC 5681 eq. (4))",
                linux: "from the window; in a recovery it stays as that has reduced it: `tcp_enter_loss`",
            },
            {
                "the window after a timeout",
                rfc: "one packet (RFC 5681 §3.1)",
                linux: "one more than RACK takes to be in the network still: `tcp_enter_loss`",
            },
            {
                "packets sent during a recovery that are found lost before it ends",
                rfc: "repaired",
                linux: "answered by another recovery, at the ACK that ends the first, if they are not known to have \
                    arrived then: `tcp_time_to_recover`",
            },
            {
                "packets sent again after a timeout that are found lost",
                rfc: "sent once more (RFC 8985 §6.3)",
                linux: "a recovery begins, which reduces the window: `FLAG_LOST_RETRANS` in \
                    `tcp_fastretrans_alert`, `tcp_rack_reo_timeout`",
            },
        ],
    }
}

impl LossResponse {
    /// Returns the number that a timeout halves: the packets in flight (RFC 5681 eq. (4)), or the window (`tcp_enter_loss`).
    pub(crate) fn reduced_on_timeout(self, flight: u64, window: u64) -> u64 {
        match self {
            Self::Rfc => flight,
            Self::Linux => window,
        }
    }

    /// The window after a timeout with `pipe` packets in the network, where it is not one packet. `tcp_enter_loss`
    pub(crate) fn window_after_timeout(self, pipe: u64) -> Option<u64> {
        self.is_linux().then_some(pipe + 1)
    }

    /// True if such losses after a timeout begin a recovery, which reduces the window once more.
    /// `tcp_fastretrans_alert`
    pub(crate) fn answers_anew(self, losses: u64) -> bool {
        losses > 0 && self.is_linux()
    }

    /// Packets whose losses call for a recovery: the `lost` ones that are not yet sent again, or all that are not known
    /// to have arrived since they were found lost (`outstanding`). `tcp_time_to_recover`
    #[inline]
    pub(crate) fn to_answer(self, lost: u64, outstanding: u64) -> u64 {
        match self {
            Self::Rfc => lost,
            Self::Linux => outstanding,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_of_linux_reduces_the_window_to_what_is_in_the_network() {
        let (rfc, linux) = (LossResponse::Rfc, LossResponse::Linux);
        assert_eq!([rfc, linux].map(|form| form.reduced_on_timeout(6, 10)), [6, 10]);
        assert_eq!([rfc, linux].map(|form| form.window_after_timeout(2)), [None, Some(3)]);
        assert_eq!([rfc, linux].map(|form| form.answers_anew(1)), [false, true]);
        assert!(!linux.answers_anew(0));
        assert_eq!([rfc, linux].map(|form| form.to_answer(0, 4)), [0, 4]);
    }
}
