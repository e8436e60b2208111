//! The common parts of RED and its kin: an average queue, a curve from the average to a probability, and a
//! coin.
//!
//! | symbol | where | unit |
//! | --- | --- | --- |
//! | avg | [`Average::value`] | packets, the one being transmitted included |
//! | w_q | `weight` | 1: the instantaneous queue |
//! | min_th, max_th, max_p | [`Curve`] | packets, packets, 1 |
//! | count | `since_last` of [`Coin`] | packets that passed since the last hit |
//!
//! References: Floyd & Jacobson 1993, §4 (equations by their numbers there).

use super::{Arrival, Backlog};
use crate::unit_interval;
use rand_core::RngCore;

/// An exponentially weighted moving average of a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Average {
    value: f64,
}

impl Average {
    /// The average, packets.
    #[inline]
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// If the link was idle, the average decays as if so many small packets had found the queue empty: eq. (2).
    #[inline]
    pub(crate) fn decay(&mut self, weight: f64, arrival: &Arrival, backlog: &Backlog) {
        if let (0, Some(idle_since)) = (backlog.packets, backlog.idle_since) {
            let slots =
                arrival.now.since(idle_since).as_secs_f64() / arrival.transmission.as_secs_f64().max(1e-12);
            self.value *= libm::pow(1.0 - weight, slots);
        }
    }

    /// An arrival finds `packets`: eq. (1).
    #[inline]
    pub(crate) fn sample(&mut self, weight: f64, packets: u64) {
        self.value += weight * (packets as f64 - self.value);
    }
}

/// 0 up to the lower threshold, then rising to a maximum just below the upper one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) max_probability: f64,
}

impl Curve {
    /// The probability; `None` at the upper threshold and beyond it, where disciplines differ.
    #[inline]
    pub(crate) fn below_max(&self, average: f64) -> Option<f64> {
        if average < self.min {
            Some(0.0)
        } else if average < self.max {
            Some(self.max_probability * (average - self.min) / (self.max - self.min))
        } else {
            None
        }
    }
}

/// Decides with a probability, either independently or so that the gaps between hits are uniform.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coin {
    since_last: u64,
}

impl Coin {
    /// True if the packet is hit. With count spacing p_a = p_b / (1 - count p_b) instead of p_b.
    #[inline]
    pub(crate) fn is_hit<R: RngCore>(&mut self, probability: f64, spaced: bool, random: &mut R) -> bool {
        if probability <= 0.0 {
            self.since_last = 0;
            return false;
        }
        let probability = if spaced {
            let left = 1.0 - self.since_last as f64 * probability;
            if left <= probability {
                1.0
            } else {
                probability / left
            }
        } else {
            probability
        };
        let hit = unit_interval(random.next_u64()) < probability;
        self.since_last = if hit { 0 } else { self.since_last + 1 };
        hit
    }
}
