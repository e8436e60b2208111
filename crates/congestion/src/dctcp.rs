//! DCTCP: data center TCP (RFC 8257).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | g | `gain` | weight of the newest round trip |
//! | DCTCP.Alpha | `alpha` | share of packets marked, averaged |
//! | M | `marked` / `acked` | share of packets marked in this round trip |
//!
//! Grows as Reno and answers a loss as Reno. A mark takes alpha/2 of the window, once a round trip (§3.3): half of it if
//! every packet is marked, and little if few are, so that a queue that marks at a low threshold stays short. The receiver
//! must echo the marks of each ACK's own packets (§3.2); with the echo of RFC 3168 alpha goes to 1, and DCTCP is Reno.

use crate::{
    slow_start, window_in_use, AckEvent, CongestionControl, CongestionEvent, Signal, Start, MIN_SSTHRESH,
};

parshall_units::configuration! {
    /// Parameters of [`Dctcp`].
    pub struct DctcpConfig {
        /// Weight of the newest round trip in the average share of marked packets.
        gain: f64 => Number, default "0.0625", min 0.0001, max 1.0;
        /// Average share of marked packets at the start.
        initial_alpha: f64 => Number, default "1", min 0.0, max 1.0;
    }
}

/// Reduces in proportion to the marks.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: f64,
    pub(crate) ssthresh: f64,
    /// Factor of the increase; 1 but for the large time scale.
    pub(crate) slope: f64,
    gain: f64,
    alpha: f64,
    acked: f64,
    marked: f64,
}

impl Dctcp {
    pub(crate) const SUMMARY: &'static str = "reduces in proportion to the share of packets that are marked";
    pub(crate) const REFERENCE: &'static str = "RFC 8257";

    /// A control at the start of a connection.
    pub fn new(config: &DctcpConfig, start: Start) -> Self {
        Self {
            window: start.window,
            ssthresh: start.ssthresh,
            slope: 1.0,
            gain: config.gain,
            alpha: config.initial_alpha,
            acked: 0.0,
            marked: 0.0,
        }
    }

    /// The average share of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.acked += ack.acked;
        if ack.ecn_echo {
            self.marked += ack.acked;
        }
        if ack.round_ended && self.acked > 0.0 {
            self.alpha += self.gain * (self.marked / self.acked - self.alpha); // RFC 8257 §3.3 step 7
            (self.acked, self.marked) = (0.0, 0.0);
        }
    }

    fn reduce(&mut self, event: &CongestionEvent, kept: f64) {
        self.ssthresh = (window_in_use(self.window, event) * kept).max(MIN_SSTHRESH);
        self.window = self.ssthresh;
    }
}

impl CongestionControl for Dctcp {
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
        if !ack.may_grow {
            return;
        }
        let mut acked = ack.acked;
        if self.window < self.ssthresh {
            acked = slow_start(&mut self.window, self.ssthresh, acked);
        }
        if acked > 0.0 {
            self.window += self.slope * acked / self.window;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let kept = match event.signal {
            Signal::Loss => 0.5,
            Signal::Ecn => 1.0 - self.alpha / 2.0, // §3.3 step 9
        };
        self.reduce(event, kept);
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.reduce(event, 0.5);
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

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_units::{Duration, Instant};

    #[test]
    fn alpha_is_the_average_share_and_a_mark_takes_half_of_it() {
        let start = Start { window: 100.0, ssthresh: 100.0, random: 0 };
        let mut dctcp = Dctcp::new(&DctcpConfig { gain: 0.0625, initial_alpha: 1.0 }, start);
        let rtt = Duration::from_millis(1);
        for round in 0..200 {
            for i in 0..100 {
                dctcp.on_ack(&AckEvent {
                    now: Instant::ZERO,
                    acked: 1.0,
                    rtt: Some(rtt),
                    srtt: rtt,
                    min_rtt: rtt,
                    in_flight: 100,
                    may_grow: false,
                    round_ended: i == 99,
                    ecn_echo: i < 20,
                    sample: None,
                });
            }
            let expected = 0.2 + 0.8 * libm::pow(15.0 / 16.0, f64::from(round + 1));
            assert!((dctcp.alpha() - expected).abs() < 1e-12);
        }
        let event = |signal| CongestionEvent { now: Instant::ZERO, signal, in_flight: 100 };
        dctcp.on_congestion(&event(Signal::Ecn));
        assert!((dctcp.window() - 90.0).abs() < 1e-3, "{}", dctcp.window());
        dctcp.on_congestion(&event(Signal::Loss));
        assert!((dctcp.window() - 45.0).abs() < 1e-3, "{}", dctcp.window());
    }
}
