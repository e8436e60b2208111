//! Reno: additive increase, multiplicative decrease.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | a | `increase` | packets a round trip |
//! | b | `decrease` | factor kept at a congestion event |
//!
//! RFC 5681 has a = 1 and b = 1/2. What happens during loss recovery (window inflation, partial
//! ACKs) is the endpoint's business, so this one file serves Tahoe, Reno, NewReno and SACK.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};

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
pub type Reno = WindowBased<RenoRule>;

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct RenoRule {
    increase: f64,
    decrease: f64,
}

impl WindowRule for RenoRule {
    type Config = RenoConfig;

    const SUMMARY: &'static str = "additive increase, multiplicative decrease";
    const REFERENCE: &'static str = "RFC 5681";

    fn new(config: &RenoConfig, _: &Start) -> Self {
        Self { increase: config.increase, decrease: config.decrease }
    }

    #[inline]
    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        windows.window += self.increase * (slope * acked) / windows.window; // RFC 5681 eq. (3)
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        self.decrease
    }
}
