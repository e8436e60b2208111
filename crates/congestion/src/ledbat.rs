//! LEDBAT++: background transfers that keep the queue below a target and yield to others
//! (draft-irtf-iccrg-ledbat-plus-plus-01).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | W | `window` | packets |
//! | TARGET | `target_s` | s of queueing |
//! | base | `base` | s, smallest RTT of ten minutes |
//! | delay | [`LedbatRule::queueing_s`] | s, smallest of the last four RTTs, over base |
//! | GAIN | `gain` | packets a round trip: 1/min(16, ceil(2 TARGET/base)) |
//! | C | `decrease` | |
//!
//! A round trip adds GAIN while delay < TARGET, and changes W by max(GAIN - C W (delay/TARGET - 1), -W/2) beyond. Slow
//! start adds GAIN for each packet acknowledged; the first one ends where delay exceeds 3/4 of TARGET. Two RTTs later
//! comes a *slowdown*, in which queues drain, so that base can be measured: W is two packets for two RTTs, and returns
//! to what it was by slow start. The next comes after nine times the length of the last, so that they cost a tenth of
//! the throughput at most. Losses, marks and timeouts are answered as Reno does. RFC 6817 has a linear decrease,
//! one-way delays, a target of 100 ms and no slowdowns.
//!
//! Delays are those of the round trip, as in the draft. Readings: a round trip's change is made with its ACKs, a part
//! with each; a loss in a slowdown ends it, since the window is ssthresh then.
//!
//! Read: two implementations that cite the draft's sections (a Linux module after version 01, a Rust library after
//! version 02), for formulas and constants. Not read: the draft's text itself.

use crate::window_based::{WindowBased, WindowRule, Windows, MIN_SSTHRESH};
use crate::windowed_rtt::SmallestRtt;
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Ledbat`].
    pub struct LedbatConfig {
        /// Queueing delay that is aimed at (TARGET).
        target: Duration, default "60 ms", min "1 us", max "10 s";
        /// Scale of the decrease beyond the target (C).
        decrease: f64, default "1", min 0.001, max 100.0;
        /// Time to the next slowdown, over the length of the last one.
        slowdown_interval: f64, default "9", min 1.0, max 1e6;
    }
}

/// How long a smallest RTT counts.
const BASE_HISTORY: Duration = Duration::from_secs(600);
/// Samples of which the current delay is the smallest.
const FILTER: usize = 4;
/// Part of the target at which the first slow start ends.
const FIRST_EXIT: f64 = 0.75;
/// Window of a slowdown, in packets, and the smallest one.
const SLOW: f64 = 2.0;
/// RTTs from the first slow start to a slowdown, and those at its smallest window.
const PAUSE_RTTS: u64 = 2;

/// Delay-based control of low priority.
pub type Ledbat = WindowBased<LedbatRule>;

/// A queueing delay is aimed at, and given up to measure the path.
#[derive(Clone, Debug)]
pub struct LedbatRule {
    target_s: f64,
    decrease: f64,
    slowdown_interval: f64,
    base: SmallestRtt,
    recent_s: [f64; FILTER],
    next_recent: usize,
    /// True if no slow start has ended yet.
    first: bool,
    /// When the next slowdown is due; [`Instant::MAX`]: none is.
    slowdown_at: Instant,
    /// The slowdown under way: its beginning, and how long the window stays at two packets.
    slowed: Option<(Instant, Instant)>,
}

impl LedbatRule {
    /// delay; `None` before the first sample.
    fn queueing_s(&self) -> Option<f64> {
        let current = self.recent_s.iter().copied().fold(f64::INFINITY, f64::min);
        self.base.get().map(|base| (current - base).max(0.0))
    }

    /// GAIN
    fn gain(&self) -> f64 {
        let base = self.base.get().unwrap_or(self.target_s);
        1.0 / libm::ceil(2.0 * self.target_s / base).clamp(1.0, 16.0)
    }

    fn slow_start(&mut self, windows: &mut Windows, acked: f64, queueing_s: f64) {
        if self.first && queueing_s > FIRST_EXIT * self.target_s {
            windows.ssthresh = windows.window.max(MIN_SSTHRESH);
        } else {
            windows.window = (windows.window + self.gain() * acked).min(windows.ssthresh);
        }
    }

    /// The window is ssthresh: the next slowdown is set.
    fn end_slow_start(&mut self, ack: &AckEvent) {
        if let Some((began, _)) = self.slowed.take() {
            let length_s = ack.now.since(began).as_secs_f64();
            self.slowdown_at = ack.now + Duration::from_secs_f64(self.slowdown_interval * length_s);
        } else if self.first {
            self.slowdown_at = ack.now + ack.srtt.times(PAUSE_RTTS);
        }
        self.first = false;
    }

    fn slow_down(&mut self, windows: &mut Windows, ack: &AckEvent) {
        windows.ssthresh = windows.window.max(MIN_SSTHRESH);
        windows.window = windows.window.min(SLOW);
        self.slowed = Some((ack.now, ack.now + ack.srtt.times(PAUSE_RTTS)));
        self.slowdown_at = Instant::MAX;
    }
}

impl WindowRule for LedbatRule {
    type Config = LedbatConfig;

    const SUMMARY: &'static str =
        "background transfers: keeps the queueing delay below a target, yields to others";
    const REFERENCE: &'static str = "draft-irtf-iccrg-ledbat-plus-plus-01";
    const VARIABLES: &'static [Variable] = &[
        Variable::new("queueing", "s", "smallest of the last RTTs, over the smallest of ten minutes"),
        Variable::new("gain", "packets", "packets that a round trip adds (GAIN)"),
        Variable::new("slowdown", "", "1 in a slowdown, from two packets back to what was"),
    ];
    const STANDARD_SLOW_START: bool = false;
    /// The current delay is that of the last packets.
    const NEEDS: Needs = Needs { timestamps: true, ..Needs::NONE };

    fn new(config: &LedbatConfig, _: &Start) -> Self {
        Self {
            target_s: config.target.as_secs_f64(),
            decrease: config.decrease,
            slowdown_interval: config.slowdown_interval,
            base: SmallestRtt::new(),
            recent_s: [f64::INFINITY; FILTER],
            next_recent: 0,
            first: true,
            slowdown_at: Instant::MAX,
            slowed: None,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        let rtt_s = rtt.as_secs_f64();
        self.base.update(ack.now, rtt_s, BASE_HISTORY);
        self.recent_s[self.next_recent] = rtt_s;
        self.next_recent = (self.next_recent + 1) % FILTER;
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        let Some(queueing_s) = self.queueing_s() else { return };
        if self.slowed.is_some_and(|(_, until)| ack.now < until) {
            return;
        }
        if windows.in_slow_start() {
            self.slow_start(windows, ack.credit, queueing_s);
        }
        if windows.in_slow_start() {
            return;
        }
        if self.first || self.slowed.is_some() {
            self.end_slow_start(ack);
        } else if ack.now >= self.slowdown_at {
            self.slow_down(windows, ack);
        } else {
            self.avoid_congestion(windows, ack, ack.credit, slope);
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        let excess = self.queueing_s().unwrap_or(0.0) / self.target_s - 1.0;
        let change = if excess < 0.0 {
            slope * self.gain() / windows.window
        } else {
            (self.gain() / windows.window - self.decrease * excess).max(-0.5)
        };
        windows.window = (windows.window + change * acked).max(SLOW);
        windows.ssthresh = windows.ssthresh.min(windows.window);
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(queueing_s) = self.queueing_s() {
            reader("queueing", queueing_s);
        }
        reader("gain", self.gain());
        reader("slowdown", f64::from(u8::from(self.slowed.is_some())));
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};

    fn ledbat(window: f64, ssthresh: f64) -> Ledbat {
        let config =
            LedbatConfig { target: Duration::from_millis(60), decrease: 1.0, slowdown_interval: 9.0 };
        Ledbat::new(&config, Start { window, ssthresh, ..Start::NEW })
    }

    fn ack(at_ms: u64, rtt_ms: f64) -> AckEvent {
        AckEvent {
            srtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(40),
            ..AckEvent::of_one_packet(
                Instant::ZERO + Duration::from_millis(at_ms),
                Duration::from_secs_f64(rtt_ms / 1e3),
            )
        }
    }

    /// In congestion avoidance, with RTTs of which the smallest is 40 ms and the last four are this.
    fn avoiding(window: f64, rtt_ms: f64) -> Ledbat {
        let mut control = ledbat(window, 10.0);
        control.on_ack(&ack(0, 40.0));
        (0..FILTER).for_each(|_| control.on_ack(&AckEvent { may_grow: false, ..ack(1, rtt_ms) }));
        control
    }

    #[test]
    fn the_gain_is_a_sixteenth_to_one() {
        // 2 TARGET/base: 12, 3, 1.2 and 0.6, at least 1 and at most 16.
        for (rtt_ms, gain) in
            [(5.0, 1.0 / 16.0), (10.0, 1.0 / 12.0), (40.0, 1.0 / 3.0), (100.0, 0.5), (200.0, 1.0)]
        {
            let mut control = ledbat(10.0, 100.0);
            control.on_ack(&ack(0, rtt_ms));
            assert!(
                (control.window() - 10.0 - gain).abs() < 1e-9,
                "slow start at {rtt_ms} ms: {}",
                control.window()
            );
            let mut control = ledbat(10.0, 2.0);
            control.on_ack(&ack(0, rtt_ms));
            let before = control.window();
            control.on_ack(&ack(1, rtt_ms));
            assert!((control.window() - before - gain / before).abs() < 1e-9);
        }
    }

    #[test]
    fn beyond_the_target_the_window_shrinks_in_proportion() {
        // GAIN = 1/3. Queueing of 60, 90 and 180 ms: GAIN/W - (delay/60 ms - 1), and no more than a half.
        for (rtt_ms, change) in
            [(99.0, 1.0 / 300.0), (100.0, 1.0 / 300.0), (130.0, 1.0 / 300.0 - 0.5), (220.0, -0.5)]
        {
            let mut control = avoiding(100.0, rtt_ms);
            let before = control.window();
            control.on_ack(&ack(2, rtt_ms));
            assert!(
                (control.window() - before - change).abs() < 1e-4,
                "{rtt_ms} ms: {}",
                control.window() - before
            );
        }
    }

    #[test]
    fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
        let mut control = ledbat(10.0, f64::INFINITY);
        control.on_ack(&ack(0, 40.0));
        (0..FILTER).for_each(|_| control.on_ack(&ack(1, 84.0)));
        assert_eq!(control.ssthresh(), f64::INFINITY);
        (0..FILTER).for_each(|_| control.on_ack(&ack(2, 86.0)));
        assert!(control.ssthresh() < 20.0);
    }

    #[test]
    fn slowdowns_come_after_nine_times_their_length() {
        let mut control = ledbat(20.0, 20.0);
        control.on_ack(&ack(1000, 100.0)); // slow start is over: two RTTs to the first slowdown
        assert_eq!(control.rule.slowdown_at, Instant::ZERO + Duration::from_millis(1200));
        control.on_ack(&ack(1199, 100.0));
        let before = control.window();
        control.on_ack(&ack(1200, 100.0));
        assert_eq!((control.window(), control.ssthresh()), (2.0, before));
        control.on_ack(&ack(1399, 100.0));
        assert_eq!(control.window(), 2.0);
        for _ in 0..37 {
            control.on_ack(&ack(1500, 100.0)); // GAIN = 1/2
        }
        assert_eq!(control.window(), before);
        let length = 300.0; // from 1200 ms on
        let due = Instant::ZERO + Duration::from_secs_f64((1500.0 + 9.0 * length) / 1e3);
        assert_eq!(control.rule.slowdown_at, due);
    }

    #[test]
    fn a_loss_halves() {
        let mut control = avoiding(100.0, 40.0);
        control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 100 });
        assert_eq!(control.window(), 50.0);
    }
}
