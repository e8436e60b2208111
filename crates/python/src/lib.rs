//! Python's door to the simulator and the trace reader: the module `parshall._core`, conversions and errors only.
//!
//! Structures cross as JSON text, results as files. `python/parshall/_core.pyi` has the Python signatures.

mod catalog;
mod controls;
mod distributions;
mod emulation;
mod faults;
mod files;
mod foreign;
mod inputs;
mod quantities;
mod replay;
mod simulation;
mod traces;

use pyo3::prelude::*;

#[pymodule(name = "_core")]
mod core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::catalog::{catalog, deviations, policies, properties};
    #[pymodule_export]
    use super::controls::{check_conformance, PyAck, PyCongestion, PyControlLibrary, PyStart};
    #[pymodule_export]
    use super::distributions::{beta_quantile, binomial_quantile, student_quantile};
    #[pymodule_export]
    use super::emulation::{
        die_with_parent, emulate, emulate_and_replay, emulation_abilities, EmulationFailed, EmulationRefused,
    };
    #[pymodule_export]
    use super::faults::fault_for_tests;
    #[pymodule_export]
    use super::files::{read_file, readers};
    #[pymodule_export]
    use super::foreign::PyPage;
    #[pymodule_export]
    use super::inputs::{
        check_control, check_distribution, check_marker, check_queue, check_workload, distribution_cv2,
        distribution_quantiles, has_standard_slow_start, loss_traits, needs_timestamps, read_cdf,
        read_rate_trace,
    };
    #[pymodule_export]
    use super::quantities::{format_quantity, parse_quantity};
    #[pymodule_export]
    use super::replay::{recording_as_qlog, replay};
    #[pymodule_export]
    use super::simulation::{
        check_scenario, records_schema, simulate, ControlFailed, Interrupted, PyMonitor,
    };
    #[pymodule_export]
    use super::traces::{observe, packet_columns, PyTraceMonitor};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::faults::remember_panics();
        module.add("PROFILE_GUIDED", cfg!(profile_guided))
    }
}
