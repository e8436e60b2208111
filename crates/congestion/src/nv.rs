//! TCP-NV: congestion avoidance for data centres (Brakmo, 2010; in Linux since 4.8).
//!
//! | Linux | here | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | avg_rtt | `rtt_s` | s: half the new sample, half the average before |
//! | nv_min_rtt, nv_min_rtt_new | `base`, `next_base` | s: smallest average of this period and the one before, and of this one |
//! | nv_rtt_max_rate | `rate` | packets/s: largest packets in flight over avg_rtt since the last decision |
//! | nv_pad | `pad` | packets that may be queued |
//! | max_win | [`NvRule::target`] | packets: rate base + pad |
//! | cwnd_growth_factor | `slowness` | increases by 2^-slowness packets a round trip |
//!
//! What was in flight over the RTT is the throughput; times the smallest RTT it is the window without a queue. Once a
//! round trip:
//! - window > target: the window loses 30 % of what is beyond, at least two packets (one or two that are beyond:
//!   those), slow start ends, and growth stops. Two round trips and 60 samples are needed (30 in the first slow start),
//!   not to take noise for a queue. With fewer for more than ten round trips, growth stops.
//! - window <= target - 2, and 20 samples: it may grow, as Reno.
//!
//! A loss leaves 80 %, and growth waits for a decision, after a timeout too. A timeout halves the increase, down to
//! 2^-8; eight decisions to grow double it. The base is forgotten every 5 s, times 3/4 to 5/4 at random, the first time
//! after 2 s: it becomes the smallest average since the last time.
//!
//! Left out: what Linux does about segmentation offload and merged interrupts, where an ACK a round trip is all that
//! comes, and RTTs that somebody else knows (base_rtt). A mark counts as a loss, as in Linux.
//!
//! Read: Linux' net/ipv4/tcp_nv.c, for rules and constants. Brakmo's slides and report of 2010 were not.

use crate::path_model::Choices;
use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::{AckEvent, CongestionEvent, Needs, Phase, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Nv`].
    pub struct NvConfig {
        /// Packets that may be queued.
        pad: f64, default "10", min 0.0, max 1e6;
        /// About how long a smallest RTT counts.
        reset_period: Duration, default "5 s", min "1 ms", max "100000 s";
        /// Factor kept at a loss.
        kept: f64, default "0.8", min 0.01, max 0.999;
    }
}

const FIRST_RESET: Duration = Duration::from_secs(2);
/// Packets below the target from which on the window may grow.
const PAD_BUFFER: f64 = 2.0;
/// Part of what is beyond the target that is taken.
const DECREASE: f64 = 0.3;
/// Samples that a decision needs: to grow, to shrink, and to end the first slow start.
const TO_GROW: u32 = 20;
const TO_SHRINK: u32 = 60;
const TO_LEAVE_SLOW_START: u32 = 30;
/// Round trips that a decision to shrink needs, and after which growth stops for want of samples.
const ROUNDS_TO_SHRINK: u32 = 2;
const ROUNDS_TO_STOP: u32 = 10;
/// Decisions to grow that double the increase again.
const TO_DOUBLE: u32 = 8;
const MOST_SLOWNESS: u32 = 8;

/// Reno's increase while little is queued by the measured rate.
pub type Nv = WindowBased<NvRule>;

/// The rate measured, and the window that it needs.
#[derive(Clone, Debug)]
pub struct NvRule {
    pad: f64,
    reset_period: Duration,
    kept: f64,
    /// 0 before the first sample.
    rtt_s: f64,
    base: f64,
    next_base: f64,
    reset_at: Instant,
    rate: f64,
    /// Samples and round trips since the last decision.
    samples: u32,
    rounds: u32,
    round_over: bool,
    may_grow: bool,
    slowness: u32,
    /// Decisions to grow, one after another.
    free: u32,
    choices: Choices,
}

impl NvRule {
    /// max_win
    fn target(&self) -> f64 {
        self.rate * self.base + self.pad
    }

    fn measure(&mut self, now: Instant, rtt: Duration, in_flight: u64) {
        let rtt_s = rtt.as_secs_f64();
        self.rtt_s = if self.rtt_s > 0.0 { f64::midpoint(self.rtt_s, rtt_s) } else { rtt_s };
        self.rate = self.rate.max(in_flight as f64 / self.rtt_s);
        self.samples += 1;
        self.base = self.base.min(self.rtt_s);
        self.next_base = self.next_base.min(self.rtt_s);
        if now >= self.reset_at {
            self.base = std::mem::replace(&mut self.next_base, f64::INFINITY);
            let factor = (384 + self.choices.below(256)) as f64 / 512.0;
            self.reset_at = now + Duration::from_secs_f64(self.reset_period.as_secs_f64() * factor);
        }
    }

    /// Once a round trip, if there are samples enough.
    fn decide(&mut self, windows: &mut Windows) {
        let target = self.target();
        if windows.window > target {
            if !self.may_shrink(windows) {
                return;
            }
            self.may_grow = false;
            self.free = 0;
            windows.ssthresh = target.max(MIN_SSTHRESH);
            let beyond = windows.window - target;
            let taken = if beyond > 2.0 { (DECREASE * beyond).max(2.0) } else { beyond };
            windows.window = (windows.window - taken).max(MIN_SSTHRESH);
        } else if windows.window <= target - PAD_BUFFER && self.samples >= TO_GROW {
            self.may_grow = true;
            self.free += 1;
            if self.slowness > 0 && self.free > TO_DOUBLE {
                self.slowness -= 1;
                self.free = 0;
            }
        } else {
            return;
        }
        self.restart();
    }

    fn may_shrink(&mut self, windows: &Windows) -> bool {
        let needed = if windows.ssthresh.is_infinite() { TO_LEAVE_SLOW_START } else { TO_SHRINK };
        let enough = self.samples >= needed;
        if !enough && windows.ssthresh.is_finite() && self.rounds > ROUNDS_TO_STOP {
            self.may_grow = false;
        }
        enough && self.rounds >= ROUNDS_TO_SHRINK
    }

    /// The next decision is about what comes from now on.
    fn restart(&mut self) {
        (self.samples, self.rounds, self.rate) = (0, 0, 0.0);
    }

    /// A loss, a mark or a timeout.
    fn stop(&mut self) {
        (self.may_grow, self.free, self.rtt_s) = (false, 0, 0.0);
        self.restart();
    }
}

impl WindowRule for NvRule {
    type Config = NvConfig;

    const SUMMARY: &'static str = "Reno while the measured rate says that few packets are queued";
    const REFERENCE: &'static str = "Brakmo, 2010; Linux' tcp_nv.c";
    const STANDARD_SLOW_START: bool = false;
    const VARIABLES: &'static [Variable] = &[
        Variable::new("base_rtt", "s", "smallest averaged RTT of about ten seconds"),
        Variable::new(
            "target",
            "packets",
            "window of the largest rate since the last decision, with the pad",
        ),
    ];
    /// What was in flight when a packet was sent.
    const NEEDS: Needs = Needs { rate_samples: true, ..Needs::NONE };

    fn new(config: &NvConfig, start: &Start) -> Self {
        Self {
            pad: config.pad,
            reset_period: config.reset_period,
            kept: config.kept,
            rtt_s: 0.0,
            base: f64::INFINITY,
            next_base: f64::INFINITY,
            reset_at: start.at + FIRST_RESET,
            rate: 0.0,
            samples: 0,
            rounds: 0,
            round_over: false,
            may_grow: true,
            slowness: 0,
            free: 0,
            choices: Choices::new(start.random),
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        if ack.phase != Phase::Open {
            return;
        }
        if let (Some(rtt), Some(sample)) = (ack.rtt, &ack.sample) {
            if rtt > Duration::ZERO {
                self.measure(ack.now, rtt, sample.sent_in_flight);
            }
        }
        if ack.round_ended {
            self.round_over = true;
            self.rounds += 1;
        }
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        if self.round_over && self.samples > 0 {
            self.round_over = false;
            self.decide(windows);
        }
        if !self.may_grow {
            return;
        }
        let mut acked = ack.credit;
        if windows.in_slow_start() {
            acked = windows.slow_start(acked);
        }
        if acked > 0.0 {
            // No more than a quarter of a packet an ACK, as in Linux.
            let increase = acked / windows.window.max(4.0);
            windows.window += slope * increase / f64::from(1u32 << self.slowness);
        }
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        self.stop();
        self.kept
    }

    fn on_timed_out(&mut self, _: &Windows) {
        self.slowness = (self.slowness + 1).min(MOST_SLOWNESS);
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if self.base.is_finite() {
            reader("base_rtt", self.base);
            reader("target", self.target());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, RateSample, Signal};

    const BASE: Duration = Duration::from_millis(1);

    fn nv(window: f64, ssthresh: f64) -> Nv {
        let config = NvConfig { pad: 10.0, reset_period: Duration::from_secs(5), kept: 0.8 };
        Nv::new(&config, Start { window, ssthresh, ..Start::NEW })
    }

    /// `count` ACKs of a packet each, the last one of which ends a round trip, with a window in flight.
    fn round(control: &mut Nv, now: &mut Instant, rtt: Duration, count: u32) {
        for i in 1..=count {
            *now += Duration::from_ps(10_000_000);
            let in_flight = control.window() as u64;
            let sample = RateSample {
                delivered: 1,
                prior_delivered: 0,
                rate: None,
                newly_delivered: 1,
                newly_lost: 0,
                lost: 0,
                in_flight,
                sent_in_flight: in_flight,
                next_send: Duration::ZERO,
                app_limited: false,
            };
            control.on_ack(&AckEvent {
                round_ended: i == count,
                sample: Some(sample),
                ..AckEvent::of_one_packet(*now, rtt)
            });
        }
    }

    /// A base of 1 ms is known, and the average is at `rtt`.
    fn measured(window: f64, rtt: Duration) -> (Nv, Instant) {
        let (mut control, mut now) = (nv(window, 10.0), Instant::ZERO);
        round(&mut control, &mut now, BASE, 1);
        control.rule.restart();
        control.rule.rtt_s = rtt.as_secs_f64();
        control.windows.window = window;
        (control, now)
    }

    #[test]
    fn without_a_queue_the_window_grows_by_a_packet_a_round_trip() {
        let (mut control, mut now) = measured(100.0, BASE);
        round(&mut control, &mut now, BASE, 100);
        assert!((control.window() - 101.0).abs() < 0.02, "{}", control.window());
        assert!((control.rule.target() - 10.0).abs() < 1e-9, "decided, and nothing measured since");
    }

    #[test]
    fn beyond_the_pad_it_loses_three_tenths_of_what_is_queued_and_stops() {
        // 100 packets in 2 ms: 50 are enough for 1 ms, and 60 with the pad. Two round trips with 60 samples are needed.
        let rtt = BASE.times(2);
        let (mut control, mut now) = measured(100.0, rtt);
        control.rule.may_grow = false;
        round(&mut control, &mut now, rtt, 59);
        round(&mut control, &mut now, rtt, 1);
        assert!((control.window() - (100.0 - 0.3 * 40.0)).abs() < 1e-9, "{}", control.window());
        assert!((control.ssthresh() - 60.0).abs() < 1e-9);
        assert!(!control.rule.may_grow);
        let (mut control, mut now) = measured(100.0, rtt);
        control.rule.may_grow = false;
        round(&mut control, &mut now, rtt, 60);
        assert_eq!(control.window(), 100.0, "one round trip");
    }

    #[test]
    fn near_the_target_the_window_stays() {
        // 100 packets in 1.1 ms: 90.9 and the pad are 100.9, less than two above.
        let rtt = Duration::from_ps(1_100_000_000);
        let (mut control, mut now) = measured(100.0, rtt);
        control.rule.may_grow = false;
        for _ in 0..3 {
            round(&mut control, &mut now, rtt, 100);
        }
        assert_eq!((control.window(), control.rule.may_grow), (100.0, false));
    }

    #[test]
    fn after_a_loss_growth_waits_for_twenty_samples_and_timeouts_slow_it_down() {
        let (mut control, mut now) = measured(100.0, BASE);
        let event = |signal| CongestionEvent { now: Instant::ZERO, signal, in_flight: 100 };
        control.on_congestion(&event(Signal::Loss));
        assert!((control.window() - 80.0).abs() < 1e-9);
        round(&mut control, &mut now, BASE, 19);
        assert_eq!((control.window(), control.rule.may_grow), (80.0, false));
        round(&mut control, &mut now, BASE, 1);
        assert!(control.rule.may_grow);
        control.on_timeout(&event(Signal::Loss));
        assert_eq!((control.window(), control.rule.slowness), (1.0, 1));
        control.windows.window = 64.0;
        for decision in 0..9 {
            assert_eq!(control.rule.slowness, 1, "after {decision} decisions to grow");
            round(&mut control, &mut now, BASE, 20);
        }
        assert_eq!(control.rule.slowness, 0);
    }

    #[test]
    fn the_base_is_forgotten_after_a_while() {
        let (mut control, mut now) = measured(100.0, BASE);
        let longer = BASE.times(3);
        now += Duration::from_secs(2);
        round(&mut control, &mut now, longer, 40);
        assert!(control.rule.base < 0.0011, "that of the first two seconds");
        now += Duration::from_secs(7);
        round(&mut control, &mut now, longer, 2);
        // The average was on its way to 3 ms then.
        assert!((control.rule.base - 0.0025).abs() < 1e-9, "{}", control.rule.base);
    }
}
