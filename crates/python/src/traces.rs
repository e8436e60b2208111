//! Observing a trace without holding the GIL, watched and stopped from Python.

use crate::faults::guarded;
use crate::simulation::{not_written, Interrupted};
use parshall_records::{TableSelection, Tables};
use parshall_trace::{Filter, Monitor, Options, TraceError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// Watches, and stops, an observation from another thread.
#[pyclass(name = "TraceMonitor", frozen)]
#[derive(Default)]
pub struct PyTraceMonitor(Arc<Monitor>);

#[pymethods]
impl PyTraceMonitor {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the observation.
    fn cancel(&self) {
        self.0.cancel.store(true, Relaxed);
    }

    /// Frames read so far.
    #[getter]
    fn frames(&self) -> u64 {
        self.0.frames.load(Relaxed)
    }

    /// Bytes of them on the wire.
    #[getter]
    fn wire_bytes(&self) -> u64 {
        self.0.bytes.load(Relaxed)
    }
}

/// Observes the files of one trace, writes its tables to `directory` as repetition `number`, and returns what else it held as
/// JSON. `options`: `sample_every_s` and `rtt_s`, as JSON.
#[pyfunction]
pub fn observe(
    py: Python<'_>,
    files: Vec<PathBuf>,
    number: u32,
    directory: PathBuf,
    options: &str,
    monitor: &PyTraceMonitor,
) -> PyResult<String> {
    let options: Options =
        serde_json::from_str(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let monitor = Arc::clone(&monitor.0);
    let summary = py.detach(move || {
        // A panic is a fault of ours, but not one to take a notebook down with.
        guarded("the trace reader", move || run(&files, number, &directory, &options, &monitor))
    })?;
    summary.map_err(refused)
}

/// The TCP packets of a capture: `names` of the directions, and of each packet the columns of [`parshall_trace::Columns`], as bytes in
/// the machine's order. `chosen`: the filter among the options of [`observe`], as JSON.
#[pyfunction]
pub fn packet_columns<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    chosen: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let filter: Filter =
        serde_json::from_str(chosen).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let read =
        py.detach(move || guarded("the trace reader", move || parshall_trace::columns(&files, &filter)))?;
    let made = read.map_err(refused)?;
    let columns = PyDict::new(py);
    columns.set_item("names", made.names)?;
    for (name, values) in [
        ("time_ns", &made.time_ns),
        ("start", &made.start),
        ("ack", &made.ack),
        ("delivered", &made.delivered),
        ("highest", &made.highest),
        ("repeated", &made.repeated),
    ] {
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes());
        columns.set_item(name, PyBytes::new(py, &bytes.collect::<Vec<u8>>()))?;
    }
    for (name, values) in [
        ("flow", &made.flow),
        ("payload", &made.payload),
        ("wire", &made.wire),
        ("stamp", &made.stamp),
        ("echo", &made.echo),
    ] {
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes());
        columns.set_item(name, PyBytes::new(py, &bytes.collect::<Vec<u8>>()))?;
    }
    columns.set_item("flags", PyBytes::new(py, &made.flags))?;
    Ok(columns)
}

fn run(
    files: &[PathBuf],
    number: u32,
    directory: &Path,
    options: &Options,
    monitor: &Monitor,
) -> Result<String, TraceError> {
    let selection =
        TableSelection { rounds: true, flow_samples: true, trace_flows: true, ..TableSelection::default() };
    let mut tables = Tables::create(directory, number, selection)?;
    let summary = parshall_trace::observe(files, options, &mut tables, monitor)?;
    tables.finish()?;
    Ok(serde_json::to_string(&summary).expect("names are written as text, and nothing else can fail"))
}

fn refused(error: TraceError) -> PyErr {
    match error {
        TraceError::Read { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, source.to_string(), path)),
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        TraceError::Refused { .. } => PyValueError::new_err(error.to_string()),
        TraceError::Interrupted => Interrupted::new_err(error.to_string()),
        TraceError::Records(error) => not_written(error),
    }
}
