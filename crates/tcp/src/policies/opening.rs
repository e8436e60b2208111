//! How a connection opens.
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
                linux: "begins as others; with one packet after two timeouts of its SYN: `tcp_init_transfer`, unless the \
                    timestamp of the answer says that the first SYN was only late: `tcp_try_undo_spurious_syn`. Its RTT \
                    is that of the SYN's timestamp: `tcp_ack_update_rtt`",
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
