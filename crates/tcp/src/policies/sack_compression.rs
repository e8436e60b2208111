//! When a receiver acknowledges segments behind a hole.
//!
//! RFC 5681 §4.2: at once, each of them. Linux compresses these ACKs: `__tcp_ack_snd_check`, `tcp_sack_new_ofo_skb`.
//!
//! As long as the `acks` of Linux go at once, so do these: with the RFCs' `acks` they are compressed from the first
//! hole on.

super::policy! {
    /// When a receiver acknowledges segments behind a hole.
    SackCompression = "sack_compression" {
        summary: "when the receiver acknowledges packets behind a hole",
        rfc: "at once",
        linux: "three at once; later ones wait for each other, up to a millisecond",
        differences: [
            {
                "ACKs of packets behind a hole",
                rfc: "at once",
                linux: "three at once, later ones wait up to a millisecond, or a twentieth of the handshake's RTT, \
                    and 0.1 ms of the timer's slack; up to 44 are one then, of two blocks at most: \
                    `__tcp_ack_snd_check`, `tcp_sack_new_ofo_skb`",
            },
        ],
    }
}
