//! Deficit round robin: a queue for each flow, and equal shares in bytes whatever the packets' sizes (Shreedhar &
//! Varghese 1995).
//!
//! | paper | field | unit |
//! | --- | --- | --- |
//! | Q_i | `quantum`, the same for all | bytes a flow may send in a round |
//! | DC_i | `deficit` | bytes that it may still send; what is left is carried to its next turn |
//! | ActiveList | `active` | numbers of the queues in which packets wait |
//!
//! A packet goes to the queue that its flow's number is hashed to (as in FQ-CoDel). In its turn a queue gets a quantum,
//! and sends packets from its head as long as they fit into its deficit counter; a queue that falls empty loses the
//! rest. Between two flows that always have packets, the difference in bytes sent is never above Q + 2 Max, where Max
//! is the largest packet (Theorem 2 of the paper bounds it over any interval).
//!
//! When the limit is exceeded, a packet is dropped from the queue with the most bytes: the paper's buffer stealing
//! (McKenney). It is taken from the head, as in FQ-CoDel, which informs its sender soonest; the paper leaves that open.

use super::departure::Fifo;
use super::flow_queues::mixed;
use super::traits::{Drops, Linux, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, Instant};
use rand_core::RngCore;
use std::collections::VecDeque;

parshall_units::configuration! {
    /// Parameters of [`Drr`].
    pub struct DrrConfig {
        /// How much fits in all queues together, the packet being transmitted included.
        limit: Limit, default "1000 packets";
        /// How many queues there are.
        queues: u64, default "1024", min 1, max 65536;
        /// What a queue may send in its turn; at least the largest packet, or turns pass without one.
        quantum: Bytes, default "1514 B", min "1 B", max "1 GB";
    }
}

/// The queue of the flows that are hashed to one number.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    fifo: Fifo,
    deficit: u64,
}

/// Flow queues, served in turn.
#[derive(Clone, Debug)]
pub struct Drr {
    limit: Limit,
    quantum: u64,
    queues: Box<[FlowQueue]>,
    active: VecDeque<u32>,
    /// True if the first active queue has got its quantum.
    in_turn: bool,
    packets: u64,
    bytes: u64,
}

impl Drr {
    pub(crate) const SUMMARY: &'static str =
        "a queue for each flow, served in turn, with equal shares in bytes";
    pub(crate) const REFERENCE: &'static str = "Shreedhar & Varghese, SIGCOMM 1995";
    pub(crate) const TRAITS: Traits = Traits {
        title: "deficit round robin",
        drops: Drops::Tail,
        separates: Separates::Flows,
        marks: false,
        own_rate: false,
        random: false,
        thresholds: &[],
        linux: Linux::Lacks("its `drr` needs a class for each flow, and filters"),
    };

    /// Empty queues.
    pub fn new(config: &DrrConfig) -> Self {
        Self {
            limit: config.limit,
            quantum: config.quantum.0,
            queues: vec![FlowQueue::default(); config.queues as usize].into(),
            active: VecDeque::new(),
            in_turn: false,
            packets: 0,
            bytes: 0,
        }
    }

    /// The first packet of the active queue at `position`.
    fn take(&mut self, position: usize) -> Option<Held> {
        let queue = &mut self.queues[*self.active.get(position)? as usize];
        let packet = queue.fifo.pop()?;
        if queue.fifo.len() == 0 {
            queue.deficit = 0;
            self.active.remove(position);
            self.in_turn &= position > 0;
        }
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Where in the list the queue with the most bytes is; the first of equals.
    fn fattest(&self) -> usize {
        let bytes = |position: &usize| self.queues[self.active[*position] as usize].fifo.bytes();
        (0..self.active.len()).rev().max_by_key(bytes).unwrap_or(0)
    }
}

impl DepartureDiscipline for Drr {
    const VARIABLES: &'static [Variable] =
        &[Variable::new("active", "flows", "queues in which packets wait")];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("active", self.active.len() as f64);
    }

    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        _: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        let index = mixed(u64::from(packet.flow)) % self.queues.len() as u64;
        let queue = &mut self.queues[index as usize];
        if queue.fifo.len() == 0 {
            self.active.push_back(index as u32);
        }
        queue.fifo.push(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        while self.packets > 0 && !self.limit.has_room(self.packets - 1 + beside.0, self.bytes + beside.1, 0)
        {
            lost.extend(self.take(self.fattest()));
        }
    }

    /// §3, Fig. 4
    fn dequeue<R: RngCore>(&mut self, _: Instant, _: &mut R, _: &mut VecDeque<Held>) -> Option<Turn> {
        loop {
            let index = *self.active.front()?;
            let queue = &mut self.queues[index as usize];
            if !self.in_turn {
                queue.deficit += self.quantum;
                self.in_turn = true;
            }
            let bytes = u64::from(queue.fifo.front()?.bytes);
            if let Some(left) = queue.deficit.checked_sub(bytes) {
                queue.deficit = left;
                return self.take(0).map(|packet| Turn { packet, marked: false });
            }
            self.active.rotate_left(1);
            self.in_turn = false;
        }
    }

    fn packets(&self) -> u64 {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::departure::NoRandom;
    use super::*;
    use crate::ecn::Ecn;
    use crate::markers::Class;
    use proptest::prelude::*;

    /// Flow and bytes of each.
    type Packets = Vec<(u32, u32)>;

    fn drr(limit: u64, quantum: u32) -> Drr {
        Drr::new(&DrrConfig {
            limit: Limit::Packets(limit),
            queues: 1024,
            quantum: Bytes(u64::from(quantum)),
        })
    }

    fn packet(flow: u32, bytes: u32) -> Held {
        let (arrived, ecn, class) = (Instant::ZERO, Ecn::NotCapable, Class::Out);
        Held { arrived, bytes, ecn, class, flow, ticket: 0, period: 0, marked: false, dscp: 0 }
    }

    /// Offers packets of (flow, bytes), then asks for all of them; what is served in order, and what is lost.
    fn served(queue: &mut Drr, packets: &[(u32, u32)]) -> (Packets, Packets) {
        let mut lost = VecDeque::new();
        for &(flow, bytes) in packets {
            queue.enqueue(packet(flow, bytes), (0, 0), &mut NoRandom, &mut lost);
        }
        let turns = std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut NoRandom, &mut VecDeque::new()));
        let order = turns.map(|turn| (turn.packet.flow, turn.packet.bytes)).collect();
        assert_eq!((queue.packets, queue.bytes, queue.active.len(), queue.in_turn), (0, 0, 0, false));
        assert!(queue.queues.iter().all(|queue| queue.deficit == 0));
        (order, lost.iter().map(|packet| (packet.flow, packet.bytes)).collect())
    }

    #[test]
    fn what_is_left_of_a_quantum_is_carried_to_the_next_turn() {
        // Quantum 500. Round 1: flow 1 sends 200 and keeps 300, as 750 do not fit; flow 2 sends 500; flow 3 keeps 500.
        // Round 2: flow 1 has 800, sends 750 and keeps 50, sends 20; flow 2 sends 500; flow 3 has 1000, sends 600 and
        // 100. Round 3: flow 3 was left with 300, and sends 400 of 800.
        let first = [(1, 200), (2, 500), (3, 600), (1, 750), (2, 500), (3, 100), (1, 20), (3, 400)];
        let expected = [(1, 200), (2, 500), (1, 750), (1, 20), (2, 500), (3, 600), (3, 100), (3, 400)];
        assert_eq!(served(&mut drr(100, 500), &first).0, expected);
    }

    #[test]
    fn what_exceeds_the_limit_comes_from_the_head_of_the_fattest_queue() {
        let packets = [(1, 500), (1, 501), (1, 502), (2, 1400), (3, 100), (3, 101)];
        // The fifth packet finds 1503 bytes of flow 1, the sixth 1400 of flow 2.
        let (order, lost) = served(&mut drr(4, 1500), &packets);
        assert_eq!(lost, [(1, 500), (2, 1400)]);
        assert_eq!(order, [(1, 501), (1, 502), (3, 100), (3, 101)]);
        assert_eq!(served(&mut drr(2, 1500), &[(1, 0), (2, 0), (3, 0), (4, 0)]).1.len(), 2);
    }

    #[test]
    fn the_turn_ends_with_the_queue_that_is_emptied_by_a_drop() {
        let mut queue = drr(2, 1500);
        let mut lost = VecDeque::new();
        for (flow, bytes) in [(1, 700), (1, 700)] {
            queue.enqueue(packet(flow, bytes), (0, 0), &mut NoRandom, &mut lost);
        }
        queue.dequeue(Instant::ZERO, &mut NoRandom, &mut lost);
        // Flow 1 is in its turn with 800 bytes left when its last packet goes; flow 2 begins with a quantum of its own.
        for (flow, bytes) in [(2, 600), (3, 500)] {
            queue.enqueue(packet(flow, bytes), (0, 0), &mut NoRandom, &mut lost);
        }
        assert_eq!(lost.pop_back().map(|packet| packet.flow), Some(1));
        assert_eq!(
            queue.dequeue(Instant::ZERO, &mut NoRandom, &mut lost).map(|turn| turn.packet.flow),
            Some(2)
        );
        assert_eq!(queue.queues.iter().map(|queue| queue.deficit).sum::<u64>(), 0);
    }

    proptest! {
        #[test]
        fn no_flow_is_further_ahead_than_the_papers_bound(
            sizes in prop::collection::vec((40u32..1501, 40u32..1501, 40u32..1501), 60),
            quantum in 1500u32..6000,
        ) {
            let mut queue = drr(1000, quantum);
            for (one, two, three) in sizes {
                for (flow, bytes) in [(1, one), (2, two), (3, three)] {
                    queue.enqueue(packet(flow, bytes), (0, 0), &mut NoRandom, &mut VecDeque::new());
                }
            }
            let mut sent = [0i64; 3];
            while queue.active.len() == 3 {
                let packet = queue.dequeue(Instant::ZERO, &mut NoRandom, &mut VecDeque::new()).unwrap().packet;
                sent[packet.flow as usize - 1] += i64::from(packet.bytes);
                let ahead = sent.iter().max().unwrap() - sent.iter().min().unwrap();
                prop_assert!(ahead <= i64::from(quantum) + 2 * 1500, "{sent:?}");
            }
        }
    }
}
