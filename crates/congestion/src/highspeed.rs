//! HighSpeed TCP (RFC 3649): increase and decrease that depend on the window.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | w | `window` | packets |
//! | a(w) | `increase` | packets a round trip |
//! | b(w) | [`HighSpeedRule::decrease_at`] | part of the window taken at a congestion event |
//! | Low_Window, High_Window | `low_window`, `high_window` | packets |
//! | Low_P, High_P | `LOW_P`, `high_p` | losses a packet at which these are the mean windows |
//! | High_Decrease | `high_decrease` | b(High_Window) |
//! | S | `slope` | of ln w over ln p |
//!
//! The response function is the straight line, in logarithms, through (Low_P, Low_Window) and (High_P, High_Window);
//! below Low_Window the control is Reno. a(w) follows from it and b(w) (§5). It is renewed once a round trip, since it
//! is defined for one; RFC 3649 suggests a table, and its appendix B has the values that the tests compare with.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Packets;

parshall_units::configuration! {
    /// Parameters of [`HighSpeed`].
    pub struct HighSpeedConfig {
        /// Window up to which the control does as Reno.
        low_window: Packets, default "38 packets", min "2 packets", max "1_000_000 packets";
        /// Window at which the decrease has its smallest value.
        high_window: Packets, default "83000 packets", min "3 packets", max "1_000_000_000 packets";
        /// Losses a packet at which the mean window is the high window.
        high_p: f64, default "1e-7", min 1e-14, max 1e-4;
        /// Part of the window that is taken at a congestion event at the high window.
        high_decrease: f64, default "0.1", min 0.01, max 0.5;
    }
}

/// Losses a packet at which the mean window is Low_Window. RFC 3649 §5
const LOW_P: f64 = 1e-3;

/// Increase and decrease as functions of the window.
pub type HighSpeed = WindowBased<HighSpeedRule>;

/// a(w) and b(w) of RFC 3649.
#[derive(Clone, Debug)]
pub struct HighSpeedRule {
    increase: f64,
    low_window: f64,
    log_low: f64,
    log_range: f64,
    slope: f64,
    high_decrease: f64,
}

impl HighSpeedRule {
    /// b(w). RFC 3649 §5
    fn decrease_at(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 0.5;
        }
        let height = (libm::log(window) - self.log_low) / self.log_range;
        (0.5 + (self.high_decrease - 0.5) * height).max(self.high_decrease)
    }

    /// a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), p(w) = Low_P (w/Low_Window)^(1/S). RFC 3649 §5
    fn increase_at(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let loss = LOW_P * libm::exp((libm::log(window) - self.log_low) / self.slope);
        let decrease = self.decrease_at(window);
        (window * window * loss * 2.0 * decrease / (2.0 - decrease)).max(1.0)
    }
}

impl WindowRule for HighSpeedRule {
    type Config = HighSpeedConfig;

    const SUMMARY: &'static str =
        "increase grows and decrease shrinks with the window, by a table of RFC 3649";
    const REFERENCE: &'static str = "RFC 3649";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[Variable::new("increase", "packets", "packets that a round trip adds, a(w)")];

    fn new(config: &HighSpeedConfig, start: &Start) -> Self {
        let low_window = config.low_window.0 as f64;
        let high_window = (config.high_window.0 as f64).max(low_window + 1.0);
        let log_range = libm::log(high_window / low_window);
        let mut rule = Self {
            increase: 1.0,
            low_window,
            log_low: libm::log(low_window),
            log_range,
            slope: log_range / libm::log(config.high_p / LOW_P),
            high_decrease: config.high_decrease,
        };
        rule.increase = rule.increase_at(start.window);
        rule
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, ack: &AckEvent, acked: f64, slope: f64) {
        if ack.round_ended {
            self.increase = self.increase_at(windows.window);
        }
        windows.window += self.increase * (slope * acked) / windows.window;
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("increase", self.increase);
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        1.0 - self.decrease_at(used)
    }

    fn on_reduced(&mut self, windows: &Windows, _: &CongestionEvent) {
        self.increase = self.increase_at(windows.window);
    }

    fn on_timed_out(&mut self, windows: &Windows) {
        self.increase = self.increase_at(windows.ssthresh);
    }

    fn on_slow_start_ended(&mut self, windows: &Windows) {
        self.increase = self.increase_at(windows.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_values_of_the_rfcs_table() {
        let config = HighSpeedConfig {
            low_window: Packets(38),
            high_window: Packets(83_000),
            high_p: 1e-7,
            high_decrease: 0.1,
        };
        let start = Start { window: 10.0, ssthresh: 10.0, ..Start::NEW };
        let rule = HighSpeedRule::new(&config, &start);
        // RFC 3649 appendix B: the windows at which a(w) reaches the next whole number, and b(w) there.
        let table = [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (663.0, 6.0, 0.35),
            (1058.0, 8.0, 0.33),
            (1529.0, 10.0, 0.31),
            (2076.0, 12.0, 0.29),
        ];
        for (window, increase, decrease) in table {
            let (a, b) = (rule.increase_at(window), rule.decrease_at(window));
            // The RFC computes p(w) as 0.078/w^1.2, which differs from the line by up to 2 %.
            assert!((a - increase).abs() <= 0.02 * increase, "a({window}) = {a}");
            assert!((b - decrease).abs() <= 0.0055, "b({window}) = {b}");
        }
        assert!((rule.decrease_at(83_000.0) - 0.1).abs() < 1e-12);
        assert!((rule.increase_at(83_000.0) - 72.5).abs() < 0.1);
    }
}
