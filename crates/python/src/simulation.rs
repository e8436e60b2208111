//! Running a simulation without holding the GIL, watched and stopped from Python.

use crate::controls::{makers, watched};
use crate::faults::guarded;
use crate::foreign::PyPage;
use parshall_records::{RecordsError, Tables};
use parshall_sim::{Monitor, Scenario, SimError, Summary};
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

pyo3::create_exception!(_core, Interrupted, PyException, "The simulation was stopped by its monitor.");

pyo3::create_exception!(_core, ControlFailed, PyException, "A congestion control from outside failed.");

/// Watches, and stops, a running simulation from another thread.
#[pyclass(name = "Monitor", frozen)]
#[derive(Default)]
pub struct PyMonitor(Arc<Monitor>);

impl PyMonitor {
    pub(crate) fn shared(&self) -> Arc<Monitor> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl PyMonitor {
    /// `most_flows`: so many may be there at a time.
    #[new]
    #[pyo3(signature = (most_flows = None))]
    fn new(most_flows: Option<u64>) -> Self {
        let monitor = Self::default();
        if let Some(most) = most_flows {
            monitor.0.most_flows.store(most, Relaxed);
        }
        monitor
    }

    /// Stops the simulation, or keeps it from starting.
    fn cancel(&self) {
        self.0.cancel.store(true, Relaxed);
    }

    /// True if [`cancel`](Self::cancel) was called.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.cancel.load(Relaxed)
    }

    /// So many flows may be there at a time; `None`: any number.
    #[getter]
    fn most_flows(&self) -> Option<u64> {
        Some(self.0.most_flows.load(Relaxed)).filter(|&most| most < u64::MAX)
    }

    /// What another process has come to.
    #[pyo3(signature = (simulated_s, packets = None))]
    fn advance(&self, simulated_s: f64, packets: Option<u64>) {
        self.0.simulated_ps.store((simulated_s * 1e12) as u64, Relaxed);
        if let Some(packets) = packets {
            self.0.packets.store(packets, Relaxed);
        }
    }

    /// Simulated time so far.
    #[getter]
    fn simulated_s(&self) -> f64 {
        self.0.simulated_ps.load(Relaxed) as f64 / 1e12
    }

    /// Packets that links have handled so far.
    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets.load(Relaxed)
    }
}

/// Refuses a resolved scenario as [`simulate`] would, without running it; gives its flows and the memory that they take, as
/// JSON. A `ValueError` has two arguments: the key, and what is wrong there.
#[pyfunction]
pub fn check_scenario(py: Python<'_>, scenario: &str) -> PyResult<String> {
    let scenario = read(scenario)?;
    let estimate = py.detach(|| parshall_sim::check(&scenario)).map_err(refused)?;
    serde_json::to_string(&estimate).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

pub(crate) fn read(scenario: &str) -> PyResult<Scenario> {
    serde_json::from_str(scenario).map_err(|error| PyValueError::new_err((String::new(), error.to_string())))
}

/// Runs one repetition of a resolved scenario, writes its tables to `directory` (`None`: nowhere) and returns its totals
/// as JSON. `durable`: the tables are on the disk when it returns. `controls`: what makes the congestion controls from outside, by
/// name. `page`: where they note when they are called.
#[pyfunction]
#[pyo3(signature = (scenario, repetition, directory, monitor, durable = true, controls = None, page = None))]
#[allow(clippy::too_many_arguments)] // named ones, in Python
pub fn simulate(
    py: Python<'_>,
    scenario: &str,
    repetition: u32,
    directory: Option<PathBuf>,
    monitor: &PyMonitor,
    durable: bool,
    controls: Option<&Bound<'_, PyDict>>,
    page: Option<&PyPage>,
) -> PyResult<String> {
    let mut scenario = read(scenario)?;
    let makers = makers(controls)?;
    scenario.bind(|group| watched(&makers, page, Some(group)));
    let monitor = Arc::clone(&monitor.0);
    let summary = py.detach(|| {
        // A panic is a fault of ours, but not one to take a notebook or a campaign down with.
        guarded("the simulator", || run(&scenario, repetition, directory, &monitor, durable))
    })?;
    serde_json::to_string(&summary.map_err(refused)?)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn run(
    scenario: &Scenario,
    repetition: u32,
    directory: Option<PathBuf>,
    monitor: &Monitor,
    durable: bool,
) -> Result<Summary, SimError> {
    let mut tables = match directory {
        Some(directory) => Tables::create(&directory, repetition, scenario.probes.tables())?,
        None => Tables::none(),
    };
    let summary = parshall_sim::simulate(scenario, repetition, &mut tables, monitor)?;
    if durable {
        tables.finish()?;
    } else {
        tables.close()?;
    }
    Ok(summary)
}

pub(crate) fn refused(error: SimError) -> PyErr {
    match error {
        SimError::Invalid { key, problem } => PyValueError::new_err((key, problem)),
        SimError::Control { .. } => ControlFailed::new_err(error.to_string()),
        SimError::Interrupted { .. } => Interrupted::new_err(error.to_string()),
        SimError::Records(error) => not_written(error),
    }
}

/// Records that could not be written, as an `OSError` if it was the system's fault.
pub(crate) fn not_written(error: RecordsError) -> PyErr {
    match error {
        RecordsError::Write { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, source.to_string(), path)),
            None => PyOSError::new_err(format!("cannot write {}: {source}", path.display())),
        },
        error @ RecordsError::NotFinite { .. } => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The tables that a repetition writes, with their columns, as JSON.
#[pyfunction]
pub fn records_schema() -> PyResult<String> {
    serde_json::to_string(&parshall_records::schema_catalog())
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
