//! A tin of CAKE: the flow queues of one class of traffic, and its part of the shaper.

use super::super::flow_queues::{mixed, FlowQueue, FlowQueues};
use super::super::{Held, Turn};
use super::cobalt::{Cobalt, Law};
use super::CakeConfig;
use parshall_units::{Bytes, Duration, Instant, Rate};
use rand_core::RngCore;
use std::collections::VecDeque;

/// Queues of a tin, in sets of `WAYS`.
const QUEUES: u32 = 1024;
const WAYS: u32 = 8;

/// Bytes of a full packet.
const FULL_PACKET: u64 = 1514;

/// The flow queues of one class of traffic.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    rate: Option<Rate>,
    /// When its next packet would be within its rate.
    pub(super) next: Instant,
    /// Bytes that it may send before others, without a rate.
    pub(super) deficit: i64,
    pub(super) weight: i64,
    law: Law,
    flows: FlowQueues<Cobalt>,
    /// The flow that each queue is or was for.
    tags: Box<[Option<u32>]>,
}

impl Tin {
    pub(super) fn new(config: &CakeConfig, rate: Option<Rate>, weight: i64) -> Self {
        let target = config.target;
        let packet_time = rate.map_or(Duration::ZERO, |rate| rate.time_for(FULL_PACKET));
        // Slow tins have a larger target, and an interval to match.
        let longer = target.max(Duration::from_ps(packet_time.as_ps() / 2 * 3));
        let interval = (config.rtt + (longer - target)).max(longer.times(2));
        let quantum = rate.map_or(FULL_PACKET, |rate| (rate.as_bps() / 8 / 4096).clamp(300, FULL_PACKET));
        Self {
            rate,
            next: Instant::ZERO,
            deficit: 0,
            weight,
            law: Law { target: longer, interval, packet_time },
            flows: FlowQueues::new(u64::from(QUEUES), Bytes(quantum), Cobalt::default()).lenient(),
            tags: vec![None; QUEUES as usize].into(),
        }
    }

    pub(super) fn packets(&self) -> u64 {
        self.flows.packets()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.flows.bytes()
    }

    pub(super) fn listed(&self) -> (usize, usize) {
        self.flows.listed()
    }

    pub(super) fn longest(&self) -> u64 {
        self.flows.longest()
    }

    pub(super) fn fattest(&self) -> Option<(u32, u64)> {
        self.flows.fattest()
    }

    pub(super) fn controls(&self) -> impl Iterator<Item = &Cobalt> {
        self.flows.active().map(|queue| &queue.controller)
    }

    /// The queue of a flow: its own, a free one of its set, or one that it shares.
    fn index_of(&mut self, flow: u32, now: Instant) -> u32 {
        let first = (mixed(u64::from(flow)) % u64::from(QUEUES)) as u32;
        let ways = (0..WAYS).map(|way| first / WAYS * WAYS + (first + way) % WAYS);
        let own = ways.clone().find(|&index| self.tags[index as usize] == Some(flow));
        let index = own.or_else(|| ways.clone().find(|&index| self.is_free(index, now))).unwrap_or(first);
        self.tags[index as usize] = Some(flow);
        index
    }

    fn is_free(&mut self, index: u32, now: Instant) -> bool {
        if self.flows.is_listed(index) {
            return false;
        }
        let controller = &mut self.flows.queue_mut(index).controller;
        controller.idle(&self.law, now);
        controller.is_at_rest(now)
    }

    pub(super) fn enqueue(&mut self, packet: Held) {
        let now = packet.arrived;
        if self.packets() == 0 {
            self.next = self.next.max(now);
        }
        let index = self.index_of(packet.flow, now);
        if !self.flows.is_listed(index) {
            self.flows.queue_mut(index).controller.idle(&self.law, now);
        }
        self.flows.push(index, packet);
    }

    pub(super) fn drop_from_fattest(&mut self, now: Instant, lost: &mut VecDeque<Held>) {
        if let Some((index, _)) = self.flows.fattest() {
            self.flows.drop_head(index, lost);
            self.flows.queue_mut(index).controller.overflow(&self.law, now);
        }
    }

    pub(super) fn dequeue<R: RngCore>(
        &mut self,
        now: Instant,
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn> {
        let Self { flows, law, .. } = self;
        flows.dequeue(lost, |FlowQueue { fifo, controller, .. }, lost| {
            if fifo.len() == 0 {
                controller.idle(law, now);
            }
            controller.dequeue(law, now, (fifo, random), lost)
        })
    }

    /// A packet of so many bytes, overhead included, leaves.
    pub(super) fn charge(&mut self, now: Instant, bytes: u64) {
        self.deficit -= bytes.cast_signed();
        let Some(rate) = self.rate else { return };
        let lasts = rate.time_for(bytes);
        self.next = if self.next < now { self.next + lasts } else { self.next.max(now + lasts) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::{CakeFraming, CakeTins, Limit};

    fn config() -> CakeConfig {
        CakeConfig {
            limit: Limit::Packets(1000),
            rate: None,
            overhead: Bytes(0),
            min_packet: Bytes(0),
            framing: CakeFraming::None,
            tins: CakeTins::Besteffort,
            rtt: Duration::from_millis(100),
            target: Duration::from_millis(5),
        }
    }

    #[test]
    fn flows_share_a_queue_only_where_a_set_has_no_free_one() {
        let mut tin = Tin::new(&config(), None, 1);
        let packet = |flow| Held {
            arrived: Instant::ZERO,
            bytes: 1000,
            ecn: crate::ecn::Ecn::Ect0,
            class: crate::markers::Class::Out,
            flow,
            ticket: 0,
            period: 0,
            marked: false,
            dscp: 0,
        };
        // Of 512 flows, a plain hash to 1024 queues would let a fifth share one: 1 - (1 - e^-0.5) / 0.5 = 0.21. Of sets
        // of eight with four flows on average, 2 % have more than eight.
        (0..512).for_each(|flow| tin.enqueue(packet(flow)));
        let used = tin.listed().1;
        assert!(used > 500, "{used}");
        // Each has its own again.
        (0..512).for_each(|flow| tin.enqueue(packet(flow)));
        assert_eq!(tin.listed().1, used);
        // One set holds eight; the ninth flow shares.
        let mut tin = Tin::new(&config(), None, 1);
        let set = |flow: u32| mixed(u64::from(flow)) % u64::from(QUEUES) / u64::from(WAYS);
        (0..).filter(|&flow| set(flow) == 3).take(9).for_each(|flow| tin.enqueue(packet(flow)));
        assert_eq!(tin.listed().1, 8);
    }

    #[test]
    fn a_slow_tin_has_a_larger_target_and_a_smaller_quantum() {
        let law = |bps| Tin::new(&config(), Rate::from_bps(bps), 1).law;
        // 1514 bytes last 12.112 ms at 1 Mbit/s: the target is one and a half of it, and the interval as much longer.
        let slow = law(1_000_000);
        assert_eq!(slow.target, Duration::from_ps(18_168_000_000));
        assert_eq!(slow.interval, Duration::from_ps(113_168_000_000));
        assert_eq!(law(100_000_000).target, Duration::from_millis(5));
        // At 100 kbit/s twice the target is longer than that.
        assert_eq!(law(100_000).interval, law(100_000).target.times(2));
    }
}
