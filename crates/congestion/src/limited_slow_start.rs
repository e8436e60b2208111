//! Limited slow start (RFC 3742): a slow start whose steps are bounded, for windows of thousands of packets.
//!
//! | RFC 3742 | here | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | `max_ssthresh` | `max_ssthresh` | packets |
//! | K | `divisor` | ACKs for which the window grows by a packet |
//!
//! Up to `max_ssthresh` it is the standard slow start; above, an ACK counts for 1/K of one, K = cwnd / (max_ssthresh /
//! 2), so that a round trip adds max_ssthresh / 2 packets at most. It stands before a control with the standard slow
//! start, and holds in every slow start, also those after a timeout.

use crate::slow_start::{Behind, SlowStartRule};
use crate::{AckEvent, CongestionControl, Kind};

/// A control whose slow start is limited.
pub type LimitedSlowStart = Behind<LimitedRule>;

/// The count of an ACK in slow start.
#[derive(Debug)]
pub struct LimitedRule {
    pub(crate) max_ssthresh: f64,
}

impl SlowStartRule for LimitedRule {
    fn credit(&mut self, ack: &AckEvent, control: &mut Kind) -> Option<f64> {
        let window = control.window();
        if window <= self.max_ssthresh || window >= control.ssthresh() {
            return None;
        }
        let divisor = window / (0.5 * self.max_ssthresh); // RFC 3742 §2
        Some(ack.credit / divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CongestionEvent, Control, ControlConfig, RenoConfig, Signal, SlowStart, SlowStartChoice, Start,
    };
    use parshall_units::{Duration, Instant};

    const MAX_SSTHRESH: f64 = 100.0;

    fn limited(ssthresh: f64) -> Control {
        let config = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 });
        let slow_start =
            SlowStartChoice { kind: SlowStart::Limited, max_ssthresh: MAX_SSTHRESH, paced: false };
        config.build_with(Start { ssthresh, ..Start::NEW }, slow_start)
    }

    /// A round trip: the window's packets are acknowledged one by one; the window after it.
    fn round(control: &mut Control) -> f64 {
        for _ in 0..control.window() as u64 {
            control.on_ack(&AckEvent::of_one_packet(Instant::ZERO, Duration::from_millis(100)));
        }
        control.window()
    }

    #[test]
    fn a_round_trip_doubles_the_window_up_to_max_ssthresh_and_then_adds_half_of_that() {
        let mut control = limited(f64::INFINITY);
        for expected in [20.0, 40.0, 80.0] {
            assert_eq!(round(&mut control), expected);
        }
        round(&mut control); // through max_ssthresh
        let mut rounds = 0;
        while control.window() < 5000.0 {
            let before = control.window();
            let after = round(&mut control);
            // An ACK adds m / (2 w), so that w^2 grows by m an ACK and a bit: w packets take w to sqrt(w^2 + m w). The
            // whole packets of a window are up to one less.
            let exact = libm::sqrt(before * before + MAX_SSTHRESH * before);
            assert!((after - exact).abs() < 1.0, "{before}: {after}, exactly {exact}");
            assert!(after - before <= MAX_SSTHRESH / 2.0, "{before}: {after}");
            rounds += 1;
        }
        // (cwnd - max_ssthresh) / (max_ssthresh / 2) round trips, RFC 3742 §2.
        assert!((98..=102).contains(&rounds), "{rounds}");
    }

    #[test]
    fn congestion_avoidance_is_the_controls_own() {
        let mut control = limited(200.0);
        while control.window() < 200.0 {
            round(&mut control);
        }
        let window = control.window();
        assert!((round(&mut control) - window - 1.0).abs() < 0.01, "{window}");
    }

    #[test]
    fn it_limits_the_slow_start_after_a_timeout_too() {
        let mut control = limited(f64::INFINITY);
        while control.window() < 1000.0 {
            round(&mut control);
        }
        let in_flight = control.window() as u64;
        control.on_timeout(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight });
        while control.window() <= MAX_SSTHRESH {
            round(&mut control);
        }
        let before = control.window();
        assert!(before < control.ssthresh() && round(&mut control) - before <= MAX_SSTHRESH / 2.0);
    }
}
