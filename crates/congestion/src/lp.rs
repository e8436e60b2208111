//! TCP-LP: Reno that yields to any other traffic at the first sign of a queue (Kuzmanovic & Knightly, IEEE/ACM ToN
//! 14(4), 2006).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | d | `average_s` | s, delay: average with weight gamma |
//! | gamma | `GAIN` | 1/8 |
//! | d_min, d_max | `range_s` | s, smallest and largest delay |
//! | delta | `threshold` | part of the range of delays that is tolerated |
//! | itt | `inference` RTTs | s, time in which a second sign is looked for |
//!
//! An early sign of congestion is d > d_min + delta (d_max - d_min). The first halves the window and starts a phase of
//! inference of itt in which the window does not grow. A sign in that phase means traffic that does not yield: the
//! window is one packet, and the phase begins anew. Losses, slow start and growth are Reno's.
//!
//! Delays are those of one way, as in the source: a queue on the way back is none of its business. Where only round
//! trips are known, as in recordings of a kernel's control, they stand for the delays.
//!
//! Readings. Signs are looked for from the first loss on: until then slow start finds d_min and d_max. Another sign is
//! one that is seen a round trip after the one before: until then ACKs show the queue that the last answer was about. A
//! halving or a collapse sets ssthresh too, so that growth is additive afterwards. Linux forgets the range at each sign
//! (d_max becomes twice the average, d_min the average), has no wait for the first loss, and judges every ACK.
//!
//! Read: Linux' net/ipv4/tcp_lp.c (2.6) for constants and conditions; that signs count from the first loss on is as the
//! paper is commonly quoted. It was not read itself.

use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::{AckEvent, CongestionEvent, Needs, Signal, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Lp`].
    pub struct LpConfig {
        /// Part of the range of delays beyond which a delay is a sign of congestion (delta).
        threshold: f64, default "0.15", min 0.001, max 1.0;
        /// How long a second sign is looked for, and the window does not grow, in RTTs (itt).
        inference: f64, default "3", min 0.0, max 1000.0;
    }
}

/// Weight of the newest sample in the average delay.
const GAIN: f64 = 0.125;

/// Reno of low priority.
pub type Lp = WindowBased<LpRule>;

/// Reno's increase, and decreases at early signs of congestion.
#[derive(Clone, Debug)]
pub struct LpRule {
    threshold: f64,
    inference: f64,
    /// True if a loss has shown the range of delays.
    range_known: bool,
    /// 0 before the first sample.
    average_s: f64,
    range_s: (f64, f64),
    srtt: Duration,
    /// The last sign; [`Instant::ZERO`]: there was none.
    last_sign: Instant,
}

impl LpRule {
    /// True if the delay is beyond the threshold.
    fn sees_congestion(&self) -> bool {
        let (least_s, largest_s) = self.range_s;
        self.range_known && self.average_s > least_s + self.threshold * (largest_s - least_s)
    }

    /// RTTs since the last sign.
    fn since_sign(&self, now: Instant) -> f64 {
        if self.last_sign == Instant::ZERO {
            return f64::INFINITY;
        }
        now.since(self.last_sign).as_secs_f64() / self.srtt.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// A sign of congestion: half, or one packet if it is not the first.
    fn yield_to_others(&mut self, windows: &mut Windows, now: Instant, inferring: bool) {
        windows.window = if inferring { 1.0 } else { (windows.window / 2.0).max(1.0) };
        windows.ssthresh = windows.window.max(MIN_SSTHRESH);
        self.last_sign = now;
    }
}

impl WindowRule for LpRule {
    type Config = LpConfig;

    const SUMMARY: &'static str = "Reno of low priority: yields at the first sign of a queue";
    const REFERENCE: &'static str = "Kuzmanovic & Knightly, IEEE/ACM ToN 14(4), 2006";
    const VARIABLES: &'static [Variable] = &[
        Variable::new("average_delay", "s", "moving average of the one-way delay"),
        Variable::new("largest_delay", "s", "largest one-way delay of the connection"),
    ];
    const NEEDS: Needs = Needs { one_way_delay: true, ..Needs::NONE };

    fn new(config: &LpConfig, _: &Start) -> Self {
        Self {
            threshold: config.threshold,
            inference: config.inference,
            range_known: false,
            average_s: 0.0,
            range_s: (f64::INFINITY, 0.0),
            srtt: Duration::ZERO,
            last_sign: Instant::ZERO,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        let Some(delay) = ack.one_way_delay.or(ack.rtt) else { return };
        let sample = delay.as_secs_f64();
        if self.average_s == 0.0 {
            self.average_s = sample;
        }
        self.average_s += GAIN * (sample - self.average_s);
        let (least_s, largest_s) = self.range_s;
        self.range_s = (least_s.min(sample), largest_s.max(sample));
        self.srtt = ack.srtt;
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        let since = self.since_sign(ack.now);
        let inferring = since < self.inference;
        if since >= 1.0 && self.sees_congestion() {
            self.yield_to_others(windows, ack.now, inferring);
        } else if !inferring {
            let mut acked = ack.credit;
            if windows.in_slow_start() {
                acked = windows.slow_start(acked); // RFC 5681 eq. (2)
            }
            windows.window += slope * acked / windows.window; // RFC 5681 eq. (3)
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if self.average_s > 0.0 {
            reader("average_delay", self.average_s);
            reader("largest_delay", self.range_s.1);
        }
    }

    fn reduce(&mut self, _: f64, event: &CongestionEvent) -> f64 {
        self.range_known |= event.signal == Signal::Loss;
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// The round trip takes 1 s more than the delay, all of it on the way back.
    fn ack(at_ms: u64, delay_ms: u64) -> AckEvent {
        let rtt = Duration::from_millis(1000 + delay_ms);
        AckEvent {
            srtt: Duration::from_millis(100),
            one_way_delay: Some(Duration::from_millis(delay_ms)),
            ..AckEvent::of_one_packet(at(at_ms), rtt)
        }
    }

    /// At a window of 50, after a loss; delays were between 100 and 200 ms.
    fn lp() -> Lp {
        let config = LpConfig { threshold: 0.15, inference: 3.0 };
        let mut control = Lp::new(&config, Start { window: 100.0, ssthresh: 10.0, ..Start::NEW });
        for delay_ms in [100, 200] {
            control.on_ack(&AckEvent { may_grow: false, ..ack(1, delay_ms) });
        }
        control.rule.average_s = 0.2;
        assert!(!control.rule.sees_congestion(), "no loss yet");
        control.on_congestion(&CongestionEvent { now: at(1), signal: Signal::Loss, in_flight: 100 });
        control.rule.average_s = 0.1;
        control
    }

    #[test]
    fn the_delay_is_an_average_of_eighths() {
        let mut control = lp();
        control.on_ack(&ack(2, 180));
        assert!((control.rule.average_s - 0.110).abs() < 1e-12);
        assert!((control.window() - 50.02).abs() < 1e-12, "below 115 ms it is Reno");
    }

    #[test]
    fn a_first_sign_halves_and_a_second_leaves_one_packet() {
        let mut control = lp();
        control.rule.average_s = 0.12;
        control.on_ack(&ack(1000, 120));
        assert_eq!(control.window(), 25.0);
        control.on_ack(&ack(1099, 120));
        assert_eq!(control.window(), 25.0, "what the first sign was about");
        control.on_ack(&ack(1100, 120));
        assert_eq!(control.window(), 1.0);
        control.on_ack(&ack(1200, 120));
        assert_eq!(control.window(), 1.0);
    }

    #[test]
    fn after_the_phase_of_inference_the_window_grows_again() {
        let mut control = lp();
        control.rule.average_s = 0.12;
        control.on_ack(&ack(1000, 120));
        control.rule.average_s = 0.1;
        control.on_ack(&ack(1299, 100));
        assert_eq!(control.window(), 25.0);
        control.on_ack(&ack(1301, 100));
        assert_eq!(control.window(), 25.0 + 1.0 / 25.0);
        control.rule.average_s = 0.12;
        control.on_ack(&ack(1400, 120));
        assert_eq!(control.window(), 12.52, "a first sign again");
    }
}
