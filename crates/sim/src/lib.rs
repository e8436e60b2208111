//! The simulator: a resolved [`Scenario`] becomes a running network, and that becomes records.
//!
//! [`simulate`] runs one repetition. The same scenario, seed and repetition give the same records on any machine.
//!
//! # Time, and why a packet costs one event
//!
//! Only *contended* places need a global order of events: the links that several flows share. Everything else is
//! private to one flow, so it is run as soon as its inputs are known, in the flow's own time, which may be ahead of
//! the global clock:
//!
//! * a link tells at a packet's arrival when it will have left (first come, first served), so there is no
//!   'transmission complete' event (but where the queue decides at departure);
//! * after its last contended link a packet's arrival at the receiver, the ACK's arrival at the sender and
//!   the sender's answer follow without anybody else's say, so they are computed at once ([`endpoints::tcp`]);
//! * packets of a flow reach the first link in order, so only the first of each [`TransitQueue`](endpoints::TransitQueue) is in the event queue.
//!
//! A packet through the dumbbell is thus one `replace_top` of the event queue, and one visit to its flow's memory. Where
//! the way back is contended too, ACKs are packets with events of their own.
//!
//! Timers are lazy: an event fires at the earliest deadline once armed, looks whether the deadline has moved, and is
//! armed again.
//!
//! | file | what |
//! | --- | --- |
//! | [`scenario`] | what is simulated |
//! | [`simulation`] | a simulation that is stepped, by who owns the clock |
//! | [`build`] | from scenario to network |
//! | [`event_queue`], [`event`] | a 4-ary heap; with few flows a tournament of their transit queues beside it, with very many events a calendar before it |
//! | [`network`] | links, and the way of packets from one to the next |
//! | [`endpoints`] | what a flow is to the network, and the one list of the kinds of flows |
//! | [`endpoints::tcp`], [`endpoints::datagram`], [`endpoints::external`] | these kinds, in their own time |
//! | [`random`] | named random streams |
//! | [`jitter`] | paths that delay each packet by its own time |
//! | [`waiting_packets`] | packets whose link has not decided on them |
//! | [`memory`] | hints about the memory of many flows |
//! | [`shared`] | what all parts use: event queue, limits of time, records |
//! | [`latency`] | delays from end to end |
//! | [`probe`] | what is sampled while it runs |
//! | [`capture`] | captures of links, which Wireshark reads |
//! | [`qlog`] | logs of flows, which qvis reads |
//! | [`output`] | files beside the tables |
//! | [`series`] | series that fit a run of unknown length |
//! | [`results`] | what is written when it ends |
//! | [`stopwatch`] | CPU and wall-clock time of the event loop |

mod build;
mod capture;
mod delivered;
mod endpoints;
mod event;
mod event_queue;
mod jitter;
mod latency;
mod memory;
mod network;
mod output;
mod packet;
mod probe;
mod qlog;
mod random;
mod results;
pub mod scenario;
mod series;
mod shared;
mod simulation;
mod stopwatch;
#[cfg(test)]
mod testing;
mod waiting_packets;

pub use build::Estimate;
pub use capture::MOST_HEADERS;
pub use endpoints::external::{Arrival, Delivery, Direction, ExternalFlowInfo, HostTotals};
pub use results::{LinkTotals, Summary};
pub use scenario::Scenario;
pub use simulation::Simulation;

use parshall_congestion::external::Fault;
use parshall_records::{RecordsError, Tables};
use std::sync::atomic::{AtomicBool, AtomicU64};
use thiserror::Error;

/// Why a simulation gave no result.
#[derive(Debug, Error)]
pub enum SimError {
    /// The scenario contradicts itself; the Python schema should have said so first.
    #[error("{key}: {problem}")]
    Invalid {
        /// Where in the resolved scenario.
        key: String,
        /// What is wrong there, and what is accepted.
        problem: String,
    },
    /// A congestion control from outside failed.
    #[error("control {}, flow {} of group {group}, {:.6} s: {}", fault.control, fault.flow, fault.at.as_secs_f64(), fault.what)]
    Control {
        /// The flow's group.
        group: String,
        /// What it did.
        fault: Fault,
    },
    /// [`Monitor::cancel`] was set.
    #[error("interrupted at {simulated_s:.3} s of simulated time")]
    Interrupted {
        /// How far it had come.
        simulated_s: f64,
    },
    /// The records could not be written.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl SimError {
    pub(crate) fn invalid(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { key: key.into(), problem: problem.into() }
    }
}

/// Watches, and stops, a running simulation from another thread.
#[derive(Debug)]
pub struct Monitor {
    /// So many flows may be there at a time; open loops that need more are refused.
    pub most_flows: AtomicU64,
    /// Set it to stop the simulation.
    pub cancel: AtomicBool,
    /// Simulated time so far, ps.
    pub simulated_ps: AtomicU64,
    /// Packets that links have handled so far.
    pub packets: AtomicU64,
    /// Interrupts the simulation after about so many events, as `cancel` does.
    pub most_events: Option<u64>,
}

impl Default for Monitor {
    fn default() -> Self {
        Self {
            most_flows: AtomicU64::new(u64::MAX),
            cancel: AtomicBool::new(false),
            simulated_ps: AtomicU64::new(0),
            packets: AtomicU64::new(0),
            most_events: None,
        }
    }
}

/// Refuses what [`simulate`] would refuse before its first event, without building a flow; gives the memory that it takes.
///
/// # Errors
/// [`SimError::Invalid`]: the scenario contradicts itself.
pub fn check(scenario: &Scenario) -> Result<Estimate, SimError> {
    build::check(scenario)
}

/// Runs one repetition of a scenario and writes its records.
///
/// # Errors
/// [`SimError`]: the scenario contradicts itself or has flows from outside, the run was cancelled, or records could not be written. What had been written
/// by then is incomplete, and `tables` discards all that follows.
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
