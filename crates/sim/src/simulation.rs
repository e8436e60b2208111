//! A simulation that is stepped: whoever owns the clock says how far.

use crate::network::Network;
use crate::results;
use crate::stopwatch::Stopwatch;
use crate::{build, Monitor, Scenario, SimError, Summary};
use parshall_records::Tables;
use parshall_units::Instant;

/// One repetition of a scenario, under way.
///
/// [`simulate`](crate::simulate) runs it to its end at once. Somebody with a clock of the real world runs what is due, and waits
/// for [`next_deadline`](Self::next_deadline). In how many steps it comes to its end changes no byte of its records.
pub struct Simulation {
    pub(crate) network: Network,
    /// Until when everything has happened.
    now: Instant,
    /// The last packet from outside: for when it was handed in, and when it comes.
    last_in: (Instant, Instant),
    clock: Stopwatch,
}

impl Simulation {
    /// Builds the network; its records go to `tables`, which [`finish`](Self::finish) gives back.
    ///
    /// # Errors
    /// [`SimError`]: the scenario contradicts itself, or files beside the tables cannot be created.
    pub fn begin(scenario: &Scenario, repetition: u32, tables: Tables) -> Result<Self, SimError> {
        let mut network = build::network(scenario, repetition)?;
        network.capture(&scenario.probes.pcap, &tables)?;
        network.log_flows(scenario, &tables)?;
        network.core.sink.recorder.tables = tables;
        network.core.queue.adapt();
        Ok(Self {
            network,
            now: Instant::ZERO,
            last_in: (Instant::ZERO, Instant::ZERO),
            clock: Stopwatch::start(),
        })
    }

    /// When something happens next; `None`: nothing does before the end.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.network.next_event().map(|(at, _)| at)
    }

    /// Runs what happens before `until`.
    ///
    /// # Errors
    /// [`SimError`]: the run was cancelled, a congestion control failed, or records could not be written.
    pub fn advance(&mut self, until: Instant, monitor: &Monitor) -> Result<(), SimError> {
        self.now = self.now.max(until);
        self.network.advance(until, monitor)
    }

    /// Runs what is left, and writes the totals. The tables are still to be completed, by who made them.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn finish(mut self, monitor: &Monitor) -> Result<(Summary, Tables), SimError> {
        let network = &mut self.network;
        network.advance(Instant::MAX, monitor)?;
        network.check(network.core.end, monitor)?;
        network.end()?;
        let spent = self.clock.stop();
        let mut tables = std::mem::replace(&mut network.core.sink.recorder.tables, Tables::none());
        let summary = results::write(network, &mut tables, &spent)?;
        Ok((summary, tables))
    }
}

mod outside;
#[cfg(test)]
mod tests;
