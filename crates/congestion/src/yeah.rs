//! YeAH: Scalable TCP while the queue is short, Reno beyond, and a queue emptied before it overflows (Baiocchi,
//! Castellani & Vacirca, PFLDnet 2007).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | Q | `queued` | packets queued at the bottleneck: cwnd (1 - RTT_base/RTT_min) |
//! | L | RTT_min/RTT_base - 1 | congestion level |
//! | RTT_base, RTT_min | `AckEvent::min_rtt`, `round` | smallest RTT of the connection, and of the last packets |
//! | Q_max (alpha) | `max_queue` | packets; beyond, the mode is slow |
//! | phi | `max_level` | congestion level beyond which the mode is slow |
//! | cwnd_reno | `reno_window` | packets: the window that a Reno flow in its place would have |
//! | rho | `competition` | round trips in slow mode after which others are taken to compete |
//!
//! Once a round trip the mode is decided: fast where Q < Q_max and L < phi, as Scalable TCP; slow beyond, as Reno. In
//! slow mode a round trip that finds Q > Q_max takes Q from the window, half of it at most and never below
//! `reno_window` (precautionary decongestion); `reno_window` grows by a packet a round trip in slow mode, so that flows
//! which do not yield get no more than a Reno flow would leave them. A loss takes Q as it is then, between 1/8 and half
//! of the window; half, if the mode has been slow for rho round trips. After `forgiven` round trips in fast mode the
//! window of a Reno flow is forgotten.
//!
//! Readings are those of Linux, whose module a source's author wrote: alpha = 80 packets, phi = 1/8, rho = 16, 50 round
//! trips; a round trip with fewer than three samples decides nothing; the count of round trips in fast mode begins anew
//! at a loss only. Scalable's increase is a packet for `min(cwnd, 100)` acknowledged, so that small windows grow as
//! Reno's; Linux needs one ACK more. Linux takes the smallest RTT of all ACKs of a round trip, whose packets were sent
//! in the one before, and at a loss the Q of the last round trip: of a slow start that overflows a queue it takes 1/8
//! of the window, and loses the more.
//!
//! Read: Linux' net/ipv4/tcp_yeah.c (2.6). Not read: the paper itself, so its symbols are those that the module and
//! ns-3 name.

use crate::round_rtt::RoundRtt;
use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};

parshall_units::configuration! {
    /// Parameters of [`Yeah`].
    pub struct YeahConfig {
        /// Packets queued beyond which the control is Reno, and takes them from its window (Q_max, alpha).
        max_queue: f64, default "80", min 0.0, max 1e6;
        /// Queueing delay over the smallest RTT beyond which the control is Reno (phi).
        max_level: f64, default "0.125", min 0.0, max 1e6;
        /// Round trips as Reno after which a loss halves, since others compete (rho).
        competition: u64, default "16", min 1, max 1_000_000;
        /// Least part of the window that a loss takes.
        min_decrease: f64, default "0.125", min 0.001, max 0.5;
        /// Largest part of the window that is taken to empty the queue.
        max_decongestion: f64, default "0.5", min 0.0, max 0.9;
        /// Packets added for each packet acknowledged while the queue is short; no more than a packet a round trip at windows below its inverse.
        increase: f64, default "0.01", min 1e-6, max 1.0;
        /// Round trips with a short queue after which the window of a Reno flow is forgotten.
        forgiven: u64, default "50", min 1, max 1_000_000;
    }
}

/// Scalable TCP that empties its queue.
pub type Yeah = WindowBased<YeahRule>;

/// Fast and slow mode by the packets queued.
#[derive(Clone, Debug)]
pub struct YeahRule {
    config: YeahConfig,
    round: RoundRtt,
    queued: f64,
    reno_window: f64,
    /// Round trips in slow mode, without a break; 0: the mode is fast.
    slow_rounds: u64,
    fast_rounds: u64,
}

impl YeahRule {
    /// The round trip's decision.
    fn end_round(&mut self, windows: &mut Windows, rtt_s: f64, ack: &AckEvent) {
        self.queued = self.round.queued(windows.window).unwrap_or(0.0);
        let level = rtt_s / ack.min_rtt.as_secs_f64() - 1.0;
        if self.queued <= self.config.max_queue && level <= self.config.max_level {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > self.config.forgiven {
                (self.fast_rounds, self.reno_window) = (0, MIN_SSTHRESH);
            }
            return;
        }
        if self.queued > self.config.max_queue && windows.window > self.reno_window {
            let taken = self.queued.min(self.config.max_decongestion * windows.window);
            windows.window = (windows.window - taken).max(self.reno_window);
            windows.ssthresh = windows.window;
        }
        self.reno_window = if self.reno_window <= MIN_SSTHRESH {
            (windows.window / 2.0).max(MIN_SSTHRESH)
        } else {
            self.reno_window + 1.0
        };
        self.slow_rounds += 1;
    }
}

impl WindowRule for YeahRule {
    type Config = YeahConfig;

    const SUMMARY: &'static str =
        "Scalable TCP while the queue is short, then Reno, and takes back what it queued";
    const REFERENCE: &'static str = "Baiocchi, Castellani & Vacirca, PFLDnet 2007";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] = &[
        Variable::new("queued", "packets", "packets queued in the last round trip (Q)"),
        Variable::new("reno_window", "packets", "window that a Reno flow would have (cwnd_reno)"),
        Variable::new("slow", "", "whether the control is Reno: 1 if so"),
    ];
    /// With fewer samples it could not measure a round trip.
    const NEEDS: Needs = Needs { timestamps: true, ..Needs::NONE };

    fn new(config: &YeahConfig, _: &Start) -> Self {
        Self {
            config: config.clone(),
            round: RoundRtt::default(),
            queued: 0.0,
            reno_window: MIN_SSTHRESH,
            slow_rounds: 0,
            fast_rounds: 0,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        self.round.count(ack);
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        let mut acked = ack.credit;
        if windows.in_slow_start() {
            acked = windows.slow_start(acked);
        }
        if acked > 0.0 {
            self.avoid_congestion(windows, ack, acked, slope);
        }
        if let Some(rtt_s) = self.round.smallest().filter(|_| self.round.is_known()) {
            self.end_round(windows, rtt_s, ack);
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        let reno = 1.0 / windows.window;
        let increase = if self.slow_rounds > 0 { reno } else { self.config.increase.max(reno) };
        windows.window += increase * slope * acked;
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("queued", self.queued);
        reader("reno_window", self.reno_window);
        reader("slow", f64::from(u8::from(self.slow_rounds > 0)));
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        let slow = self.slow_rounds >= self.config.competition;
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window / 2.0).max(MIN_SSTHRESH);
        self.round.give_up();
        self.queued = self.round.queued(used).unwrap_or(0.0);
        if slow {
            0.5
        } else {
            1.0 - (self.queued / used.max(1.0)).clamp(self.config.min_decrease, 0.5)
        }
    }

    fn on_idle_restarted(&mut self) {
        self.round.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::{Duration, Instant};

    fn yeah(window: f64) -> Yeah {
        let config = YeahConfig {
            max_queue: 80.0,
            max_level: 0.125,
            competition: 16,
            min_decrease: 0.125,
            max_decongestion: 0.5,
            increase: 0.01,
            forgiven: 50,
        };
        Yeah::new(&config, Start { window, ssthresh: 5.0, ..Start::NEW })
    }

    /// The smallest RTT is 100 ms.
    fn ack(rtt_ms: f64) -> AckEvent {
        let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
        AckEvent { min_rtt: Duration::from_millis(100), ..AckEvent::of_one_packet(Instant::ZERO, rtt) }
    }

    /// A round trip of three ACKs that count for nothing but their RTT.
    fn round(control: &mut Yeah, rtt_ms: f64) {
        for i in 0..3 {
            control.on_ack(&AckEvent { acked: 0, credit: 0.0, round_ended: i == 0, ..ack(rtt_ms) });
        }
    }

    fn lose(control: &mut Yeah) -> f64 {
        let before = control.window();
        let in_flight = before as u64 + 1;
        control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight });
        control.window() / before
    }

    #[test]
    fn the_mode_is_fast_up_to_80_packets_and_an_eighth_of_the_rtt() {
        // A window of 200: 18 packets are queued at 110 ms, 23 at 113 ms. Of 1000, 74 at 108 ms, 83 at 109 ms.
        for (window, rtt_ms, slow) in
            [(200.0, 112.0, false), (200.0, 113.0, true), (1000.0, 108.0, false), (1000.0, 109.0, true)]
        {
            let mut control = yeah(window);
            round(&mut control, rtt_ms);
            assert_eq!(control.rule.slow_rounds > 0, slow, "{window}, {rtt_ms} ms");
            let before = control.window();
            control.on_ack(&ack(rtt_ms));
            let grown = if slow { 1.0 / before } else { 0.01 };
            assert!((control.window() - before - grown).abs() < 1e-12);
        }
    }

    #[test]
    fn small_windows_grow_as_renos() {
        let mut control = yeah(50.0);
        control.on_ack(&ack(100.0));
        assert_eq!(control.window(), 50.0 + 1.0 / 50.0);
    }

    #[test]
    fn the_queue_is_taken_from_the_window() {
        let mut control = yeah(1000.0);
        round(&mut control, 125.0); // 200 packets
        assert!((control.window() - 800.0).abs() < 1e-9);
        assert_eq!(control.rule.reno_window, 400.0);
        round(&mut control, 300.0); // 2/3 of 800: half of it, which is also what Reno would have
        assert!((control.window() - 400.0).abs() < 1e-9);
        assert_eq!(control.rule.reno_window, 401.0);
        round(&mut control, 300.0);
        assert!((control.window() - 400.0).abs() < 1e-9, "never below Reno's");
    }

    #[test]
    fn a_loss_takes_the_queue_between_an_eighth_and_half() {
        for (rtt_ms, kept) in [(100.0, 0.875), (125.0, 0.8), (112.0, 0.875), (400.0, 0.5)] {
            let mut control = yeah(100.0);
            round(&mut control, rtt_ms);
            let window = control.window();
            assert!((lose(&mut control) - kept).abs() < 1e-9, "{rtt_ms} ms: from {window}");
        }
    }

    #[test]
    fn a_queue_that_filled_within_the_round_trip_is_taken() {
        let mut control = yeah(100.0);
        round(&mut control, 100.0);
        (0..20)
            .for_each(|i| control.on_ack(&AckEvent { may_grow: false, ..ack(100.0 + 2.0 * f64::from(i)) }));
        let kept = lose(&mut control);
        assert!((kept - 100.0 / 134.0).abs() < 1e-9, "the last three of them: {kept}");
    }

    #[test]
    fn against_others_a_loss_halves() {
        let mut control = yeah(100.0);
        (0..16).for_each(|_| round(&mut control, 113.0)); // 11.5 packets: no more than the eighth
        assert_eq!(lose(&mut control), 0.5);
        round(&mut control, 100.0);
        assert_eq!(lose(&mut control), 0.875, "alone again");
    }

    #[test]
    fn fifty_round_trips_in_fast_mode_are_forgiven() {
        let mut control = yeah(1000.0);
        round(&mut control, 125.0);
        (0..50).for_each(|_| round(&mut control, 100.0));
        assert_eq!(control.rule.reno_window, 400.0);
        round(&mut control, 100.0);
        assert_eq!(control.rule.reno_window, 2.0);
    }
}
