//! What losses do to the window, beyond the first reduction.
//!
//! RFC 5681 §3.1 for timeouts, RFC 8985 §6.3 for losses after one. Linux: `tcp_enter_loss`, `tcp_time_to_recover`,
//! `tcp_fastretrans_alert`.

super::policy! {
    /// What losses do to the window, beyond the first reduction.
    LossResponse = "loss_response" {
        summary: "the window after a timeout, and losses that are found during a repair",
        rfc: "one packet after a timeout, ssthresh from the packets in flight; losses during a repair reduce no further",
        linux: "what RACK takes to be in the network after a timeout, ssthresh from the window; losses during a repair \
            begin another recovery",
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
                linux: "a recovery begins, which reduces the window: `FLAG_LOST_RETRANS` in `tcp_fastretrans_alert`, \
                    `tcp_rack_reo_timeout`",
            },
        ],
    }
}
