//! The control of one queue by PIE (RFC 8033 §4 and §5).
//!
//! | RFC 8033 | field | unit |
//! | --- | --- | --- |
//! | QDELAY_REF | in `gains`, and `half_target_s` | s, queueing delay to hold |
//! | T_UPDATE | `update_interval` | time between two updates of the probability |
//! | alpha, beta | in `gains` | 1/s: weights of the delay's distance from the target, and of its change |
//! | MAX_BURST | `max_burst` | |
//! | drop_prob_ | `probability` | |
//! | qdelay_old_ | `delay_s` | s, delay at the last update |
//! | burst_allowance_ | `burst_left` | time for which a burst passes untouched |
//! | accu_prob_ | `accumulated` | sum of the probabilities since the last hit |

use crate::queues::proportional_integral::Gains;
use crate::unit_interval;
use parshall_units::parameters::Reader;
use parshall_units::{Duration, Instant};
use rand_core::RngCore;

/// The common parameters of all queues under one control.
#[derive(Clone, Debug)]
pub(in crate::queues) struct Law {
    pub(in crate::queues) gains: Gains,
    pub(in crate::queues) half_target_s: f64,
    pub(in crate::queues) update_interval: Duration,
    pub(in crate::queues) max_burst: Duration,
    /// True if hits are kept from following each other closely, and from staying away for long. §5.4
    pub(in crate::queues) derandomized: bool,
}

/// The control of one queue.
#[derive(Clone, Debug)]
pub(in crate::queues) struct Controller {
    probability: f64,
    delay_s: f64,
    burst_left: Duration,
    accumulated: f64,
    /// [`Instant::MAX`] before the first arrival.
    next_update: Instant,
}

impl Controller {
    pub(in crate::queues) fn new(law: &Law) -> Self {
        Self {
            probability: 0.0,
            delay_s: 0.0,
            burst_left: law.max_burst,
            accumulated: 0.0,
            next_update: Instant::MAX,
        }
    }

    /// The probability with which packets are hit.
    pub(in crate::queues) fn probability(&self) -> f64 {
        self.probability
    }

    pub(in crate::queues) fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("probability", self.probability);
        reader("delay", self.delay_s);
        reader("burst_allowance", self.burst_left.as_secs_f64());
    }

    /// The updates that were due since the last call. `delay_s` returns the queueing delay at a moment; once it is
    /// zero, it stays so.
    pub(in crate::queues) fn catch_up(&mut self, law: &Law, now: Instant, delay_s: impl Fn(Instant) -> f64) {
        let interval = law.update_interval;
        if self.next_update == Instant::MAX {
            self.next_update = now + interval;
        }
        while self.next_update <= now {
            let delay_s = delay_s(self.next_update);
            if delay_s == 0.0 && self.delay_s == 0.0 && self.probability == 0.0 {
                // Nothing changes until a packet arrives, but for the time.
                let skipped = now.since(self.next_update).as_ps() / interval.as_ps() + 1;
                self.burst_left = self.burst_left - interval.times(skipped);
                self.next_update += interval.times(skipped);
                break;
            }
            self.update(law, delay_s);
            self.next_update += interval;
        }
    }

    /// RFC 8033 §4.2 and §5.5
    fn update(&mut self, law: &Law, delay_s: f64) {
        let step = law.gains.step(delay_s, self.delay_s);
        let scale = match self.probability {
            p if p < 1e-6 => 2048.0,
            p if p < 1e-5 => 512.0,
            p if p < 1e-4 => 128.0,
            p if p < 1e-3 => 32.0,
            p if p < 1e-2 => 8.0,
            p if p < 1e-1 => 2.0,
            _ => 1.0,
        };
        let step = step / scale;
        self.probability += if self.probability >= 0.1 { step.min(0.02) } else { step };
        if delay_s == 0.0 && self.delay_s == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_s = delay_s;
        self.burst_left = self.burst_left - law.update_interval;
    }

    /// True if a packet of `bytes` that arrives now is hit; of the queue: its bytes, and its delay now. RFC 8033 §4.1
    /// and §5.4
    pub(in crate::queues) fn is_hit<R: RngCore>(
        &mut self,
        law: &Law,
        bytes: u32,
        (queued_bytes, delay_s): (u64, f64),
        random: &mut R,
    ) -> bool {
        let calm = self.delay_s < law.half_target_s;
        if self.probability == 0.0 && calm && delay_s < law.half_target_s {
            self.burst_left = law.max_burst; // §4.3
        }
        if self.burst_left > Duration::ZERO {
            return false;
        }
        if (calm && self.probability < 0.2) || queued_bytes <= 2 * u64::from(bytes) {
            return false;
        }
        if law.derandomized {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            if self.accumulated < 0.85 {
                return false;
            }
        }
        let overdue = law.derandomized && self.accumulated >= 8.5;
        let hit = overdue || unit_interval(random.next_u64()) < self.probability;
        if hit {
            self.accumulated = 0.0;
        }
        hit
    }
}
