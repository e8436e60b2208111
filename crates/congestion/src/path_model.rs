//! What both versions of BBR do in the same way: rounds, the largest rate of late, the window around losses, and small
//! choices.

use crate::RateSample;
use parshall_units::Instant;

/// Round trips counted by packets: one ends when a packet is delivered that was sent after the last one ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) count: u64,
    end: u64,
    /// Whether the ACK at hand starts a round.
    pub(crate) started: bool,
}

impl Rounds {
    pub(crate) fn update(&mut self, sample: &RateSample) {
        self.started = sample.prior_delivered >= self.end;
        if self.started {
            self.restart(sample);
            self.count += 1;
        }
    }

    /// The round at hand ends no sooner than a round trip from now.
    pub(crate) fn restart(&mut self, sample: &RateSample) {
        self.end = sample.delivered;
    }
}

/// The largest value within a number of rounds. The three best candidates are kept, newer ones last (Nichols' filter).
#[derive(Clone, Debug)]
pub(crate) struct WindowedMax {
    length: u64,
    best: [(u64, f64); 3],
}

impl WindowedMax {
    pub(crate) fn new(length: u64) -> Self {
        Self { length, best: [(0, 0.0); 3] }
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

/// The window around a recovery, a timeout or ProbeRTT: what it was before comes back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conservation {
    saved: f64,
    /// Whether packets are conserved: what is sent is no more than what was delivered.
    pub(crate) active: bool,
}

impl Conservation {
    /// Remembers `window`, or the larger one saved before if it is still owed: in a recovery, or `in_probe_rtt`.
    pub(crate) fn save(&mut self, window: f64, in_probe_rtt: bool) {
        let kept = if self.active || in_probe_rtt { self.saved } else { 0.0 };
        self.saved = window.max(kept);
    }

    /// The window after a loss with `in_flight` packets under way.
    pub(crate) fn on_loss(&mut self, window: f64, in_flight: u64, in_probe_rtt: bool) -> f64 {
        self.save(window, in_probe_rtt);
        self.active = true;
        window.min(in_flight as f64 + 1.0).max(1.0)
    }

    /// The window after a timeout.
    pub(crate) fn on_timeout(&mut self, window: f64, in_probe_rtt: bool) -> f64 {
        self.save(window, in_probe_rtt);
        self.active = false;
        1.0
    }

    /// The window after the recovery.
    pub(crate) fn on_recovered(&mut self, window: f64) -> f64 {
        self.active = false;
        self.restored(window)
    }

    /// No less than the one saved.
    pub(crate) fn restored(&self, window: f64) -> f64 {
        window.max(self.saved)
    }
}

/// A number in 0..`below`, from the moment: controls have no random numbers, and need here only that flows differ.
pub(crate) fn choice(now: Instant, below: u64) -> u64 {
    let mut x = now.as_ps().wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % below
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
