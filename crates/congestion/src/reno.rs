//! Reno: additive increase, multiplicative decrease.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | a | `increase` | packets a round trip |
//! | b | `decrease` | factor kept at a congestion event |
//!
//! RFC 5681 has a = 1 and b = 1/2. What happens during loss recovery (window inflation, partial
//! ACKs) is the endpoint's business, so this one file serves Tahoe, Reno, NewReno and SACK.

use crate::{slow_start, window_in_use, AckEvent, CongestionControl, CongestionEvent, Start, MIN_SSTHRESH};

parshall_units::configuration! {
    /// Parameters of [`Reno`].
    pub struct RenoConfig {
        /// Packets added to the window each round trip in congestion avoidance.
        increase: f64 => Number, default "1", min 1e-6, max 1000.0;
        /// Factor of the window that is kept at a congestion event.
        decrease: f64 => Number, default "0.5", min 0.01, max 0.999;
    }
}

/// AIMD with slow start (RFC 5681).
#[derive(Clone, Debug)]
pub struct Reno {
    window: f64,
    pub(crate) ssthresh: f64,
    increase: f64,
    decrease: f64,
}

impl Reno {
    pub(crate) const SUMMARY: &'static str = "additive increase, multiplicative decrease";
    pub(crate) const REFERENCE: &'static str = "RFC 5681";

    /// A control at the start of a connection.
    pub fn new(config: &RenoConfig, start: Start) -> Self {
        Self {
            window: start.window,
            ssthresh: start.ssthresh,
            increase: config.increase,
            decrease: config.decrease,
        }
    }
}

impl CongestionControl for Reno {
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if !ack.may_grow {
            return;
        }
        let mut acked = ack.acked;
        if self.window < self.ssthresh {
            acked = slow_start(&mut self.window, self.ssthresh, acked); // RFC 5681 eq. (2)
        }
        if acked > 0.0 {
            self.window += self.increase * acked / self.window; // RFC 5681 eq. (3)
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = (window_in_use(self.window, event) * self.decrease).max(MIN_SSTHRESH); // eq. (4)
        self.window = self.ssthresh;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.on_congestion(event);
        self.window = 1.0;
    }

    fn on_idle_restart(&mut self, restart_window: f64) {
        self.window = self.window.min(restart_window);
    }

    fn end_slow_start(&mut self) -> bool {
        self.ssthresh = self.window.max(MIN_SSTHRESH);
        true
    }
}
