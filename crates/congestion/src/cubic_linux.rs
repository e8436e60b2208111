//! CUBIC as Linux 6.18 computes it (net/ipv4/tcp_cubic.c), in whole packets and ticks.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cnt | `for_one` | packets acknowledged for one packet more |
//! | last_max_cwnd | `w_max` | packets, window before the last reduction; 0: none since the start or a timeout |
//! | bic_K, bic_origin_point | `k`, `origin` | 1/1024 s, packets |
//! | tcp_cwnd, ack_cnt | `w_est`, `acked` | packets: what Reno would have, and what was acknowledged towards its next packet |
//! | snd_cwnd_cnt | `towards_next` | packets acknowledged towards the next packet of the window |
//!
//! How it differs from RFC 9438 (`cubic.rs`): before its first loss, and from a timeout to the next, it grows by a
//! twentieth of the window a round trip at least; it goes towards the window of Reno, which grows by 0.53 packets a
//! round trip for ever, where RFC 9438 §4.3 sets the window to it, and lets it grow by a packet once it is what the
//! window was; it aims at the time of now plus the smallest RTT, not the smoothed one; it grows by half a packet an
//! acknowledged packet at most; a timeout forgets the maximum; beta is 717/1024; it reduces its window, not what is in
//! flight. The formulas are looked at anew if the window has changed, or after 1/32 s, and once a tick at most.
//!
//! Its slow start ends by HyStart of Linux ([`hystart`]). RTTs count (`cubictcp_acked`) but for those of the first
//! second of an epoch.
//!
//! Left out: its clock stands still while nothing is sent (`CA_EVENT_TX_START`); here it does so while the window is
//! not used.
//!
//! Read: net/ipv4/tcp_cubic.c of Linux 6, for constants and conditions; held against recordings of 6.18
//! (docs/kernel_recordings.md).

mod hystart;

use crate::epoch::Epoch;
use crate::last_maximum::W_MAX;
use crate::linux_window::TowardsNext;
use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};
use hystart::{HyStart, Sample};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`CubicLinux`].
    pub struct CubicLinuxConfig {
        /// The kernel's tick: 1/CONFIG_HZ.
        tick: Duration, default "4 ms", min "100 us", max "100 ms";
        /// Whether a flow that loses before reaching its last maximum releases bandwidth sooner.
        fast_convergence: bool, default "true";
        /// Whether it goes towards the window that Reno would have.
        reno_friendly: bool, default "true";
        /// Whether slow start ends when ACKs come in a long train, or the RTT grows.
        hystart: bool, default "true";
    }
}

/// beta, of 1/1024.
const BETA: u64 = 717;
/// Time is counted in 1/1024 s.
const TIME: u64 = 1024;
/// C = 0.4, as 410/1024.
const C: u64 = 410;
/// ACKs for one packet more of Reno's window, times 8 and per packet of the window: 8 (1 + beta) / 3 (1 - beta).
const BETA_SCALE: u64 = 8 * (1024 + BETA) / 3 / (1024 - BETA);
/// RTTs do not count for so long after an epoch has begun (`cubictcp_acked`).
const AFTER_RECOVERY: Duration = Duration::from_secs(1);
/// For so many whole ticks `for_one` holds, if the window stays.
const HOLDS: Duration = Duration::from_ps(1_000_000_000_000 / 32);
/// `for_one` without a loss, at most.
const INITIAL_GROWTH: u64 = 20;

/// The window growth of Linux' CUBIC.
pub type CubicLinux = WindowBased<CubicLinuxRule>;

/// A cubic of the time since the last reduction, in integers.
#[derive(Clone, Debug)]
pub struct CubicLinuxRule {
    config: CubicLinuxConfig,
    for_one: u64,
    towards_next: TowardsNext,
    w_max: u64,
    k: u64,
    origin: u64,
    w_est: u64,
    acked: f64,
    /// Window and tick for which `for_one` was computed.
    last: (u64, u64),
    /// Until when it holds for this window.
    holds_until: Instant,
    epoch: Epoch,
    min_rtt: Duration,
    hystart: Option<Box<HyStart>>,
}

impl CubicLinuxRule {
    /// Everything but the window, as at the start.
    fn forget(&mut self) {
        (self.for_one, self.w_max, self.k, self.origin) = (0, 0, 0, 0);
        (self.w_est, self.acked, self.last, self.holds_until) = (0, 0.0, (0, 0), Instant::ZERO);
        self.min_rtt = Duration::MAX;
        self.epoch.end();
        if let Some(hystart) = &mut self.hystart {
            **hystart = HyStart::new(Instant::ZERO); // a round trip begins before the window is large enough again
        }
    }

    fn ticks(&self, time: Duration) -> u64 {
        time.as_ps() / self.config.tick.as_ps()
    }

    fn start_epoch(&mut self, now: Instant, window: u64, acked: f64) {
        self.epoch.begin(now);
        self.acked = acked;
        self.w_est = window;
        self.origin = self.w_max.max(window);
        let below = self.origin - window;
        // K^3 = (W_max - cwnd) / C, in 1/1024 s
        self.k = libm::cbrt((below * TIME * TIME * TIME) as f64 / (C as f64 / 1024.0)) as u64;
    }

    /// The packets that are to be acknowledged for one packet more.
    fn update(&mut self, now: Instant, window: u64, acked: f64) {
        self.acked += acked;
        let runs = self.epoch.resume(now);
        if self.last.0 == window && now < self.holds_until {
            return;
        }
        let tick = self.ticks(now.since(Instant::ZERO));
        if !runs || tick != self.last.1 {
            self.last = (window, tick);
            self.holds_until = Instant::ZERO + self.config.tick.times(tick + self.ticks(HOLDS) + 1);
            if !runs {
                self.start_epoch(now, window, acked);
            }
            self.aim(now, window);
        }
        if self.config.reno_friendly {
            self.follow_reno(window);
        }
        self.for_one = self.for_one.max(2);
    }

    /// Where the cubic will be in a round trip.
    fn aim(&mut self, now: Instant, window: u64) {
        let elapsed = Duration::from_secs_f64(self.epoch.elapsed_s(now));
        let ahead = if self.min_rtt == Duration::MAX { 0 } else { self.ticks(self.min_rtt) + 1 };
        let ps = (self.ticks(elapsed) + ahead) as f64 * self.config.tick.as_ps() as f64;
        let t = (ps / 1e12 * TIME as f64) as u64;
        let off = t.abs_diff(self.k) as u128;
        let moved = ((u128::from(C) * off * off * off) >> 40) as u64;
        let target = if t < self.k { self.origin.saturating_sub(moved) } else { self.origin + moved };
        self.for_one = if target > window { window / (target - window) } else { 100 * window };
        if self.w_max == 0 {
            self.for_one = self.for_one.min(INITIAL_GROWTH);
        }
    }

    fn follow_reno(&mut self, window: u64) {
        let for_one = (window * BETA_SCALE / 8).max(1) as f64;
        if self.acked > for_one {
            let grown = libm::ceil(self.acked / for_one) - 1.0;
            self.acked -= grown * for_one;
            self.w_est += grown as u64;
        }
        if self.w_est > window {
            self.for_one = self.for_one.min(window / (self.w_est - window));
        }
    }
}

impl WindowRule for CubicLinuxRule {
    type Config = CubicLinuxConfig;

    const SUMMARY: &'static str = "CUBIC in the integers of Linux 6.18, with its HyStart";
    const REFERENCE: &'static str = "Linux 6.18, net/ipv4/tcp_cubic.c";
    const VARIABLES: &'static [Variable] =
        &[W_MAX, Variable::new("w_est", "packets", "what Reno would have (tcp_cwnd)")];

    fn new(config: &CubicLinuxConfig, start: &Start) -> Self {
        Self {
            config: config.clone(),
            for_one: 0,
            towards_next: TowardsNext::default(),
            w_max: 0,
            k: 0,
            origin: 0,
            w_est: 0,
            acked: 0.0,
            last: (0, 0),
            holds_until: Instant::ZERO,
            epoch: Epoch::default(),
            min_rtt: Duration::MAX,
            hystart: config.hystart.then(|| Box::new(HyStart::new(start.at))),
        }
    }

    fn has_standard_slow_start(&self) -> bool {
        self.hystart.is_none()
    }

    fn observe(&mut self, windows: &mut Windows, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        if self.epoch.is_within(ack.now, AFTER_RECOVERY) {
            return;
        }
        self.min_rtt = self.min_rtt.min(rtt);
        let Some(hystart) = &mut self.hystart else { return };
        if !windows.in_slow_start() {
            return;
        }
        if ack.round_ended {
            hystart.begin_round(ack.now);
        }
        let (now, srtt, min_rtt, window) = (ack.now, ack.srtt, self.min_rtt, windows.window);
        if hystart.ends_slow_start(&Sample { now, rtt, min_rtt, srtt, window }) {
            windows.ssthresh = window;
        }
    }

    fn on_unused_window(&mut self, now: Instant) {
        self.epoch.pause(now);
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, ack: &AckEvent, acked: f64, slope: f64) {
        let acked = slope * acked;
        self.update(ack.now, windows.window as u64, acked);
        self.towards_next.grow(windows, self.for_one as f64, acked);
    }

    fn window_to_reduce(windows: &Windows, _: &CongestionEvent) -> f64 {
        windows.window
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        let window = used as u64;
        let lower = self.config.fast_convergence && window < self.w_max;
        self.w_max = if lower { window * (1024 + BETA) / 2048 } else { window };
        self.towards_next.reset();
        self.epoch.end();
        libm::floor(window as f64 * BETA as f64 / 1024.0) / used
    }

    fn on_timed_out(&mut self, _: &Windows) {
        self.forget();
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("w_max", self.w_max as f64);
        reader("w_est", self.w_est as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};

    fn config() -> CubicLinuxConfig {
        CubicLinuxConfig {
            tick: Duration::from_millis(4),
            fast_convergence: true,
            reno_friendly: true,
            hystart: true,
        }
    }

    /// Feeds one ACK a packet for `seconds` at an RTT of 100 ms; the time after it.
    fn run(cubic: &mut CubicLinux, from: Instant, seconds: f64) -> Instant {
        let mut now = from;
        while now.since(from).as_secs_f64() < seconds {
            now += Duration::from_secs_f64(0.1 / cubic.window());
            cubic.on_ack(&AckEvent::of_one_packet(now, Duration::from_millis(100)));
        }
        now
    }

    fn loss() -> CongestionEvent {
        CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 10 }
    }

    #[test]
    fn grows_by_a_twentieth_each_round_trip_before_its_first_loss() {
        let mut cubic = CubicLinux::new(&config(), Start { window: 1000.0, ssthresh: 1000.0, ..Start::NEW });
        run(&mut cubic, Instant::ZERO, 0.1);
        assert!((cubic.window() - 1050.0).abs() <= 2.0, "{}", cubic.window());
    }

    #[test]
    fn comes_back_to_its_maximum_after_k_seconds() {
        let mut cubic = CubicLinux::new(&config(), Start { window: 1000.0, ssthresh: 1000.0, ..Start::NEW });
        cubic.on_congestion(&loss());
        assert_eq!(cubic.window(), 700.0); // 1000 * 717 / 1024, whatever is in flight
        run(&mut cubic, Instant::ZERO, libm::cbrt(300.0 / 0.4));
        assert!((cubic.window() - 1000.0).abs() <= 2.0, "{}", cubic.window());
    }

    #[test]
    fn what_was_acknowledged_before_a_reduction_counts_no_more_for_the_next_packet() {
        let start = Start { window: 4.0, ssthresh: 2.0, ..Start::NEW };
        let mut cubic = CubicLinux::new(&config(), start);
        let ack = AckEvent::of_one_packet(Instant::ZERO, Duration::from_millis(100));
        while cubic.window() == 4.0 {
            cubic.on_ack(&ack);
        }
        cubic.on_congestion(&loss());
        assert_eq!(cubic.window(), 3.0); // 5 * 717 / 1024
        cubic.on_ack(&ack);
        assert_eq!(cubic.window(), 3.0, "a packet more takes two that are acknowledged at least");
        let mut again = cubic.clone();
        cubic.on_congestion(&loss());
        again.on_congestion(&loss());
        again.on_ack(&ack);
        assert_eq!((cubic.window(), again.window()), (2.0, 2.0));
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut cubic = CubicLinux::new(&config(), Start { window: 1000.0, ssthresh: 1000.0, ..Start::NEW });
        cubic.on_timeout(&loss());
        assert_eq!((cubic.window(), cubic.ssthresh(), cubic.rule.w_max), (1.0, 700.0, 0));
    }
}
