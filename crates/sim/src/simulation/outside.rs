//! A simulation that real packets cross: they are handed in, and taken out when they are due
//! ([`endpoints::external`](crate::endpoints::external)).
//!
//! Whoever owns the clock does, again and again: hand in what has come, [`advance`](Simulation::advance) to the time of the clock,
//! take what is due, and free the memory of what was lost. Flows are counted among the external ones, from 0, in the order of
//! the scenario. All of these functions panic on a flow that there is not.

use super::Simulation;
use crate::endpoints::external::{Arrival, Delivery, ExternalFlowInfo, HostTotals};
use crate::SimError;
use parshall_engine::Network;
use parshall_records::Tables;
use parshall_units::{Duration, Instant};

impl Simulation {
    /// Returns the number of external flows.
    pub fn external_flows(&self) -> u32 {
        self.network.endpoints.external.count()
    }

    /// Returns the scenario's values for an external flow.
    pub fn external_flow(&self, flow: u32) -> ExternalFlowInfo<'_> {
        self.network.endpoints.external.info(flow)
    }

    /// Until when everything has happened: time does not go back.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When it ends: after the scenario's duration, or before, when the transfers that the end waits for are done.
    pub fn end(&self) -> Instant {
        self.network.core.end
    }

    /// Ends it when what is under way at this time has arrived, if it would end later; a time that is past is now.
    pub fn stop_at(&mut self, at: Instant) {
        let arrived = self.network.all_delivered(at.max(self.now));
        self.network.core.end = arrived.min(self.network.core.end);
    }

    // --- packets ---

    /// True if links are captured: then each packet is to be [shown](Self::show).
    pub fn is_captured(&self) -> bool {
        self.network.core.sink.captures.is_some()
    }

    /// For captures of links: the packet that is about to be handed in with this slot begins like this. Bytes beyond
    /// [`MOST_HEADERS`](crate::MOST_HEADERS) are left out.
    pub fn show(&mut self, slot: u32, beginning: &[u8], wire_bytes: u32) {
        if let Some(captures) = &mut self.network.core.sink.captures {
            captures.show(slot, beginning, wire_bytes);
        }
    }

    /// Has threads write the captures, so that a slow disk makes no packet late. What they cannot write in time is [left
    /// out](Self::packets_left_out).
    ///
    /// # Errors
    /// No thread can be had.
    pub fn capture_in_background(&mut self) -> Result<(), SimError> {
        self.network.core.sink.captures.as_mut().map_or(Ok(()), |captures| captures.write_in_background())
    }

    /// Packets that captures left out so far.
    pub fn packets_left_out(&self) -> u64 {
        self.network.core.sink.captures.as_ref().map_or(0, |captures| captures.left_out())
    }

    /// A packet comes from outside. A time that is past is now. Packets of a flow keep the order in which they are
    /// handed in; so do those of several flows that are handed in one after the other for the same time: each comes a
    /// picosecond after the one before. (At one and the same time flows take turns, and bursts would be mixed.)
    pub fn hand_in(&mut self, at: Instant, arrival: &Arrival) {
        let wanted = at.max(self.now);
        let at = if wanted == self.last_in.0 { self.last_in.1 + Duration::from_ps(1) } else { wanted };
        self.last_in = (wanted, at);
        let Network { core, endpoints, .. } = &mut self.network.engine;
        endpoints.external.packets(arrival.flow, arrival.direction).hand_in(core, at, arrival);
    }

    /// When the next packet is due outside, of those whose fate is known so far.
    pub fn next_due(&self) -> Option<Instant> {
        self.network.endpoints.external.outside.next()
    }

    /// The next packet that is due outside by then, in order of time. (What happens after [`now`](Self::now) may add earlier ones: who asks
    /// for later times may get packets out of order.)
    pub fn take_due(&mut self, by: Instant) -> Option<Delivery> {
        self.network.endpoints.external.outside.take(by)
    }

    /// The slot of a packet that was lost on its way, each one once.
    pub fn take_lost(&mut self) -> Option<u32> {
        self.network.endpoints.external.outside.take_lost()
    }

    // --- what the hosts know ---

    /// Tells what only the hosts know of a flow, for its row of `flows`; what was told before is replaced.
    pub fn report(&mut self, flow: u32, totals: HostTotals) {
        self.network.endpoints.external.report(flow, totals);
    }

    /// The sender of a flow took an RTT sample: it counts if delays are measured, and the warm-up is over.
    pub fn record_rtt(&mut self, flow: u32, rtt: Duration) {
        let id = self.external_flow(flow).number;
        let core = &mut self.network.core;
        if let Some(latency) = core.sink.latency.as_mut().filter(|_| self.now >= core.warm_up) {
            latency.round_trip(id, rtt);
        }
    }

    /// A flow has done all that it will do: when all that the scenario's `ends_with` names have, the simulation ends.
    pub fn finished(&mut self, flow: u32, at: Instant) {
        let at = at.max(self.now);
        let Network { core, endpoints, .. } = &mut self.network.engine;
        endpoints.external.finished(core, at, flow);
    }

    /// The records, for the rows that only the hosts can write: `transfers`, `rounds`, `flow_samples`.
    pub fn tables(&mut self) -> &mut Tables {
        &mut self.network.core.sink.recorder.tables
    }
}
