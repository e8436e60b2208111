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

use crate::{slow_start, window_in_use, AckEvent, CongestionControl, CongestionEvent, Start, MIN_SSTHRESH};
use parshall_units::Duration;

parshall_units::configuration! {
    /// Parameters of [`Vegas`].
    pub struct VegasConfig {
        /// Packets queued below which the window grows.
        alpha: f64 => Number, default "2", min 0.0, max 1e5;
        /// Packets queued above which the window shrinks.
        beta: f64 => Number, default "4", min 0.0, max 1e5;
        /// Packets queued at which slow start ends.
        gamma: f64 => Number, default "1", min 0.0, max 1e5;
    }
}

/// Samples that a round needs before its RTT is believed.
const MIN_SAMPLES: u32 = 3;

/// Delay-based congestion avoidance.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: f64,
    pub(crate) ssthresh: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Packets added in a round trip of congestion avoidance; 1 but for the large time scale.
    pub(crate) increase: f64,
    round_rtt: Duration,
    samples: u32,
    /// In slow start: whether the window grows in this round.
    doubling: bool,
}

impl Vegas {
    pub(crate) const SUMMARY: &'static str = "keeps alpha to beta packets in the bottleneck's queue";
    pub(crate) const REFERENCE: &'static str = "Brakmo & Peterson, IEEE JSAC 13(8), 1995";

    /// A control at the start of a connection.
    pub fn new(config: &VegasConfig, start: Start) -> Self {
        Self {
            window: start.window,
            ssthresh: start.ssthresh,
            alpha: config.alpha,
            beta: config.beta.max(config.alpha),
            gamma: config.gamma,
            increase: 1.0,
            round_rtt: Duration::MAX,
            samples: 0,
            doubling: true,
        }
    }

    /// The round trip's decision.
    fn end_round(&mut self, min_rtt: Duration) {
        let (rtt, base) = (self.round_rtt.as_secs_f64(), min_rtt.as_secs_f64());
        let queued = self.window * (1.0 - base / rtt);
        if self.window < self.ssthresh {
            if queued > self.gamma {
                self.window = (self.window * base / rtt + 1.0).min(self.window).max(MIN_SSTHRESH);
                self.ssthresh = self.window;
            }
            self.doubling = !self.doubling;
        } else if queued > self.beta {
            self.window = (self.window - 1.0).max(MIN_SSTHRESH);
            self.ssthresh = self.window;
        } else if queued < self.alpha {
            self.window += self.increase;
        }
    }

    fn start_round(&mut self) {
        self.round_rtt = Duration::MAX;
        self.samples = 0;
    }
}

impl CongestionControl for Vegas {
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.round_rtt = self.round_rtt.min(rtt);
            self.samples += 1;
        }
        let judged = self.samples >= MIN_SAMPLES;
        if !ack.may_grow {
            // An unused window is not grown; a round that ends meanwhile is forgotten.
        } else if self.window < self.ssthresh {
            if self.doubling {
                slow_start(&mut self.window, self.ssthresh, ack.acked);
            }
            if ack.round_ended && judged {
                self.end_round(ack.min_rtt);
            }
        } else if ack.round_ended && judged {
            self.end_round(ack.min_rtt);
        } else if ack.round_ended {
            self.window += self.increase; // as Reno
        }
        if ack.round_ended {
            self.start_round();
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = (window_in_use(self.window, event) / 2.0).max(MIN_SSTHRESH);
        self.window = self.ssthresh;
        self.start_round();
    }

    fn on_idle_restart(&mut self, restart_window: f64) {
        self.window = self.window.min(restart_window);
        self.start_round();
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.on_congestion(event);
        self.window = 1.0;
        self.doubling = true;
    }
}
