//! FQ-CoDel: a queue for each flow, served in turn, each under CoDel (RFC 8290).
//!
//! | RFC 8290 | field | unit |
//! | --- | --- | --- |
//! | quantum | `quantum` | bytes a queue may send in its turn |
//! | number of queues | `queues` | |
//! | byte credits | `credit` | bytes |
//! | list of new queues, of old queues | `new`, `old` | numbers of queues |
//!
//! A packet goes to the queue that its flow's number is hashed to. A queue that was empty joins the new queues, which go first, so
//! a flow that never builds a queue hardly waits. One that has used its credit joins the end of the old queues, with a new
//! quantum; so does a new queue that falls empty, and an old one that does leaves the lists (§4.2).
//! When the limit is exceeded, packets are dropped from the head of the queue with the most bytes (§4.1.2).
//!
//! Choices and deviations: the hash has no random perturbation, so that the same scenario gives the same queues; flows whose numbers
//! meet share a queue, as in the RFC. One packet is dropped at a time, where Linux drops up to 64. "No more than one largest packet"
//! of CoDel is judged on the flow's queue. The limit counts packets (or bytes), the one being transmitted included.

use super::codel::{Controller, Law};
use super::departure::Fifo;
use super::traits::{Drops, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, ConfigError, Duration, Instant};
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

/// The queue of the flows that are hashed to one number.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    fifo: Fifo,
    controller: Controller,
    credit: i64,
    /// Whether it is in one of the lists.
    listed: bool,
}

/// Flow queues, each under CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    limit: Limit,
    quantum: i64,
    law: Law,
    queues: Box<[FlowQueue]>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u64,
    bytes: u64,
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
    };

    /// Empty queues.
    pub fn new(config: &FqCodelConfig) -> Self {
        Self {
            limit: config.limit,
            quantum: config.quantum.0.cast_signed(),
            law: Law::new(config.target, config.interval, config.ecn),
            queues: vec![FlowQueue::default(); config.queues as usize].into(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// The queue of a flow.
    fn queue_of(&self, flow: u32) -> u32 {
        (mixed(u64::from(flow)) % self.queues.len() as u64) as u32
    }

    fn left(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }

    /// Drops a packet from the head of the queue with the most bytes; the first of equals in the lists' order.
    fn drop_from_fattest(&mut self, lost: &mut VecDeque<Held>) {
        let mut fattest = None;
        let mut most = 0;
        for &index in self.new.iter().chain(&self.old) {
            let fifo = &self.queues[index as usize].fifo;
            // A packet may have no bytes: a SYN of a group whose headers are not counted.
            if fifo.bytes() > most || (fattest.is_none() && fifo.len() > 0) {
                (fattest, most) = (Some(index), fifo.bytes());
            }
        }
        let Some(packet) = fattest.and_then(|index| self.queues[index as usize].fifo.pop()) else { return };
        self.left(packet.bytes);
        lost.push_back(packet);
    }
}

/// A number from which every bit of another one can be told apart (the finalizer of `SplitMix64`; Steele, Lea & Flood,
/// OOPSLA 2014).
pub(super) fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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
        let active = || self.new.iter().chain(&self.old).map(|&index| &self.queues[index as usize]);
        let counts = || active().filter_map(|queue| queue.controller.drops());
        reader("active_queues", (self.new.len() + self.old.len()) as f64);
        reader("new_queues", self.new.len() as f64);
        reader("dropping_queues", counts().count() as f64);
        if let Some(largest) = counts().max() {
            reader("largest_count", f64::from(largest));
        }
        reader("longest_queue", active().map(|queue| queue.fifo.len()).max().unwrap_or(0) as f64);
    }

    fn enqueue(&mut self, packet: Held, beside: (u64, u64), lost: &mut VecDeque<Held>) {
        let index = self.queue_of(packet.flow);
        let queue = &mut self.queues[index as usize];
        self.law.see(packet.bytes);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        queue.fifo.push(packet);
        if !queue.listed {
            queue.listed = true;
            queue.credit = self.quantum;
            self.new.push_back(index);
        }
        while self.packets > 0 && !self.limit.has_room(self.packets - 1 + beside.0, self.bytes + beside.1, 0)
        {
            self.drop_from_fattest(lost);
        }
    }

    /// RFC 8290 §4.2
    fn dequeue(&mut self, now: Instant, lost: &mut VecDeque<Held>) -> Option<Turn> {
        loop {
            let is_new = !self.new.is_empty();
            let active = if is_new { &mut self.new } else { &mut self.old };
            let index = active.pop_front()?;
            let queue = &mut self.queues[index as usize];
            if queue.credit <= 0 {
                queue.credit += self.quantum;
                self.old.push_back(index);
                continue;
            }
            let before = lost.len();
            let turn = queue.controller.dequeue(&self.law, now, &mut queue.fifo, lost);
            if let Some(Turn { packet, .. }) = turn {
                queue.credit -= i64::from(packet.bytes);
                let active = if is_new { &mut self.new } else { &mut self.old };
                active.push_front(index);
                self.left(packet.bytes);
            } else if is_new {
                self.old.push_back(index); // it waits for its turn once more, or it could always be new
            } else {
                queue.listed = false;
            }
            for dropped in lost.iter().skip(before) {
                self.packets -= 1;
                self.bytes -= u64::from(dropped.bytes);
            }
            if turn.is_some() {
                return turn;
            }
        }
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.law.check()
    }
}

#[cfg(test)]
mod tests {
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
        Held { arrived: Instant::ZERO, bytes, ecn: Ecn::Ect0, class: Class::Out, flow, ticket, period: 0 }
    }

    #[test]
    fn packets_without_bytes_are_dropped_as_well() {
        let config = FqCodelConfig { limit: Limit::Packets(2), ..config() };
        assert_eq!(served(&config, &[(1, 0), (2, 0), (3, 0), (4, 0)]).1.len(), 2);
    }

    /// Offers packets of (flow, bytes), then asks for all of them; the flows in the order of service, and those of the losses.
    fn served(config: &FqCodelConfig, packets: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
        let mut queue = FqCodel::new(config);
        let mut lost = VecDeque::new();
        for (ticket, &(flow, bytes)) in (0..).zip(packets) {
            queue.enqueue(packet(flow, bytes, ticket), (0, 0), &mut lost);
        }
        let order = std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut VecDeque::new()));
        let order = order.map(|turn| turn.packet.flow).collect();
        assert_eq!((queue.packets, queue.bytes), (0, 0));
        assert!(queue.queues.iter().all(|queue| !queue.listed));
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
            queue.enqueue(packet(1, 500, ticket), (0, 0), &mut lost);
        }
        let mut next = |queue: &mut FqCodel| queue.dequeue(Instant::ZERO, &mut lost).unwrap().packet.flow;
        // With the fourth packet it begins its second quantum, as an old queue.
        assert_eq!([(); 4].map(|()| next(&mut queue)), [1; 4]);
        queue.enqueue(packet(2, 100, 10), (0, 0), &mut VecDeque::new());
        assert_eq!([(); 2].map(|()| next(&mut queue)), [2, 1]);
        // Flow 2 fell empty and is an old queue for a round: it waits for its turn, and a new flow goes before it.
        queue.enqueue(packet(2, 100, 11), (0, 0), &mut VecDeque::new());
        queue.enqueue(packet(3, 100, 12), (0, 0), &mut VecDeque::new());
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
            while queue.queues[queue.queue_of(1) as usize].fifo.len() < 12 {
                queue.enqueue(Held { arrived: old, ..packet(1, 1000, 0) }, (0, 0), &mut lost);
            }
            if ms % 10 == 0 {
                queue.enqueue(Held { arrived: now, ..packet(2, 1000, 0) }, (0, 0), &mut lost);
            }
            queue.dequeue(now, &mut lost);
            dropped.extend(lost.drain(..).map(|packet| packet.flow));
        }
        assert!(dropped.len() >= 3 && dropped.iter().all(|&flow| flow == 1), "{dropped:?}");
    }

    #[test]
    fn numbers_in_a_row_are_spread() {
        let queue = FqCodel::new(&config());
        let mut used: Vec<u32> = (0..1024).map(|flow| queue.queue_of(flow << 2)).collect();
        used.sort_unstable();
        used.dedup();
        // 1024 balls in 1024 bins leave 1/e of them empty: 647 used, standard deviation 10.
        assert!((607..=687).contains(&used.len()), "{}", used.len());
    }
}
