//! FQ-PIE: a queue for each flow, served in turn, each under PIE (Ramakrishnan et al. 2019; Linux's `sch_fq_pie`).
//!
//! The queues and the order of service are those of FQ-CoDel ([`FlowQueues`], RFC 8290 §4), the control of each is that
//! of PIE (RFC 8033). A packet is hit at its arrival, by the probability of its own flow's queue. What exceeds the
//! limit, or the memory, is lost at its arrival too, whosever it is: unlike FQ-CoDel it does not look for the longest
//! queue.
//!
//! When a packet of one flow will leave hangs on the others, so the queueing delay is what the last packet of the flow
//! that left had waited, and zero when it left none behind (RFC 8033 §5.2, by timestamps; the default of Linux). Each
//! queue's probability is updated every T_UPDATE from its first packet on; the updates are made up for when the queue
//! is touched, as its delay does not change in between.
//!
//! Read: what `sch_fq_pie.c` and `sch_pie.c` of Linux do; RFC 8033 and RFC 8290 as `pie.rs` and `fq_codel.rs` have
//! them. Not read: the paper. Differences from Linux: what exceeds `memory_limit` is dropped, where Linux only counts
//! it, and it counts bytes on the wire, not those of buffers; all of a flow's steps are those of RFC 8033 (Linux adds
//! one for delays above 250 ms, and takes the burst allowance down at departures).

use super::flow_queues::{FlowQueue, FlowQueues};
use super::pie::{Controller, Law};
use super::proportional_integral::Gains;
use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, Duration, Instant};
use rand_core::RngCore;
use std::collections::VecDeque;

parshall_units::configuration! {
    /// Parameters of [`FqPie`].
    pub struct FqPieConfig {
        /// How much fits in all queues together, the packet being transmitted included.
        limit: Limit, default "10240 packets";
        /// Bytes that fit in all queues together, the packet being transmitted included.
        memory_limit: Bytes, default "32 MB", min "1 B", max "4 GB";
        /// How many queues there are.
        queues: u64, default "1024", min 1, max 65536;
        /// What a queue may send in its turn.
        quantum: Bytes, default "1514 B", min "1 B", max "1 GB";
        /// Queueing delay to hold, of each flow.
        target: Duration, default "15 ms", min "1 us";
        /// Time between two updates of a flow's probability.
        update_interval: Duration, default "15 ms", min "1 us";
        /// Weight of the delay's distance from the target, in 1/s.
        alpha: f64, default "0.125", min 0.0, max 1000.0;
        /// Weight of the delay's change since the last update, in 1/s.
        beta: f64, default "1.25", min 0.0, max 1000.0;
        /// Length of a burst of a flow that passes untouched while its queue was empty before.
        max_burst: Duration, default "150 ms", min "0 s";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, default "false";
        /// Probability above which ECN-capable packets are dropped too.
        mark_up_to: f64, default "0.1", min 0.0, max 1.0;
    }
}

/// Flow queues, each under PIE.
#[derive(Clone, Debug)]
pub struct FqPie {
    limit: Limit,
    memory_limit: Limit,
    /// Probability up to which ECN-capable packets are marked; `None`: never.
    mark_up_to: Option<f64>,
    law: Law,
    flows: FlowQueues<FlowControl>,
}

/// The control of a flow's queue.
#[derive(Clone, Debug)]
struct FlowControl {
    pie: Controller,
    /// How long the last packet that left had waited; zero: it left none behind.
    delay_s: f64,
}

impl FlowControl {
    fn catch_up(&mut self, law: &Law, now: Instant) {
        let delay_s = self.delay_s;
        self.pie.catch_up(law, now, |_| delay_s);
    }
}

impl FqPie {
    pub(crate) const SUMMARY: &'static str = "a queue for each flow, new ones first, each under PIE";
    pub(crate) const REFERENCE: &'static str = "Ramakrishnan et al., LCN 2019";
    pub(crate) const TRAITS: Traits = Traits {
        title: "FQ-PIE",
        drops: Drops::Early,
        separates: Separates::Flows,
        marks: true,
        own_rate: false,
        random: true,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "fq_pie",
            &[
                QdiscOption::new("limit", "limit", Form::Packets),
                QdiscOption::new("memory_limit", "memory_limit", Form::Bytes),
                QdiscOption::new("queues", "flows", Form::Number),
                QdiscOption::new("quantum", "quantum", Form::Bytes),
                QdiscOption::new("target", "target", Form::Time),
                QdiscOption::new("update_interval", "tupdate", Form::Time),
                QdiscOption::new("alpha", "alpha", Form::Sixteenths),
                QdiscOption::new("beta", "beta", Form::Sixteenths),
                QdiscOption::new("mark_up_to", "ecn_prob", Form::Percent),
                QdiscOption::new("ecn", "ecn", Form::Flag),
            ],
        )),
    };

    /// Empty queues.
    pub fn new(config: &FqPieConfig) -> Self {
        let law = Law {
            gains: Gains::new(config.alpha, config.beta, config.target),
            half_target_s: config.target.as_secs_f64() / 2.0,
            update_interval: config.update_interval,
            max_burst: config.max_burst,
            derandomized: true,
        };
        let control = FlowControl { pie: Controller::new(&law), delay_s: 0.0 };
        Self {
            limit: config.limit,
            memory_limit: Limit::Bytes(config.memory_limit.0),
            mark_up_to: config.ecn.then_some(config.mark_up_to),
            law,
            flows: FlowQueues::new(config.queues, config.quantum, control),
        }
    }

    fn has_room(&self, beside: (u64, u64), bytes: u32) -> bool {
        let (packets, held) = (self.flows.packets() + beside.0, self.flows.bytes() + beside.1);
        self.limit.has_room(packets, held, bytes) && self.memory_limit.has_room(packets, held, bytes)
    }
}

impl DepartureDiscipline for FqPie {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("active_queues", "", "queues in the lists of new and old queues"),
        Variable::new("new_queues", "", "of these, new ones"),
        Variable::new("largest_probability", "", "the largest drop or mark probability of an active queue"),
        Variable::new("largest_delay", "s", "the longest that the last packet of an active queue had waited"),
        Variable::new("longest_queue", "packets", "packets in the longest queue"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let largest = |value: fn(&FlowControl) -> f64| {
            self.flows.active().map(|queue| value(&queue.controller)).fold(0.0, f64::max)
        };
        let (new, all) = self.flows.listed();
        reader("active_queues", all as f64);
        reader("new_queues", new as f64);
        reader("largest_probability", largest(|control| control.pie.probability()));
        reader("largest_delay", largest(|control| control.delay_s));
        reader("longest_queue", self.flows.longest() as f64);
    }

    fn enqueue<R: RngCore>(
        &mut self,
        mut packet: Held,
        beside: (u64, u64),
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        let has_room = self.has_room(beside, packet.bytes);
        let index = self.flows.index_of(packet.flow);
        let FlowQueue { fifo, controller, .. } = self.flows.queue_mut(index);
        controller.catch_up(&self.law, packet.arrived);
        if !has_room {
            return lost.push_back(packet);
        }
        let queue = (fifo.bytes(), controller.delay_s);
        let is_hit = controller.pie.is_hit(&self.law, packet.bytes, queue, random);
        let marks = self.mark_up_to.is_some_and(|most| controller.pie.probability() <= most);
        if is_hit && !(marks && packet.ecn.is_capable()) {
            return lost.push_back(packet);
        }
        packet.marked = is_hit;
        self.flows.push(index, packet);
    }

    /// RFC 8290 §4.2
    fn dequeue<R: RngCore>(&mut self, now: Instant, _: &mut R, lost: &mut VecDeque<Held>) -> Option<Turn> {
        let Self { law, flows, .. } = self;
        flows.dequeue(lost, |FlowQueue { fifo, controller, .. }, _| {
            let packet = fifo.pop()?;
            controller.catch_up(law, now);
            controller.delay_s = if fifo.len() == 0 { 0.0 } else { now.since(packet.arrived).as_secs_f64() };
            Some(Turn { packet, marked: packet.marked })
        })
    }

    fn packets(&self) -> u64 {
        self.flows.packets()
    }
}

#[cfg(test)]
mod tests;
