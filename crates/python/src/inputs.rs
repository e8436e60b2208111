//! Files and parts of a scenario, read and checked by the crates that will use them.

use parshall_congestion::ControlConfig;
use parshall_net::loss::LossConfig;
use parshall_net::markers::{Edge, MarkerConfig};
use parshall_net::queues::QueueConfig;
use parshall_units::{ConfigError, Duration, Rate};
use parshall_workload::{CdfFile, DistributionConfig, WorkloadConfig};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use std::num::NonZeroU32;

/// The points of a file with a measured distribution function, its values multiplied by `unit`.
#[pyfunction]
pub fn read_cdf(content: &[u8], unit: f64) -> PyResult<Vec<[f64; 2]>> {
    let file = CdfFile::parse(content).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(file.points(unit))
}

/// The timestamps, in milliseconds, of a file with packet-delivery opportunities.
#[pyfunction]
pub fn read_rate_trace(content: &[u8]) -> PyResult<Vec<u64>> {
    let text = String::from_utf8_lossy(content);
    parshall_net::rate::parse_trace(&text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The mean of a resolved distribution. A `ValueError` has two arguments: the key, and what is wrong there.
#[pyfunction]
pub fn check_distribution(config: &str) -> PyResult<f64> {
    let config: DistributionConfig = read(config)?;
    config.build().map(|distribution| distribution.mean()).map_err(|error| refused(&error))
}

/// The squared coefficient of variation of a resolved distribution; infinite where the variance is. Errors as
/// [`check_distribution`].
#[pyfunction]
pub fn distribution_cv2(config: &str) -> PyResult<f64> {
    let config: DistributionConfig = read(config)?;
    config.build().map(|distribution| distribution.cv2()).map_err(|error| refused(&error))
}

/// The quantiles of a resolved distribution. Errors as [`check_distribution`], and for a probability outside [0, 1].
#[pyfunction]
pub fn distribution_quantiles(config: &str, probabilities: Vec<f64>) -> PyResult<Vec<f64>> {
    let config: DistributionConfig = read(config)?;
    let distribution = config.build().map_err(|error| refused(&error))?;
    let quantile = |u: f64| {
        if (0.0..=1.0).contains(&u) {
            Ok(distribution.quantile(u))
        } else {
            Err(refused(&ConfigError::new("probabilities", u, "numbers from 0 to 1")))
        }
    };
    probabilities.into_iter().map(quantile).collect()
}

/// Returns the properties of a resolved loss that formulas need, as JSON: its mean and its pattern. Errors as
/// [`check_distribution`].
#[pyfunction]
pub fn loss_traits(config: &str) -> PyResult<String> {
    let config: LossConfig = read(config)?;
    config.check().map_err(|error| refused(&error))?;
    serde_json::to_string(&config.traits()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns three properties of a resolved workload: it sends datagrams, a congestion control sets their rate, and packets are
/// sent at random times. Errors as [`check_distribution`].
#[pyfunction]
pub fn check_workload(config: &str, packet_bytes: NonZeroU32) -> PyResult<(bool, bool, bool)> {
    let config: WorkloadConfig = read(config)?;
    config.source(packet_bytes).map_err(|error| refused(&error))?;
    Ok((config.is_datagram(), config.is_controlled(), config.has_random_times()))
}

/// Checks that a resolved queue does not contradict itself. Errors as [`check_distribution`].
#[pyfunction]
pub fn check_queue(config: &str) -> PyResult<()> {
    let config: QueueConfig = read(config)?;
    config.check().map_err(|error| refused(&error))
}

/// Checks that a resolved marker fits packets of a size and an access link (bit/s). Errors as [`check_distribution`].
#[pyfunction]
pub fn check_marker(config: &str, packet_bytes: u32, access_bps: Option<u64>) -> PyResult<()> {
    let config: MarkerConfig = read(config)?;
    let edge = Edge { packet_bytes, access: access_bps.and_then(Rate::from_bps) };
    config.check(edge).map_err(|error| refused(&error))
}

/// Checks that a resolved congestion control does not contradict itself, and fits the longest RTT, or the datagrams that it is to
/// steer. Errors as [`check_distribution`].
#[pyfunction]
pub fn check_control(config: &str, rtt_ps: u64, datagrams: bool) -> PyResult<()> {
    let config: ControlConfig = read(config)?;
    let rtt = Duration::from_ps(rtt_ps);
    let checked = if datagrams { config.check_for_datagrams(rtt) } else { config.check(rtt) };
    checked.map_err(|error| refused(&error))
}

/// True if a resolved congestion control has the standard slow start, which another can replace.
#[pyfunction]
pub fn has_standard_slow_start(config: &str) -> PyResult<bool> {
    let config: ControlConfig = read(config)?;
    Ok(config.has_standard_slow_start())
}

/// True if a resolved congestion control does not work without timestamps.
#[pyfunction]
pub fn needs_timestamps(config: &str) -> PyResult<bool> {
    let config: ControlConfig = read(config)?;
    Ok(config.needs().takes_timestamps())
}

pub(crate) fn read<T: DeserializeOwned>(config: &str) -> PyResult<T> {
    serde_json::from_str(config).map_err(|error| PyValueError::new_err((String::new(), error.to_string())))
}

pub(crate) fn refused(error: &ConfigError) -> PyErr {
    let ConfigError { key, found, accepted } = error;
    PyValueError::new_err((key.clone(), format!("found {found}; write {accepted}")))
}
