//! Why a simulation gives no result.

use parshall_congestion::external::Fault;
use parshall_records::RecordsError;
use thiserror::Error;

/// Why a simulation gave no result.
#[derive(Debug, Error)]
pub enum SimError {
    /// The scenario contradicts itself; the Python schema should have said so first.
    #[error("{key}: {problem}")]
    Invalid {
        /// Where in the resolved scenario.
        key: String,
        /// What is wrong there, and what is accepted.
        problem: String,
    },
    /// A congestion control from outside failed.
    #[error("control {}, flow {} of group {group}, {:.6} s: {}", fault.control, fault.flow, fault.at.as_secs_f64(), fault.what)]
    Control {
        /// The flow's group.
        group: String,
        /// What it did.
        fault: Fault,
    },
    /// [`Monitor::cancel`](crate::Monitor::cancel) was set.
    #[error("interrupted at {simulated_s:.3} s of simulated time")]
    Interrupted {
        /// How far it had come.
        simulated_s: f64,
    },
    /// The records could not be written.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl SimError {
    pub(crate) fn invalid(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { key: key.into(), problem: problem.into() }
    }
}
