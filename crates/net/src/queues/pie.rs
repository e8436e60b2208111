//! PIE: proportional integral controller enhanced (RFC 8033).
//!
//! The controller, with its table of symbols, is in `pie/control.rs`; FQ-PIE has one for each flow. The queueing delay
//! is what a packet that arrives now would wait, which a FIFO link knows; so the rate estimate of §5.2 is not needed.
//! Between arrivals that delay falls by one second a second, which is why the periodic updates can be made up for at
//! the next arrival, each with the delay of its own moment. In use of §5: ECN (marks up to a probability of 0.1, then
//! drops), derandomization, the cap on the adjustment; not in use: switching PIE off at a low queue (§5.3). The mean
//! packet size of the two-packet rule (§4.1) is the arriving packet's.

mod control;

pub(super) use control::{Controller, Law};

use super::proportional_integral::Gains;
use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Duration;
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
pub(super) const MARK_UP_TO: f64 = 0.1;

/// Proportional integral controller enhanced.
#[derive(Clone, Debug)]
pub struct Pie {
    limit: Limit,
    ecn: bool,
    law: Law,
    controller: Controller,
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
        random: true,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "pie",
            &[
                QdiscOption::new("limit", "limit", Form::Packets),
                QdiscOption::new("target", "target", Form::Time),
                QdiscOption::new("update_interval", "tupdate", Form::Time),
                QdiscOption::new("alpha", "alpha", Form::Sixteenths),
                QdiscOption::new("beta", "beta", Form::Sixteenths),
                QdiscOption::new("ecn", "ecn", Form::Flag),
            ],
        )),
    };

    /// An empty queue.
    pub fn new(config: &PieConfig) -> Self {
        let law = Law {
            gains: Gains::new(config.alpha, config.beta, config.target),
            half_target_s: config.target.as_secs_f64() / 2.0,
            update_interval: config.update_interval,
            max_burst: config.max_burst,
            derandomized: config.derandomized,
        };
        Self { limit: config.limit, ecn: config.ecn, controller: Controller::new(&law), law }
    }

    /// The probability with which packets are hit.
    pub fn probability(&self) -> f64 {
        self.controller.probability()
    }
}

impl QueueDiscipline for Pie {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("probability", "", "drop or mark probability"),
        Variable::new("delay", "s", "queueing delay at the last update"),
        Variable::new("burst_allowance", "s", "time for which no packet will be hit"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        self.controller.read_variables(reader);
    }

    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, random: &mut R) -> Verdict {
        let Self { limit, ecn, law, controller } = self;
        let free = backlog.idle_since.unwrap_or(arrival.now + backlog.delay);
        controller.catch_up(law, arrival.now, |at| free.since(at).as_secs_f64());
        if !limit.has_room(backlog.packets, backlog.bytes, arrival.bytes) {
            return Verdict::Drop;
        }
        let delay_s = backlog.delay.as_secs_f64();
        if !controller.is_hit(law, arrival.bytes, (backlog.bytes, delay_s), random) {
            Verdict::Accept
        } else if *ecn && arrival.ecn.is_capable() && controller.probability() <= MARK_UP_TO {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }
}

#[cfg(test)]
mod tests;
