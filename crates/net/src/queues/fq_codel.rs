//! FQ-CoDel: a queue for each flow, served in turn, each under CoDel (RFC 8290).
//!
//! The queues and the order of service are those of [`FlowQueues`]. When the limit is exceeded, packets are dropped
//! from the head of the queue with the most bytes (§4.1.2).
//!
//! Choices: "no more than one largest packet" of CoDel is judged on the flow's queue. The limit counts packets (or
//! bytes), the one being transmitted included.

use super::codel::{Controller, Law};
use super::flow_queues::FlowQueues;
use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, ConfigError, Duration, Instant};
use rand_core::RngCore;
use std::collections::VecDeque;

parshall_units::configuration! {
    /// Parameters of [`FqCodel`].
    pub struct FqCodelConfig {
        /// How much fits in all queues together, the packet being transmitted included.
        limit: Limit, default "10240 packets";
        /// How many queues there are.
        queues: u64, default "1024", min 1, max 65536;
        /// What a queue may send in its turn.
        quantum: Bytes, default "1514 B", min "1 B", max "1 GB";
        /// Sojourn time that may stand.
        target: Duration, default "5 ms", min "1 us";
        /// Time for which it may be exceeded; a usual worst-case RTT.
        interval: Duration, default "100 ms", min "1 us";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, default "true";
    }
}

/// Flow queues, each under CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    limit: Limit,
    law: Law,
    flows: FlowQueues<Controller>,
}

impl FqCodel {
    pub(crate) const SUMMARY: &'static str = "a queue for each flow, new ones first, each under CoDel";
    pub(crate) const REFERENCE: &'static str = "RFC 8290";
    pub(crate) const TRAITS: Traits = Traits {
        title: "FQ-CoDel",
        drops: Drops::Departure,
        separates: Separates::Flows,
        marks: true,
        own_rate: false,
        random: false,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "fq_codel",
            &[
                QdiscOption::new("limit", "limit", Form::Packets),
                QdiscOption::new("queues", "flows", Form::Number),
                QdiscOption::new("quantum", "quantum", Form::Bytes),
                QdiscOption::new("target", "target", Form::Time),
                QdiscOption::new("interval", "interval", Form::Time),
                QdiscOption::new("ecn", "ecn", Form::Flag),
            ],
        )),
    };

    /// Empty queues.
    pub fn new(config: &FqCodelConfig) -> Self {
        Self {
            limit: config.limit,
            law: Law::new(config.target, config.interval, config.ecn),
            flows: FlowQueues::new(config.queues, config.quantum, Controller::default()),
        }
    }
}

impl DepartureDiscipline for FqCodel {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("active_queues", "", "queues in the lists of new and old queues"),
        Variable::new("new_queues", "", "of these, new ones"),
        Variable::new("dropping_queues", "", "active queues in which CoDel drops"),
        Variable::new("largest_count", "packets", "the largest of their CoDel counts, if any drops"),
        Variable::new("longest_queue", "packets", "packets in the longest queue"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let counts = || self.flows.active().filter_map(|queue| queue.controller.drops());
        let (new, all) = self.flows.listed();
        reader("active_queues", all as f64);
        reader("new_queues", new as f64);
        reader("dropping_queues", counts().count() as f64);
        if let Some(largest) = counts().max() {
            reader("largest_count", f64::from(largest));
        }
        reader("longest_queue", self.flows.longest() as f64);
    }

    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        _: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        let Self { limit, law, flows } = self;
        law.see(packet.bytes);
        flows.push(flows.index_of(packet.flow), packet);
        while flows.packets() > 0
            && !limit.has_room(flows.packets() - 1 + beside.0, flows.bytes() + beside.1, 0)
        {
            flows.drop_from_fattest(lost);
        }
    }

    /// RFC 8290 §4.2
    fn dequeue<R: RngCore>(&mut self, now: Instant, _: &mut R, lost: &mut VecDeque<Held>) -> Option<Turn> {
        let Self { law, flows, .. } = self;
        flows.dequeue(lost, |queue, lost| queue.controller.dequeue(law, now, &mut queue.fifo, lost))
    }

    fn packets(&self) -> u64 {
        self.flows.packets()
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.law.check()
    }
}

#[cfg(test)]
mod tests {
    use super::super::departure::NoRandom;
    use super::*;
    use crate::ecn::Ecn;
    use crate::markers::Class;

    fn config() -> FqCodelConfig {
        FqCodelConfig {
            limit: Limit::Packets(100),
            queues: 1024,
            quantum: Bytes(1500),
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
        }
    }

    fn packet(flow: u32, bytes: u32, ticket: u32) -> Held {
        Held {
            arrived: Instant::ZERO,
            bytes,
            ecn: Ecn::Ect0,
            class: Class::Out,
            flow,
            ticket,
            period: 0,
            marked: false,
            dscp: 0,
        }
    }

    #[test]
    fn packets_without_bytes_are_dropped_as_well() {
        let config = FqCodelConfig { limit: Limit::Packets(2), ..config() };
        assert_eq!(served(&config, &[(1, 0), (2, 0), (3, 0), (4, 0)]).1.len(), 2);
    }

    /// Offers packets of (flow, bytes), then asks for all of them; the flows in the order of service, and those of the
    /// losses.
    fn served(config: &FqCodelConfig, packets: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
        let mut queue = FqCodel::new(config);
        let mut lost = VecDeque::new();
        for (ticket, &(flow, bytes)) in (0..).zip(packets) {
            queue.enqueue(packet(flow, bytes, ticket), (0, 0), &mut NoRandom, &mut lost);
        }
        let order = std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut NoRandom, &mut VecDeque::new()));
        let order = order.map(|turn| turn.packet.flow).collect();
        assert_eq!((queue.packets(), queue.flows.bytes(), queue.flows.listed()), (0, 0, (0, 0)));
        (order, lost.iter().map(|packet| packet.flow).collect())
    }

    #[test]
    fn flows_take_turns_by_bytes() {
        let packets = [(1, 1500), (1, 1500), (1, 1500), (2, 750), (2, 750), (2, 750), (2, 750)];
        assert_eq!(served(&config(), &packets).0, [1, 2, 2, 1, 2, 2, 1]);
    }

    #[test]
    fn a_quantum_of_two_packets_lets_two_go() {
        let config = FqCodelConfig { quantum: Bytes(3000), ..config() };
        let packets = [1, 1, 1, 1, 2, 2, 2, 2].map(|flow| (flow, 1500));
        assert_eq!(served(&config, &packets).0, [1, 1, 2, 2, 1, 1, 2, 2]);
    }

    #[test]
    fn a_flow_that_comes_new_goes_first() {
        let mut queue = FqCodel::new(&config());
        let mut lost = VecDeque::new();
        for ticket in 0..10 {
            queue.enqueue(packet(1, 500, ticket), (0, 0), &mut NoRandom, &mut lost);
        }
        let mut next =
            |queue: &mut FqCodel| queue.dequeue(Instant::ZERO, &mut NoRandom, &mut lost).unwrap().packet.flow;
        // With the fourth packet it begins its second quantum, as an old queue.
        assert_eq!([(); 4].map(|()| next(&mut queue)), [1; 4]);
        queue.enqueue(packet(2, 100, 10), (0, 0), &mut NoRandom, &mut VecDeque::new());
        assert_eq!([(); 2].map(|()| next(&mut queue)), [2, 1]);
        // Flow 2 fell empty and is an old queue for a round: it waits for its turn, and a new flow goes before it.
        queue.enqueue(packet(2, 100, 11), (0, 0), &mut NoRandom, &mut VecDeque::new());
        queue.enqueue(packet(3, 100, 12), (0, 0), &mut NoRandom, &mut VecDeque::new());
        assert_eq!([(); 3].map(|()| next(&mut queue)), [3, 1, 2]);
    }

    #[test]
    fn what_exceeds_the_limit_comes_from_the_head_of_the_fattest_queue() {
        let config = FqCodelConfig { limit: Limit::Packets(4), ..config() };
        let packets = [(1, 500), (1, 500), (1, 500), (2, 1400), (3, 100), (3, 100)];
        // The fifth packet finds 1500 bytes of flow 1, the sixth 1400 of flow 2.
        let (order, lost) = served(&config, &packets);
        assert_eq!(lost, [1, 2]);
        assert_eq!(order, [1, 1, 3, 3]);
        let bytes = FqCodelConfig { limit: Limit::Bytes(3000), ..config };
        assert_eq!(served(&bytes, &[(1, 1500), (1, 1500), (2, 1500)]).1, [1]);
    }

    #[test]
    fn each_queue_is_under_its_own_control() {
        let mut queue = FqCodel::new(&config());
        let mut lost = VecDeque::new();
        let mut dropped = Vec::new();
        // Flow 1 stands at 12 packets that are 20 ms old; flow 2 sends a packet now and then.
        for ms in 20..400 {
            let now = Instant::ZERO + Duration::from_millis(ms);
            let old = Instant::ZERO + Duration::from_millis(ms - 20);
            while queue.flows.queue_mut(queue.flows.index_of(1)).fifo.len() < 12 {
                queue.enqueue(Held { arrived: old, ..packet(1, 1000, 0) }, (0, 0), &mut NoRandom, &mut lost);
            }
            if ms % 10 == 0 {
                queue.enqueue(Held { arrived: now, ..packet(2, 1000, 0) }, (0, 0), &mut NoRandom, &mut lost);
            }
            queue.dequeue(now, &mut NoRandom, &mut lost);
            dropped.extend(lost.drain(..).map(|packet| packet.flow));
        }
        assert!(dropped.len() >= 3 && dropped.iter().all(|&flow| flow == 1), "{dropped:?}");
    }
}
