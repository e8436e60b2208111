//! Reno: additive increase, multiplicative decrease.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | a | `increase` | packets a round trip |
//! | b | `decrease` | factor kept at a congestion event |
//! | beta_ecn | `ecn_decrease` | least factor kept at a mark in congestion avoidance |
//!
//! RFC 5681 has a = 1 and b = 1/2. Alternative backoff with ECN (ABE, RFC 8511) has beta_ecn = 0.8: who marks keeps its
//! queue short, and half of the window would leave the link idle. In slow start a mark is answered as a loss. What
//! happens during loss recovery (window inflation, partial ACKs) is the endpoint's business, so this one file serves
//! Tahoe, Reno, NewReno and SACK.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};

parshall_units::configuration! {
    /// Parameters of [`Reno`].
    pub struct RenoConfig {
        /// Packets added to the window each round trip in congestion avoidance.
        increase: f64, default "1", min 1e-6, max 1000.0;
        /// Factor of the window that is kept at a congestion event.
        decrease: f64, default "0.5", min 0.01, max 0.999;
        /// Least factor of the window that is kept at a mark in congestion avoidance (alternative backoff, RFC 8511: 0.8); 0: as at a loss.
        ecn_decrease: f64, default "0", min 0.0, max 0.999;
    }
}

/// AIMD with slow start (RFC 5681).
pub type Reno = WindowBased<RenoRule>;

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct RenoRule {
    increase: f64,
    decrease: f64,
    ecn_decrease: f64,
}

impl WindowRule for RenoRule {
    type Config = RenoConfig;

    const SUMMARY: &'static str = "additive increase, multiplicative decrease";
    const REFERENCE: &'static str = "RFC 5681";
    const STEERABLE: bool = true;

    fn new(config: &RenoConfig, _: &Start) -> Self {
        Self { increase: config.increase, decrease: config.decrease, ecn_decrease: config.ecn_decrease }
    }

    #[inline]
    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        windows.window += self.increase * (slope * acked) / windows.window; // RFC 5681 eq. (3)
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        self.decrease
    }

    fn kept_at_mark(&self) -> f64 {
        self.ecn_decrease
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::Instant;

    #[test]
    fn a_mark_in_congestion_avoidance_may_keep_more_than_a_loss() {
        let (abe, plain) = (0.8, 0.0);
        for (ecn_decrease, signal, ssthresh, kept) in [
            (abe, Signal::Ecn, 50.0, 0.8),
            (abe, Signal::Ecn, f64::INFINITY, 0.5), // slow start
            (abe, Signal::Loss, 50.0, 0.5),
            (plain, Signal::Ecn, 50.0, 0.5),
        ] {
            let config = RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease };
            let mut reno = Reno::new(&config, Start { window: 100.0, ssthresh, ..Start::NEW });
            reno.on_congestion(&CongestionEvent { now: Instant::ZERO, signal, in_flight: 100 });
            assert_eq!(reno.window(), 100.0 * kept);
        }
    }
}
