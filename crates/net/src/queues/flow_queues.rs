//! Flow isolation as in FQ-CoDel (RFC 8290 §4): a queue for each flow, served in turn by bytes, new ones first.
//!
//! | RFC 8290 | field | unit |
//! | --- | --- | --- |
//! | quantum | `quantum` | bytes a queue may send in its turn |
//! | byte credits | `credit` | bytes |
//! | list of new queues, of old queues | `new`, `old` | numbers of queues |
//!
//! A packet goes to the queue that its flow's number is hashed to. A queue that was empty joins the new queues, which
//! go first, so a flow that never builds a queue hardly waits. One that has used its credit joins the end of the old
//! queues, with a new quantum; so does a new queue that falls empty, and an old one that does leaves the lists (§4.2).
//!
//! The hash has no random perturbation, so that the same scenario gives the same queues; flows whose numbers meet share
//! a queue, as in the RFC.

use super::departure::Fifo;
use super::{Held, Turn};
use parshall_units::Bytes;
use std::collections::VecDeque;

/// The queue of the flows that are hashed to one number, and what controls it.
#[derive(Clone, Debug)]
pub(super) struct FlowQueue<C> {
    pub(super) fifo: Fifo,
    pub(super) controller: C,
    credit: i64,
    /// True if it is in one of the lists.
    listed: bool,
}

/// A queue for each flow.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<C> {
    quantum: i64,
    queues: Box<[FlowQueue<C>]>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u64,
    bytes: u64,
    /// True if a new queue that falls empty joins the old ones.
    once_more: bool,
}

impl<C: Clone> FlowQueues<C> {
    /// So many empty queues, each with a controller like this.
    pub(super) fn new(queues: u64, quantum: Bytes, controller: C) -> Self {
        let queue = FlowQueue { fifo: Fifo::default(), controller, credit: 0, listed: false };
        Self {
            quantum: quantum.0.cast_signed(),
            queues: vec![queue; queues as usize].into(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            once_more: true,
        }
    }

    /// The same, but a new queue that falls empty with credit left leaves the lists at once, and is new again with its
    /// next packet.
    pub(super) fn lenient(self) -> Self {
        Self { once_more: false, ..self }
    }

    /// True if a queue is in one of the lists.
    pub(super) fn is_listed(&self, index: u32) -> bool {
        self.queues[index as usize].listed
    }

    /// The number of a flow's queue.
    pub(super) fn index_of(&self, flow: u32) -> u32 {
        (mixed(u64::from(flow)) % self.queues.len() as u64) as u32
    }

    pub(super) fn queue_mut(&mut self, index: u32) -> &mut FlowQueue<C> {
        &mut self.queues[index as usize]
    }

    /// Packets in all queues.
    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes in all queues.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The new queues, and how many lists have in all.
    pub(super) fn listed(&self) -> (usize, usize) {
        (self.new.len(), self.new.len() + self.old.len())
    }

    /// The queues in the lists.
    pub(super) fn active(&self) -> impl Iterator<Item = &FlowQueue<C>> {
        self.new.iter().chain(&self.old).map(|&index| &self.queues[index as usize])
    }

    /// Packets in the longest queue.
    pub(super) fn longest(&self) -> u64 {
        self.active().map(|queue| queue.fifo.len()).max().unwrap_or(0)
    }

    /// A packet joins a queue.
    pub(super) fn push(&mut self, index: u32, packet: Held) {
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(packet);
        if !queue.listed {
            queue.listed = true;
            queue.credit = self.quantum;
            self.new.push_back(index);
        }
    }

    /// The queue with the most bytes, and how many these are; the first of equals in the lists' order.
    pub(super) fn fattest(&self) -> Option<(u32, u64)> {
        let mut fattest = None;
        for &index in self.new.iter().chain(&self.old) {
            let fifo = &self.queues[index as usize].fifo;
            // A packet may have no bytes: a SYN of a group whose headers are not counted.
            if fattest.map_or(fifo.len() > 0, |(_, most)| fifo.bytes() > most) {
                fattest = Some((index, fifo.bytes()));
            }
        }
        fattest
    }

    /// Drops a packet from the head of a queue.
    pub(super) fn drop_head(&mut self, index: u32, lost: &mut VecDeque<Held>) {
        let Some(packet) = self.queues[index as usize].fifo.pop() else { return };
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        lost.push_back(packet);
    }

    /// Drops a packet from the head of the queue with the most bytes.
    pub(super) fn drop_from_fattest(&mut self, lost: &mut VecDeque<Held>) {
        if let Some((index, _)) = self.fattest() {
            self.drop_head(index, lost);
        }
    }

    /// The next packet: `take` chooses it, of the queue whose turn it is, and may drop others before it.
    pub(super) fn dequeue(
        &mut self,
        lost: &mut VecDeque<Held>,
        mut take: impl FnMut(&mut FlowQueue<C>, &mut VecDeque<Held>) -> Option<Turn>,
    ) -> Option<Turn> {
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
            let turn = take(queue, lost);
            if let Some(Turn { packet, .. }) = turn {
                queue.credit -= i64::from(packet.bytes);
                let active = if is_new { &mut self.new } else { &mut self.old };
                active.push_front(index);
                self.packets -= 1;
                self.bytes -= u64::from(packet.bytes);
            } else if is_new && self.once_more {
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
}

/// A number from which every bit of another one can be distinguished (the finalizer of `SplitMix64`; Steele, Lea &
/// Flood, OOPSLA 2014).
pub(super) fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_spread() {
        let queues = FlowQueues::new(1024, Bytes(1500), ());
        let mut used: Vec<u32> = (0..1024).map(|flow| queues.index_of(flow << 2)).collect();
        used.sort_unstable();
        used.dedup();
        // 1024 balls in 1024 bins leave 1/e of them empty: 647 used, standard deviation 10.
        assert!((607..=687).contains(&used.len()), "{}", used.len());
    }
}
