//! CUBIC (RFC 9438).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | C | `c` | packets/s^3 |
//! | beta_cubic | `beta` | factor kept at a congestion event |
//! | beta_ecn | `beta_ecn` | least factor kept at a mark in congestion avoidance (RFC 8511: 0.85) |
//! | W_max | `w_max` | packets, window before the last reduction |
//! | K | `k_s` | s, time to come back to W_max |
//! | W_est | `w_est` | packets, what Reno would have |
//! | cwnd_prior | `prior` | packets, window before the last reduction, unreduced by fast convergence |
//! | t_epoch | `epoch` | start of this congestion-avoidance stage |
//!
//! Time during which the application, not the window, limits the sender does not count (§5.8):
//! the epoch is moved forward by it. Slow start is standard; HyStart++ can stand before it (`hystart.rs`).

use crate::epoch::Epoch;
use crate::last_maximum::{after_loss, K, W_MAX};
use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Instant;

parshall_units::configuration! {
    /// Parameters of [`Cubic`].
    pub struct CubicConfig {
        /// Aggressiveness C, in packets per cubed second.
        c: f64, default "0.4", min 1e-6, max 1000.0;
        /// Factor of the window that is kept at a congestion event.
        beta: f64, default "0.7", min 0.01, max 0.999;
        /// Least factor of the window that is kept at a mark in congestion avoidance (alternative backoff, RFC 8511: 0.85); 0: as at a loss.
        beta_ecn: f64, default "0", min 0.0, max 0.999;
        /// Whether a flow that loses before reaching its last maximum releases bandwidth sooner.
        fast_convergence: bool, default "true";
        /// Whether the window is never below what Reno would reach.
        reno_friendly: bool, default "true";
    }
}

/// The cubic window growth of RFC 9438.
pub type Cubic = WindowBased<CubicRule>;

/// A cubic of the time since the last reduction.
#[derive(Clone, Debug)]
pub struct CubicRule {
    c: f64,
    beta: f64,
    beta_ecn: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// True if the last reduction was a timeout: then growth restarts from the plateau (§4.8).
    timed_out: bool,
    w_max: f64,
    prior: f64,
    k_s: f64,
    w_est: f64,
    /// Begins with the first ACK in congestion avoidance.
    epoch: Epoch,
}

impl CubicRule {
    fn start_epoch(&mut self, now: Instant, window: f64) {
        self.epoch.begin(now);
        self.w_est = window;
        if self.timed_out || window >= self.w_max {
            self.w_max = window;
            self.k_s = 0.0;
        } else {
            self.k_s = libm::cbrt((self.w_max - window) / self.c); // RFC 9438 eq. (2)
        }
        self.timed_out = false;
    }

    /// The window `t` seconds into the epoch. RFC 9438 eq. (1)
    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k_s;
        self.c * x * x * x + self.w_max
    }
}

impl WindowRule for CubicRule {
    type Config = CubicConfig;

    const SUMMARY: &'static str = "window grows as a cubic of the time since the last loss";
    const REFERENCE: &'static str = "RFC 9438";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[W_MAX, K, Variable::new("w_est", "packets", "what Reno would have (W_est)")];

    fn new(config: &CubicConfig, _: &Start) -> Self {
        Self {
            c: config.c,
            beta: config.beta,
            beta_ecn: config.beta_ecn,
            fast_convergence: config.fast_convergence,
            reno_friendly: config.reno_friendly,
            timed_out: false,
            w_max: 0.0,
            prior: 0.0,
            k_s: 0.0,
            w_est: 0.0,
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
        let ahead = self.w_cubic(t + ack.srtt.as_secs_f64());
        let target = ahead.clamp(window, 1.5 * window);
        let grown = window + (target - window) / window * acked;

        // RFC 9438 eq. (4); alpha is 1 once the flow is back where it was reduced.
        let alpha = if self.w_est < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 };
        self.w_est += alpha * acked / window;

        let friendly = self.reno_friendly && self.w_cubic(t) < self.w_est;
        windows.window = if friendly { self.w_est.max(window) } else { grown };
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("w_max", self.w_max);
        reader("k", self.k_s);
        reader("w_est", self.w_est);
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        self.prior = used;
        self.w_max = after_loss(used, self.beta, self.w_max, self.fast_convergence);
        self.epoch.end();
        self.timed_out = false; // W_max is that of a loss again, whatever slow start it was found in
        self.beta // §4.6
    }

    fn kept_at_mark(&self) -> f64 {
        self.beta_ecn
    }

    fn on_timed_out(&mut self, _: &Windows) {
        self.timed_out = true;
    }

    fn on_idle_restarted(&mut self) {
        self.epoch.end(); // the next congestion avoidance begins one (RFC 9438 §4.2), towards the same W_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::Duration;

    fn config() -> CubicConfig {
        CubicConfig { c: 0.4, beta: 0.7, beta_ecn: 0.0, fast_convergence: true, reno_friendly: false }
    }

    /// Feeds one ACK a packet for `seconds` at a constant RTT and returns the window.
    fn run(cubic: &mut Cubic, from: Instant, seconds: f64) -> Instant {
        let rtt = Duration::from_millis(100);
        let mut now = from;
        while now.since(from).as_secs_f64() < seconds {
            now += Duration::from_secs_f64(0.1 / cubic.window());
            cubic.on_ack(&AckEvent::of_one_packet(now, rtt));
        }
        now
    }

    #[test]
    fn comes_back_to_its_maximum_after_k_seconds() {
        let mut cubic = Cubic::new(&config(), Start { window: 1000.0, ssthresh: 1000.0, ..Start::NEW });
        let loss = CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 1000 };
        cubic.on_congestion(&loss);
        assert_eq!(cubic.window(), 700.0);
        // RFC 9438 eq. (2): K = cbrt(300 / 0.4) = 9.086 s
        let k = libm::cbrt(300.0 / 0.4);
        let at_k = run(&mut cubic, Instant::ZERO, k);
        assert!((cubic.window() - 1000.0).abs() < 2.0, "{}", cubic.window());
        run(&mut cubic, at_k, 5.0);
        let expected = 1000.0 + 0.4 * 125.0;
        assert!((cubic.window() - expected).abs() < 0.01 * expected, "{}", cubic.window());
    }

    #[test]
    fn a_loss_in_the_slow_start_after_a_timeout_sets_the_next_plateau() {
        let mut cubic = Cubic::new(&config(), Start { window: 1000.0, ssthresh: 1000.0, ..Start::NEW });
        let loss = |in_flight| CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight };
        cubic.on_timeout(&loss(1000));
        cubic.windows.window = 600.0; // slow start since
        cubic.on_congestion(&loss(600));
        run(&mut cubic, Instant::ZERO, 0.1);
        // §4.7 and eq. (2): W_max is less than what was lost at, 600 (1 + 0.7) / 2, and K is the time from 420 to it.
        assert_eq!((cubic.rule.w_max, cubic.rule.k_s), (510.0, libm::cbrt(90.0 / 0.4)));
    }

    #[test]
    fn an_idle_restart_keeps_the_plateau() {
        let mut cubic = Cubic::new(&config(), Start { window: 1000.0, ssthresh: 1000.0, ..Start::NEW });
        cubic.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 1000 });
        let now = run(&mut cubic, Instant::ZERO, 1.0);
        cubic.on_idle_restart(10.0);
        run(&mut cubic, now + Duration::from_secs(5), 1.0);
        // Slow start to ssthresh, then a new epoch from there towards the same W_max.
        assert_eq!(cubic.rule.w_max, 1000.0);
        let k = libm::cbrt(300.0 / 0.4);
        assert!((cubic.rule.k_s - k).abs() < 0.01, "{} {k}", cubic.rule.k_s);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let mut cubic = Cubic::new(&config(), Start { window: 100.0, ssthresh: 1.0, ..Start::NEW });
        cubic.rule.w_max = 200.0;
        cubic.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 100 });
        assert_eq!(cubic.rule.w_max, 85.0);
    }

    #[test]
    fn idle_time_does_not_count() {
        let mut cubic = Cubic::new(&config(), Start { window: 100.0, ssthresh: 1.0, ..Start::NEW });
        let now = run(&mut cubic, Instant::ZERO, 1.0);
        let before = cubic.window();
        let rtt = Duration::from_millis(100);
        let mut ack = AckEvent { may_grow: false, ..AckEvent::of_one_packet(now, rtt) };
        cubic.on_ack(&ack);
        ack.now = now + Duration::from_secs(100);
        ack.may_grow = true;
        cubic.on_ack(&ack);
        assert!(cubic.window() - before < 0.1, "{before} -> {}", cubic.window());
    }
}
