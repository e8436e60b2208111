//! The window after an idle time.
//!
//! RFC 5681 §4.1. Linux: `tcp_cwnd_restart`. It needs `persistent`.

super::policy! {
    /// The window after an idle time.
    IdleRestart = "idle_restart" {
        summary: "the window after an idle time (needs `persistent`)",
        rfc: "the restart window",
        linux: "the window, halved for each timeout that passed",
        differences: [
            {
                "after an idle time",
                rfc: "the restart window (RFC 5681 §4.1)",
                linux: "the window, halved for each timeout that passed, down to the restart window; ssthresh is 3/4 of \
                    the window at least: `tcp_cwnd_restart`",
            },
        ],
    }
}
