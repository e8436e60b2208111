//! Time-weighted moments of the number of packets waiting.

use parshall_units::Instant;

/// Integrals of the queue length over time.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    updated: Instant,
    started: Instant,
    area: f64,
    area_squared: f64,
    max: u64,
}

impl Occupancy {
    /// Measures from `now` on.
    pub fn restart(&mut self, now: Instant) {
        *self = Self { updated: now, started: now, ..Self::default() };
    }

    /// `waiting` packets were there from the last call to `now`.
    #[inline]
    pub fn held(&mut self, waiting: u64, now: Instant) {
        let span = now.since(self.updated).as_ps_f64();
        let n = waiting.cast_signed() as f64;
        self.area += n * span;
        self.area_squared += n * n * span;
        self.max = self.max.max(waiting);
        self.updated = now;
    }

    /// The same, where several things may happen at one moment: what did not last is not seen.
    pub fn lasted(&mut self, waiting: u64, now: Instant) {
        if now > self.updated {
            self.held(waiting, now);
        }
    }

    fn span_ps(&self) -> f64 {
        self.updated.since(self.started).as_ps_f64()
    }

    /// Integral of the queue length, packets x s.
    pub fn packet_seconds(&self) -> f64 {
        self.area / 1e12
    }

    /// Mean queue, packets; `None` if no time has passed.
    pub fn mean(&self) -> Option<f64> {
        (self.span_ps() > 0.0).then(|| self.area / self.span_ps())
    }

    /// Standard deviation of the queue, packets; `None` if no time has passed.
    pub fn standard_deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some((self.area_squared / self.span_ps() - mean * mean).max(0.0).sqrt())
    }

    /// Longest queue that lasted.
    pub fn max(&self) -> u64 {
        self.max
    }
}
