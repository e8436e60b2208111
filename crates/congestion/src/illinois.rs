//! Illinois: increase and decrease by the queueing delay (Liu, Basar & Srikant, Performance Evaluation 65(6-7), 2008).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | d_a | `queueing_s` | s, mean RTT of the last round trip over the smallest |
//! | d_m | [`IllinoisRule::largest`] | s, largest RTT of the connection over the smallest |
//! | d_1, d_2, d_3 | 0.01, 0.1, 0.8 of d_m | s |
//! | alpha | `increase` | packets a round trip, from `max_increase` down to `min_increase` |
//! | beta | `decrease` | part taken at a loss, from `min_decrease` up to `max_decrease` |
//! | W_thresh | `legacy_window` | packets; below, the control is Reno |
//! | theta | `patience` | round trips |
//!
//! alpha is its largest value where d_a <= d_1, and k_1/(k_2 + d_a) beyond, so that it is the smallest at d_m. beta is
//! its smallest value where d_a <= d_2, its largest where d_a >= d_3, and linear between. Losses say when to decrease,
//! delay determines the size: the window grows fast while the queue is short and slowly as it fills, a concave curve.
//! Once d_a was beyond d_1, alpha comes back to its largest value after theta round trips below it only: one is no
//! proof. After a timeout alpha and beta are Reno's until the next round trip ends.
//!
//! Readings. The defaults are those of Linux (alpha from 0.3 to 10, beta from 1/8 to 1/2, W_thresh = 15, theta = 5),
//! whose author names the paper and the authors' own simulation as his sources. The round trips of theta need not be
//! consecutive there, and are not here. A round trip that ends while the window is not used counts.
//!
//! Linux 2.6.22, and ns-2 with it, keeps beta of the window instead of 1 - beta: `min_decrease = 0.875` is that.
//!
//! Read: Linux' net/ipv4/tcp_illinois.c (2.6.22 and later), and a secondary text for the formulas. Not read: the paper
//! itself.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Packets;

parshall_units::configuration! {
    /// Parameters of [`Illinois`].
    pub struct IllinoisConfig {
        /// Packets added by round trip where the queue is full (alpha_min).
        min_increase: f64, default "0.3", min 1e-6, max 1000.0;
        /// Packets added by round trip where there is no queue (alpha_max).
        max_increase: f64, default "10", min 1e-6, max 1000.0;
        /// Part of the window taken at a loss where there is no queue (beta_min).
        min_decrease: f64, default "0.125", min 0.001, max 0.99;
        /// Part of the window taken at a loss where the queue is full (beta_max).
        max_decrease: f64, default "0.5", min 0.001, max 0.99;
        /// Window below which the control does as Reno.
        legacy_window: Packets, default "15 packets", min "0 packets";
        /// Round trips without a queue after which the increase is the largest again (theta).
        patience: u64, default "5", min 1, max 1_000_000;
    }
}

/// d_1, d_2 and d_3 over d_m.
const SHORT: f64 = 0.01;
const LOW: f64 = 0.1;
const HIGH: f64 = 0.8;
/// Reno's alpha and beta.
const RENO: (f64, f64) = (1.0, 0.5);

/// A loss reduces the window, by a factor that the delay gives.
pub type Illinois = WindowBased<IllinoisRule>;

/// alpha and beta by the queueing delay.
#[derive(Clone, Debug)]
pub struct IllinoisRule {
    config: IllinoisConfig,
    increase: f64,
    decrease: f64,
    min_rtt_s: f64,
    max_rtt_s: f64,
    /// RTTs of the round trip under way: their sum and number.
    sum_s: f64,
    samples: f64,
    /// True if d_a was beyond d_1, and how many round trips since were below.
    queued: bool,
    short_rounds: u64,
}

impl IllinoisRule {
    /// d_m
    fn largest(&self) -> f64 {
        self.max_rtt_s - self.min_rtt_s
    }

    /// alpha = f_1(d_a)
    fn increase_at(&mut self, queueing_s: f64) -> f64 {
        let (most, least) = (self.config.max_increase, self.config.min_increase);
        let short = SHORT * self.largest();
        if queueing_s <= short {
            if self.queued {
                self.short_rounds += 1;
                if self.short_rounds < self.config.patience {
                    return self.increase;
                }
            }
            (self.queued, self.short_rounds) = (false, 0);
            return most;
        }
        self.queued = true;
        // k_1/(k_2 + d_a) through (d_1, alpha_max) and (d_m, alpha_min).
        let full = ((queueing_s - short) / (self.largest() - short)).min(1.0);
        most / (1.0 + full * (most - least) / least)
    }

    /// beta = f_2(d_a)
    fn decrease_at(&self, queueing_s: f64) -> f64 {
        let (least, most) = (self.config.min_decrease, self.config.max_decrease);
        let (low, high) = (LOW * self.largest(), HIGH * self.largest());
        if queueing_s <= low {
            least
        } else if queueing_s >= high {
            most
        } else {
            least + (most - least) * (queueing_s - low) / (high - low)
        }
    }

    fn end_round(&mut self, window: f64) {
        if window < self.config.legacy_window.0 as f64 {
            (self.increase, self.decrease) = RENO;
        } else if self.samples > 0.0 {
            let queueing_s = (self.sum_s / self.samples - self.min_rtt_s).max(0.0);
            self.increase = self.increase_at(queueing_s);
            self.decrease = self.decrease_at(queueing_s);
        }
        self.start_round();
    }

    fn start_round(&mut self) {
        (self.sum_s, self.samples) = (0.0, 0.0);
    }
}

impl WindowRule for IllinoisRule {
    type Config = IllinoisConfig;

    const SUMMARY: &'static str = "increase falls and decrease grows with the queueing delay";
    const REFERENCE: &'static str = "Liu, Basar & Srikant, Performance Evaluation 65(6-7), 2008";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] = &[
        Variable::new("increase", "packets", "packets that a round trip adds (alpha)"),
        Variable::new("decrease", "", "part of the window that a loss would take (beta)"),
    ];
    /// The mean RTT of a round trip is that of all its packets.
    const NEEDS: Needs = Needs { timestamps: true, ..Needs::NONE };

    fn new(config: &IllinoisConfig, _: &Start) -> Self {
        Self {
            increase: config.max_increase,
            decrease: config.max_decrease,
            config: config.clone(),
            min_rtt_s: 0.0,
            max_rtt_s: 0.0,
            sum_s: 0.0,
            samples: 0.0,
            queued: false,
            short_rounds: 0,
        }
    }

    fn observe(&mut self, windows: &mut Windows, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt_s = ack.min_rtt.as_secs_f64();
            self.max_rtt_s = self.max_rtt_s.max(rtt.as_secs_f64());
            self.sum_s += rtt.as_secs_f64();
            self.samples += 1.0;
        }
        if ack.round_ended {
            self.end_round(windows.window);
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        // alpha may exceed the window: no faster than slow start then.
        windows.window += acked * (slope * self.increase / windows.window).min(1.0);
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("increase", self.increase);
        reader("decrease", self.decrease);
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        1.0 - self.decrease
    }

    fn on_timed_out(&mut self, _: &Windows) {
        (self.increase, self.decrease) = RENO;
        (self.queued, self.short_rounds) = (false, 0);
        self.start_round();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::{Duration, Instant};

    fn config() -> IllinoisConfig {
        IllinoisConfig {
            min_increase: 0.3,
            max_increase: 10.0,
            min_decrease: 0.125,
            max_decrease: 0.5,
            legacy_window: Packets(15),
            patience: 5,
        }
    }

    fn ack(rtt_ms: f64) -> AckEvent {
        let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
        AckEvent {
            min_rtt: Duration::from_millis(100),
            may_grow: false,
            round_ended: true,
            ..AckEvent::of_one_packet(Instant::ZERO, rtt)
        }
    }

    /// A control at this window that has seen 100 ms and 200 ms: d_m is 100 ms.
    fn illinois(window: f64) -> Illinois {
        let mut control = Illinois::new(&config(), Start { window, ssthresh: 5.0, ..Start::NEW });
        control.on_ack(&ack(100.0));
        control.on_ack(&ack(200.0));
        control
    }

    #[test]
    fn increase_and_decrease_are_those_of_the_delay() {
        // 10/(1 + x 9.7/0.3), x = (d_a - 1 ms)/99 ms; 1/8 up to 10 ms, 1/2 from 80 ms on, 3/8 of the way in 70 ms.
        let table = [
            (101.5, 10.0 / (1.0 + 0.5 / 99.0 * 9.7 / 0.3), 0.125),
            (110.0, 10.0 / (1.0 + 9.0 / 99.0 * 9.7 / 0.3), 0.125),
            (145.0, 10.0 / (1.0 + 44.0 / 99.0 * 9.7 / 0.3), 0.3125),
            (180.0, 10.0 / (1.0 + 79.0 / 99.0 * 9.7 / 0.3), 0.5),
            (200.0, 0.3, 0.5),
        ];
        for (rtt_ms, increase, decrease) in table {
            let mut control = illinois(100.0);
            control.on_ack(&ack(rtt_ms));
            let found = (control.rule.increase, control.rule.decrease);
            assert!(
                (found.0 - increase).abs() < 1e-9 && (found.1 - decrease).abs() < 1e-9,
                "{rtt_ms} ms: {found:?}"
            );
            control.on_ack(&AckEvent { may_grow: true, round_ended: false, ..ack(rtt_ms) });
            assert!((control.window() - 100.0 - increase / 100.0).abs() < 1e-9);
            let before = control.window();
            control.on_congestion(&CongestionEvent {
                now: Instant::ZERO,
                signal: Signal::Loss,
                in_flight: 101,
            });
            assert!((control.window() - before * (1.0 - decrease)).abs() < 1e-9);
        }
    }

    #[test]
    fn the_largest_increase_comes_back_after_five_round_trips() {
        let mut control = illinois(100.0);
        for _ in 0..4 {
            control.on_ack(&ack(100.0));
            assert!((control.rule.increase - 0.3).abs() < 1e-9);
        }
        control.on_ack(&ack(100.0));
        assert_eq!(control.rule.increase, 10.0);
    }

    #[test]
    fn small_windows_and_timeouts_are_renos() {
        let mut control = illinois(14.0);
        control.on_ack(&ack(110.0));
        assert_eq!((control.rule.increase, control.rule.decrease), RENO);
        let mut control = illinois(100.0);
        control.on_ack(&ack(110.0));
        control.on_timeout(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 100 });
        assert_eq!((control.rule.increase, control.rule.decrease), RENO);
    }

    /// What the source is after: the steps shrink as the queue fills.
    #[test]
    fn the_window_grows_on_a_concave_curve() {
        let mut control = illinois(100.0);
        let mut steps = Vec::new();
        for _ in 0..60 {
            // A path of 100 packets, then a queue; RTTs by the window.
            let rtt_ms = control.window().max(100.0);
            let before = control.window();
            control.on_ack(&ack(rtt_ms));
            let grow = AckEvent { may_grow: true, round_ended: false, ..ack(rtt_ms) };
            (0..before as u64).for_each(|_| control.on_ack(&grow));
            steps.push(control.window() - before);
        }
        let late = &steps[5..];
        assert!(late.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9), "{steps:?}");
        assert!(late[0] > 5.0 * late[54], "{steps:?}");
    }
}
