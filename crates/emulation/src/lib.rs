//! A scenario with the kernel's own TCP at both ends of its flows.
//!
//! Groups that are `external` in the resolved scenario are of real hosts ([`parshall_hosts`]); their packets cross the
//! simulated network in real time ([`parshall_realtime`]), where they meet those of simulated groups. What comes of it
//! has the records and the totals of a simulation, and a verdict on how far it can be believed ([`Validity`]).
//!
//! | file | what |
//! | --- | --- |
//! | [`controls`] | congestion controls that the kernel has for the time of a run, and recordings |
//! | [`cpus`] | which CPU does what, where there are many flows |
//! | [`planning`] | what the hosts are to do, from the scenario's groups |
//! | [`programs`] | any client and server in the place of a group's workload |
//! | [`running`] | hosts and emulator, from the start to the end |
//! | [`reporting`] | what the hosts know, into the records |
//! | [`parameters`] | programs of `bpf/` that have the scenario's parameters |
//! | [`steering`], [`cubic`] | parameters of the kernel's multiple time scale TCP and of its CUBICs |
//! | [`validity`] | what was measured of the emulation itself, and the verdict |
//!
//! The process that calls [`emulate`] must have a single thread, unless it is the machine's administrator: it enters a
//! user namespace, and never leaves it. Linux only; elsewhere the crate is empty.

#![cfg(target_os = "linux")]

mod controls;
mod cpus;
mod cubic;
mod parameters;
mod planning;
mod programs;
mod refusal;
mod reporting;
mod running;
mod steering;
mod validity;

pub use controls::Controls;
pub use programs::{Programs, ProgramsEnded};
pub use running::{emulate, emulate_and_replay, Emulated, Extras};
pub use validity::Validity;

use parshall_bpf::BpfError;
use parshall_hosts::HostsError;
use parshall_realtime::EmulatorError;
use parshall_sim::SimError;
use thiserror::Error;

/// Why an emulation gave no result.
#[derive(Debug, Error)]
pub enum EmulationError {
    /// The network, or the records.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The hosts.
    #[error(transparent)]
    Hosts(#[from] HostsError),
    /// The kernel's congestion controls by BPF.
    #[error(transparent)]
    Bpf(#[from] BpfError),
    /// The devices between them.
    #[error("the emulator: {0}")]
    Emulator(EmulatorError),
}

impl EmulationError {
    /// True if the machine does not permit what the emulation needs, so that nothing was run: somebody can change that.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Hosts(error) => matches!(error, HostsError::Refused { remedy, .. } if !remedy.is_empty()),
            Self::Bpf(error) => !matches!(error, BpfError::Unwritten { .. } | BpfError::Died),
            Self::Simulation(_) | Self::Emulator(_) => false,
        }
    }
}

impl From<EmulatorError> for EmulationError {
    fn from(error: EmulatorError) -> Self {
        match error {
            EmulatorError::Simulation(error) => Self::Simulation(error),
            error => Self::Emulator(error),
        }
    }
}
