//! The proportional-integral controller of a queueing delay, which PIE and PI2 have in common (RFC 8033 §4.2; RFC 9332
//! A.1).

use parshall_units::Duration;

/// The gains by which the delay moves a probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    /// Integral gain, 1/s: weight of the distance from the target.
    alpha: f64,
    /// Proportional gain, 1/s: weight of the change since the last update.
    beta: f64,
    target_s: f64,
}

impl Gains {
    /// Gains in 1/s.
    pub(super) fn new(alpha: f64, beta: f64, target: Duration) -> Self {
        Self { alpha, beta, target_s: target.as_secs_f64() }
    }

    /// Returns the change of the probability at an update.
    pub(super) fn step(&self, delay_s: f64, before_s: f64) -> f64 {
        self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - before_s)
    }
}
