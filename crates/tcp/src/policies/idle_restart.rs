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
                linux: "the window, halved for each timeout that passed, down to the restart window; ssthresh is \
                    3/4 of the window at least: `tcp_cwnd_restart`",
            },
        ],
    }
}

impl IdleRestart {
    /// The window after an idle time of so many `timeouts`, packets, where it was `window` and the restart window is
    /// `least`.
    pub(crate) fn window(self, window: u64, least: u64, timeouts: u64) -> u64 {
        match self {
            Self::Rfc => least,
            Self::Linux => least.max(window >> timeouts.min(63)),
        }
    }

    /// ssthresh after it, where it was `ssthresh`. `tcp_current_ssthresh`
    pub(crate) fn ssthresh(self, ssthresh: f64, window: u64) -> f64 {
        match self {
            Self::Rfc => ssthresh,
            Self::Linux => ssthresh.max(three_quarters(window)),
        }
    }
}

/// Three quarters of a window, as the kernel computes them.
pub(crate) fn three_quarters(window: u64) -> f64 {
    ((window >> 1) + (window >> 2)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_halves_the_window_for_each_timeout() {
        let linux = |timeouts| IdleRestart::Linux.window(80, 10, timeouts);
        assert_eq!([0, 1, 2, 3, 100].map(linux), [80, 40, 20, 10, 10]);
        assert_eq!(IdleRestart::Rfc.window(80, 10, 1), 10);
        assert_eq!(IdleRestart::Linux.ssthresh(20.0, 80), 60.0);
        assert_eq!(IdleRestart::Linux.ssthresh(90.0, 80), 90.0);
        assert_eq!(IdleRestart::Rfc.ssthresh(20.0, 80), 20.0);
    }
}
