//! The simulator: a resolved [`Scenario`] becomes a running network, and that becomes records.
//!
//! [`simulate`] runs one repetition. The same scenario, seed and repetition give the same records on any machine.
//!
//! [`parshall_engine`] has the event queue, links and packets, and says why a packet through a dumbbell costs one
//! event. Here are the endpoints that use that: after its last contended link a packet's arrival at the receiver, the
//! ACK's arrival at the sender and the sender's answer are computed at once, in the flow's own time
//! ([`endpoints::tcp`]). Where the way back is contended too, ACKs are packets with events of their own. Timers are
//! lazy: an event fires at the earliest deadline once armed, looks whether the deadline has moved, and is armed again.
//!
//! A part uses those that stand above it:
//!
//! | file | what |
//! | --- | --- |
//! | [`scenario`], [`error`], [`monitor`] | what is simulated; why it gives no result; how another thread watches it |
//! | [`memory`], [`stopwatch`] | large pages; CPU and wall-clock time of the event loop |
//! | [`recorder`], [`output`] | where tables and the files beside them go |
//! | [`series`], [`latency`], [`delivered`], [`probe`] | series that fit a run of unknown length; delays from end to end; payload over time; what is sampled |
//! | [`wire`], [`groups`], [`jitter`] | segments and ACKs as packets; what the flows of a group have in common; the jitter of their own parts of paths |
//! | [`capture`], [`qlog`] | captures of links, which Wireshark reads; logs of flows, which qvis reads |
//! | [`shared`] | what flows share beside the event queue: the sinks |
//! | [`edge`], [`plan`], [`measured`] | markers; what flows are made from; what their totals refer to |
//! | [`endpoint_kind`], [`endpoints`] | what a kind of flows does; the one list of kinds, in their own time |
//! | [`network`], [`build`] | the engine's network with bins and the limits of a run; from scenario to network |
//! | [`results`], [`watching`] | what is written when it ends; how captures and logs begin |
//! | [`simulation`] | a simulation that is stepped, by who owns the clock |

mod build;
mod capture;
mod delivered;
mod edge;
mod endpoint_kind;
mod endpoints;
mod error;
mod groups;
mod jitter;
mod latency;
mod measured;
mod memory;
mod monitor;
mod network;
mod output;
mod plan;
mod probe;
mod qlog;
mod recorder;
mod results;
pub mod scenario;
mod series;
mod shared;
mod simulation;
mod stopwatch;
#[cfg(test)]
mod testing;
mod watching;
mod wire;

pub use build::Estimate;
pub use capture::MOST_HEADERS;
pub use endpoints::external::{Arrival, Delivery, ExternalFlowInfo, HostTotals};
pub use error::SimError;
pub use groups::Direction;
pub use monitor::Monitor;
pub use results::{LinkTotals, Summary};
pub use scenario::Scenario;
pub use simulation::Simulation;

use parshall_records::Tables;

/// Refuses what [`simulate`] would refuse before its first event, without building a flow; gives the memory that it
/// takes.
///
/// # Errors
/// [`SimError::Invalid`]: the scenario contradicts itself.
pub fn check(scenario: &Scenario) -> Result<Estimate, SimError> {
    build::check(scenario)
}

/// Runs one repetition of a scenario and writes its records.
///
/// # Errors
/// [`SimError`]: the scenario contradicts itself or has flows from outside, the run was cancelled, or records could not
/// be written. What had been written by then is incomplete, and `tables` discards all that follows.
pub fn simulate(
    scenario: &Scenario,
    repetition: u32,
    tables: &mut Tables,
    monitor: &Monitor,
) -> Result<Summary, SimError> {
    if let Some(index) = scenario.flows.iter().position(|group| group.external) {
        let problem = "its packets come from outside, and a simulation has none; emulate the scenario";
        return Err(SimError::invalid(format!("flows.{index}.external"), problem));
    }
    let simulation = Simulation::begin(scenario, repetition, std::mem::replace(tables, Tables::none()))?;
    let (summary, written) = simulation.finish(monitor)?;
    *tables = written;
    Ok(summary)
}
