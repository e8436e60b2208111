//! Emulation: a scenario on the kernel's own TCP, and what this machine permits.

use crate::faults::{guarded, of_another_thread};
use crate::simulation::{read, refused, PyMonitor};
use parshall_records::Tables;
use pyo3::prelude::*;
use std::path::PathBuf;

pyo3::create_exception!(_core, EmulationFailed, pyo3::exceptions::PyException, "The emulation failed.");
pyo3::create_exception!(
    _core,
    EmulationRefused,
    pyo3::exceptions::PyException,
    "This machine does not permit what an emulation needs; nothing was run."
);

/// Emulates one repetition of a resolved scenario in real time, writes its tables to `directory` (`None`: nowhere) and returns its
/// totals and how far they can be believed, as JSON. `extras`: what runs in the place of a group's workload, congestion controls that the
/// kernel has for the time of the run, and where calls are recorded, as JSON.
///
/// Unless it is the machine's administrator, the process must have a single thread: it enters a user namespace and never leaves it, so
/// that it is to be a process of its own.
#[pyfunction]
pub fn emulate(
    py: Python<'_>,
    scenario: &str,
    repetition: u32,
    directory: Option<PathBuf>,
    monitor: &PyMonitor,
    extras: &str,
) -> PyResult<String> {
    let scenario = read(scenario)?;
    let monitor = monitor.shared();
    let run = || {
        let tables = match directory {
            Some(directory) => Tables::create(&directory, repetition, scenario.probes.tables())
                .map_err(crate::simulation::not_written)?,
            None => Tables::none(),
        };
        linux::run(&scenario, repetition, tables, &monitor, extras)
    };
    py.detach(|| whole(guarded(EMULATION, run)))
}

/// Emulates one repetition of a resolved scenario as [`emulate`], without records, and hands what came from the hosts
/// once more into its network; how the fates of the packets compare, and how far the emulation can be believed, as
/// JSON.
#[pyfunction]
pub fn emulate_and_replay(
    py: Python<'_>,
    scenario: &str,
    repetition: u32,
    monitor: &PyMonitor,
) -> PyResult<String> {
    let scenario = read(scenario)?;
    let monitor = monitor.shared();
    py.detach(|| whole(guarded(EMULATION, || linux::run_and_replay(&scenario, repetition, &monitor))))
}

const EMULATION: &str = "the emulation";

/// The answer, or why there is none; that is a panic, if one of the emulation's threads has ended by it.
fn whole(done: PyResult<PyResult<String>>) -> PyResult<String> {
    done?.map_err(|error| of_another_thread(EMULATION).unwrap_or(error))
}

/// Returns this machine's permissions for emulation, as JSON.
#[pyfunction]
pub fn emulation_abilities() -> PyResult<String> {
    linux::abilities()
}

/// Asks the kernel to kill this process when its parent, whose number is given, dies.
#[pyfunction]
pub fn die_with_parent(parent: u32) -> PyResult<()> {
    linux::die_with_parent(parent)
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{refused, EmulationFailed, EmulationRefused, PyResult, Tables};
    use crate::simulation::not_written;
    use parshall_emulation::{EmulationError, Extras};
    use parshall_hosts::{Abilities, HostsError};
    use parshall_sim::{Monitor, Scenario};
    use pyo3::exceptions::{PyRuntimeError, PyValueError};
    use pyo3::PyErr;

    pub(super) fn run(
        scenario: &Scenario,
        repetition: u32,
        tables: Tables,
        monitor: &Monitor,
        extras: &str,
    ) -> PyResult<String> {
        let extras: Extras =
            serde_json::from_str(extras).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let emulated = parshall_emulation::emulate(scenario, repetition, tables, monitor, &extras);
        let (emulated, tables) = emulated.map_err(failed)?;
        tables.finish().map_err(not_written)?;
        json(&emulated)
    }

    pub(super) fn run_and_replay(
        scenario: &Scenario,
        repetition: u32,
        monitor: &Monitor,
    ) -> PyResult<String> {
        let done = parshall_emulation::emulate_and_replay(scenario, repetition, monitor);
        let (emulated, replayed) = done.map_err(failed)?;
        json(&serde_json::json!({"emulated": emulated, "replayed": replayed}))
    }

    fn failed(error: EmulationError) -> PyErr {
        match error {
            EmulationError::Simulation(error) => refused(error),
            EmulationError::Hosts(HostsError::Plan { key, found, accepted }) => {
                PyValueError::new_err((key, format!("found {found}; {accepted}")))
            }
            error if error.is_refusal() => EmulationRefused::new_err(error.to_string()),
            error => EmulationFailed::new_err(error.to_string()),
        }
    }

    pub(super) fn abilities() -> PyResult<String> {
        let abilities = Abilities::of_this_machine();
        json(&serde_json::json!({
            "administrator": abilities.administrator,
            "user_namespaces": abilities.user_namespaces,
            "tun_problem": abilities.tun_problem,
            "congestion_controls": abilities.congestion_controls,
            "real_time_priority": abilities.real_time_priority,
            "bpf_controls": if abilities.bpf { parshall_bpf::built().collect() } else { Vec::new() },
            "open_files": abilities.open_files,
            "may_begin": abilities.may_begin(),
        }))
    }

    pub(super) fn die_with_parent(parent: u32) -> PyResult<()> {
        parshall_hosts::die_with_parent(parent).map_err(|error| EmulationFailed::new_err(error.to_string()))
    }

    fn json(value: &impl serde::Serialize) -> PyResult<String> {
        serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    use super::{EmulationRefused, PyResult, Tables};
    use parshall_sim::{Monitor, Scenario};
    use pyo3::PyErr;

    fn only_linux() -> PyErr {
        EmulationRefused::new_err("emulation needs Linux: its network namespaces and TUN devices")
    }

    pub(super) fn run(_: &Scenario, _: u32, _: Tables, _: &Monitor, _: &str) -> PyResult<String> {
        Err(only_linux())
    }

    pub(super) fn run_and_replay(_: &Scenario, _: u32, _: &Monitor) -> PyResult<String> {
        Err(only_linux())
    }

    pub(super) fn abilities() -> PyResult<String> {
        Err(only_linux())
    }

    pub(super) fn die_with_parent(_: u32) -> PyResult<()> {
        Err(only_linux())
    }
}
