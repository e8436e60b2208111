//! Scalable TCP (Kelly, CCR 33(2), 2003): multiplicative increase, multiplicative decrease.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | a | `increase` | packets an acknowledged packet |
//! | 1 - b | `decrease` | factor kept at a congestion event |
//! | lwnd | `legacy_window` | packets; up to here the control is Reno |
//!
//! A round trip multiplies the window by 1 + a, so the time between two losses does not depend on the rate. With a and b as
//! in the paper a window of a/(b lwnd) = 0.5 % losses is where Scalable TCP and Reno meet.

use crate::{slow_start, window_in_use, AckEvent, CongestionControl, CongestionEvent, Start, MIN_SSTHRESH};

parshall_units::configuration! {
    /// Parameters of [`Scalable`].
    pub struct ScalableConfig {
        /// Packets added to the window for each packet acknowledged.
        increase: f64 => Number, default "0.01", min 1e-6, max 1.0;
        /// Factor of the window that is kept at a congestion event.
        decrease: f64 => Number, default "0.875", min 0.01, max 0.999;
        /// Largest window at which the control does as Reno.
        legacy_window: u64 => Packets, default "16 packets", min 0.0;
    }
}

/// Increase and decrease in proportion to the window.
#[derive(Clone, Debug)]
pub struct Scalable {
    window: f64,
    pub(crate) ssthresh: f64,
    increase: f64,
    decrease: f64,
    legacy_window: f64,
}

impl Scalable {
    pub(crate) const SUMMARY: &'static str = "increase and decrease in proportion to the window";
    pub(crate) const REFERENCE: &'static str = "Kelly, CCR 33(2), 2003";

    /// A control at the start of a connection.
    pub fn new(config: &ScalableConfig, start: Start) -> Self {
        Self {
            window: start.window,
            ssthresh: start.ssthresh,
            increase: config.increase,
            decrease: config.decrease,
            legacy_window: config.legacy_window as f64,
        }
    }
}

impl CongestionControl for Scalable {
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
            acked = slow_start(&mut self.window, self.ssthresh, acked);
        }
        self.window += if self.window <= self.legacy_window {
            acked / self.window
        } else {
            self.increase * acked // Kelly 2003, §3
        };
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let used = window_in_use(self.window, event);
        let kept = if used <= self.legacy_window { 0.5 } else { self.decrease };
        self.ssthresh = (used * kept).max(MIN_SSTHRESH);
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
