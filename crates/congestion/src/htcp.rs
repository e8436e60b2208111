//! H-TCP (Leith & Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | Delta | since `last_congestion` | s |
//! | Delta_L | `delta_low` | s; up to here the increase is Reno's |
//! | alpha | [`HtcpRule::increase`] | packets a round trip |
//! | beta | `beta` | factor kept at a congestion event |
//! | RTT_min, RTT_max | `AckEvent::min_rtt`, `max_rtt` | smallest of the connection, largest since the last congestion event |
//! | B | `rate`, `rate_before` | packets/s over the round trip before a congestion event |
//!
//! The increase grows with the time since the last congestion event, f = 1 + 10 (Delta - Delta_L) + ((Delta -
//! Delta_L)/2)^2, and is scaled by 2 (1 - beta), which keeps the fairness that Reno has among flows of different beta.
//! The decrease empties the queue and no more, beta = RTT_min/RTT_max within [0.5, 0.8]; it is 0.5 if B changed by more
//! than a fifth since the last event (adaptive backoff). Scaling the increase with the RTT is an option of the draft,
//! as Linux has it: f is divided by 100 ms/RTT_min, within [0.5, 10], and not below 1.
//!
//! alpha has no bound, and after long times without a loss exceeds a small window; at most a packet is added a packet
//! acknowledged, as in slow start (so Linux).
//!
//! What the sources leave open: B is what was acknowledged in the last whole round trip, over its length (Linux: the
//! largest of running means since the last event); RTT_max begins anew with each congestion event (Linux and FreeBSD
//! let it fade by 5 % an event); the first event, which has no B before it, halves. Linux also scales with the RTT by
//! default, within the first second too, counts Delta from the end of the recovery, and halves where RTT_min is 10 ms
//! or less.
//!
//! Read: Linux' net/ipv4/tcp_htcp.c (2.6) and FreeBSD's cc_htcp.c, which follows draft 06, for constants, conditions
//! and their order; a survey with the formula of f. Not read: the draft and the paper themselves.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Phase, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Htcp`].
    pub struct HtcpConfig {
        /// Time since the last congestion event up to which the increase is Reno's.
        delta_low: Duration, default "1 s", min "0 s";
        /// Whether the decrease follows the queueing delay; off: half of the window is kept.
        adaptive_backoff: bool, default "true";
        /// Whether the increase is scaled with the RTT.
        rtt_scaling: bool, default "false";
    }
}

const MIN_BETA: f64 = 0.5;
const MAX_BETA: f64 = 0.8;
/// Relative change of B beyond which beta is not trusted.
const STEADY: f64 = 0.2;
/// RTT to which the increase is scaled, s.
const REFERENCE_RTT_S: f64 = 0.1;

/// Increase by the time since the last loss, decrease by the queueing delay.
pub type Htcp = WindowBased<HtcpRule>;

/// alpha by the time since the last loss, beta by the queueing delay.
#[derive(Clone, Debug)]
pub struct HtcpRule {
    delta_low_s: f64,
    adaptive_backoff: bool,
    rtt_scaling: bool,
    beta: f64,
    /// [`Instant::MAX`] until the first ACK.
    last_congestion: Instant,
    min_rtt: Duration,
    max_rtt: Duration,
    /// The round trip under way: its start, and packets acknowledged in it.
    round_start: Instant,
    round_acked: f64,
    rate: f64,
    rate_before: f64,
}

impl HtcpRule {
    /// alpha, packets a round trip. draft-leith-tcp-htcp-06 §2
    fn increase(&self, now: Instant) -> f64 {
        let beyond = now.since(self.last_congestion).as_secs_f64() - self.delta_low_s;
        if beyond <= 0.0 {
            return 2.0 * (1.0 - self.beta);
        }
        let mut growth = 1.0 + 10.0 * beyond + 0.25 * beyond * beyond;
        if self.rtt_scaling {
            let scale = (REFERENCE_RTT_S / self.min_rtt.as_secs_f64()).clamp(0.5, 10.0);
            growth = (growth / scale).max(1.0);
        }
        2.0 * (1.0 - self.beta) * growth
    }

    /// beta at a congestion event. draft-leith-tcp-htcp-06 §2
    fn backoff(&self) -> f64 {
        let changed = (self.rate - self.rate_before).abs() > STEADY * self.rate_before;
        if !self.adaptive_backoff || changed || self.max_rtt == Duration::ZERO {
            return MIN_BETA;
        }
        (self.min_rtt.as_secs_f64() / self.max_rtt.as_secs_f64()).clamp(MIN_BETA, MAX_BETA)
    }
}

impl WindowRule for HtcpRule {
    type Config = HtcpConfig;

    const SUMMARY: &'static str = "increase by the time since the last loss, decrease by the queueing delay";
    const REFERENCE: &'static str = "Leith & Shorten, PFLDnet 2004";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] = &[
        Variable::new("beta", "", "factor kept at the last congestion event"),
        Variable::new(
            "rate",
            "packets/s",
            "packets acknowledged in the last round trip, over its length (B)",
        ),
    ];

    fn new(config: &HtcpConfig, _: &Start) -> Self {
        Self {
            delta_low_s: config.delta_low.as_secs_f64(),
            adaptive_backoff: config.adaptive_backoff,
            rtt_scaling: config.rtt_scaling,
            beta: MIN_BETA,
            last_congestion: Instant::MAX,
            min_rtt: Duration::MAX,
            max_rtt: Duration::ZERO,
            round_start: Instant::ZERO,
            round_acked: 0.0,
            rate: 0.0,
            rate_before: 0.0,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        if ack.phase == Phase::Recovery {
            return; // a repair is no measure of the throughput; as Linux
        }
        if self.last_congestion == Instant::MAX {
            self.last_congestion = ack.now;
        }
        self.min_rtt = ack.min_rtt;
        if let Some(rtt) = ack.rtt {
            self.max_rtt = self.max_rtt.max(rtt);
        }
        self.round_acked += ack.acked as f64;
        if ack.round_ended {
            let lasted = ack.now.since(self.round_start).as_secs_f64();
            if lasted > 0.0 {
                self.rate = self.round_acked / lasted;
            }
            self.round_start = ack.now;
            self.round_acked = 0.0;
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, ack: &AckEvent, acked: f64, slope: f64) {
        // alpha may exceed the window: no faster than slow start then.
        windows.window += acked * (slope * self.increase(ack.now) / windows.window).min(1.0);
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("beta", self.beta);
        reader("rate", self.rate);
    }

    fn reduce(&mut self, _: f64, event: &CongestionEvent) -> f64 {
        self.beta = self.backoff();
        self.rate_before = self.rate;
        self.max_rtt = Duration::ZERO;
        self.last_congestion = event.now;
        self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};

    fn config() -> HtcpConfig {
        HtcpConfig { delta_low: Duration::from_secs(1), adaptive_backoff: true, rtt_scaling: false }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn ack(ms: u64, rtt_ms: u64, min_rtt_ms: u64) -> AckEvent {
        AckEvent {
            min_rtt: Duration::from_millis(min_rtt_ms),
            round_ended: true,
            ..AckEvent::of_one_packet(at(ms), Duration::from_millis(rtt_ms))
        }
    }

    #[test]
    fn the_increase_is_renos_for_a_second_and_quadratic_later() {
        let mut htcp = Htcp::new(&config(), Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
        htcp.on_congestion(&CongestionEvent { now: at(0), signal: Signal::Loss, in_flight: 100 });
        assert_eq!(htcp.rule.beta, 0.5);
        for (ms, expected) in [(500, 1.0), (1000, 1.0), (2000, 11.25), (5000, 45.0), (11_000, 126.0)] {
            assert!((htcp.rule.increase(at(ms)) - expected).abs() < 1e-9, "{ms} ms");
        }
    }

    #[test]
    fn the_increase_is_scaled_by_the_decrease() {
        // 2 (1 - beta) f: a flow that gives back less also takes less, 0.4 of Reno's at beta = 0.8.
        let mut htcp = Htcp::new(&config(), Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
        htcp.on_congestion(&CongestionEvent { now: at(0), signal: Signal::Loss, in_flight: 100 });
        htcp.rule.beta = 0.8;
        for (ms, expected) in [(1000, 0.4), (3000, 0.4 * 22.0)] {
            assert!((htcp.rule.increase(at(ms)) - expected).abs() < 1e-9, "{ms} ms");
        }
    }

    #[test]
    fn it_never_grows_faster_than_slow_start() {
        let mut htcp = Htcp::new(&config(), Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
        htcp.on_congestion(&CongestionEvent { now: at(0), signal: Signal::Loss, in_flight: 100 });
        htcp.on_ack(&ack(11_000, 100, 100)); // 126 packets a round trip for a window of 50
        assert_eq!(htcp.window(), 51.0);
    }

    #[test]
    fn a_rate_that_changed_by_more_than_a_fifth_halves() {
        // 100 packets in a round trip of 100 ms, then this many.
        for (packets, expected) in [(81, 0.8), (79, 0.5), (119, 0.8), (121, 0.5)] {
            let mut htcp = Htcp::new(&config(), Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
            let mut loss = |ms: u64, acked: u32| {
                for _ in 1..acked {
                    htcp.on_ack(&AckEvent { round_ended: false, ..ack(ms, 100, 100) });
                }
                htcp.on_ack(&ack(ms, 100, 100));
                htcp.on_congestion(&CongestionEvent { now: at(ms), signal: Signal::Loss, in_flight: 100 });
                htcp.rule.beta
            };
            assert_eq!(loss(100, 100), 0.5); // nothing to compare with yet
            assert_eq!(loss(200, packets), expected, "{packets}");
        }
    }

    #[test]
    fn scaled_with_the_rtt_the_increase_is_that_of_100_ms() {
        for (min_rtt_ms, divisor) in [(100, 1.0), (50, 2.0), (5, 10.0), (400, 0.5_f64)] {
            let scaled = HtcpConfig { rtt_scaling: true, ..config() };
            let mut htcp = Htcp::new(&scaled, Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
            htcp.on_ack(&ack(0, min_rtt_ms, min_rtt_ms));
            htcp.on_congestion(&CongestionEvent { now: at(0), signal: Signal::Loss, in_flight: 100 });
            htcp.rule.beta = 0.5;
            let increase = htcp.rule.increase(at(3000));
            assert!((increase - 22.0 / divisor).abs() < 1e-9, "{min_rtt_ms} ms: {increase}");
        }
    }

    #[test]
    fn the_decrease_empties_the_queue_when_the_rate_is_steady() {
        let mut htcp = Htcp::new(&config(), Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
        let mut now = 0;
        for (max_rtt, expected) in [(20, 0.5), (14, 10.0 / 14.0), (11, 0.8), (40, 0.5)] {
            for _ in 0..10 {
                now += 10;
                htcp.on_ack(&ack(now, max_rtt, 10));
            }
            let before = htcp.window();
            let in_flight = before as u64;
            htcp.on_congestion(&CongestionEvent { now: at(now), signal: Signal::Loss, in_flight });
            assert!((htcp.rule.beta - expected).abs() < 1e-12, "{}", htcp.rule.beta);
            assert!((htcp.window() - before * expected).abs() < 1e-9);
        }
    }
}
