//! The door for files that others made, for what Python reads itself.

use parshall_reading::{document, ReadError, Reader};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// The content of a regular file, within the limits of that reader. An `OSError` if the system does not give it; a
/// `ValueError` says what else was found there.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what Python hands over
pub fn read_file<'py>(py: Python<'py>, path: PathBuf, reader: &str) -> PyResult<Bound<'py, PyBytes>> {
    let reader = Reader::of(reader).ok_or_else(|| PyValueError::new_err(format!("no reader {reader:?}")))?;
    let content = py.detach(|| document(&path, reader)).map_err(refused)?;
    Ok(PyBytes::new(py, &content))
}

/// All readers of foreign files with their limits in bytes, as JSON.
#[pyfunction]
pub fn readers() -> PyResult<String> {
    let described: Vec<_> = Reader::ALL
        .iter()
        .map(|reader| {
            let limits = reader.limits();
            serde_json::json!({
                "name": reader.name(),
                "what": reader.what().trim(),
                "document": limits.document,
                "line": limits.line,
                "compressed": limits.compressed,
                "memory": limits.memory,
            })
        })
        .collect();
    serde_json::to_string(&described).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn refused(error: ReadError) -> PyErr {
    match error {
        ReadError::Unreadable { path, source } => match source.raw_os_error() {
            // Python's own words for it.
            Some(number) => Python::attach(|py| {
                let said = py
                    .import("os")
                    .and_then(|os| os.call_method1("strerror", (number,))?.extract::<String>());
                PyOSError::new_err((number, said.unwrap_or_else(|_| source.to_string()), path))
            }),
            None => PyValueError::new_err(source.to_string()),
        },
        ReadError::Refused { found, accepted, .. } => {
            PyValueError::new_err(format!("found {found}; accepted: {accepted}"))
        }
    }
}
