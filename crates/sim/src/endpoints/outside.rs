//! A kind of the tests alone: packets that come from outside, at any time, and go out when they are delivered, as those of an
//! emulated flow do. It shows what the seam asks of a kind, and that nothing but the list need know of it.
//!
//! A group is of this kind if it is called "outside".

use super::{AccessLink, EndpointKind, Legs, Line, LineKind};
use crate::build::{problem, GroupPlan, Problem};
use crate::event::Entity;
use crate::packet::{Flags, Packet};
use crate::results::Measured;
use crate::scenario::FlowGroup;
use crate::shared::Core;
use crate::SimError;
use parshall_net::ecn::Ecn;
use parshall_records::FlowRow;
use parshall_units::{Duration, Instant};
use std::collections::{TryReserveError, VecDeque};
use std::sync::Arc;

/// All of them.
#[derive(Default)]
pub(crate) struct OutsideFlows {
    flows: Vec<OutsideFlow>,
}

pub(crate) struct OutsideFlow {
    id: u32,
    group: Arc<str>,
    path: Box<[u32]>,
    legs: Legs,
    access: Option<AccessLink>,
    access_free: Instant,
    /// Packets on their way to the first link, and those that are delivered but have not arrived yet.
    line: VecDeque<Packet>,
    delivered: VecDeque<(Instant, u64)>,
    sent: u64,
    dropped: u64,
    received_bytes: u64,
}

impl OutsideFlows {
    pub(super) fn line(&mut self, flow: u32) -> &mut OutsideFlow {
        &mut self.flows[flow as usize]
    }

    /// A packet comes from outside at `now`, the network's time.
    fn hand_in(&mut self, core: &mut Core, now: Instant, index: u32, bytes: u32) {
        let flow = &mut self.flows[index as usize];
        let transmission = flow.access.as_ref().map_or(Duration::ZERO, |link| link.transmission(bytes));
        flow.access_free = flow.access_free.max(now) + transmission;
        let at = flow.access_free + flow.legs.to_first_link;
        if flow.line.is_empty() {
            core.queue.push(at, Entity::Line(LineKind::Outside, index));
        }
        flow.line.push_back(Packet::new(at, now, flow.sent, bytes, Flags::default()));
        flow.sent += 1;
    }

    /// When the next packet is due outside.
    fn due(&self, index: u32) -> Option<Instant> {
        self.flows[index as usize].delivered.front().map(|&(at, _)| at)
    }

    /// The numbers and times of the packets that are due outside by `now`.
    fn take_out(&mut self, now: Instant, index: u32) -> Vec<(Instant, u64)> {
        let delivered = &mut self.flows[index as usize].delivered;
        let due = delivered.partition_point(|&(at, _)| at <= now);
        delivered.drain(..due).collect()
    }
}

impl Line for &mut OutsideFlow {
    fn first(&self) -> (Packet, u32) {
        (self.line[0], 0)
    }

    fn next(&mut self, _: &mut Core) -> Option<Instant> {
        self.line.pop_front();
        self.line.front().map(|next| next.at)
    }

    fn path(&self) -> &[u32] {
        &self.path
    }

    fn ends_at_first_link(&self) -> bool {
        self.path.len() == 1
    }

    fn ecn(&self, _: &Packet) -> Ecn {
        Ecn::NotCapable
    }

    fn dscp(&self) -> u8 {
        0
    }

    fn deliver(&mut self, core: &mut Core, at: Instant, packet: &Packet, _: u32) {
        let arrives = at + self.legs.to_receiver;
        self.delivered.push_back((arrives, packet.seq()));
        if arrives >= core.warm_up && arrives < core.end {
            self.received_bytes += u64::from(packet.bytes());
        }
    }

    fn lose(&mut self, _: &mut Core, _: &Packet, _: u32) {
        self.dropped += 1;
    }

    fn capture(&self, _: &mut Core, _: usize, _: Instant, _: &Packet, _: u32) {}
}

impl EndpointKind for OutsideFlows {
    fn takes(&self, spec: &FlowGroup) -> bool {
        spec.name == "outside"
    }

    fn flow_bytes(&self) -> usize {
        size_of::<OutsideFlow>()
    }

    fn check(&self, group: &GroupPlan<'_>) -> Result<(), Problem> {
        if group.spec.processing_ps > 0 {
            return Err(problem("processing_time", "packets from outside come when they come"));
        }
        Ok(())
    }

    fn reserve(&mut self, flows: usize) -> Result<(), TryReserveError> {
        self.flows.try_reserve_exact(flows)
    }

    fn add(&mut self, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem> {
        for index in 0..group.spec.count {
            self.flows.push(OutsideFlow {
                id: core.number_flow(),
                group: group.name.clone(),
                path: group.spec.path.clone().into(),
                legs: group.legs(group.rtt(index)?)?,
                access: group.access()?,
                access_free: Instant::ZERO,
                line: VecDeque::new(),
                delivered: VecDeque::new(),
                sent: 0,
                dropped: 0,
                received_bytes: 0,
            });
        }
        Ok(())
    }

    fn on_event(&mut self, _: &mut Core, _: Instant, _: u8, _: u32) {
        unreachable!("it has no events of its own")
    }

    fn longest_delays(&self) -> (Duration, Duration) {
        let legs = self.flows.iter().map(|flow| flow.legs.total()).max();
        (legs.unwrap_or(Duration::ZERO), Duration::ZERO)
    }

    fn end(&mut self, _: &mut Core) -> Result<(), SimError> {
        Ok(())
    }

    fn id(&self, place: usize) -> Option<u32> {
        self.flows.get(place).map(|flow| flow.id)
    }

    fn totals(&self, place: usize, measured: &Measured<'_>) -> FlowRow {
        let flow = &self.flows[place];
        FlowRow {
            group: flow.group.clone(),
            flow: flow.id,
            throughput_bps: Some(measured.rate_bps(flow.received_bytes)),
            packets_sent: Some(flow.sent),
            packets_dropped: Some(flow.dropped),
            ..measured.common_row(flow.id, None)
        }
    }
}

mod tests {
    use super::*;
    use crate::network::Network;
    use crate::testing::{datagram_group, drop_tail, link, network, scenario, tcp_group, MS};
    use crate::Monitor;
    use serde_json::{json, Value};

    /// A flow of TCP, and one of datagrams of this name each 4 ms, over a link of 3 Mbit/s and one of 2 Mbit/s.
    fn mixed(name: &str) -> Value {
        let links = [link("a", 3_000_000, &drop_tail(10)), link("b", 2_000_000, &drop_tail(10))];
        let mut others = datagram_group(name, 1, 1_000_000);
        let mut tcp = tcp_group("tcp", 2, &json!({"name": "bulk"}));
        for group in [&mut others, &mut tcp] {
            group["path"] = json!([0, 1]);
        }
        tcp["processing_ps"] = json!(MS); // so that no two packets come at the same moment
        others["access_bps"] = json!(5_000_000);
        scenario(&links, &[tcp, others], 3000)
    }

    fn advance(network: &mut Network, until: Instant) {
        network.advance(until, &Monitor::default()).unwrap();
    }

    fn counts(network: &mut Network) -> Vec<String> {
        let end = network.core.end;
        let links = network.links.iter_mut();
        links.map(|state| format!("{:?}", state.link.measured(end).0)).collect()
    }

    #[test]
    fn packets_handed_in_one_by_one_meet_what_those_of_a_source_meet() {
        let mut source = network(&mixed("source"), 0);
        let mut outside = network(&mixed("outside"), 0);
        advance(&mut source, Instant::MAX);
        let mut arrived = Vec::new();
        for number in 0..750 {
            let now = Instant::from_ps(number * 4 * MS);
            // As a clock of the real world has it: what is due, and some steps of nothing in between.
            for step in 1..=4 {
                advance(&mut outside, Instant::from_ps((4 * number + step).saturating_sub(4) * MS));
            }
            arrived.extend(outside.endpoints.outside.take_out(now, 0));
            let Network { core, endpoints, .. } = &mut outside;
            endpoints.outside.hand_in(core, now, 0, 500);
        }
        advance(&mut outside, Instant::MAX);
        assert_eq!(counts(&mut outside), counts(&mut source));
        let flow = &outside.endpoints.outside.flows[0];
        let other = &source.endpoints.datagrams.flows[0];
        assert_eq!((flow.dropped, flow.received_bytes), (other.dropped, other.received));
        assert!(flow.dropped > 0 && arrived.len() > 500, "{} of 750, {} lost", arrived.len(), flow.dropped);
        assert!(arrived.is_sorted(), "in their order");
        let measured = Measured::of(&outside);
        let rows = [
            outside.endpoints.kinds()[2].totals(0, &measured),
            source.endpoints.kinds()[1].totals(0, &measured),
        ];
        assert_eq!(rows[0].throughput_bps, rows[1].throughput_bps);
        assert_eq!(outside.endpoints.kinds()[2].id(0), Some(2), "numbered as any other flow");
    }

    #[test]
    fn a_packet_is_due_outside_when_its_path_is_behind_it() {
        let mut quiet = mixed("outside");
        quiet["flows"].as_array_mut().unwrap().remove(0);
        let mut network = network(&quiet, 0);
        assert_eq!(network.next_event(), None, "nothing happens of itself");
        let now = Instant::from_ps(7 * MS);
        advance(&mut network, now);
        let Network { core, endpoints, .. } = &mut network;
        endpoints.outside.hand_in(core, now, 0, 500);
        // RTT 20 ms, less 2 * (1 + 1) ms of the links: four legs of 4 ms. 0.8 ms on the access link.
        let first_link = now + Duration::from_ps(4800 * MS / 1000);
        assert_eq!(network.next_event().unwrap().0, first_link);
        assert_eq!(network.endpoints.outside.due(0), None);
        advance(&mut network, Instant::MAX);
        // 4000 bits at 3 and at 2 Mbit/s, 1 ms of each link, and the second leg.
        let transmissions = Duration::from_ps(1_333_333_333) + Duration::from_millis(2);
        let arrives = first_link + transmissions + Duration::from_millis(1 + 1 + 4);
        assert_eq!(network.endpoints.outside.due(0), Some(arrives));
        assert!(network.endpoints.outside.take_out(Instant::from_ps(arrives.as_ps() - 1), 0).is_empty());
        assert_eq!(network.endpoints.outside.take_out(arrives, 0), [(arrives, 0)]);
    }
}
