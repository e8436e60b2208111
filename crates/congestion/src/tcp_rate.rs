//! TCP Rate: Reno whose congestion avoidance follows the RTT's changes, with paced packets (Park & Tuan, ACM TOMACS
//! 10(2), 2000, §3.6.3 and Table I).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | cwnd | `window` | packets |
//! | a | `increase` | packets a round trip |
//! | b | `decrease` | packets a round trip, at a gradient of 1 |
//! | Delta RTT | `rtt - self.rtt_s` | s, between two consecutive ACKs |
//! | tau | `now - self.acked_at` | s, spacing of these ACKs |
//!
//! An ACK whose RTT is shorter than the one before adds a / cwnd; one whose RTT is longer takes
//! (b / cwnd) (Delta RTT / tau): what the queue grew by while the ACKs' packets were sent.
//!
//! Readings. Table I prints the decrease as a quotient times b in which tau, which the text defines for it, does not
//! occur, and which depends on the unit of time; the reading here is the one that uses tau and has no unit. By default
//! it is divided by cwnd, as the increase is: b is taken by the round trip. With `decrease_per = "ack"` it is not, as
//! the table prints no cwnd there; then b packets by ACK at a gradient of 1 keep cwnd small whatever the path. An
//! unchanged RTT counts as shorter (the table says longer, with a decrease of 0): else an empty network would never be
//! tried. Losses, timeouts and slow start are Reno's. The pacing rate is cwnd / SRTT, twice that in slow start.

use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Instant;

parshall_units::choice! {
    /// The unit that takes the whole decrease b.
    pub enum DecreasePer {
        /// A round trip, as the increase.
        RoundTrip = "round_trip",
        /// Every ACK.
        Ack = "ack",
    }
}

parshall_units::configuration! {
    /// Parameters of [`TcpRate`].
    pub struct TcpRateConfig {
        /// Packets added by round trip while the RTT shrinks.
        increase: f64, default "1", min 1e-6, max 1000.0;
        /// Packets taken by round trip (or by ACK: `decrease_per`) while the RTT grows, times its growth over the time in which it grew; the source wants it above `increase`.
        decrease: f64, default "2", min 1e-6, max 1000.0;
        /// Whether that is taken by the round trip, each ACK's part divided by cwnd, or whole by each ACK.
        decrease_per: DecreasePer, default "round_trip";
    }
}

/// Taken for the RTT before there is one: the initial window goes at once.
const UNKNOWN_RTT_S: f64 = 1e-3;

/// AIMD on the RTT's gradient.
pub type TcpRate = WindowBased<TcpRateRule>;

/// Increase or decrease by the RTT's gradient.
#[derive(Clone, Debug)]
pub struct TcpRateRule {
    increase: f64,
    decrease: f64,
    decrease_per: DecreasePer,
    srtt_s: f64,
    /// Of the ACK before: its RTT, and when it came. Zero: there was none.
    rtt_s: f64,
    acked_at: Instant,
    /// By how much the RTT grew by second at this ACK; `None` if that is not known.
    gradient: Option<f64>,
}

impl TcpRateRule {
    /// The gradient since the ACK before.
    fn gradient_at(&mut self, ack: &AckEvent) -> Option<f64> {
        let rtt_s = ack.rtt?.as_secs_f64();
        let (before_s, spacing_s) = (self.rtt_s, ack.now.since(self.acked_at).as_secs_f64());
        self.rtt_s = rtt_s;
        self.acked_at = ack.now;
        if before_s == 0.0 {
            None
        } else if rtt_s <= before_s {
            Some(0.0)
        } else {
            // An RTT cannot grow by more than the time that passed, unless ACKs were held back.
            Some(if spacing_s > 0.0 { ((rtt_s - before_s) / spacing_s).min(1.0) } else { 1.0 })
        }
    }
}

impl WindowRule for TcpRateRule {
    type Config = TcpRateConfig;

    const SUMMARY: &'static str = "Reno whose congestion avoidance follows the RTT's changes, paced";
    const REFERENCE: &'static str = "Park & Tuan, ACM TOMACS 10(2), 2000";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[Variable::new("gradient", "", "growth of the RTT by second at the last ACK")];
    const STANDARD_SLOW_START: bool = false;
    const NEEDS: Needs = Needs { rate_samples: true, pacing: true, ..Needs::NONE };

    fn new(config: &TcpRateConfig, _: &Start) -> Self {
        Self {
            increase: config.increase,
            decrease: config.decrease,
            decrease_per: config.decrease_per,
            srtt_s: UNKNOWN_RTT_S,
            rtt_s: 0.0,
            acked_at: Instant::ZERO,
            gradient: None,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        if ack.srtt.as_ps() > 0 {
            self.srtt_s = ack.srtt.as_secs_f64();
        }
        self.gradient = self.gradient_at(ack);
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        match self.gradient {
            Some(growth) if growth > 0.0 => {
                let share = match self.decrease_per {
                    DecreasePer::RoundTrip => windows.window,
                    DecreasePer::Ack => 1.0,
                };
                windows.window = (windows.window - self.decrease * growth / share).max(MIN_SSTHRESH);
            }
            _ => windows.window += self.increase * (slope * acked) / windows.window,
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(gradient) = self.gradient {
            reader("gradient", gradient);
        }
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        0.5
    }

    fn pacing_rate(&self, windows: &Windows) -> Option<f64> {
        let gain = if windows.in_slow_start() { 2.0 } else { 1.0 };
        Some(gain * windows.window / self.srtt_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use parshall_units::Duration;

    fn ack(at_ms: f64, rtt_ms: f64) -> AckEvent {
        AckEvent {
            srtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(100),
            ..AckEvent::of_one_packet(
                Instant::ZERO + Duration::from_secs_f64(at_ms / 1e3),
                Duration::from_secs_f64(rtt_ms / 1e3),
            )
        }
    }

    fn config(decrease_per: DecreasePer) -> TcpRateConfig {
        TcpRateConfig { increase: 1.0, decrease: 2.0, decrease_per }
    }

    #[test]
    fn follows_the_gradient_of_the_rtt() {
        let config = config(DecreasePer::RoundTrip);
        let mut rate = TcpRate::new(&config, Start { window: 50.0, ssthresh: 10.0, ..Start::NEW });
        rate.on_ack(&ack(1.0, 110.0));
        rate.on_ack(&ack(2.0, 109.0));
        let grown = 50.0 + 1.0 / 50.0;
        assert!((rate.window() - (grown + 1.0 / grown)).abs() < 1e-12, "two ACKs without growth of the RTT");
        let before = rate.window();
        rate.on_ack(&ack(4.0, 109.5)); // 0.5 ms in 2 ms
        assert!((rate.window() - (before - 2.0 * 0.25 / before)).abs() < 1e-9);
        assert_eq!(rate.pacing_rate(), Some(rate.window() / 0.1));
    }

    #[test]
    fn the_whole_decrease_may_be_taken_by_each_ack() {
        let mut rate =
            TcpRate::new(&config(DecreasePer::Ack), Start { window: 50.0, ssthresh: 10.0, ..Start::NEW });
        rate.on_ack(&ack(1.0, 110.0));
        let before = rate.window();
        rate.on_ack(&ack(3.0, 110.5)); // 0.5 ms in 2 ms
        assert!((rate.window() - (before - 2.0 * 0.25)).abs() < 1e-9);
    }

    /// A link of `capacity` packets/s whose queue is what the rate leaves: the window must fill it without losses.
    #[test]
    fn settles_where_the_path_is_full() {
        let config = config(DecreasePer::RoundTrip);
        let mut rate = TcpRate::new(&config, Start { window: 5.0, ssthresh: 1.0, ..Start::NEW });
        let (capacity, base_s) = (1000.0, 0.1);
        let (mut now, mut queue) = (0.0, 0.0_f64);
        for _ in 0..200_000 {
            let pace = rate.window() / (base_s + queue / capacity);
            let gap = (1.0 / pace).max(1.0 / capacity);
            queue = (queue + 1.0 - capacity / pace).max(0.0);
            now += gap;
            rate.on_ack(&ack(now * 1e3, (base_s + queue / capacity) * 1e3));
        }
        assert!(rate.window() > 95.0 && rate.window() < 130.0, "{}", rate.window());
    }
}
