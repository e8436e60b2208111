//! Which packets go together.
//!
//! The RFCs know of no segmentation offload: each packet that has room goes, paced ones by themselves. Linux makes bursts:
//! `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_update_skb_after_send`, `__tcp_transmit_skb`.
//!
//! The rate of pacing belongs to it, as the size of a burst follows from the rate.

super::policy! {
    /// Which packets go together.
    Bursts = "bursts" {
        summary: "which packets go together, and how pacing spaces them",
        rfc: "each packet goes when it has room; paced packets go one by one",
        linux: "packets wait for each other and go in the bursts that segmentation offload makes, paced or not",
        differences: [
            {
                "packets that pacing lets go together",
                rfc: "one",
                linux: "what is sent in 1/1024 s, with a share for short RTTs, and two at least (one below 1.2 Mbit/s): \
                    `tcp_tso_autosize`, `bbr_min_tso_segs`. The first ten of a connection go at once, and what was late \
                    is followed sooner: `tcp_update_skb_after_send`. Each hole that is repaired waits for its own time, \
                    and so does what is new behind it: `tcp_xmit_retransmit_queue`",
            },
            {
                "packets that have room",
                rfc: "go",
                linux: "wait if they are less than such a burst and less than a third of the window, the last packet went \
                    within a millisecond, and an ACK is due within another: `tcp_tso_should_defer`",
            },
            {
                "pushed packets",
                rfc: "the last that the application has given",
                linux: "that, and the last of several that are segmented at once, as many as in such a burst: \
                    `__tcp_transmit_skb`",
            },
            {
                "how much is segmented at once",
                rfc: "-",
                linux: "half of the window at most, so that packets of a window below four go one by one: \
                    `tcp_cwnd_test`",
            },
            {
                "until when pacing is at twice the window a round trip",
                rfc: "ssthresh",
                linux: "half of it: `tcp_update_pacing_rate`",
            },
        ],
    }
}
