//! Kinds of endpoints in a simulation: their codes, and what the flows of a kind do together beside what the engine
//! asks of them ([`Flows`]). They are checked and built, end, and have totals.

use crate::capture::{Captures, Wires};
use crate::measured::Measured;
use crate::plan::{GroupPlan, Problem};
use crate::qlog::Logs;
use crate::scenario::FlowGroup;
use crate::shared::{Core, Shared};
use crate::SimError;
use parshall_engine::{codes, Flows};
use parshall_records::{FlowRow, Tables};
use parshall_units::Duration;
use std::collections::TryReserveError;

codes! {
    /// Kinds of endpoints.
    pub(crate) Kind: Tcp, Datagrams, External
}

codes! {
    /// Directions in which kinds of endpoints send. Those of most packets stand first: the event queue serves these
    /// fastest.
    pub(crate) TransitKind: Data, Acks, Datagrams, ExternalData, ExternalAcks
}

/// All flows of one kind. A flow is known by its place among them, in the order in which they came.
pub(crate) trait EndpointKind: Flows<Shared> {
    // --- being built ---

    /// True if the flows of such a group are of this kind. The kinds are asked from the last of the list to the first.
    fn takes(&self, spec: &FlowGroup) -> bool;

    /// Memory of a flow, beside what it points to.
    fn flow_bytes(&self) -> usize;

    /// Refuses what this kind cannot do; all that [`add`](Self::add) would refuse.
    fn check(&self, group: &GroupPlan<'_>) -> Result<(), Problem>;

    /// Makes room for so many flows.
    fn reserve(&mut self, flows: usize) -> Result<(), TryReserveError>;

    /// Adds the flows of a group that was checked.
    fn add(&mut self, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem>;

    // --- running ---

    /// What ends the simulation, if something in the flows has failed.
    fn fault(&self) -> Option<SimError> {
        None
    }

    // --- being watched ---

    /// Links are captured: says how the packets of this kind look on them.
    fn capture(&mut self, _: &mut Captures, _: &Wires<'_>) {}

    /// Logs the first flows of each group, as many as are sampled.
    fn log(&mut self, _sampled: u32, _: &Tables, _: &mut Logs) -> Result<(), SimError> {
        Ok(())
    }

    // --- ending ---

    /// The longest time that a packet and its answer take outside the links, and the longest that a host takes with
    /// one.
    fn longest_delays(&self) -> (Duration, Duration);

    /// Brings the flows to the end of the simulated time.
    fn end(&mut self, core: &mut Core) -> Result<(), SimError>;

    /// The number of a flow in the records: those of later flows are no smaller. `None`: there is no such flow.
    fn id(&self, place: usize) -> Option<u32>;

    /// The totals of a flow; `None`: it is part of another one.
    fn totals(&self, place: usize, measured: &Measured<'_>) -> Option<FlowRow>;
}
