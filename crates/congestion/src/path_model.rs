//! Parts that all versions of BBR share: rounds, the largest rate of late, the window around losses and ProbeRTT, the
//! first rate, and random choices.

use crate::RateSample;
use parshall_units::Duration;

/// Inner variables of a control with a model of the path.
pub(crate) mod variables {
    use parshall_units::parameters::Variable;

    pub(crate) const BANDWIDTH: Variable =
        Variable::new("bandwidth", "packets/s", "largest delivery rate of the last round trips");
    pub(crate) const MIN_RTT: Variable = Variable::new("min_rtt", "s", "smallest RTT of the last seconds");
    pub(crate) const PACING_GAIN: Variable = Variable::new("pacing_gain", "", "pacing rate over bandwidth");
    pub(crate) const CWND_GAIN: Variable =
        Variable::new("cwnd_gain", "", "window over bandwidth times min_rtt");
    pub(crate) const ROUND: Variable = Variable::new("round", "", "round trips so far");
}

/// Round trips counted by packets: one ends when a packet is delivered that was sent after the last one ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) count: u64,
    end: u64,
    /// True if the ACK at hand starts a round.
    pub(crate) started: bool,
}

impl Rounds {
    pub(crate) fn update(&mut self, sample: &RateSample) {
        self.started = sample.prior_delivered >= self.end;
        if self.started {
            self.restart(sample.delivered);
            self.count += 1;
        }
    }

    /// The round at hand ends no sooner than a round trip from now, with so many packets delivered.
    pub(crate) fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// The largest value within a number of rounds, or of another time. The three best candidates are kept, newer ones last
/// (Nichols' filter).
#[derive(Clone, Debug)]
pub(crate) struct WindowedMax {
    length: u64,
    best: [(u64, f64); 3],
}

impl WindowedMax {
    pub(crate) fn new(length: u64) -> Self {
        Self { length, best: [(0, 0.0); 3] }
    }

    /// Sets the time for which values count from now on.
    pub(crate) fn set_length(&mut self, length: u64) {
        self.length = length;
    }

    pub(crate) fn max(&self) -> f64 {
        self.best[0].1
    }

    pub(crate) fn update(&mut self, time: u64, value: f64) {
        let new = (time, value);
        if value >= self.best[0].1 || time - self.best[2].0 > self.length {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        let age = time - self.best[0].0;
        if age > self.length {
            self.best = [self.best[1], self.best[2], new];
            if time - self.best[0].0 > self.length {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > self.length / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age > self.length / 2 {
            self.best[2] = new;
        }
    }
}

/// The end of a rate's growth: three rounds that bring less than a quarter more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plateau {
    /// Packets/s, when it last grew by a quarter.
    pub(crate) base: f64,
    rounds: u32,
}

impl Plateau {
    pub(crate) fn restart(&mut self, base: f64) {
        *self = Self { base, rounds: 0 };
    }

    /// A round's rate; whether the plateau is reached.
    pub(crate) fn reached(&mut self, rate: f64) -> bool {
        if rate >= 1.25 * self.base {
            self.restart(rate);
            return false;
        }
        self.rounds += 1;
        self.rounds >= 3
    }
}

/// The last window that neither a recovery nor ProbeRTT had cut: it comes back afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriorWindow {
    saved: f64,
    recovering: bool,
}

impl PriorWindow {
    /// A recovery begins, or a timeout; `in_probe_rtt`: the window is cut already.
    pub(crate) fn before_recovery(&mut self, window: f64, in_probe_rtt: bool) {
        let kept = if self.recovering || in_probe_rtt { self.saved } else { 0.0 };
        self.saved = window.max(kept);
        self.recovering = true;
    }

    /// The window after the recovery.
    pub(crate) fn after_recovery(&mut self, window: f64) -> f64 {
        self.recovering = false;
        self.restored(window)
    }

    /// ProbeRTT begins.
    pub(crate) fn before_probe_rtt(&mut self, window: f64) {
        self.saved = window.max(self.saved);
    }

    /// No less than the one saved.
    pub(crate) fn restored(&self, window: f64) -> f64 {
        window.max(self.saved)
    }
}

/// The marks of packets sent in ProbeRTT: they count as limited by the application, so that the low rates which they
/// measure are not taken for the path's (`MarkConnectionAppLimited` of the drafts). In counts of deliveries.
#[derive(Clone, Debug)]
pub(crate) struct HeldBack {
    since: u64,
    until: u64,
}

impl Default for HeldBack {
    fn default() -> Self {
        Self { since: u64::MAX, until: 0 }
    }
}

impl HeldBack {
    /// ProbeRTT begins with this ACK: what is sent from here on is held back.
    pub(crate) fn begin(&mut self, sample: &RateSample) {
        self.since = sample.delivered;
    }

    /// An ACK in ProbeRTT: it lasts until all that is in flight now is delivered.
    pub(crate) fn mark(&mut self, sample: &RateSample) {
        self.until = sample.delivered + sample.in_flight;
    }

    /// The sample as it is to be read.
    pub(crate) fn read(&self, sample: &RateSample) -> RateSample {
        let held_back = (self.since..=self.until).contains(&sample.prior_delivered);
        RateSample { app_limited: sample.app_limited || held_back, ..*sample }
    }
}

/// The rate of the first packets. Before there is an RTT it is that of 1 ms; the first sample sets it anew, once, up or
/// down.
#[derive(Clone, Debug)]
pub(crate) struct FirstRate {
    window: f64,
    gain: f64,
    known: bool,
}

/// RTT assumed for the first pacing rate, s.
const FIRST_RTT_S: f64 = 1e-3;

impl FirstRate {
    pub(crate) fn new(window: f64, gain: f64) -> Self {
        Self { window, gain, known: false }
    }

    /// Packets/s, before the first RTT.
    pub(crate) fn assumed(&self) -> f64 {
        self.gain * self.window / FIRST_RTT_S
    }

    /// Packets/s, at the ACK that brings the first RTT.
    pub(crate) fn measured(&mut self, srtt: Duration) -> Option<f64> {
        if self.known || srtt == Duration::ZERO {
            return None;
        }
        self.known = true;
        Some(self.gain * self.window / srtt.as_secs_f64())
    }
}

/// The random choices of one connection: SplitMix64 (Steele, Lea & Flood 2014) from its
/// [`Start::random`](crate::Start).
#[derive(Clone, Debug)]
pub(crate) struct Choices(u64);

impl Choices {
    pub(crate) fn new(random: u64) -> Self {
        Self(random)
    }

    /// A number in 0..`below`.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % below
    }
}

/// ACKs for tests of the versions.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::AckEvent;
    use parshall_units::Instant;

    /// Makes ACKs, one packet each, at 1000 packets/s and an RTT of 100 ms unless `edit` changes them.
    pub(crate) struct Feed {
        pub(crate) now: Instant,
        pub(crate) delivered: u64,
        prior: u64,
    }

    impl Feed {
        pub(crate) fn new() -> Self {
            Self { now: Instant::ZERO, delivered: 0, prior: 0 }
        }

        pub(crate) fn wait(&mut self, ms: u64) {
            self.now += Duration::from_millis(ms);
        }

        /// The next ACK; `edit` changes its sample.
        pub(crate) fn ack(&mut self, edit: impl FnOnce(&mut RateSample)) -> AckEvent {
            self.delivered += 1;
            let mut sample = RateSample {
                delivered: self.delivered,
                prior_delivered: self.prior,
                rate: Some(1000.0),
                newly_delivered: 1,
                newly_lost: 0,
                lost: 0,
                in_flight: 100,
                sent_in_flight: 100,
                next_send: Duration::ZERO,
                app_limited: false,
            };
            edit(&mut sample);
            AckEvent { sample: Some(sample), ..AckEvent::of_one_packet(self.now, Duration::from_millis(100)) }
        }

        /// The next ACK, 100 ms later, which starts a round.
        pub(crate) fn round(&mut self, edit: impl FnOnce(&mut RateSample)) -> AckEvent {
            self.wait(100);
            self.prior = self.delivered;
            self.ack(edit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(prior_delivered: u64, delivered: u64, in_flight: u64) -> RateSample {
        RateSample {
            delivered,
            prior_delivered,
            rate: None,
            newly_delivered: 1,
            newly_lost: 0,
            lost: 0,
            in_flight,
            sent_in_flight: in_flight,
            next_send: Duration::ZERO,
            app_limited: false,
        }
    }

    #[test]
    fn what_is_sent_in_probe_rtt_is_held_back_and_nothing_else() {
        let mut held = HeldBack::default();
        assert!(!held.read(&sample(0, 1, 10)).app_limited);
        held.begin(&sample(90, 100, 10));
        held.mark(&sample(90, 100, 10));
        held.mark(&sample(100, 110, 4));
        // Sent before, at the first and the last ACK, until what was in flight then is delivered, and after that.
        let limited = [99, 100, 110, 114, 115].map(|prior| held.read(&sample(prior, 120, 4)).app_limited);
        assert_eq!(limited, [false, true, true, true, false]);
        held.begin(&sample(480, 500, 2));
        held.mark(&sample(480, 500, 2));
        assert!(!held.read(&sample(112, 510, 4)).app_limited);
        assert!(held.read(&sample(501, 510, 4)).app_limited);
        // Also of what was sent before an ACK that reports more than was in flight at the one before.
        held.mark(&sample(500, 503, 1));
        assert!(held.read(&sample(500, 504, 1)).app_limited);
    }

    #[test]
    fn the_window_before_recoveries_and_probe_rtt_comes_back() {
        let mut prior = PriorWindow::default();
        prior.before_recovery(100.0, false);
        prior.before_recovery(40.0, false); // a timeout in the recovery
        prior.before_probe_rtt(30.0);
        assert_eq!(prior.restored(4.0), 100.0);
        assert_eq!(prior.after_recovery(4.0), 100.0);
        prior.before_recovery(50.0, false);
        assert_eq!(prior.after_recovery(4.0), 50.0);
    }

    #[test]
    fn the_first_rtt_sets_the_rate_once() {
        let mut rate = FirstRate::new(10.0, 2.0);
        assert_eq!(rate.assumed(), 20_000.0);
        assert_eq!(rate.measured(Duration::ZERO), None);
        assert_eq!(rate.measured(Duration::from_millis(100)), Some(200.0));
        assert_eq!(rate.measured(Duration::from_millis(10)), None);
    }

    proptest! {
        /// The filter holds a value that occurred within the window, and the true maximum if that is the newest.
        #[test]
        fn the_maximum_is_recent(values in prop::collection::vec((0u64..3, 0.0f64..100.0), 1..200)) {
            let mut filter = WindowedMax::new(10);
            let mut seen: Vec<(u64, f64)> = Vec::new();
            let mut time = 0;
            for (gap, value) in values {
                time += gap;
                filter.update(time, value);
                seen.push((time, value));
                let recent: Vec<f64> = seen.iter().filter(|(t, _)| time - t <= 10).map(|(_, v)| *v).collect();
                let largest = recent.iter().copied().fold(0.0, f64::max);
                prop_assert!(filter.max() <= largest && recent.contains(&filter.max()));
                prop_assert!(filter.max() >= value);
            }
        }
    }
}
