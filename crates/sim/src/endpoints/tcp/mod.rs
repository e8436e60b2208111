//! TCP flows: connections with both their ends, in a flow's own time.
//!
//! | file | what |
//! | --- | --- |
//! | [`flow`] | a flow: receiver, way back and sender, and below it its transit queues, its transfers, what is measured, captured and logged |
//! | [`application`] | what drives a flow |
//! | [`arrivals`] | open loops: transfers that arrive on their own |
//! | [`exchanges`] | requests and responses: two flows that take turns |
//! | [`build`] | from a group of the scenario to its flows |
//! | [`probe`], [`totals`] | what is recorded while it runs, and when it ends |

mod application;
mod arrivals;
mod build;
mod exchanges;
mod flow;
mod probe;
#[cfg(test)]
mod tests;
mod totals;

pub(crate) use flow::TcpFlow;

use crate::capture::{Captures, Wires};
use crate::endpoint_kind::{EndpointKind, Kind, TransitKind};
use crate::groups::{Role, TcpGroup};
use crate::measured::Measured;
use crate::memory::in_large_pages;
use crate::plan::{GroupPlan, Problem};
use crate::qlog::Logs;
use crate::scenario::FlowGroup;
use crate::shared::{Core, Shared};
use crate::SimError;
use arrivals::ArrivalProcess;
use parshall_engine::memory::bytes_of;
use parshall_engine::{End, Entity, Flows, Packet, Transit, TransitQueue};
use parshall_net::ecn::Ecn;
use parshall_records::{FlowRow, Tables};
use parshall_units::{Duration, Instant};
use std::collections::TryReserveError;

/// All TCP flows.
#[derive(Default)]
pub(crate) struct TcpFlows {
    pub(crate) groups: Vec<TcpGroup>,
    pub(crate) flows: Vec<TcpFlow>,
    arrivals: Vec<ArrivalProcess>,
}

/// A flow's retransmission timer, or its application.
const SLOW_TIMER: u8 = 0;
/// A flow's pacing, or its delayed ACK.
const FAST_TIMER: u8 = 1;
/// A transfer of an open loop arrives.
const ARRIVAL: u8 = 2;
/// A turn of an exchange, or a packet of a request.
const EXCHANGE: u8 = 3;

/// The data of a flow.
pub(crate) struct Data<'a> {
    flow: &'a mut TcpFlow,
    group: &'a TcpGroup,
}

/// The ACKs of a flow, where their way is contended.
pub(crate) struct Acks<'a> {
    flow: &'a mut TcpFlow,
    group: &'a TcpGroup,
}

impl TcpFlows {
    #[inline]
    pub(super) fn data(&mut self, flow: u32) -> Data<'_> {
        let (flow, group) = self.flow(flow);
        Data { flow, group }
    }

    #[inline]
    pub(super) fn acks(&mut self, flow: u32) -> Acks<'_> {
        let (flow, group) = self.flow(flow);
        Acks { flow, group }
    }

    #[inline]
    fn flow(&mut self, index: u32) -> (&mut TcpFlow, &TcpGroup) {
        let flow = &mut self.flows[index as usize];
        let group = &self.groups[flow.group as usize];
        (flow, group)
    }

    /// The flow that an event will look at first.
    fn flow_of(&self, entity: Entity) -> Option<&TcpFlow> {
        match entity {
            Entity::Transit(TransitKind::Data, index) | Entity::Own(Kind::Tcp, SLOW_TIMER, index) => {
                Some(&self.flows[index as usize])
            }
            _ => None,
        }
    }
}

impl TransitQueue<Shared> for Data<'_> {
    #[inline]
    fn first(&self) -> (Packet, u32) {
        (self.flow.first_in_transit(), 0)
    }

    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    fn next(&mut self, core: &mut Core) -> Option<Instant> {
        let next = self.flow.next_in_transit(self.group, core.warm_up);
        if self.group.arms_late {
            self.flow.arm(self.group, core); // what waited for the packet that is no longer in transit
        }
        next
    }

    #[inline]
    fn path(&self) -> &[u32] {
        &self.group.path
    }

    #[inline]
    fn ends_at_first_link(&self) -> bool {
        self.group.one_link
    }

    /// RFC 3168 §6.1: only data can be marked, neither SYNs nor pure ACKs.
    #[inline]
    fn ecn(&self, packet: &Packet) -> Ecn {
        packet.ecn(self.group.ecn)
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
        self.flow.receive(self.group, core, at + self.flow.propagation.to_receiver, packet);
        self.flow.arm(self.group, core);
    }

    #[inline]
    fn lose(&mut self, core: &mut Core, packet: &Packet, _: u32) {
        self.flow.on_drop(self.group, core.warm_up, packet);
    }

    fn crossed(&self, core: &mut Core, hop: usize, at: Instant, packet: &Packet, _: u32) {
        if let Some(captures) = &mut core.sink.captures {
            captures.data(self.flow.which(), hop, at, packet);
        }
    }
}

impl TransitQueue<Shared> for Acks<'_> {
    #[inline]
    fn first(&self) -> (Packet, u32) {
        self.flow.acks[0]
    }

    #[inline]
    fn next(&mut self, _: &mut Core) -> Option<Instant> {
        self.flow.next_ack_in_transit()
    }

    #[inline]
    #[allow(clippy::misnamed_getters)] // the way of ACKs is the way back
    fn path(&self) -> &[u32] {
        &self.group.reverse_path
    }

    #[inline]
    fn ends_at_first_link(&self) -> bool {
        self.group.one_link_back
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
        core.pass(jitter.and_then(|jitter| jitter.back.as_mut()), at, transit, End::Path)
    }

    #[inline]
    fn deliver(&mut self, core: &mut Core, at: Instant, packet: &Packet, slot: u32) {
        self.flow.receive_ack(self.group, core, at + self.flow.propagation.to_sender, (packet, slot));
        self.flow.arm(self.group, core);
    }

    fn lose(&mut self, core: &mut Core, _: &Packet, slot: u32) {
        core.sink.acks.take(slot);
    }

    fn crossed(&self, core: &mut Core, hop: usize, at: Instant, packet: &Packet, slot: u32) {
        let options = core.sink.acks.read(slot);
        if let Some(captures) = &mut core.sink.captures {
            captures.ack(
                self.flow.which(),
                hop,
                (at, self.flow.propagation.to_sender),
                packet,
                (slot, &options),
            );
        }
    }
}

impl Flows<Shared> for TcpFlows {
    #[inline]
    fn on_event(&mut self, core: &mut Core, now: Instant, event: u8, index: u32) {
        match event {
            ARRIVAL => return self.on_arrival(core, now, index),
            EXCHANGE => return self.on_exchange(core, now, index),
            _ => {}
        }
        core.queue.pop(Entity::Own(Kind::Tcp, event, index));
        let (flow, group) = self.flow(index);
        if event == SLOW_TIMER {
            flow.on_slow_timer(group, core, now);
        } else {
            flow.on_fast_timer(group, core, now);
        }
        flow.arm(group, core);
    }

    #[inline]
    fn prefetch(&self, entity: Entity) {
        if let Some(flow) = self.flow_of(entity) {
            flow.prefetch();
        }
    }

    #[inline]
    fn prefetch_beyond(&self, entity: Entity) {
        if let Some(flow) = self.flow_of(entity) {
            flow.prefetch_beyond();
        }
    }
}

impl EndpointKind for TcpFlows {
    fn takes(&self, spec: &FlowGroup) -> bool {
        spec.tcp.is_some()
    }

    fn flow_bytes(&self) -> usize {
        size_of::<TcpFlow>()
    }

    fn check(&self, group: &GroupPlan<'_>) -> Result<(), Problem> {
        build::check(group).map(|_| ())
    }

    fn reserve(&mut self, flows: usize) -> Result<(), TryReserveError> {
        self.flows.try_reserve_exact(flows)?;
        in_large_pages(bytes_of(self.flows.spare_capacity_mut()));
        Ok(())
    }

    fn add(&mut self, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem> {
        build::add(self, core, group)
    }

    fn fault(&self) -> Option<SimError> {
        self.groups.iter().find_map(|group| {
            let fault = group.control.fault()?;
            Some(SimError::Control { group: group.name.to_string(), fault })
        })
    }

    fn capture(&mut self, captures: &mut Captures, wires: &Wires<'_>) {
        for group in &mut self.groups {
            captures.add_tcp_group(wires, group);
            group.one_link = false;
            group.one_link_back = false;
            group.heard_at_once = false;
        }
    }

    fn log(&mut self, sampled: u32, tables: &Tables, logs: &mut Logs) -> Result<(), SimError> {
        let mut before = vec![0; self.groups.len()];
        for flow in &mut self.flows {
            let group = &self.groups[flow.group as usize];
            let before = &mut before[flow.group as usize];
            if *before < sampled && group.role != Some(Role::Client) {
                *before += 1;
                let probe = flow.probe.get_or_insert_default();
                probe.log = Some(logs.add(tables, group, flow.id)?);
            }
        }
        Ok(())
    }

    fn longest_delays(&self) -> (Duration, Duration) {
        let propagation = self.flows.iter().map(|flow| flow.propagation.total()).max();
        let processing = self.groups.iter().map(|group| group.processing_time + group.answer_time).max();
        (propagation.unwrap_or(Duration::ZERO), processing.unwrap_or(Duration::ZERO))
    }

    fn end(&mut self, core: &mut Core) -> Result<(), SimError> {
        for flow in &mut self.flows {
            flow.end(&self.groups[flow.group as usize], core)?;
        }
        self.end_exchanges(core)?;
        Ok(())
    }

    fn id(&self, place: usize) -> Option<u32> {
        self.flows.get(place).map(|flow| flow.id)
    }

    fn totals(&self, place: usize, measured: &Measured<'_>) -> Option<FlowRow> {
        let flow = &self.flows[place];
        let group = &self.groups[flow.group as usize];
        (group.role != Some(Role::Client)).then(|| totals::row(flow, group, measured))
    }
}
