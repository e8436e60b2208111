//! How a sender estimates the RTT.
//!
//! RFC 6298 §2 with the weights of RFC 7323 Appendix G. Linux: `tcp_rtt_estimator`, `tcp_ack_update_rtt`,
//! `tcp_sacktag_one`, `tcp_clean_rtx_queue`.

super::policy! {
    /// How a sender estimates the RTT.
    RttRule = "rtt_estimate" {
        summary: "which packets give RTT samples, and how samples count",
        rfc: "packets that are acknowledged; samples weigh less the more of them a round trip has",
        linux: "SACKed packets as well; each sample counts in full, and the variation is the largest of a round trip",
        differences: [
            {
                "the RTT estimate",
                rfc: "samples count so that it remembers as many round trips as with one in each (RFC 7323 Appendix G)",
                linux: "each counts for 1/8, and its variation is the largest of a round trip: `tcp_rtt_estimator`. What \
                    is SACKed and was sent once gives samples too: `tcp_sacktag_one`, `tcp_ack_update_rtt`",
            },
            {
                "the RTT that controls are told",
                rfc: "of the earliest acknowledged, by timestamp",
                linux: "of the last packet that an ACK reports and that was sent once, SACKed ones first; where there is \
                    none, by timestamp, if the ACK advances: `tcp_sacktag_one`, `tcp_clean_rtx_queue`, \
                    `tcp_ack_update_rtt`",
            },
        ],
    }
}
