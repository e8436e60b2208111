//! Scalable TCP (Kelly, CCR 33(2), 2003): multiplicative increase, multiplicative decrease.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | a | `increase` | packets an acknowledged packet |
//! | 1 - b | `decrease` | factor kept at a congestion event |
//! | lwnd | `legacy_window` | packets; up to here the control is Reno |
//!
//! A round trip multiplies the window by 1 + a, so the time between two losses does not depend on the rate. With a and
//! b as in the paper a window of a/(b lwnd) = 0.5 % losses is where Scalable TCP and Reno meet.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};
use parshall_units::Packets;

parshall_units::configuration! {
    /// Parameters of [`Scalable`].
    pub struct ScalableConfig {
        /// Packets added to the window for each packet acknowledged.
        increase: f64, default "0.01", min 1e-6, max 1.0;
        /// Factor of the window that is kept at a congestion event.
        decrease: f64, default "0.875", min 0.01, max 0.999;
        /// Largest window at which the control does as Reno.
        legacy_window: Packets, default "16 packets", min "0 packets";
    }
}

/// Increase and decrease in proportion to the window.
pub type Scalable = WindowBased<ScalableRule>;

/// Multiplicative increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct ScalableRule {
    increase: f64,
    decrease: f64,
    legacy_window: f64,
}

impl WindowRule for ScalableRule {
    type Config = ScalableConfig;

    const SUMMARY: &'static str = "increase and decrease in proportion to the window";
    const REFERENCE: &'static str = "Kelly, CCR 33(2), 2003";
    const STEERABLE: bool = true;

    fn new(config: &ScalableConfig, _: &Start) -> Self {
        Self {
            increase: config.increase,
            decrease: config.decrease,
            legacy_window: config.legacy_window.0 as f64,
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        let acked = slope * acked;
        windows.window += if windows.window <= self.legacy_window {
            acked / windows.window
        } else {
            self.increase * acked // Kelly 2003, §3
        };
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        if used <= self.legacy_window {
            0.5
        } else {
            self.decrease
        }
    }
}
