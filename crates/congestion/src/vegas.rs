//! Vegas: keeps a few packets of its own in the queue (Brakmo & Peterson, IEEE JSAC 13(8), 1995).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | alpha, beta | `alpha`, `beta` | packets queued at the bottleneck: grow below, shrink above |
//! | gamma | `gamma` | packets queued at which slow start ends |
//! | BaseRTT | `AckEvent::min_rtt` | smallest RTT seen |
//! | Diff | `queued` | packets: cwnd (1 - BaseRTT/RTT) |
//!
//! Decides once a round trip, by the smallest RTT of the first three packets that were sent since it began
//! ([`RoundRtt`]): delayed ACKs and bursts only add to an RTT. In slow start the window doubles every other round trip,
//! and those in which it is constant decide, so that the RTT is that of the window at hand. A round trip with fewer
//! than three samples is no measure of the queue: then Vegas grows as Reno. Losses are answered as Reno does; the
//! paper's fine-grained retransmission timer is left out, which SACK and modern timers replace.
//!
//! Linux' net/ipv4/tcp_vegas.c takes the smallest RTT of all ACKs of a round trip, whose packets were sent in the one
//! before, and doubles in each: so it leaves slow start later.

use crate::round_rtt::{RoundRtt, ROUND_RTT};
use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};

parshall_units::configuration! {
    /// Parameters of [`Vegas`].
    pub struct VegasConfig {
        /// Packets queued below which the window grows.
        alpha: f64, default "2", min 0.0, max 1e5;
        /// Packets queued above which the window shrinks.
        beta: f64, default "4", min 0.0, max 1e5;
        /// Packets queued at which slow start ends.
        gamma: f64, default "1", min 0.0, max 1e5;
    }
}

/// Delay-based congestion avoidance.
pub type Vegas = WindowBased<VegasRule>;

/// The round trip's decision by the packets that are queued.
#[derive(Clone, Debug)]
pub struct VegasRule {
    alpha: f64,
    beta: f64,
    gamma: f64,
    round: RoundRtt,
    /// In slow start: whether the window grows in this round.
    doubling: bool,
}

impl VegasRule {
    /// The round trip's decision, with so many packets queued.
    fn end_round(&mut self, windows: &mut Windows, queued: f64, slope: f64) {
        if windows.in_slow_start() {
            if !self.doubling && queued > self.gamma {
                windows.window = (windows.window - queued + 1.0).min(windows.window).max(MIN_SSTHRESH);
                windows.ssthresh = windows.window;
            }
            self.doubling = !self.doubling;
        } else if queued > self.beta {
            windows.window = (windows.window - 1.0).max(MIN_SSTHRESH);
            windows.ssthresh = windows.window;
        } else if queued < self.alpha {
            windows.window += slope;
        }
    }
}

impl WindowRule for VegasRule {
    type Config = VegasConfig;

    const SUMMARY: &'static str = "keeps alpha to beta packets in the bottleneck's queue";
    const REFERENCE: &'static str = "Brakmo & Peterson, IEEE JSAC 13(8), 1995";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] = &[ROUND_RTT];
    const STANDARD_SLOW_START: bool = false;
    /// With fewer samples it could not measure a round trip, and would be Reno.
    const NEEDS: Needs = Needs { timestamps: true, ..Needs::NONE };

    fn new(config: &VegasConfig, _: &Start) -> Self {
        Self {
            alpha: config.alpha,
            beta: config.beta.max(config.alpha),
            gamma: config.gamma,
            round: RoundRtt::default(),
            doubling: false,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        self.round.count(ack);
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        let slow_start = windows.in_slow_start();
        if slow_start && self.doubling {
            windows.slow_start(ack.credit);
        }
        let queued = self.round.is_known().then(|| self.round.queued(windows.window)).flatten();
        if let Some(queued) = queued {
            self.end_round(windows, queued, slope);
        } else if self.round.had_too_few() {
            // As Reno.
            if slow_start {
                self.doubling = true;
            } else {
                windows.window += slope;
            }
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(rtt) = self.round.smallest() {
            reader("round_rtt", rtt);
        }
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        self.round.give_up();
        0.5
    }

    fn on_timed_out(&mut self, _: &Windows) {
        self.doubling = true;
    }

    fn on_idle_restarted(&mut self) {
        self.round.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use parshall_units::{Duration, Instant};

    /// A round trip of a path on which nothing queues: an ACK for each packet of the window.
    fn round(control: &mut Vegas) {
        for index in 0..control.window() as u64 {
            let ack = AckEvent::of_one_packet(Instant::ZERO, Duration::from_millis(100));
            control.on_ack(&AckEvent { round_ended: index == 0, ..ack });
        }
    }

    #[test]
    fn slow_start_begins_from_windows_of_too_few_samples() {
        for window in [1.0, 2.0, 3.0, 10.0] {
            let config = VegasConfig { alpha: 2.0, beta: 4.0, gamma: 1.0 };
            let mut control = Vegas::new(&config, Start { window, ..Start::NEW });
            (0..20).for_each(|_| round(&mut control));
            // It doubles every second round trip: by 2^8 in sixteen of these, and four are left for the beginning.
            assert!(control.window() >= 256.0 * window, "from {window}: {}", control.window());
        }
    }
}
