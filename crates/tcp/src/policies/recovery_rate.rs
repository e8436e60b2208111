//! The rate of a sender while its window is reduced: proportional rate reduction.
//!
//! RFC 6937 §3.1. Linux has the later form, draft-ietf-tcpm-prr-rfc6937bis, and reduces so for ECN as well:
//! `tcp_cwnd_reduction`, `tcp_init_cwnd_reduction`, `tcp_enter_cwr`.

super::policy! {
    /// How fast a sender sends while its window is reduced.
    RecoveryRate = "recovery_rate" {
        summary: "how fast packets go while the window is reduced (needs `prr`)",
        rfc: "by the proportional rate reduction of RFC 6937, in recoveries alone",
        linux: "by that of draft-ietf-tcpm-prr-rfc6937bis, in recoveries and after ECN echoes",
        differences: [
            {
                "proportional rate reduction",
                rfc: "RFC 6937",
                linux: "draft-ietf-tcpm-prr-rfc6937bis: the ACK that begins the recovery counts; below ssthresh one \
                    packet more than was delivered goes only at an ACK that advances and finds no loss; it starts \
                    from the window, not from the packets in flight; what is found lost between ACKs that report \
                    deliveries makes room: `tcp_cwnd_reduction`",
            },
            {
                "the window after an ECN echo",
                rfc: "reduced at once (RFC 3168 §6.1.2)",
                linux: "reduced with the packets delivered in a round trip, as in a recovery: `tcp_enter_cwr`, \
                    `tcp_cwnd_reduction`",
            },
        ],
    }
}
