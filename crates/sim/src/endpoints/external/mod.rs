//! Flows whose packets come from outside: of real hosts, at any time, in both directions. They meet the same links as simulated
//! packets, and go out when they are due.
//!
//! A group is of this kind if the scenario says so (`external`). Whoever owns the clock hands packets in and takes them out
//! ([`Simulation::hand_in`](crate::Simulation::hand_in) and what follows there). The network knows of a packet its size, its
//! ECN codepoint and its DSCP, and a number by which the caller finds the rest of it.
//!
//! | from | over | to |
//! | --- | --- | --- |
//! | sender | its own access link, its marker, the first propagation segment, `path`, the second propagation segment | receiver |
//! | receiver | the third propagation segment, `reverse_path`, the fourth propagation segment; with an uncontended way back, one propagation segment and no link | sender |
//!
//! *Time.* The fate of a packet is known when it has passed its last link, before it is due: it waits in one list for all flows,
//! in order of time.
//!
//! | file | what |
//! | --- | --- |
//! | [`flow`] | a flow, and its two transit queues |
//! | [`outside`] | what goes out: packets due, packets lost |

mod flow;
mod outside;
#[cfg(test)]
mod tests;

pub use flow::{ExternalFlowInfo, HostTotals};
pub use outside::{Arrival, Delivery};

use crate::capture::{Captures, Wires};
use crate::edge::Edge;
use crate::endpoint_kind::EndpointKind;
use crate::groups::{Direction, ExternalGroup};
use crate::measured::Measured;
use crate::plan::{problem, GroupPlan, Problem};
use crate::scenario::FlowGroup;
use crate::shared::{awaited_is_done, Core, Shared};
use crate::SimError;
use flow::{in_common, ExternalFlow, Packets};
use outside::Outside;
use parshall_engine::Flows;
use parshall_records::FlowRow;
use parshall_units::{Duration, Instant};
use std::collections::TryReserveError;

/// All flows of packets from outside.
#[derive(Default)]
pub(crate) struct ExternalFlows {
    groups: Vec<ExternalGroup>,
    flows: Vec<ExternalFlow>,
    pub(crate) outside: Outside,
}

impl ExternalFlows {
    pub(super) fn data(&mut self, flow: u32) -> Packets<'_> {
        self.packets(flow, Direction::Forward)
    }

    pub(super) fn acks(&mut self, flow: u32) -> Packets<'_> {
        self.packets(flow, Direction::Reverse)
    }

    /// The packets of a flow in one direction.
    pub(crate) fn packets(&mut self, flow: u32, direction: Direction) -> Packets<'_> {
        let (index, flow) = (flow, &mut self.flows[flow as usize]);
        let group = &self.groups[flow.group as usize];
        Packets { index, flow, group, outside: &mut self.outside, direction }
    }

    /// Returns their number.
    pub(crate) fn count(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Returns the scenario's values for a flow.
    pub(crate) fn info(&self, flow: u32) -> ExternalFlowInfo<'_> {
        let flow = &self.flows[flow as usize];
        let ExternalGroup { name, packet_bytes, .. } = &self.groups[flow.group as usize];
        ExternalFlowInfo {
            group: name,
            number: flow.id,
            packet_bytes: *packet_bytes,
            start: flow.started,
            rtt: flow.rtt,
            random: flow.random,
            recorded: flow.recorded,
        }
    }

    /// Takes the totals of a flow that only the hosts know.
    pub(crate) fn report(&mut self, flow: u32, totals: HostTotals) {
        self.flows[flow as usize].host = totals;
    }

    /// A flow has done all that it will do.
    pub(crate) fn finished(&mut self, core: &mut Core, at: Instant, flow: u32) {
        if std::mem::take(&mut self.flows[flow as usize].awaited) {
            awaited_is_done(core, at);
        }
    }
}

impl Flows<Shared> for ExternalFlows {
    fn on_event(&mut self, _: &mut Core, _: Instant, _: u8, _: u32) {
        unreachable!("it has no events of its own")
    }
}

impl EndpointKind for ExternalFlows {
    fn takes(&self, spec: &FlowGroup) -> bool {
        spec.external
    }

    fn flow_bytes(&self) -> usize {
        size_of::<ExternalFlow>()
    }

    fn check(&self, group: &GroupPlan<'_>) -> Result<(), Problem> {
        if group.spec.processing_ps > 0 {
            return Err(problem("processing_time", "packets from outside come when they come; write 0 s"));
        }
        Ok(())
    }

    fn reserve(&mut self, flows: usize) -> Result<(), TryReserveError> {
        self.flows.try_reserve_exact(flows)
    }

    fn add(&mut self, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem> {
        let number = self.groups.len() as u32;
        self.groups.push(in_common(group)?);
        if group.awaited {
            core.sink.wait_for(group.spec.count);
        }
        for index in 0..group.spec.count {
            let rtt = group.rtt(index)?;
            let mut edge = Edge::new(&group.spec.marker);
            let id = core.sink.number_flow();
            group.sample_marker(edge.as_deref_mut(), index, id);
            let started = group.start(index)?;
            let mut flow = ExternalFlow::new((id, number), (rtt, group.propagation(rtt)?), started, edge);
            flow.awaited = group.awaited;
            if let Some(jitter) = group.jitter(index)? {
                flow.set_jitter(*jitter);
            }
            flow.random = group.seed("workload", index); // hosts draw what a simulated application would
            flow.recorded = (
                group.sample_interval(index).map(|interval| interval.of_run(group.duration())),
                group.has_rounds(index),
            );
            self.flows.push(flow);
            if let Some(latency) = &mut core.sink.latency {
                latency.add(group.number);
            }
        }
        Ok(())
    }

    fn capture(&mut self, captures: &mut Captures, wires: &Wires<'_>) {
        for group in &mut self.groups {
            captures.add_external_group(wires, group);
            group.captured = true;
        }
    }

    fn longest_delays(&self) -> (Duration, Duration) {
        let rtt = self.flows.iter().map(|flow| flow.rtt).max();
        (rtt.unwrap_or(Duration::ZERO), Duration::ZERO)
    }

    fn end(&mut self, core: &mut Core) -> Result<(), SimError> {
        for edge in self.flows.iter_mut().filter_map(|flow| flow.edge.as_deref_mut()) {
            edge.end(core);
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
