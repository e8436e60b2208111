//! Marks at a step, as data-centre TCP wants it (Alizadeh et al., SIGCOMM 2010).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | K | `threshold` | packets, the one being transmitted included |
//!
//! A packet that can be marked and finds K packets or more is marked, on the instantaneous queue; what does not fit is
//! lost. What cannot be marked is not touched by the threshold: a sender without ECN fills the buffer.

use super::traits::{Drops, Linux, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use parshall_units::Packets;
use rand_core::RngCore;

parshall_units::configuration! {
    /// Parameters of [`Step`].
    pub struct StepConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "100 packets";
        /// Queue K from which on packets are marked.
        threshold: Packets, default "20 packets", min "0 packets";
    }
}

/// First in, first out, with marks from a threshold on.
#[derive(Clone, Debug)]
pub struct Step {
    limit: Limit,
    threshold: u64,
}

impl Step {
    pub(crate) const SUMMARY: &'static str =
        "marks what finds a threshold reached, on the instantaneous queue";
    pub(crate) const REFERENCE: &'static str = "Alizadeh et al., SIGCOMM 2010";
    pub(crate) const TRAITS: Traits = Traits {
        title: "step",
        drops: Drops::Tail,
        separates: Separates::Nothing,
        marks: true,
        own_rate: false,
        random: false,
        thresholds: &["threshold"],
        linux: Linux::Lacks("its `codel ce_threshold` marks by the time that a packet has waited, not by the length of the queue"),
    };

    /// An empty queue.
    pub fn new(config: &StepConfig) -> Self {
        Self { limit: config.limit, threshold: config.threshold.0 }
    }
}

impl QueueDiscipline for Step {
    #[inline]
    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, _random: &mut R) -> Verdict {
        if !self.limit.has_room(backlog.packets, backlog.bytes, arrival.bytes) {
            Verdict::Drop
        } else if arrival.ecn.is_capable() && backlog.packets >= self.threshold {
            Verdict::Mark
        } else {
            Verdict::Accept
        }
    }
}
