//! Flows of datagrams: sent at their time and never answered, or at a rate that follows reports of the receiver.
//!
//! | file | what |
//! | --- | --- |
//! | [`flow`] | a flow |
//! | [`feedback`] | the loop of receiver's reports and congestion control that a flow may have |
//! | [`build`] | from a group of the scenario to its flows |
//! | [`probe`] | what is sampled of a flow with such a loop |

mod build;
mod feedback;
mod flow;
mod probe;

pub(crate) use flow::DatagramFlow;

use crate::capture::{Captures, Which, Wires};
use crate::endpoint_kind::{EndpointKind, Kind};
use crate::groups::DatagramGroup;
use crate::measured::Measured;
use crate::plan::{GroupPlan, Problem};
use crate::scenario::FlowGroup;
use crate::shared::{Core, Shared};
use crate::SimError;
use parshall_engine::{End, Entity, Flows, Packet, Transit, TransitQueue};
use parshall_net::ecn::Ecn;
use parshall_records::FlowRow;
use parshall_units::{Duration, Instant};
use std::collections::TryReserveError;

/// All flows of datagrams.
#[derive(Default)]
pub(crate) struct DatagramFlows {
    groups: Vec<DatagramGroup>,
    pub(crate) flows: Vec<DatagramFlow>,
}

/// A flow hears its receiver's report: the one event of this kind's own.
const REPORT: u8 = 0;

/// The datagrams of a flow.
pub(crate) struct Datagrams<'a> {
    flow: &'a mut DatagramFlow,
    group: &'a DatagramGroup,
}

impl DatagramFlows {
    #[inline]
    pub(super) fn packets(&mut self, flow: u32) -> Datagrams<'_> {
        let flow = &mut self.flows[flow as usize];
        let group = &self.groups[flow.group as usize];
        Datagrams { flow, group }
    }
}

impl TransitQueue<Shared> for Datagrams<'_> {
    #[inline]
    fn first(&self) -> (Packet, u32) {
        (self.flow.next, 0)
    }

    #[inline]
    fn next(&mut self, core: &mut Core) -> Option<Instant> {
        self.flow.draw(self.group, core.warm_up);
        Some(self.flow.next.at)
    }

    #[inline]
    fn path(&self) -> &[u32] {
        &self.group.path
    }

    #[inline]
    fn ends_at_first_link(&self) -> bool {
        self.group.one_link
    }

    #[inline]
    fn ecn(&self, _: &Packet) -> Ecn {
        Ecn::NotCapable
    }

    fn dscp(&self, _: &Packet) -> u8 {
        self.group.dscp
    }

    fn leave_path(&mut self, core: &mut Core, at: Instant, transit: Transit) -> Option<Instant> {
        let jitter = self.flow.jitter.as_mut();
        core.pass(jitter.and_then(|jitter| jitter.forth.as_mut()), at, transit, End::Path)
    }

    #[inline]
    fn deliver(&mut self, core: &mut Core, at: Instant, packet: &Packet, _: u32) {
        self.flow.receive(self.group, core, at + self.flow.to_receiver, packet);
    }

    #[inline]
    fn lose(&mut self, core: &mut Core, packet: &Packet, _: u32) {
        self.flow.on_drop(core.warm_up, packet);
    }

    fn crossed(&self, core: &mut Core, hop: usize, at: Instant, packet: &Packet, _: u32) {
        let DatagramFlow { id, index, group, .. } = *self.flow;
        if let Some(captures) = &mut core.sink.captures {
            captures.datagram(Which { index, group, id }, hop, at, packet);
        }
    }
}

impl Flows<Shared> for DatagramFlows {
    fn on_event(&mut self, core: &mut Core, _: Instant, _: u8, index: u32) {
        let next = self.flows[index as usize].on_report(core);
        core.queue.top_again_at(next, Entity::Own(Kind::Datagrams, REPORT, index));
    }
}

impl EndpointKind for DatagramFlows {
    fn takes(&self, spec: &FlowGroup) -> bool {
        spec.tcp.is_none()
    }

    fn flow_bytes(&self) -> usize {
        size_of::<DatagramFlow>()
    }

    fn check(&self, group: &GroupPlan<'_>) -> Result<(), Problem> {
        build::check(group).map(|_| ())
    }

    fn reserve(&mut self, flows: usize) -> Result<(), TryReserveError> {
        self.flows.try_reserve_exact(flows)
    }

    fn add(&mut self, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem> {
        build::add(self, core, group)
    }

    fn capture(&mut self, captures: &mut Captures, wires: &Wires<'_>) {
        for group in &mut self.groups {
            captures.add_datagram_group(wires, group);
            group.one_link = false;
        }
    }

    fn longest_delays(&self) -> (Duration, Duration) {
        let rtt = self.flows.iter().map(|flow| flow.rtt).max();
        let processing = self.groups.iter().map(|group| group.processing_time).max();
        (rtt.unwrap_or(Duration::ZERO), processing.unwrap_or(Duration::ZERO))
    }

    fn end(&mut self, core: &mut Core) -> Result<(), SimError> {
        for flow in &mut self.flows {
            flow.end(core);
        }
        Ok(())
    }

    fn id(&self, place: usize) -> Option<u32> {
        self.flows.get(place).map(|flow| flow.id)
    }

    fn totals(&self, place: usize, measured: &Measured<'_>) -> Option<FlowRow> {
        let flow = &self.flows[place];
        Some(flow.totals(&self.groups[flow.group as usize], measured))
    }
}
