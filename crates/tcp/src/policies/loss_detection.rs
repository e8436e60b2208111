//! When RACK takes a packet for lost.
//!
//! RFC 8985 §6.2. Linux: `tcp_rack_advance`, `tcp_rack_mark_lost`. It needs `recovery = "rack"`.

super::policy! {
    /// When RACK takes a packet for lost.
    LossDetection = "loss_detection" {
        summary: "when a packet counts as lost (needs `recovery = \"rack\"`)",
        rfc: "an RTT of the packet sent last, and the reordering window, after it was sent",
        linux: "an RTT of the packet reported last, and the reordering window, after it was sent; 2 ms later if no ACK comes",
        differences: [
            {
                "`RACK.rtt`",
                rfc: "of the packet sent last (RFC 8985 §6.2 step 2)",
                linux: "of the last packet that an ACK reports, SACKed ones first: `tcp_rack_advance`",
            },
            {
                "packets in doubt",
                rfc: "lost when the reordering window has passed",
                linux: "2 ms later, if no ACK comes: `tcp_rack_mark_lost`",
            },
        ],
    }
}
