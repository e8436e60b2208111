//! GCC's analysis of arrival times: groups of packets, a Kalman filter of the variation of their delay, and the
//! over-use detector (draft-ietf-rmcat-gcc-02 §5.2 to §5.4). Times are in ms, as in the draft.

use parshall_units::Instant;

/// burst_time
const BURST_MS: f64 = 5.0;
/// q, e(0) and chi
const STATE_NOISE: f64 = 1e-3;
const FIRST_ERROR: f64 = 0.1;
const CHI: f64 = 0.01;
/// del_var_th(0), its bounds, and the largest excess of |m| at which it follows
const FIRST_THRESHOLD_MS: f64 = 12.5;
const LEAST_THRESHOLD_MS: f64 = 6.0;
const LARGEST_THRESHOLD_MS: f64 = 600.0;
const LARGEST_EXCESS_MS: f64 = 15.0;
/// Longest time by which the threshold is taken on at once.
const LONGEST_STEP_MS: f64 = 100.0;
/// overuse_time_th
const OVERUSE_TIME_MS: f64 = 10.0;
/// Groups by whose number m is multiplied, at most.
const MOST_GROUPS: u32 = 60;

/// The finding of the detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    Normal,
    Over,
    Under,
}

/// A group of packets: departure of the first, departure and arrival of the last, ms.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: f64,
    sent: f64,
    arrived: f64,
}

/// From arrival times to the use of the path.
#[derive(Clone, Debug)]
pub(super) struct OveruseDetector {
    adaptive: (f64, f64),
    group: Option<Group>,
    before: Option<Group>,
    /// Groups compared, up to [`MOST_GROUPS`].
    compared: u32,
    /// m, e and `var_v`
    estimate: f64,
    error: f64,
    variance: f64,
    pub(super) threshold: f64,
    over_for_ms: Option<f64>,
    pub(super) usage: Usage,
}

impl OveruseDetector {
    /// `gains`: K_u and K_d.
    pub(super) fn new(gains: (f64, f64)) -> Self {
        Self {
            adaptive: gains,
            group: None,
            before: None,
            compared: 0,
            estimate: 0.0,
            error: FIRST_ERROR,
            variance: 1.0,
            threshold: FIRST_THRESHOLD_MS,
            over_for_ms: None,
            usage: Usage::Normal,
        }
    }

    /// The estimate as it is compared with the threshold, ms.
    pub(super) fn trend(&self) -> f64 {
        f64::from(self.compared) * self.estimate
    }

    /// Takes a packet; returns the finding of the detector if a group was complete with that.
    pub(super) fn arrive(&mut self, sent: Instant, arrived: Instant) -> Option<Usage> {
        let (sent, arrived) = (1e3 * sent.as_secs_f64(), 1e3 * arrived.as_secs_f64());
        let new = Group { first_sent: sent, sent, arrived };
        let Some(group) = &mut self.group else {
            self.group = Some(new);
            return None;
        };
        let variation = (arrived - group.arrived) - (sent - group.sent);
        let in_burst = arrived - group.arrived < BURST_MS && variation < 0.0;
        if sent - group.first_sent < BURST_MS || in_burst {
            (group.sent, group.arrived) = (sent, arrived);
            return None;
        }
        let complete = *group;
        self.group = Some(new);
        let before = self.before.replace(complete)?;
        let departed_ms = complete.sent - before.sent;
        let arrived_ms = complete.arrived - before.arrived;
        self.filter(arrived_ms - departed_ms, departed_ms);
        Some(self.usage)
    }

    /// d(i), and T(i) - T(i-1): §5.3
    fn filter(&mut self, variation: f64, departed_ms: f64) {
        self.compared = (self.compared + 1).min(MOST_GROUPS);
        let innovation = variation - self.estimate;
        let bounded = innovation.abs().min(3.0 * libm::sqrt(self.variance));
        let memory = libm::pow(1.0 - CHI, 30.0 * departed_ms / 1000.0);
        self.variance = (memory * self.variance + (1.0 - memory) * bounded * bounded).max(1.0);
        let predicted = self.error + STATE_NOISE;
        let gain = predicted / (self.variance + predicted);
        let estimate = self.estimate + innovation * gain;
        self.error = (1.0 - gain) * predicted;
        let growing = estimate >= self.estimate;
        self.estimate = estimate;
        self.detect(growing, departed_ms);
    }

    /// §5.4
    fn detect(&mut self, growing: bool, departed_ms: f64) {
        let trend = self.trend();
        if trend > self.threshold {
            let over = self.over_for_ms.map_or(departed_ms / 2.0, |before| before + departed_ms);
            self.over_for_ms = Some(over);
            if over > OVERUSE_TIME_MS && growing {
                self.over_for_ms = Some(0.0);
                self.usage = Usage::Over;
            }
        } else {
            self.over_for_ms = None;
            self.usage = if trend < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.adapt(trend.abs(), departed_ms);
    }

    fn adapt(&mut self, trend: f64, passed_ms: f64) {
        if trend - self.threshold > LARGEST_EXCESS_MS {
            return;
        }
        let (up, down) = self.adaptive;
        let gain = if trend < self.threshold { down } else { up };
        let step = passed_ms.min(LONGEST_STEP_MS) * gain * (trend - self.threshold);
        self.threshold = (self.threshold + step).clamp(LEAST_THRESHOLD_MS, LARGEST_THRESHOLD_MS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_units::Duration;

    fn at(ms: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(ms / 1e3)
    }

    /// A packet every 10 ms, each with `growth` ms more delay than the one before; the answers.
    fn course(detector: &mut OveruseDetector, begin: f64, packets: u32, growth: f64) -> Vec<Usage> {
        let answer = |i: u32| {
            let sent = begin + 10.0 * f64::from(i);
            detector.arrive(at(sent), at(sent + 500.0 + growth * f64::from(i)))
        };
        (0..packets).filter_map(answer).collect()
    }

    #[test]
    fn a_delay_that_grows_is_over_use_and_one_that_shrinks_is_under_use() {
        let mut detector = OveruseDetector::new((0.0087, 0.039));
        assert!(course(&mut detector, 0.0, 100, 0.0).iter().all(|&usage| usage == Usage::Normal));
        assert_eq!(course(&mut detector, 1000.0, 60, 1.0).last(), Some(&Usage::Over));
        let mut detector = OveruseDetector::new((0.0087, 0.039));
        assert_eq!(course(&mut detector, 0.0, 100, -1.0).last(), Some(&Usage::Under));
    }

    #[test]
    fn packets_sent_within_five_ms_are_one_group() {
        let mut detector = OveruseDetector::new((0.0, 0.0));
        let answers: Vec<_> =
            (0..40).map(|i| detector.arrive(at(f64::from(i)), at(f64::from(i) + 50.0))).collect();
        // Groups of five; the first two have none before them.
        assert_eq!(answers.iter().filter(|answer| answer.is_some()).count(), 6);
    }

    #[test]
    fn what_a_queue_held_back_is_one_group() {
        let mut detector = OveruseDetector::new((0.0, 0.0));
        for (sent, arrived) in [(0.0, 50.0), (10.0, 60.0), (20.0, 130.0), (30.0, 131.0), (40.0, 132.0)] {
            detector.arrive(at(sent), at(arrived));
        }
        let group = detector.group.unwrap();
        assert!((group.first_sent - 20.0).abs() < 1e-9 && (group.sent - 40.0).abs() < 1e-9);
    }

    #[test]
    fn the_threshold_follows_slowly_and_never_falls_below_6_ms() {
        let mut detector = OveruseDetector::new((0.01, 0.00018));
        detector.adapt(20.0, 10.0);
        assert!((detector.threshold - (12.5 + 10.0 * 0.01 * 7.5)).abs() < 1e-9);
        detector.adapt(100.0, 10.0);
        assert!((detector.threshold - 13.25).abs() < 1e-9, "too far beyond");
        for _ in 0..100_000 {
            detector.adapt(0.0, 10.0);
        }
        assert!((detector.threshold - 6.0).abs() < 1e-12);
    }

    #[test]
    fn the_filter_finds_the_mean_of_a_noisy_variation() {
        let mut detector = OveruseDetector::new((0.0, 0.0));
        for i in 0..2000 {
            detector.filter(if i % 2 == 0 { 2.3 } else { -1.7 }, 10.0);
        }
        assert!((detector.estimate - 0.3).abs() < 0.1, "{}", detector.estimate);
    }
}
