//! When the timers of probes and retransmissions expire.
//!
//! RFC 8985 §7.2 for the probe, RFC 6298 (5.3) for the timeout. Linux: `tcp_schedule_loss_probe`, `tcp_rto_delta_us`,
//! `tcp_clean_rtx_queue`. It needs `recovery = "rack"`.

super::policy! {
    /// When the timers of probes and retransmissions expire.
    LossTimers = "loss_timers" {
        summary: "when the loss probe goes, and what restarts the retransmission timer (needs `recovery = \"rack\"`)",
        rfc: "the probe after two RTTs and an ACK's delay; ACKs of new data restart the timer",
        linux: "the probe after two RTTs and 2 or 200 ms, no later than the timeout; some SACKs restart the timer too",
        differences: [
            {
                "the loss probe",
                rfc: "after 2 SRTT, and the delay of an ACK for a single packet (RFC 8985 §7.2)",
                linux: "the same and 2 ms, or 200 ms for a single packet, no later than the timeout; after a transmission \
                    no later than the timeout of the first packet, counted from when that was sent: \
                    `tcp_schedule_loss_probe`, `tcp_rto_delta_us`",
            },
            {
                "what starts the retransmission timer anew",
                rfc: "an ACK of new data (RFC 6298 (5.3))",
                linux: "also a SACK of a packet that was sent before the first one was sent again: `tcp_clean_rtx_queue`",
            },
        ],
    }
}
