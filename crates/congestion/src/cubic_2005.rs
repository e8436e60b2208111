//! CUBIC as first published (Rhee & Xu, PFLDnet 2005), which Linux had from 2.6.13 on.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | C | `c` | packets/s^3 |
//! | 1 - beta | `decrease` | factor kept at a congestion event: 4/5 |
//! | W_max | `w_max` | packets, window before the last reduction |
//! | K | `k_s` | s, time to come back to W_max |
//! | S_max | `s_max` | packets/s, fastest growth |
//! | W_tcp | [`Cubic2005Rule::w_tcp`] | packets, what Reno would have |
//! | t | since `epoch` | s |
//!
//! W = C (t - K)^3 + W_max with K = cbrt(beta W_max / C). Against RFC 9438: a fifth instead of three tenths is taken at
//! a loss; the window grows by no more than S_max a second (in the RFC by half of itself a round trip); t runs from the
//! reduction, not from the end of the recovery; and W_tcp counts round trips by t/RTT instead of by ACKs, and keeps its
//! slope above W_max. Fast convergence is that of BIC.
//!
//! Linux' version of that time keeps 819/1024, and has S_max = 16 packets in 100 ms. It differs in what comes before
//! the first loss: slow start ends at 100 packets, and then a round trip adds a fiftieth of the window
//! (`initial_ssthresh` of the group, `initial_growth = 0.02`). It also counts W_tcp by ACKs, begins t with the first
//! ACK after the recovery, and forgets all after a timeout.
//!
//! Its C is 0.4 from 2.6.19 on. Until 2.6.18 the constant that multiplies (t - K)^3 was scaled wrongly: (41 * 8)/10 =
//! 32 of 1024ths for a tenth of a second where 41 * 10 = 410 were meant, 12.8 times too little. K came from another
//! constant, which was right. So W(0) is not the window but 0.98 W_max: the window grows by S_max up to there, reaches
//! W_max after K as it should, and beyond it grows 12.8 times too slowly. `scaling_error` is that version.
//!
//! Read: Linux' net/ipv4/tcp_cubic.c, version 2.0, for its constants and conditions, and its correction "cubic: grow
//! too slowly" (stable kernels, 31 October 2006); RFC 9438 for what came later. Not read: the paper of 2005.

use crate::epoch::Epoch;
use crate::last_maximum::{after_loss, K, W_MAX};
use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Instant;

parshall_units::configuration! {
    /// Parameters of [`Cubic2005`].
    pub struct Cubic2005Config {
        /// Aggressiveness C, in packets per cubed second.
        c: f64, default "0.4", min 1e-6, max 1000.0;
        /// Factor of the window that is kept at a congestion event.
        decrease: f64, default "0.8", min 0.01, max 0.999;
        /// Fastest growth, in packets a second.
        s_max: f64, default "160", min 0.001, max 1e9;
        /// Part of the window that a round trip adds at least until the first loss.
        initial_growth: f64, default "0", min 0.0, max 1.0;
        /// Whether a flow that loses before reaching its last maximum releases bandwidth sooner.
        fast_convergence: bool, default "true";
        /// Whether the window is never below what Reno would reach.
        reno_friendly: bool, default "true";
        /// Whether the cubic term is 12.8 times too small, as in Linux before 2.6.19.
        scaling_error: bool, default "false";
    }
}

/// What is left of the cubic term in Linux before 2.6.19: 32 where 410 were meant.
const WRONG_SCALE: f64 = 32.0 / 410.0;

/// The cubic window growth of 2005.
pub type Cubic2005 = WindowBased<Cubic2005Rule>;

/// A cubic of the time since the last reduction, clamped.
#[derive(Clone, Debug)]
pub struct Cubic2005Rule {
    config: Cubic2005Config,
    w_max: f64,
    k_s: f64,
    /// Window at the start of the epoch.
    origin: f64,
    /// Packets a round trip of a Reno flow with this decrease.
    friendly_increase: f64,
    /// Begins at a reduction, or where slow start ends.
    epoch: Epoch,
}

impl Cubic2005Rule {
    /// At the reduction, or where slow start ends.
    fn start_epoch(&mut self, now: Instant, window: f64) {
        self.epoch.begin(now);
        self.origin = window;
        self.w_max = self.w_max.max(window);
        self.k_s = libm::cbrt((self.w_max - window) / self.config.c);
    }

    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k_s;
        let scale = if self.config.scaling_error { WRONG_SCALE } else { 1.0 };
        scale * self.config.c * x * x * x + self.w_max
    }

    /// What a Reno flow that keeps as much would have.
    fn w_tcp(&self, t: f64, rtt: f64) -> f64 {
        self.origin + self.friendly_increase * t / rtt
    }
}

impl WindowRule for Cubic2005Rule {
    type Config = Cubic2005Config;

    const SUMMARY: &'static str = "CUBIC as first published: keeps 4/5, growth clamped";
    const REFERENCE: &'static str = "Rhee & Xu, PFLDnet 2005";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] = &[W_MAX, K];

    fn new(config: &Cubic2005Config, start: &Start) -> Self {
        Self {
            config: config.clone(),
            w_max: 0.0,
            k_s: 0.0,
            origin: start.window,
            friendly_increase: 3.0 * (1.0 - config.decrease) / (1.0 + config.decrease),
            epoch: Epoch::default(),
        }
    }

    fn on_unused_window(&mut self, now: Instant) {
        self.epoch.pause(now);
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, ack: &AckEvent, acked: f64, slope: f64) {
        let (window, acked) = (windows.window, slope * acked);
        if !self.epoch.resume(ack.now) {
            self.start_epoch(ack.now, window);
        }
        let t = self.epoch.elapsed_s(ack.now);
        let rtt = ack.srtt.as_secs_f64();
        let step = (self.w_cubic(t + rtt) - window).clamp(0.0, self.config.s_max * rtt);
        let step = step.max(self.config.initial_growth * window);
        windows.window = window + step * acked / window;
        if self.config.reno_friendly && rtt > 0.0 {
            // No faster than slow start, whatever became of the RTT.
            windows.window = windows.window.max(self.w_tcp(t, rtt).min(windows.window + acked));
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("w_max", self.w_max);
        reader("k", self.k_s);
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        self.w_max = after_loss(used, self.config.decrease, self.w_max, self.config.fast_convergence);
        self.config.initial_growth = 0.0; // the first loss is over
        self.epoch.end();
        self.config.decrease
    }

    fn on_reduced(&mut self, windows: &Windows, event: &CongestionEvent) {
        self.start_epoch(event.now, windows.window);
    }

    fn on_idle_restarted(&mut self) {
        self.epoch.end(); // the next congestion avoidance begins one, towards the same W_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::Signal;
    use parshall_units::Duration;

    fn config(s_max: f64) -> Cubic2005Config {
        Cubic2005Config {
            c: 0.4,
            decrease: 0.8,
            s_max,
            initial_growth: 0.0,
            fast_convergence: true,
            reno_friendly: false,
            scaling_error: false,
        }
    }

    /// The window `seconds` after a loss at `w_max`, RTT 100 ms.
    fn after(config: &Cubic2005Config, w_max: f64, seconds: f64) -> f64 {
        let mut cubic = Cubic2005::new(config, Start { window: w_max, ssthresh: w_max, ..Start::NEW });
        let in_flight = w_max as u64;
        cubic.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight });
        assert_eq!(cubic.window(), 0.8 * w_max);
        let rtt = Duration::from_millis(100);
        let mut now = Instant::ZERO;
        while now.as_secs_f64() < seconds {
            now += Duration::from_secs_f64(0.1 / cubic.window());
            cubic.on_ack(&AckEvent::of_one_packet(now, rtt));
        }
        cubic.window()
    }

    #[test]
    fn comes_back_after_k_seconds() {
        // K = cbrt(0.2 * 1000 / 0.4) = 7.94 s; the slope at the start, 3 C K^2 = 76 packets/s, is not clamped.
        let k = libm::cbrt(0.2 * 1000.0 / 0.4);
        let window = after(&config(160.0), 1000.0, k);
        assert!((window - 1000.0).abs() < 2.0, "{window}");
    }

    #[test]
    fn grows_linearly_where_the_cubic_is_steeper_than_the_clamp() {
        // 3 C K^2 at W_max = 100,000 is 1629 packets/s: clamped to 160.
        let window = after(&config(160.0), 100_000.0, 10.0);
        assert!((window - 80_000.0 - 1600.0).abs() < 20.0, "{window}");
    }

    #[test]
    fn the_wrong_scale_jumps_to_the_plateau_and_hardly_leaves_it() {
        let wrong = Cubic2005Config { scaling_error: true, ..config(1e6) };
        let k = libm::cbrt(0.2 * 1000.0 / 0.4);
        // From 800 packets towards W(0) = W_max - (32/410) 0.2 W_max = 984: after ten round trips it is on the curve.
        let soon = after(&wrong, 1000.0, 1.0);
        let curve = 1000.0 - WRONG_SCALE * 0.4 * libm::pow(k - 1.0, 3.0);
        assert!((soon - curve).abs() < 1.5, "{soon} for {curve}");
        let back = after(&wrong, 1000.0, k);
        assert!((back - 1000.0).abs() < 1.0, "{back}");
        // Beyond K: 12.8 times less than C x^3.
        let [right, slow] = [config(1e6), wrong].map(|each| after(&each, 1000.0, k + 10.0) - 1000.0);
        assert!((right / slow - 410.0 / 32.0).abs() < 0.3, "{right} and {slow}");
    }

    #[test]
    fn an_early_loss_lowers_the_aim_and_shortens_the_way() {
        let mut cubic =
            Cubic2005::new(&config(160.0), Start { window: 1000.0, ssthresh: 1000.0, ..Start::NEW });
        let loss = |in_flight| CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight };
        cubic.on_congestion(&loss(1000));
        assert!((cubic.rule.k_s - libm::cbrt(200.0 / 0.4)).abs() < 1e-9);
        cubic.on_congestion(&loss(800));
        assert!((cubic.rule.w_max - 800.0 * 0.9).abs() < 1e-9 && (cubic.window() - 640.0).abs() < 1e-9);
        assert!((cubic.rule.k_s - libm::cbrt(80.0 / 0.4)).abs() < 1e-9);
    }

    #[test]
    fn is_reno_where_the_cubic_is_flat() {
        let friendly = Cubic2005Config { reno_friendly: true, ..config(160.0) };
        // 3 * 0.2 / 1.8 packets a round trip from 8 packets: 10 round trips a second.
        let window = after(&friendly, 10.0, 0.9);
        let expected = 8.0 + 9.0 / 3.0;
        assert!((window - expected).abs() < 0.1, "{window}");
    }
}
