//! BIC: binary increase congestion control (Xu, Harfoush & Rhee, INFOCOM 2004).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | max_win | `w_max` | packets, window before the last reduction |
//! | S_max, S_min | `s_max`, `s_min` | packets a round trip, largest and smallest step |
//! | 1 - beta | `decrease` | factor kept at a congestion event |
//! | low_window | `low_window` | packets; below, the control is Reno |
//! | ss_cwnd, ss_target | `probe_step`, `probe_target` | packets: max probing |
//! | B (Linux) | `divisor` | the way to the maximum over a step |
//!
//! Below `w_max` a round trip goes half of the way to it, but no more than S_max: additive increase far from it, binary
//! search near. Where the step would be less than S_min the window is set to `w_max`, and max probing begins: steps
//! that double from 1 to S_max. A flow that loses before it reaches its last maximum aims lower (fast convergence).
//!
//! Linux' version of that time differs: it keeps 819/1024 instead of 7/8, has S_max = 16, goes a quarter of the way,
//! grows by a twentieth of the window at least until the first loss, ends slow start at 100 packets, forgets all after
//! a timeout, and adds 1/5 packet a round trip from 8 packets below the maximum to 4 above it, then a third of what it
//! is above. All but the last two can be had: `{ decrease = 0.8, s_max = 16, divisor = 4, initial_growth = 0.05 }`, and
//! `initial_ssthresh` of the group.
//!
//! Read: the abstract of the paper, secondary texts of its algorithm, and Linux' net/ipv4/tcp_bic.c in two versions of
//! 2.6, for its constants and conditions; the 100 packets are from GEANT's notes on it (2007). Not read: the paper's
//! pseudocode.

use crate::last_maximum::{after_loss, W_MAX};
use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Packets;

parshall_units::configuration! {
    /// Parameters of [`Bic`].
    pub struct BicConfig {
        /// Largest step, in packets a round trip.
        s_max: f64, default "32", min 1.0, max 1e5;
        /// Step below which the window is taken to have reached its maximum.
        s_min: f64, default "0.01", min 1e-6, max 1.0;
        /// Factor of the window that is kept at a congestion event.
        decrease: f64, default "0.875", min 0.01, max 0.999;
        /// Window below which the control does as Reno.
        low_window: Packets, default "14 packets", min "0 packets";
        /// The way to the maximum over a step of the binary search.
        divisor: f64, default "2", min 1.0, max 100.0;
        /// Part of the window that a round trip adds at least until the first loss.
        initial_growth: f64, default "0", min 0.0, max 1.0;
        /// Whether a flow that loses before reaching its last maximum releases bandwidth sooner.
        fast_convergence: bool, default "true";
    }
}

/// Binary search for the window at which packets were lost.
pub type Bic = WindowBased<BicRule>;

/// Binary search, then probing.
#[derive(Clone, Debug)]
pub struct BicRule {
    s_max: f64,
    s_min: f64,
    decrease: f64,
    low_window: f64,
    divisor: f64,
    /// 0 from the first loss on.
    initial_growth: f64,
    fast_convergence: bool,
    w_max: f64,
    probe_step: f64,
    probe_target: f64,
}

impl BicRule {
    fn step(&mut self, window: &mut f64, acked: f64) {
        if *window < self.low_window {
            *window += acked / *window;
        } else if *window < self.w_max {
            self.search(window, acked);
        } else {
            self.probe(window, acked);
        }
    }

    fn search(&mut self, window: &mut f64, acked: f64) {
        let step = (self.w_max - *window) / self.divisor;
        if step < self.s_min {
            *window = self.w_max;
        } else {
            *window = (*window + step.min(self.s_max) * acked / *window).min(self.w_max);
        }
        self.probe_step = 1.0;
        self.probe_target = 0.0;
    }

    fn probe(&mut self, window: &mut f64, acked: f64) {
        if self.probe_target == 0.0 {
            self.probe_target = *window + self.probe_step;
        }
        let step = self.probe_step.min(self.s_max).max(self.initial_growth * *window);
        *window += step * acked / *window;
        if self.probe_step < self.s_max && *window >= self.probe_target {
            self.probe_step *= 2.0;
            self.probe_target = *window + self.probe_step;
        }
    }
}

impl WindowRule for BicRule {
    type Config = BicConfig;

    const SUMMARY: &'static str = "binary search for the window of the last loss, then probing beyond";
    const REFERENCE: &'static str = "Xu, Harfoush & Rhee, INFOCOM 2004";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[W_MAX, Variable::new("probe_step", "packets", "step of max probing beyond w_max, a round trip")];

    fn new(config: &BicConfig, _: &Start) -> Self {
        Self {
            s_max: config.s_max,
            s_min: config.s_min,
            decrease: config.decrease,
            low_window: config.low_window.0 as f64,
            divisor: config.divisor,
            initial_growth: config.initial_growth,
            fast_convergence: config.fast_convergence,
            w_max: 0.0,
            probe_step: 1.0,
            probe_target: 0.0,
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        self.step(&mut windows.window, slope * acked);
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("w_max", self.w_max);
        reader("probe_step", self.probe_step);
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        let kept = if used < self.low_window { 0.5 } else { self.decrease };
        self.w_max = after_loss(used, kept, self.w_max, self.fast_convergence);
        self.initial_growth = 0.0;
        self.probe_step = 1.0;
        self.probe_target = 0.0;
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::{Duration, Instant};

    fn paper() -> BicConfig {
        BicConfig {
            s_max: 32.0,
            s_min: 0.01,
            decrease: 0.875,
            low_window: Packets(14),
            divisor: 2.0,
            initial_growth: 0.0,
            fast_convergence: true,
        }
    }

    /// Windows at the ends of round trips.
    fn rounds(bic: &mut Bic, count: usize) -> Vec<f64> {
        let rtt = Duration::from_millis(100);
        let mut windows = vec![bic.window()];
        for _ in 0..count {
            for _ in 0..bic.window() as u64 {
                bic.on_ack(&AckEvent::of_one_packet(Instant::ZERO, rtt));
            }
            windows.push(bic.window());
        }
        windows
    }

    #[test]
    fn searches_additively_then_binary_then_probes() {
        let config = paper();
        let mut bic = Bic::new(&config, Start { window: 2000.0, ssthresh: 1.0, ..Start::NEW });
        bic.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 2000 });
        let windows = rounds(&mut bic, 40);
        assert_eq!(windows[0], 1750.0);
        // 250 below the maximum: five round trips of 32 packets, until less than 64 are left.
        for i in 0..5 {
            let step = windows[i + 1] - windows[i];
            assert!((step - 32.0).abs() < 0.5, "round {i}: {step}");
        }
        // Then what is left shrinks by exp(-1/2) a round trip: half the way, taken anew at each ACK.
        let left: Vec<f64> = windows[8..16].iter().map(|w| 2000.0 - w).collect();
        for pair in left.windows(2) {
            assert!((pair[1] / pair[0] - libm::exp(-0.5)).abs() < 0.01, "{left:?}");
        }
        // Beyond the maximum, steps that double up to 32; the one of 1 is within the round trip that reaches it.
        let beyond: Vec<f64> =
            windows.windows(2).filter(|w| w[0] >= 2000.0).map(|w| w[1] - w[0]).take(6).collect();
        for (step, expected) in beyond.iter().zip([2.0, 4.0, 8.0, 16.0, 32.0, 32.0]) {
            assert!((step - expected).abs() < 0.05 * expected, "{beyond:?}");
        }
    }

    #[test]
    fn below_14_packets_it_is_reno() {
        let config = paper();
        let mut bic = Bic::new(&config, Start { window: 13.0, ssthresh: 1.0, ..Start::NEW });
        bic.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 13 });
        assert_eq!(bic.window(), 6.5);
        for step in rounds(&mut bic, 5).windows(2).map(|pair| pair[1] - pair[0]) {
            assert!((0.85..=1.0).contains(&step), "{step}");
        }
        // From 14 on it keeps 7/8.
        let mut bic = Bic::new(&config, Start { window: 14.0, ssthresh: 1.0, ..Start::NEW });
        bic.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 14 });
        assert_eq!(bic.window(), 12.25);
    }

    #[test]
    fn the_search_ends_at_the_maximum_once_steps_are_below_s_min() {
        let config = BicConfig { s_min: 0.5, ..paper() };
        let mut bic = Bic::new(&config, Start { window: 400.0, ssthresh: 1.0, ..Start::NEW });
        bic.rule.w_max = 401.1;
        bic.rule.step(&mut bic.windows.window, 1.0);
        assert!(bic.window() < 401.0); // half of 1.1 is more than 0.5
        (bic.windows.window, bic.rule.w_max) = (400.2, 401.1);
        bic.rule.step(&mut bic.windows.window, 1.0);
        assert_eq!(bic.window(), 401.1);
    }

    #[test]
    fn an_early_loss_lowers_the_aim() {
        let config = paper();
        let mut bic = Bic::new(&config, Start { window: 1000.0, ssthresh: 1.0, ..Start::NEW });
        let loss = |in_flight| CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight };
        bic.on_congestion(&loss(1000));
        bic.on_congestion(&loss(875));
        assert_eq!(bic.rule.w_max, 875.0 * (1.0 - 0.125 / 2.0));
    }

    #[test]
    fn linux_grows_by_a_twentieth_until_the_first_loss_and_goes_a_quarter_of_the_way() {
        let config = BicConfig { s_max: 16.0, decrease: 0.8, divisor: 4.0, initial_growth: 0.05, ..paper() };
        let mut bic = Bic::new(&config, Start { window: 1000.0, ssthresh: 100.0, ..Start::NEW });
        let windows = rounds(&mut bic, 3);
        for pair in windows.windows(2) {
            assert!((pair[1] / pair[0] - 1.05).abs() < 1e-3, "{windows:?}");
        }
        (bic.windows.window, bic.rule.w_max) = (1000.0, 0.0);
        bic.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 1000 });
        let windows = rounds(&mut bic, 20);
        assert!((windows[1] - windows[0] - 16.0).abs() < 0.3, "{windows:?}");
        let left: Vec<f64> = windows[12..18].iter().map(|w| 1000.0 - w).collect();
        for pair in left.windows(2) {
            assert!((pair[1] / pair[0] - libm::exp(-0.25)).abs() < 0.01, "{left:?}");
        }
    }
}
