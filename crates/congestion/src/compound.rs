//! Compound TCP: Reno's window and a window of delay beside it (Tan, Song, Zhang & Sridharan, INFOCOM 2006;
//! draft-sridharan-tcpm-ctcp-02).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | win | `window` | packets: cwnd + dwnd |
//! | cwnd | `window - delay_window` | packets, the part that follows losses |
//! | dwnd | `delay_window` | packets, the part that follows delay |
//! | diff | [`CompoundRule::end_round`] | packets queued: win (1 - baseRTT/RTT) |
//! | gamma | `gamma` | packets queued from which on dwnd yields |
//! | alpha, k | `increase`, `k` | increase alpha win^k |
//! | 1 - beta | `decrease` | factor of win kept at a loss |
//! | zeta | `zeta` | how fast dwnd yields |
//!
//! cwnd grows as Reno's, by 1/win an ACK. Once a round trip of congestion avoidance dwnd grows by alpha win^k - 1 where
//! diff < gamma, and shrinks by zeta diff elsewhere, down to 0. A loss sets win to (1 - beta) win, of which cwnd/2 is
//! cwnd's part. So while little is queued a round trip adds alpha win^k, which takes HighSpeed TCP's place on empty
//! paths and is Reno where there is a queue. W goes with p^(-1/(2-k)).
//!
//! Readings. With alpha = 1/8 and k = 3/4 dwnd begins to grow at a window of 16 packets. diff is from the smallest RTT
//! of the round trip's ACKs, whose packets were sent in the round trip before: the window grew by a few packets since.
//! A round trip with fewer than three samples changes nothing, nor does one of slow start. zeta is 1, as in the module
//! that was written for Linux; a timeout takes dwnd away. Left out: the source's tuning of gamma by the queue at
//! losses, for which `gamma` is a parameter.
//!
//! ns-2's module for Linux 2.6.22 differs at losses: the whole window is halved as Reno's, and dwnd kept or dropped as
//! a whole; and it counts whole packets, so that dwnd grows from windows of 41 packets on.
//!
//! Read: the abstracts of the draft, and the module of ns-2.35 for its constants and order. Not read: the text of paper
//! and draft; their equations stand here as others quote them.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Duration;

parshall_units::configuration! {
    /// Parameters of [`Compound`].
    pub struct CompoundConfig {
        /// Scale of the delay window's growth (alpha).
        increase: f64, default "0.125", min 1e-6, max 10.0;
        /// Factor of the window that is kept at a congestion event.
        decrease: f64, default "0.5", min 0.5, max 0.999;
        /// Exponent of that growth.
        k: f64, default "0.75", min 0.0, max 1.0;
        /// Packets queued from which on the delay window yields.
        gamma: f64, default "30", min 0.0, max 1e6;
        /// Packets that it yields for each packet queued.
        zeta: f64, default "1", min 0.001, max 1000.0;
    }
}

/// The sum of a window of losses and one of delay.
pub type Compound = WindowBased<CompoundRule>;

/// Reno's increase and that of the delay window.
#[derive(Clone, Debug)]
pub struct CompoundRule {
    config: CompoundConfig,
    delay_window: f64,
    /// Smallest RTT of the round trip under way, and how many samples there were.
    round_rtt: Duration,
    samples: u32,
}

/// Samples that a round trip needs to be believed: of two, both may be those of delayed ACKs.
const ENOUGH: u32 = 3;

impl CompoundRule {
    /// dwnd at a round trip's end, and with it win.
    fn end_round(&mut self, windows: &mut Windows, base_rtt: Duration, slope: f64) {
        let queued = windows.window * (1.0 - base_rtt.as_secs_f64() / self.round_rtt.as_secs_f64());
        let before = self.delay_window;
        self.delay_window = if queued < self.config.gamma {
            let step = self.config.increase * libm::pow(windows.window, self.config.k) - 1.0;
            before + slope * step.clamp(0.0, windows.window) // no faster than slow start
        } else {
            (before - self.config.zeta * queued).max(0.0)
        };
        windows.window += self.delay_window - before;
    }

    /// The next round trip begins.
    fn restart(&mut self) {
        (self.round_rtt, self.samples) = (Duration::MAX, 0);
    }

    /// dwnd keeps what cwnd, which is halved, does not need of the window that a loss leaves.
    fn divide(&mut self, used: f64) {
        let loss_window = (used - self.delay_window).max(0.0);
        self.delay_window = (used * self.config.decrease - loss_window / 2.0).max(0.0);
    }
}

impl WindowRule for CompoundRule {
    type Config = CompoundConfig;

    const SUMMARY: &'static str = "Reno and beside it a window that grows while little is queued";
    const REFERENCE: &'static str = "Tan, Song, Zhang & Sridharan, INFOCOM 2006";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[Variable::new("delay_window", "packets", "the part of the window that follows delay (dwnd)")];
    /// With fewer samples it could not measure a round trip, and would be Reno.
    const NEEDS: Needs = Needs { timestamps: true, ..Needs::NONE };

    fn new(config: &CompoundConfig, _: &Start) -> Self {
        Self { config: config.clone(), delay_window: 0.0, round_rtt: Duration::MAX, samples: 0 }
    }

    fn observe(&mut self, windows: &mut Windows, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.round_rtt = self.round_rtt.min(rtt);
            self.samples += 1;
        }
        if ack.round_ended && (!ack.may_grow || windows.in_slow_start()) {
            self.restart(); // a round that ends while the window is unused is forgotten
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, ack: &AckEvent, acked: f64, slope: f64) {
        windows.window += slope * acked / windows.window;
        if ack.round_ended {
            if self.samples >= ENOUGH {
                self.end_round(windows, ack.min_rtt, slope);
            }
            self.restart();
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("delay_window", self.delay_window);
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        self.divide(used);
        self.restart();
        self.config.decrease
    }

    fn on_timed_out(&mut self, _: &Windows) {
        self.delay_window = 0.0;
    }

    fn on_idle_restarted(&mut self) {
        self.delay_window = 0.0;
        self.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::{Duration, Instant};

    fn compound(window: f64) -> Compound {
        let config = CompoundConfig { increase: 0.125, decrease: 0.5, k: 0.75, gamma: 30.0, zeta: 1.0 };
        Compound::new(&config, Start { window, ssthresh: 2.0, ..Start::NEW })
    }

    /// A round trip whose ACKs all count; the smallest RTT is 100 ms.
    fn round(control: &mut Compound, rtt_ms: f64) {
        let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
        let packets = control.window() as u64;
        for i in 0..packets {
            control.on_ack(&AckEvent {
                acked: 1,
                credit: control.window() / packets as f64,
                min_rtt: Duration::from_millis(100),
                round_ended: i + 1 == packets,
                ..AckEvent::of_one_packet(Instant::ZERO, rtt)
            });
        }
    }

    fn lose(control: &mut Compound) {
        let in_flight = control.window() as u64 + 1;
        control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight });
    }

    #[test]
    fn a_round_trip_adds_alpha_times_a_power_of_the_window() {
        // 256^(3/4)/8 = 8; below 16 packets the increase is Reno's.
        for (window, added) in [(10.0, 1.0), (255.0, 8.0), (4095.0, 64.0)] {
            let mut control = compound(window);
            round(&mut control, 100.0);
            assert!((control.window() - window - added).abs() < 1e-9, "{window}: {}", control.window());
            assert!((control.rule.delay_window - (added - 1.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn the_delay_window_withdraws_when_the_queue_builds() {
        let mut control = compound(255.0);
        (0..10).for_each(|_| round(&mut control, 100.0));
        let (window, delay) = (control.window(), control.rule.delay_window);
        assert!(delay > 75.0, "{delay}");
        round(&mut control, 115.0);
        let queued = (window + 1.0) * (1.0 - 1.0 / 1.15);
        assert!(queued > 30.0 && (control.rule.delay_window - (delay - queued)).abs() < 1e-6);
        (0..5).for_each(|_| round(&mut control, 130.0));
        assert_eq!(control.rule.delay_window, 0.0);
        let before = control.window();
        round(&mut control, 130.0);
        assert!((control.window() - before - 1.0).abs() < 1e-9, "Reno");
    }

    #[test]
    fn a_loss_halves_both_windows() {
        let mut control = compound(255.0);
        round(&mut control, 100.0);
        lose(&mut control);
        assert!((control.window() - 131.5).abs() < 1e-9);
        assert!((control.rule.delay_window - 3.5).abs() < 1e-9);
        let event = CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 200 };
        control.on_timeout(&event);
        assert_eq!((control.window(), control.rule.delay_window), (1.0, 0.0));
    }
}
