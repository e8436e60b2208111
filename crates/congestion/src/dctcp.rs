//! DCTCP: data center TCP (RFC 8257).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | g | `gain` | weight of the newest round trip |
//! | DCTCP.Alpha | `alpha` | share of packets marked, averaged |
//! | M | `marked` / `acked` | share of packets marked in this round trip |
//!
//! Grows as Reno and answers a loss as Reno. A mark takes alpha/2 of the window, once a round trip (§3.3): half of it
//! if every packet is marked, and little if few are, so that a queue that marks at a low threshold stays short. The
//! receiver must echo the marks of each ACK's own packets (§3.2); with the echo of RFC 3168 alpha goes to 1, and DCTCP
//! is Reno.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Needs, Signal, Start};
use parshall_units::parameters::{Reader, Variable};

parshall_units::configuration! {
    /// Parameters of [`Dctcp`].
    pub struct DctcpConfig {
        /// Weight of the newest round trip in the average share of marked packets.
        gain: f64, default "0.0625", min 0.0001, max 1.0;
        /// Average share of marked packets at the start.
        initial_alpha: f64, default "1", min 0.0, max 1.0;
    }
}

/// Reduces in proportion to the marks.
pub type Dctcp = WindowBased<DctcpRule>;

/// Reno's increase, and a decrease by the share of packets marked.
#[derive(Clone, Debug)]
pub struct DctcpRule {
    gain: f64,
    alpha: f64,
    acked: f64,
    marked: f64,
}

impl WindowRule for DctcpRule {
    type Config = DctcpConfig;

    const SUMMARY: &'static str = "reduces in proportion to the share of packets that are marked";
    const REFERENCE: &'static str = "RFC 8257";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[Variable::new("alpha", "", "average share of packets marked (DCTCP.Alpha)")];
    const NEEDS: Needs = Needs { accurate_ecn: true, ..Needs::NONE };

    fn new(config: &DctcpConfig, _: &Start) -> Self {
        Self { gain: config.gain, alpha: config.initial_alpha, acked: 0.0, marked: 0.0 }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        let acked = ack.acked as f64;
        self.acked += acked;
        if ack.ecn_echo {
            self.marked += acked;
        }
        if ack.round_ended && self.acked > 0.0 {
            self.alpha += self.gain * (self.marked / self.acked - self.alpha); // RFC 8257 §3.3 step 7
            (self.acked, self.marked) = (0.0, 0.0);
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        windows.window += slope * acked / windows.window;
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("alpha", self.alpha);
    }

    fn reduce(&mut self, _: f64, event: &CongestionEvent) -> f64 {
        match event.signal {
            Signal::Loss => 0.5,
            Signal::Ecn => 1.0 - self.alpha / 2.0, // §3.3 step 9
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use parshall_units::{Duration, Instant};

    #[test]
    fn alpha_is_the_average_share_and_a_mark_takes_half_of_it() {
        let start = Start { window: 100.0, ssthresh: 100.0, ..Start::NEW };
        let mut dctcp = Dctcp::new(&DctcpConfig { gain: 0.0625, initial_alpha: 1.0 }, start);
        let rtt = Duration::from_millis(1);
        for round in 0..200 {
            for i in 0..100 {
                dctcp.on_ack(&AckEvent {
                    may_grow: false,
                    round_ended: i == 99,
                    ecn_echo: i < 20,
                    ..AckEvent::of_one_packet(Instant::ZERO, rtt)
                });
            }
            let expected = 0.2 + 0.8 * libm::pow(15.0 / 16.0, f64::from(round + 1));
            assert!((dctcp.rule.alpha - expected).abs() < 1e-12);
        }
        let event = |signal| CongestionEvent { now: Instant::ZERO, signal, in_flight: 100 };
        dctcp.on_congestion(&event(Signal::Ecn));
        assert!((dctcp.window() - 90.0).abs() < 1e-3, "{}", dctcp.window());
        dctcp.on_congestion(&event(Signal::Loss));
        assert!((dctcp.window() - 45.0).abs() < 1e-3, "{}", dctcp.window());
    }
}
