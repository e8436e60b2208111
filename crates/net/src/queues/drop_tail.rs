//! `DropTail`: a packet that does not fit is lost.

use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use rand_core::RngCore;

parshall_units::configuration! {
    /// Parameters of [`DropTail`].
    pub struct DropTailConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "100 packets";
    }
}

/// First in, first out, with a limit.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
}

impl DropTail {
    pub(crate) const SUMMARY: &'static str = "first in, first out; what does not fit is lost";
    pub(crate) const REFERENCE: &'static str = "RFC 7567, section 2";
    pub(crate) const TRAITS: Traits = Traits {
        title: "drop-tail",
        drops: Drops::Tail,
        separates: Separates::Nothing,
        marks: false,
        own_rate: false,
        random: false,
        thresholds: &[],
        linux: Linux::Has(Qdisc {
            name: "pfifo",
            name_in_bytes: Some("bfifo"),
            options: &[QdiscOption::new("limit", "limit", Form::Packets)],
        }),
    };

    /// An empty queue.
    pub fn new(config: &DropTailConfig) -> Self {
        Self { limit: config.limit }
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, _random: &mut R) -> Verdict {
        if self.limit.has_room(backlog.packets, backlog.bytes, arrival.bytes) {
            Verdict::Accept
        } else {
            Verdict::Drop
        }
    }

    fn tail(&self) -> Option<Limit> {
        Some(self.limit)
    }
}
