//! The room in a receiver's buffer.
//!
//! RFC 9293 §3.8.6 leaves the size of the buffer open; here it is what `receive_window` says, for good. Linux tunes it:
//! `tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`, `tcp_grow_window`, `__tcp_select_window`.

super::policy! {
    /// What a receiver's buffer has room for.
    ReceiveBuffer = "receive_buffer" {
        summary: "what the receiver's buffer has room for",
        rfc: "all that `receive_window` allows",
        linux: "as much as was read in a few round trips; behind a hole no more is taken, and ACKs go at once while \
            the window grows",
        differences: [
            {
                "ACKs while the receiver's window grows: most of slow start",
                rfc: "delayed as all others",
                linux: "at once: `tcp_grow_window`. The window begins with 45 packets and grows by two a packet: at \
                    first to the 56 that a buffer of 128 KiB holds (`initial_receive_buffer`), which is why 22 \
                    packets of a connection are acknowledged at once (`tcp_measure_rcv_mss`), then up to six times \
                    what was read in a round trip while that doubles: `tcp_rcvbuf_grow`. How long a round trip is, \
                    the receiver learns from timestamps: `tcp_rcv_rtt_update`",
            },
            {
                "what a receiver takes behind a hole",
                rfc: "all",
                linux: "what its buffer has room for: it begins with 128 KiB, and grows to hold twice the most that \
                    was read in a round trip, and all up to the last packet that came. So some two to four windows \
                    of packets are taken, and behind a hole of many round trips the sender waits; what was offered \
                    once is not taken back: `tcp_rcvbuf_grow`, `__tcp_select_window`, `tcp_snd_wnd_test`. That is no \
                    lack of data for the delivery rate: `tcp_rate_check_app_limited`",
            },
        ],
    }
}
