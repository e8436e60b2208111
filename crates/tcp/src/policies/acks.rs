//! When a receiver acknowledges segments in order, and whose timestamps it echoes.
//!
//! RFC 5681 §4.2: every second segment, or after a delay. Linux acknowledges at once in what it calls quick-ACK mode,
//! and measures how long an ACK waits for a second segment: `__tcp_ack_snd_check`, `tcp_event_data_recv`,
//! `tcp_enter_quickack_mode`, `tcp_send_delayed_ack`. RFC 7323 §4.3 and §5.3 on timestamps; Linux: `tcp_paws_check`,
//! `tcp_sequence`.
//!
//! ACKs that go at once while the window grows need a receive buffer: with the RFCs' `receive_buffer` there are none.

super::policy! {
    /// When a receiver acknowledges segments in order.
    Acks = "acks" {
        summary: "when the receiver acknowledges packets that come in order",
        rfc: "each second packet, or one after the delay that is configured",
        linux: "at once when a connection begins, after pauses, marks and pushed packets; else each second packet, \
            or one after a delay that follows the packets' intervals",
        differences: [
            {
                "the first sixteen ACKs, and sixteen after a packet that had arrived",
                rfc: "delayed as all others",
                linux: "at once: `tcp_enter_quickack_mode`, `tcp_data_queue`, `tcp_dec_quickack_mode`",
            },
            {
                "ACKs of pushed packets",
                rfc: "delayed as all others",
                linux: "at once where none is missing, as the reader has read all: `tcp_measure_rcv_mss` (full \
                    segments since Linux 6.7), `__tcp_cleanup_rbuf`",
            },
            {
                "ACKs after a mark",
                rfc: "at once for each marked packet",
                linux: "at once for two packets after the first mark that is not yet answered, after a \
                    retransmission, and for a packet that says that the window is reduced: `__tcp_ecn_check_ce`, \
                    `tcp_ecn_accept_cwr`",
            },
            {
                "how long an ACK waits for a second packet",
                rfc: "as configured",
                linux: "40 ms; longer where packets come more than 20 ms after each other, and twice as long after \
                    each ACK that went alone, but no longer than the handshake took, nor than 196 ms: \
                    `tcp_event_data_recv`, `tcp_delack_timer_handler`, `tcp_send_delayed_ack`",
            },
            {
                "the ACK of the last packet of a burst",
                rfc: "waits for the timer, if nothing else comes",
                linux: "50 us later, as it is read together with packets that came less than 50 us before: \
                    `tcp_cleanup_rbuf` (the time is that of hosts that were watched, no constant of the kernel)",
            },
            {
                "ACKs after a pause of the receiver's own timeout",
                rfc: "delayed as all others",
                linux: "at once for sixteen: `tcp_event_data_recv`",
            },
            {
                "packets whose timestamp is older than that of the last one in order (PAWS)",
                rfc: "not accepted (RFC 7323 §5.3 R1)",
                linux: "accepted if it is older by one tick: `tcp_paws_check`",
            },
            {
                "the timestamps of packets that were acknowledged before",
                rfc: "echoed if they are newer (RFC 7323 §4.3)",
                linux: "ignored: `tcp_sequence`",
            },
        ],
    }
}
