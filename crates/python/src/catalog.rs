//! The families that scenarios choose from, as JSON: the one place where Python learns what there is.

use parshall_net::queues::traits::Traits;
use parshall_units::parameters::{Entry, Parameter, Variable};
use parshall_units::Deviation;
use parshall_workload::workloads::traits::Traits as WorkloadTraits;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// Every family by the name Python knows it by.
#[derive(Serialize)]
struct Catalog {
    congestion_controls: &'static [Entry],
    recoveries: &'static [Entry],
    queues: &'static [Entry],
    markers: &'static [Entry],
    losses: &'static [Entry],
    workloads: &'static [Entry],
    distributions: &'static [Entry],
    tcp: [Endpoint; 1],
}

/// What entries declare beyond their parameters, by their names.
#[derive(Serialize)]
struct Properties {
    queues: &'static [(&'static str, Traits)],
    workloads: &'static [(&'static str, WorkloadTraits)],
    control_titles: &'static [(&'static str, &'static str)],
}

/// Where the code does otherwise than its sources, on purpose, by the folder of the crate that declares it.
#[derive(Serialize)]
struct Declared {
    tcp: &'static [Deviation],
    congestion: &'static [Deviation],
    net: &'static [Deviation],
}

/// The TCP endpoint, which has parameters but no alternatives.
#[derive(Serialize)]
struct Endpoint {
    name: &'static str,
    summary: &'static str,
    reference: &'static str,
    parameters: &'static [Parameter],
    variables: &'static [Variable],
}

/// The catalogs of every family.
#[pyfunction]
pub fn catalog() -> PyResult<String> {
    let catalog = Catalog {
        congestion_controls: parshall_congestion::catalog::CATALOG,
        recoveries: parshall_tcp::recovery::CATALOG,
        queues: parshall_net::queues::catalog::CATALOG,
        markers: parshall_net::markers::catalog::CATALOG,
        losses: parshall_net::loss::CATALOG,
        workloads: parshall_workload::workloads::catalog::CATALOG,
        distributions: parshall_workload::distributions::catalog::CATALOG,
        tcp: [Endpoint {
            name: "tcp",
            summary: "the TCP endpoint's own parameters, set on a group of flows",
            reference: "RFC 9293, RFC 5681, RFC 6298",
            parameters: parshall_tcp::TcpConfig::PARAMETERS,
            variables: parshall_congestion::HYSTART_VARIABLES,
        }],
    };
    serde_json::to_string(&catalog).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns properties of entries beyond their parameters, for formulas and pages, as JSON: the traits of queues and
/// workloads, and the names of congestion controls in text.
#[pyfunction]
pub fn properties() -> PyResult<String> {
    let properties = Properties {
        queues: parshall_net::queues::catalog::TRAITS,
        workloads: parshall_workload::workloads::catalog::TRAITS,
        control_titles: parshall_congestion::catalog::TITLES,
    };
    serde_json::to_string(&properties).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The policies of TCP that a scenario can switch, as JSON: name, both forms, and what differs.
#[pyfunction]
pub fn policies() -> PyResult<String> {
    serde_json::to_string(parshall_tcp::POLICIES).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The deviations from RFCs, papers and Linux that crates declare, as JSON.
#[pyfunction]
pub fn deviations() -> PyResult<String> {
    let declared = Declared {
        tcp: parshall_tcp::DEVIATIONS,
        congestion: parshall_congestion::DEVIATIONS,
        net: parshall_net::DEVIATIONS,
    };
    serde_json::to_string(&declared).map_err(|error| PyValueError::new_err(error.to_string()))
}
