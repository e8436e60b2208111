//! Quantities: text to integers and back, by the kind's name.

use parshall_units::{
    parse_bytes, parse_duration, parse_packets, parse_rate, Bytes, Duration, Packets, Rate,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Reads a quantity: `kind` is `"duration"` (picoseconds), `"rate"` (bit/s), `"bytes"` or `"packets"`.
#[pyfunction]
pub fn parse_quantity(kind: &str, text: &str) -> PyResult<u64> {
    match kind {
        "duration" => parse_duration(text).map(Duration::as_ps),
        "rate" => parse_rate(text).map(Rate::as_bps),
        "bytes" => parse_bytes(text).map(|bytes| bytes.0),
        "packets" => parse_packets(text).map(|packets| packets.0),
        _ => return Err(unknown(kind)),
    }
    .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Prints a quantity in the unit a person would choose; what [`parse_quantity`] reads.
#[pyfunction]
pub fn format_quantity(kind: &str, value: u64) -> PyResult<String> {
    match kind {
        "duration" => Ok(Duration::from_ps(value).to_string()),
        "rate" => Rate::from_bps(value)
            .map(|rate| rate.to_string())
            .ok_or_else(|| PyValueError::new_err("a rate is not zero")),
        "bytes" => Ok(Bytes(value).to_string()),
        "packets" => Ok(Packets(value).to_string()),
        _ => Err(unknown(kind)),
    }
}

fn unknown(kind: &str) -> PyErr {
    PyValueError::new_err(format!("found {kind:?}; write \"duration\", \"rate\", \"bytes\" or \"packets\""))
}
