//! Vegas: keeps a few packets of its own in the queue (Brakmo & Peterson, IEEE JSAC 13(8), 1995).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | alpha, beta | `alpha`, `beta` | packets queued at the bottleneck: grow below, shrink above |
//! | gamma | `gamma` | packets queued at which slow start ends |
//! | BaseRTT | `AckEvent::min_rtt` | smallest RTT seen |
//! | Diff | `queued` | packets: cwnd (1 - BaseRTT/RTT) |
//!
//! Decides once a round trip, by the smallest RTT of that round (delayed ACKs and bursts only add
//! to an RTT). In slow start the window doubles every other round, so that a round's RTT is that of a
//! constant window. A round with fewer than three samples says nothing about the queue: then Vegas grows as
//! Reno. Losses are answered as Reno does; the paper's fine-grained retransmission timer is left out,
//! which SACK and modern timers replace.

use crate::round_rtt::{queued, RoundRtt, ROUND_RTT};
use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Duration;

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
    /// The round trip's decision.
    fn end_round(&mut self, windows: &mut Windows, rtt: f64, base: Duration, slope: f64) {
        let queued = queued(windows.window, base, rtt);
        if windows.in_slow_start() {
            if queued > self.gamma {
                windows.window =
                    (windows.window * base.as_secs_f64() / rtt + 1.0).min(windows.window).max(MIN_SSTHRESH);
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
            doubling: true,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        self.round.sample(ack.rtt);
        if ack.round_ended && !ack.may_grow {
            self.round.restart(); // a round that ends while the window is unused is forgotten
        }
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        let slow_start = windows.in_slow_start();
        if slow_start && self.doubling {
            windows.slow_start(ack.credit);
        }
        if !ack.round_ended {
            return;
        }
        if let Some(rtt) = self.round.believed() {
            self.end_round(windows, rtt, ack.min_rtt, slope);
        } else if !slow_start {
            windows.window += slope; // as Reno
        }
        self.round.restart();
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(rtt) = self.round.smallest() {
            reader("round_rtt", rtt);
        }
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        self.round.restart();
        0.5
    }

    fn on_timed_out(&mut self, _: &Windows) {
        self.doubling = true;
    }

    fn on_idle_restarted(&mut self) {
        self.round.restart();
    }
}
