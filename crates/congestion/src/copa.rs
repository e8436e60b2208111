//! Copa: a rate of one packet in delta queueing delays (Arun & Balakrishnan, NSDI 2018).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | delta | 1 / `inverse_delta` | 1/packets; 0.5 in the default mode |
//! | RTT_min | `min_rtt` | s, smallest of 10 s |
//! | RTT_standing | `standing_rtt` | s, smallest of half a smoothed RTT |
//! | d_q | RTT_standing - RTT_min | s |
//! | lambda, lambda_t | cwnd/RTT_standing, 1/(delta d_q) | packets/s |
//! | v | `velocity` | |
//!
//! Each ACK moves cwnd by v/(delta cwnd), up if lambda <= lambda_t, else down: a queue of about 1/delta packets for
//! each flow, whose RTTs do not matter. A round trip that moves in the direction of the one before doubles v, from the
//! third such on; v is 1 after a change of direction. Slow start doubles cwnd until lambda exceeds lambda_t. Packets
//! are paced at 2 cwnd/RTT_standing.
//!
//! *Competitive mode.* Flows of Copa empty the queue every five RTTs. If d_q was not below a tenth of RTT_max - RTT_min
//! (RTT_max: largest of four RTTs) in the last five round trips, somebody else fills it: 1/delta then grows by 1 a
//! round trip and is halved at a loss, as Reno's window. In the default mode losses change nothing.
//!
//! Readings. cwnd moves by no more than in slow start, v <= delta cwnd, as the authors' code bounds v by cwnd. An ACK
//! against the direction of the round trip ends a velocity above 1, as in Meta's mvfst: the source compares windows
//! once a round trip only, which carries a high velocity past the target for one more. After a timeout there is slow
//! start up to the window before, as in Reno. Several flows that start together may take each other for others and then
//! stay in the competitive mode, a weakness that others saw too (Improvement of Copa, IEEE/ACM ToN, 2023, doi
//! 10.1109/TNET.2023.3278677); `mode_switching = false` is Copa among its like.
//!
//! Read: the abstract and the summary of the paper's authors, their code (genericCC) and mvfst's for the rules above.
//! Not read: the paper's text.

use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::windowed_rtt::{LargestRtt, SmallestRtt};
use crate::{AckEvent, CongestionEvent, Needs, Signal, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Duration;

parshall_units::configuration! {
    /// Parameters of [`Copa`].
    pub struct CopaConfig {
        /// Inverse of the packets that a flow keeps queued (delta).
        delta: f64, default "0.5", min 0.001, max 10.0;
        /// Whether it competes with flows that fill the queue.
        mode_switching: bool, default "true";
    }
}

/// How long a smallest RTT counts.
const MIN_RTT_HISTORY: Duration = Duration::from_secs(10);
/// Queueing delay of an empty queue, over the range of delays.
const EMPTY: f64 = 0.1;
/// RTTs in which flows of Copa empty the queue, and those of the largest RTT.
const EMPTIED_EVERY: u64 = 5;
const LARGEST_OF: u64 = 4;
/// Round trips in the direction of the one before, at which the velocity begins to double.
const STEADY: u32 = 3;
/// Taken for the RTT before there is one: the initial window goes at once.
const UNKNOWN_RTT_S: f64 = 1e-3;

/// Delay-based control with a target rate.
pub type Copa = WindowBased<CopaRule>;

/// Steps towards the target rate.
#[derive(Clone, Debug)]
pub struct CopaRule {
    least_inverse_delta: f64,
    mode_switching: bool,
    inverse_delta: f64,
    min_rtt: SmallestRtt,
    standing_rtt: SmallestRtt,
    max_rtt: LargestRtt,
    velocity: f64,
    /// Direction of the last round trip, how many had it, and the window at its end.
    upwards: bool,
    same: u32,
    window_before: f64,
    /// True if the queue was nearly empty in this round trip, and how many whole ones have passed since one in which it was.
    emptied: bool,
    filled_rounds: u64,
    competing: bool,
    /// True if a loss was seen in this round trip.
    lost: bool,
}

impl CopaRule {
    /// d_q
    fn queueing_s(&self) -> Option<f64> {
        Some((self.standing_rtt.get()? - self.min_rtt.get()?).max(0.0))
    }

    /// lambda <= lambda_t
    fn below_target(&self, window: f64) -> Option<bool> {
        // cwnd/RTT_standing <= (1/delta)/d_q, without a division by 0.
        Some(window * self.queueing_s()? <= self.inverse_delta * self.standing_rtt.get()?)
    }

    fn choose_mode(&mut self, ack: &AckEvent) {
        let (Some(queueing_s), Some(min_s)) = (self.queueing_s(), self.min_rtt.get()) else { return };
        self.emptied |= queueing_s <= EMPTY * (self.max_rtt.get() - min_s);
        if !ack.round_ended {
            return;
        }
        self.filled_rounds = if self.emptied { 0 } else { self.filled_rounds + 1 };
        self.competing = self.mode_switching && self.filled_rounds >= EMPTIED_EVERY;
        if !self.competing {
            self.inverse_delta = self.least_inverse_delta;
        } else if !self.lost {
            self.inverse_delta += 1.0;
        }
        (self.emptied, self.lost) = (false, false);
    }

    /// The round trip's direction, and with it the velocity.
    fn end_round(&mut self, window: f64) {
        let upwards = window > self.window_before;
        if upwards == self.upwards {
            self.same += 1;
            if self.same >= STEADY {
                self.velocity *= 2.0;
            }
        } else {
            self.turn(upwards);
        }
        self.window_before = window;
    }

    fn turn(&mut self, upwards: bool) {
        (self.upwards, self.same, self.velocity) = (upwards, 0, 1.0);
    }
}

impl WindowRule for CopaRule {
    type Config = CopaConfig;

    const SUMMARY: &'static str =
        "aims at a rate of 1/delta packets a queueing delay; competes if others fill the queue";
    const REFERENCE: &'static str = "Arun & Balakrishnan, NSDI 2018";
    const VARIABLES: &'static [Variable] = &[
        Variable::new("queueing", "s", "standing RTT less the smallest (d_q)"),
        Variable::new("inverse_delta", "packets", "packets that the flow keeps queued (1/delta)"),
        Variable::new("velocity", "", "factor of the steps (v)"),
        Variable::new("competing", "", "1 if others fill the queue, else 0"),
    ];
    const STANDARD_SLOW_START: bool = false;
    const NEEDS: Needs = Needs { timestamps: true, pacing: true, ..Needs::NONE };

    fn new(config: &CopaConfig, start: &Start) -> Self {
        Self {
            least_inverse_delta: 1.0 / config.delta,
            mode_switching: config.mode_switching,
            inverse_delta: 1.0 / config.delta,
            min_rtt: SmallestRtt::new(),
            standing_rtt: SmallestRtt::new(),
            max_rtt: LargestRtt::new(),
            velocity: 1.0,
            upwards: true,
            same: 0,
            window_before: start.window,
            emptied: false,
            filled_rounds: 0,
            competing: false,
            lost: false,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        let rtt_s = rtt.as_secs_f64();
        self.min_rtt.update(ack.now, rtt_s, MIN_RTT_HISTORY);
        self.standing_rtt.update(ack.now, rtt_s, ack.srtt.over(2));
        self.max_rtt.update(ack.now, rtt_s, ack.srtt.times(LARGEST_OF));
        self.choose_mode(ack);
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, _: f64) {
        let Some(below) = self.below_target(windows.window) else { return };
        if windows.in_slow_start() {
            if below {
                windows.slow_start(ack.credit);
                self.window_before = windows.window;
                return;
            }
            windows.ssthresh = windows.window.max(MIN_SSTHRESH);
        }
        if ack.round_ended {
            self.end_round(windows.window);
        }
        if below != self.upwards && self.velocity > 1.0 {
            self.turn(below);
            self.window_before = windows.window;
        }
        self.velocity = self.velocity.min((windows.window / self.inverse_delta).max(1.0));
        let step = self.velocity * self.inverse_delta / windows.window * ack.credit;
        let change = if below { step } else { -step };
        windows.window = (windows.window + change).max(MIN_SSTHRESH);
        windows.ssthresh = windows.ssthresh.min(windows.window);
    }

    fn pacing_rate(&self, windows: &Windows) -> Option<f64> {
        Some(2.0 * windows.window / self.standing_rtt.get().unwrap_or(UNKNOWN_RTT_S))
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(queueing_s) = self.queueing_s() {
            reader("queueing", queueing_s);
        }
        reader("inverse_delta", self.inverse_delta);
        reader("velocity", self.velocity);
        reader("competing", f64::from(u8::from(self.competing)));
    }

    fn reduce(&mut self, _: f64, event: &CongestionEvent) -> f64 {
        if self.competing && event.signal == Signal::Loss {
            self.inverse_delta = (self.inverse_delta / 2.0).max(self.least_inverse_delta);
        }
        self.lost = true;
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use parshall_units::Instant;

    fn copa(window: f64, ssthresh: f64) -> Copa {
        let config = CopaConfig { delta: 0.5, mode_switching: true };
        Copa::new(&config, Start { window, ssthresh, ..Start::NEW })
    }

    fn ack(at_ms: u64, rtt_ms: f64) -> AckEvent {
        AckEvent {
            srtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(100),
            ..AckEvent::of_one_packet(
                Instant::ZERO + Duration::from_millis(at_ms),
                Duration::from_secs_f64(rtt_ms / 1e3),
            )
        }
    }

    /// At this window out of slow start; the smallest RTT is 100 ms, seen a second ago.
    fn settled(window: f64) -> Copa {
        let mut control = copa(window, 2.0);
        control.on_ack(&AckEvent { may_grow: false, ..ack(0, 100.0) });
        control
    }

    #[test]
    fn the_window_moves_towards_two_packets_queued() {
        // cwnd d_q <= 2 RTT_standing: at 100 packets up to 102.04 ms. A step is 1/(0.5 * 100).
        for (rtt_ms, step) in [(100.0, 0.02), (102.0, 0.02), (102.1, -0.02), (150.0, -0.02)] {
            let mut control = settled(100.0);
            control.on_ack(&ack(1000, rtt_ms));
            assert!((control.window() - 100.0 - step).abs() < 1e-12, "{rtt_ms} ms: {}", control.window());
        }
    }

    #[test]
    fn packets_are_paced_at_twice_the_rate() {
        let mut control = settled(100.0);
        control.on_ack(&AckEvent { may_grow: false, ..ack(1000, 125.0) });
        assert!((control.pacing_rate().unwrap() - 1600.0).abs() < 1e-6);
    }

    #[test]
    fn slow_start_ends_above_the_target_rate() {
        let mut control = copa(10.0, f64::INFINITY);
        control.on_ack(&ack(0, 100.0));
        assert_eq!(control.window(), 11.0);
        control.on_ack(&ack(1000, 130.0)); // 11 * 30 ms > 2 * 130 ms
        assert!(control.window() < 11.0 && control.ssthresh() <= 11.0);
    }

    #[test]
    fn the_velocity_doubles_from_the_third_round_trip_on() {
        let mut control = settled(100.0);
        let mut velocities = Vec::new();
        for round in 1..6 {
            control.on_ack(&AckEvent { round_ended: true, ..ack(100 * round, 100.0) });
            control.on_ack(&ack(100 * round + 50, 100.0));
            velocities.push(control.rule.velocity);
        }
        // The first round trip has no ACK before its end, so it is no way up; the next four go upwards.
        assert_eq!(velocities, [1.0, 1.0, 1.0, 1.0, 2.0]);
        control.on_ack(&ack(700, 150.0));
        assert_eq!(control.rule.velocity, 1.0, "against the direction");
    }

    #[test]
    fn five_round_trips_with_a_queue_are_somebody_elses() {
        let mut control = settled(100.0);
        control.on_ack(&AckEvent { round_ended: true, ..ack(10, 200.0) });
        for round in 1..=5 {
            assert!(!control.rule.competing, "{round}");
            control.on_ack(&AckEvent { round_ended: true, ..ack(100 * round, 200.0) });
        }
        assert!(control.rule.competing);
        let inverse = control.rule.inverse_delta;
        control.on_ack(&AckEvent { round_ended: true, ..ack(800, 200.0) });
        assert_eq!(control.rule.inverse_delta, inverse + 1.0);
        let before = control.window();
        let event = CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 101 };
        control.on_congestion(&event);
        assert_eq!(control.window(), before);
        assert_eq!(control.rule.inverse_delta, (inverse / 2.0 + 0.5).max(2.0));
        control.on_ack(&AckEvent { round_ended: true, ..ack(900, 100.0) });
        assert_eq!(control.rule.inverse_delta, 2.0, "an empty queue");
    }
}
