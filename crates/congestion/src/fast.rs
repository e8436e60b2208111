//! FAST TCP (Jin, Wei & Low, INFOCOM 2004): a window that keeps alpha packets in the queue.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | w | `window` | packets |
//! | alpha | `alpha` | packets that the flow keeps in queues |
//! | gamma | `gamma` | weight of the new window |
//! | baseRTT | `AckEvent::min_rtt` | smallest RTT seen |
//! | RTT | `average_rtt_s` | s, average with weight min(3/w, 1/4) |
//!
//! Every other round trip w goes to min{2w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha)}, eq. (6), a part of the way
//! with each ACK; in the round trips between, it rests, so that the RTT can follow (§III-C). In equilibrium w (1 -
//! baseRTT/RTT) = alpha: like Vegas, but the step is in proportion to the distance from there. A loss halves the
//! window.
//!
//! What the paper leaves open: slow start ends as soon as half of alpha is queued; gamma is 1/2; alpha is constant, the
//! paper's first choice (it may also be in proportion to w while nothing is queued, which slow start does here). A
//! window that is not used is not changed.
//!
//! Read: the FAST of two simulators, for eq. (6) and gamma; secondary texts for the rest. Not read: the paper itself,
//! so its equations and sections are numbered as others cite them.

use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::{Reader, Variable};

parshall_units::configuration! {
    /// Parameters of [`Fast`].
    pub struct FastConfig {
        /// Packets that the flow keeps in the bottleneck's queue.
        alpha: f64, default "100", min 0.1, max 1e6;
        /// Weight of the new window in each step.
        gamma: f64, default "0.5", min 0.001, max 1.0;
    }
}

/// Keeps a number of packets in the queue.
pub type Fast = WindowBased<FastRule>;

/// Steps towards the window that keeps alpha packets in queues.
#[derive(Clone, Debug)]
pub struct FastRule {
    alpha: f64,
    gamma: f64,
    /// 0 before the first sample.
    average_rtt_s: f64,
    /// Where the window goes in this round trip, and by how much with each packet acknowledged; 0: it rests.
    target: f64,
    step: f64,
}

impl FastRule {
    /// Where the window goes in the round trip that begins. `slope` is a factor of gamma where the window grows, up to
    /// all of the way.
    fn end_round(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        if self.average_rtt_s == 0.0 {
            return;
        }
        let unqueued = (ack.min_rtt.as_secs_f64() / self.average_rtt_s).min(1.0);
        if windows.in_slow_start() {
            if windows.window * (1.0 - unqueued) >= self.alpha / 2.0 {
                windows.ssthresh = windows.window;
            }
            return;
        }
        if self.step == 0.0 {
            let wanted = unqueued * windows.window + self.alpha;
            let gain = if wanted > windows.window { (slope * self.gamma).min(1.0) } else { self.gamma };
            let next = (1.0 - gain) * windows.window + gain * wanted;
            self.target = next.min(2.0 * windows.window).max(MIN_SSTHRESH); // eq. (6)
            self.step = (self.target - windows.window) / windows.window;
        } else {
            self.rest();
        }
    }

    /// The round trip's part of the way; all of it, unless packets of it were lost.
    fn approach(&self, windows: &mut Windows, acked: f64) {
        let next = windows.window + self.step * acked;
        windows.window = if self.step > 0.0 { next.min(self.target) } else { next.max(self.target) };
        windows.ssthresh = windows.ssthresh.min(windows.window);
    }

    fn rest(&mut self) {
        self.step = 0.0;
    }
}

impl WindowRule for FastRule {
    type Config = FastConfig;

    const SUMMARY: &'static str = "keeps alpha packets in the bottleneck's queue, at any rate";
    const REFERENCE: &'static str = "Jin, Wei & Low, INFOCOM 2004";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] = &[
        Variable::new("target", "packets", "where the window goes in this round trip"),
        Variable::new("average_rtt", "s", "moving average of the RTT"),
    ];
    const STANDARD_SLOW_START: bool = false;

    fn new(config: &FastConfig, start: &Start) -> Self {
        Self { alpha: config.alpha, gamma: config.gamma, average_rtt_s: 0.0, target: start.window, step: 0.0 }
    }

    fn observe(&mut self, windows: &mut Windows, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        let sample = rtt.as_secs_f64();
        if self.average_rtt_s == 0.0 {
            self.average_rtt_s = sample;
        }
        let weight = (3.0 / windows.window).min(0.25); // Jin, Wei & Low 2004, §III-A
        self.average_rtt_s += weight * (sample - self.average_rtt_s);
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        if windows.in_slow_start() {
            windows.slow_start(ack.credit);
        }
        if ack.round_ended {
            self.end_round(windows, ack, slope);
        }
        if self.step != 0.0 {
            self.approach(windows, ack.credit);
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("target", self.target);
        reader("average_rtt", self.average_rtt_s);
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        self.rest();
        0.5
    }

    fn on_idle_restarted(&mut self) {
        self.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use parshall_units::{Duration, Instant};

    fn equilibrium(alpha: f64, rate: f64, start: f64) -> f64 {
        let config = FastConfig { alpha, gamma: 0.5 };
        settled(Fast::new(&config, Start { window: start, ssthresh: 1.0, ..Start::NEW }), rate)
    }

    /// The window after rounds on a link of `rate` packets/s with a deep buffer: the RTT is what the window makes it.
    fn settled(mut fast: Fast, rate: f64) -> f64 {
        let base = Duration::from_millis(50);
        for _ in 0..400 {
            let rtt = base.as_secs_f64().max(fast.window() / rate);
            for i in 0..(fast.window() as u64).max(1) {
                fast.on_ack(&AckEvent {
                    srtt: base,
                    min_rtt: base,
                    round_ended: i == 0,
                    ..AckEvent::of_one_packet(Instant::ZERO, Duration::from_secs_f64(rtt))
                });
            }
        }
        fast.window()
    }

    #[test]
    fn the_window_moves_in_one_round_trip_and_rests_in_the_next() {
        let config = FastConfig { alpha: 100.0, gamma: 0.5 };
        let mut fast = Fast::new(&config, Start { window: 1000.0, ssthresh: 1.0, ..Start::NEW });
        let (base, rtt) = (Duration::from_millis(50), Duration::from_millis(100));
        let mut windows = vec![fast.window()];
        for _ in 0..4 {
            for i in 0..fast.window() as u64 {
                fast.on_ack(&AckEvent {
                    min_rtt: base,
                    round_ended: i == 0,
                    ..AckEvent::of_one_packet(Instant::ZERO, rtt)
                });
            }
            windows.push(fast.window());
        }
        // 1000/2 + (1000/2 + 100)/2 = 800, then 800/2 + (800/2 + 100)/2 = 650.
        for (window, expected) in windows.iter().zip([1000.0, 800.0, 800.0, 650.0, 650.0]) {
            assert!((window - expected).abs() < 1.0, "{windows:?}");
        }
    }

    #[test]
    fn the_rtt_is_averaged_over_a_third_of_the_window_and_four_samples_at_least() {
        for (window, weight) in [(300.0, 0.01), (4.0, 0.25)] {
            let mut fast = Fast::new(
                &FastConfig { alpha: 100.0, gamma: 0.5 },
                Start { window, ssthresh: 1e6, ..Start::NEW },
            );
            let sample = |rtt_ms| AckEvent {
                min_rtt: Duration::from_millis(50),
                may_grow: false,
                ..AckEvent::of_one_packet(Instant::ZERO, Duration::from_millis(rtt_ms))
            };
            fast.on_ack(&sample(50));
            fast.on_ack(&sample(150));
            assert!((fast.rule.average_rtt_s - 0.05 - 0.1 * weight).abs() < 1e-12);
        }
    }

    #[test]
    fn a_larger_slope_goes_all_the_way_to_the_same_window() {
        let config = FastConfig { alpha: 100.0, gamma: 0.5 };
        let (rtt, start) = (Duration::from_millis(50), Start { window: 500.0, ssthresh: 1.0, ..Start::NEW });
        let ack = |round_ended| AckEvent { round_ended, ..AckEvent::of_one_packet(Instant::ZERO, rtt) };
        // Nothing is queued, so that alpha packets are missing: half of the way, a tenth of it, all of it.
        for (slope, added) in [(1.0, 50.0), (0.2, 10.0), (6.0, 100.0)] {
            let mut fast = Fast::new(&config, start);
            fast.set_slope(slope);
            (0..500).for_each(|i| fast.on_ack(&ack(i == 0)));
            assert!((fast.window() - 500.0 - added).abs() < 0.5, "{slope}: {}", fast.window());
        }
        for slope in [0.2, 1.0, 6.0] {
            let mut fast = Fast::new(&config, start);
            fast.set_slope(slope);
            let window = settled(fast, 1e4);
            assert!((window - 600.0).abs() < 6.0, "{slope}: {window}");
        }
    }

    #[test]
    fn settles_with_alpha_packets_queued_at_any_rate() {
        for (alpha, rate) in [(10.0, 1e3), (100.0, 1e4), (200.0, 1e5)] {
            for start in [2.0, 20_000.0] {
                let window = equilibrium(alpha, rate, start);
                let expected = rate * 0.05 + alpha;
                assert!((window - expected).abs() < 0.01 * expected, "{window}, expected {expected}");
            }
        }
    }
}
