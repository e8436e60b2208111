//! Recordings of the kernel's congestion controls, and controls driven through them.

use crate::controls::{makers, watched};
use crate::foreign::PyPage;
use crate::simulation::ControlFailed;
use parshall_congestion::ControlConfig;
use parshall_replay::{qlog, replay as driven, Connection, Recording};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Drives a resolved congestion control through a recording: what the recording is, and how the two compare, as JSON. `recorded`: the one
/// recorded control that is meant, where there are several. `controls` and `page` as in [`simulate`](crate::simulation::simulate).
#[pyfunction]
#[pyo3(signature = (path, config, recorded, controls = None, page = None))]
#[allow(clippy::needless_pass_by_value)] // what Python hands over
pub fn replay(
    py: Python<'_>,
    path: PathBuf,
    config: &str,
    recorded: Option<&str>,
    controls: Option<&Bound<'_, PyDict>>,
    page: Option<&PyPage>,
) -> PyResult<String> {
    let refused = |error: String| PyValueError::new_err(error);
    let mut config: ControlConfig =
        serde_json::from_str(config).map_err(|error| refused(error.to_string()))?;
    config.bind(&watched(&makers(controls)?, page, None));
    config.check_bound().map_err(|error| refused(error.to_string()))?;
    let recording = py.detach(|| Recording::read(&path)).map_err(|error| refused(error.to_string()))?;
    let names = recording.controls();
    let of = match (recorded, &names[..]) {
        (Some(name), _) if names.contains(&name) => name,
        (None, [name]) => name,
        (found, _) => {
            let found = found.map_or_else(|| "none".into(), |name| format!("{name:?}"));
            let path = path.display();
            let known = if names.is_empty() { "there is no call in it".into() } else { names.join(", ") };
            return Err(refused(format!("{path}: recorded control: found {found}; accepted: {known}")));
        }
    };
    let replayed = py.detach(|| driven(&recording, of, &config));
    if let Some(fault) = config.fault() {
        return Err(ControlFailed::new_err(fault.what));
    }
    let described = serde_json::json!({
        "kernel": recording.header.kernel,
        "recorded": of,
        "complete": recording.end.is_some(),
        "dropped": recording.end.map(|end| end.dropped),
        "broken": recording.broken,
        "replayed": replayed,
    });
    serde_json::to_string(&described).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Writes each connection of a recording as a log in qlog into a directory that exists; the names of the files.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what Python hands over
pub fn recording_as_qlog(py: Python<'_>, path: PathBuf, directory: PathBuf) -> PyResult<Vec<String>> {
    let recording =
        py.detach(|| Recording::read(&path)).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.detach(|| {
        let connections = &recording.connections;
        let named = |index: usize| {
            let ends = |each: &Connection| (each.flow, each.port);
            let (flow, port) = ends(&connections[index]);
            // A port may serve again.
            let before = connections[..index].iter().filter(|each| ends(each) == (flow, port)).count();
            let again = if before == 0 { String::new() } else { format!("-{before}") };
            format!("{flow}-{port}{again}.sqlog")
        };
        let write = |(index, connection): (usize, &Connection)| {
            let name = named(index);
            let mut file = BufWriter::new(File::create(directory.join(&name))?);
            qlog::write(connection, &recording.header, &mut file)?;
            file.flush()?;
            Ok(name)
        };
        connections.iter().enumerate().map(write).collect()
    })
}
