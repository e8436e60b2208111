//! With what hosts take a time.
//!
//! No RFC says it, and no function of the kernel: Linux's form is what hosts of emulations were seen to do
//! (docs/linux.md). Whoever drives the endpoints has the time; see `processing_time` of a scenario.

super::policy! {
    /// With what hosts take a time.
    Processing = "processing" {
        summary: "with what hosts take their time (needs `processing_time`)",
        rfc: "with each packet of data",
        linux: "with what is sent at once, together, and with each ACK",
        differences: [
            {
                "packets that a host sends at once",
                rfc: "take a random time each",
                linux: "take one together, as hosts that were watched",
            },
            {
                "ACKs that cross no contended link",
                rfc: "take no time",
                linux: "take a random time, as on hosts that were watched",
            },
        ],
    }
}
