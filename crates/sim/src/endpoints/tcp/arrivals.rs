//! Open loops: transfers that arrive on their own, and the connections that they take.

use super::application::Application;
use super::{TcpFlow, TcpFlows, ARRIVAL};
use crate::endpoint_kind::Kind;
use crate::groups::{Place, Propagation};
use crate::jitter::OwnJitter;
use crate::shared::Core;
use parshall_engine::random::{SmallStream, Stream};
use parshall_engine::Entity;
use parshall_units::Instant;
use parshall_workload::ArrivalSource;
use rand_core::RngCore;
use std::collections::VecDeque;

/// Transfers that arrive on their own; each takes a connection that is idle, or a new one.
pub(crate) struct ArrivalProcess {
    pub(crate) source: ArrivalSource,
    pub(crate) random: Stream,
    /// Where the streams of its connections' processing times begin.
    pub(crate) processing: Stream,
    pub(crate) group: u32,
    pub(crate) propagation: Propagation,
    /// The jitter of its connections.
    pub(crate) jitter: Option<Box<OwnJitter>>,
    /// The random stream of its connections.
    pub(crate) choices: Stream,
    /// Size of the transfer that arrives next.
    pub(crate) next_bytes: u64,
    /// Idle connections, and since when.
    pub(crate) idle: VecDeque<(Instant, u32)>,
}

impl TcpFlows {
    /// A transfer of an open loop arrives and takes a connection.
    pub(super) fn on_arrival(&mut self, core: &mut Core, now: Instant, index: u32) {
        for (process, since, flow) in core.sink.freed.drain(..) {
            rest(&mut self.arrivals[process as usize].idle, (since, flow));
        }
        let process = &mut self.arrivals[index as usize];
        let bytes = process.next_bytes;
        let next = process.source.next(&mut process.random);
        process.next_bytes = next.bytes;
        let flow_index = match process.idle.front() {
            Some(&(since, flow)) if since <= now => {
                process.idle.pop_front();
                flow
            }
            _ => self.open_slot(core, index),
        };
        let (flow, group) = self.flow(flow_index);
        flow.start_now(group, core, now, bytes);
        flow.arm(group, core);
        core.queue.replace_top(now + next.gap, Entity::Own(Kind::Tcp, ARRIVAL, index));
    }

    /// A new connection for an arrival process.
    fn open_slot(&mut self, core: &mut Core, process_index: u32) -> u32 {
        let process = &mut self.arrivals[process_index as usize];
        let index = self.flows.len() as u32;
        let random = process.choices.next_u64();
        let processing = SmallStream::of(&mut process.processing);
        let place = Place { id: core.sink.number_flow(), index, group: process.group, processing };
        let application = Application::new(None, None, Some(process_index));
        let group = &self.groups[process.group as usize];
        let mut flow = TcpFlow::new(group, place, random, process.propagation, application);
        flow.jitter = process.jitter.as_mut().map(|jitter| Box::new(jitter.of_another()));
        self.flows.push(flow);
        if let Some(latency) = &mut core.sink.latency {
            latency.add_to_group(group.number);
        }
        index
    }
}

/// A connection rests: the one that rests longest comes first. Flows finish in their own time, not in the order of events.
fn rest(idle: &mut VecDeque<(Instant, u32)>, (since, flow): (Instant, u32)) {
    let place = idle.partition_point(|&(earlier, _)| earlier <= since);
    idle.insert(place, (since, flow));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_idle_longest_comes_first_in_whatever_order_they_finish() {
        let mut idle = VecDeque::new();
        for (since, flow) in [(30, 0), (10, 1), (20, 2), (10, 3)] {
            rest(&mut idle, (Instant::from_ps(since), flow));
        }
        let order: Vec<u32> = idle.iter().map(|&(_, flow)| flow).collect();
        assert_eq!(order, [1, 3, 2, 0]);
    }
}
