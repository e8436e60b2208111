//! PIE: proportional integral controller enhanced (RFC 8033).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | QDELAY_REF | `target` | queueing delay to hold |
//! | T_UPDATE | `update_interval` | time between two updates of the probability |
//! | alpha, beta | `alpha`, `beta` | 1/s: weights of the delay's distance from the target, and of its change |
//! | drop_prob_ | `probability` | |
//! | qdelay_old_ | `delay_s` | s, delay at the last update |
//! | burst_allowance_ | `burst_left` | time for which a burst passes untouched |
//! | accu_prob_ | `accumulated` | sum of the probabilities since the last hit |
//!
//! The queueing delay is what a packet that arrives now would wait, which a FIFO link knows; so the rate estimate of §5.2 is
//! not needed. Between arrivals that delay falls by one second a second, which is why the periodic updates can be made up for
//! at the next arrival, each with the delay of its own moment. In use of §5: ECN (marks up to a probability of 0.1, then
//! drops), derandomization, the cap on the adjustment; not in use: switching PIE off at a low queue (§5.3). The mean packet size of the
//! two-packet rule (§4.1) is the arriving packet's.

use super::proportional_integral::Gains;
use super::traits::{Drops, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use crate::unit_interval;
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};
use rand_core::RngCore;

parshall_units::configuration! {
    /// Parameters of [`Pie`].
    pub struct PieConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "1000 packets";
        /// Queueing delay to hold.
        target: Duration, default "15 ms", min "1 us";
        /// Time between two updates of the probability.
        update_interval: Duration, default "15 ms", min "1 us";
        /// Weight of the delay's distance from the target, in 1/s.
        alpha: f64, default "0.125", min 0.0, max 1000.0;
        /// Weight of the delay's change since the last update, in 1/s.
        beta: f64, default "1.25", min 0.0, max 1000.0;
        /// Length of a burst that passes untouched while the queue was empty before.
        max_burst: Duration, default "150 ms", min "0 s";
        /// Whether hits are kept from following each other closely, and from staying away for long.
        derandomized: bool, default "true";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, default "false";
    }
}

/// Probability above which ECN-capable packets are dropped too. RFC 8033 §5.1
const MARK_UP_TO: f64 = 0.1;

/// Proportional integral controller enhanced.
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    gains: Gains,
    probability: f64,
    delay_s: f64,
    burst_left: Duration,
    accumulated: f64,
    /// [`Instant::MAX`] before the first arrival.
    next_update: Instant,
}

impl Pie {
    pub(crate) const SUMMARY: &'static str =
        "holds the queueing delay at a target, by a random drop at arrival";
    pub(crate) const REFERENCE: &'static str = "RFC 8033";
    pub(crate) const TRAITS: Traits = Traits {
        title: "PIE",
        drops: Drops::Early,
        separates: Separates::Nothing,
        marks: true,
        own_rate: false,
    };

    /// An empty queue.
    pub fn new(config: &PieConfig) -> Self {
        Self {
            config: config.clone(),
            gains: Gains::new(config.alpha, config.beta, config.target),
            probability: 0.0,
            delay_s: 0.0,
            burst_left: config.max_burst,
            accumulated: 0.0,
            next_update: Instant::MAX,
        }
    }

    /// The probability with which packets are hit.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// The updates that were due since the last arrival. `free`: when the last accepted packet leaves.
    fn catch_up(&mut self, now: Instant, free: Instant) {
        let interval = self.config.update_interval;
        if self.next_update == Instant::MAX {
            self.next_update = now + interval;
        }
        while self.next_update <= now {
            let delay_s = free.since(self.next_update).as_secs_f64();
            if delay_s == 0.0 && self.delay_s == 0.0 && self.probability == 0.0 {
                // Nothing changes until a packet arrives, but for the time.
                let skipped = now.since(self.next_update).as_ps() / interval.as_ps() + 1;
                self.burst_left = self.burst_left - interval.times(skipped);
                self.next_update += interval.times(skipped);
                break;
            }
            self.update(delay_s);
            self.next_update += interval;
        }
    }

    /// RFC 8033 §4.2 and §5.5
    fn update(&mut self, delay_s: f64) {
        let step = self.gains.step(delay_s, self.delay_s);
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
        self.burst_left = self.burst_left - self.config.update_interval;
    }

    /// RFC 8033 §4.1 and §5.4
    fn is_hit<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, random: &mut R) -> bool {
        let half_target_s = self.config.target.as_secs_f64() / 2.0;
        let calm = self.delay_s < half_target_s;
        if self.probability == 0.0 && calm && backlog.delay.as_secs_f64() < half_target_s {
            self.burst_left = self.config.max_burst; // §4.3
        }
        if self.burst_left > Duration::ZERO {
            return false;
        }
        if (calm && self.probability < 0.2) || backlog.bytes <= 2 * u64::from(arrival.bytes) {
            return false;
        }
        if self.config.derandomized {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            if self.accumulated < 0.85 {
                return false;
            }
        }
        let overdue = self.config.derandomized && self.accumulated >= 8.5;
        let hit = overdue || unit_interval(random.next_u64()) < self.probability;
        if hit {
            self.accumulated = 0.0;
        }
        hit
    }
}

impl QueueDiscipline for Pie {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("probability", "", "drop or mark probability"),
        Variable::new("delay", "s", "queueing delay at the last update"),
        Variable::new("burst_allowance", "s", "time for which no packet will be hit"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("probability", self.probability);
        reader("delay", self.delay_s);
        reader("burst_allowance", self.burst_left.as_secs_f64());
    }

    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, random: &mut R) -> Verdict {
        let free = backlog.idle_since.unwrap_or(arrival.now + backlog.delay);
        self.catch_up(arrival.now, free);
        if !self.config.limit.has_room(backlog.packets, backlog.bytes, arrival.bytes) {
            return Verdict::Drop;
        }
        if !self.is_hit(arrival, backlog, random) {
            Verdict::Accept
        } else if self.config.ecn && arrival.ecn.is_capable() && self.probability <= MARK_UP_TO {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }
}

#[cfg(test)]
mod tests;
