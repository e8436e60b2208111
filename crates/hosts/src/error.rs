//! Why hosts cannot be had.

use std::io;

/// Why the hosts could not begin, or did not come to their end.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    /// The plan asks for what no host can do.
    #[error("{key}: found {found}; {accepted}")]
    Plan {
        /// Which part of the plan.
        key: String,
        /// What was found.
        found: String,
        /// What is accepted.
        accepted: String,
    },
    /// The caller has threads already, and a user namespace is for a process with one.
    #[error("a user namespace needs a process with a single thread, this one has {0}: begin hosts in a new process")]
    Threads(usize),
    /// The kernel refused.
    #[error("cannot {what}: {source}{remedy}")]
    Refused {
        /// What was tried.
        what: String,
        /// The kernel's answer.
        source: io::Error,
        /// What to change, from a semicolon on; empty if nothing is known.
        remedy: &'static str,
    },
    /// A host's thread ended without a result.
    #[error("the {0} host ended unexpectedly")]
    Died(&'static str),
}

impl HostsError {
    pub(crate) fn plan(
        key: impl Into<String>,
        found: impl Into<String>,
        accepted: impl Into<String>,
    ) -> Self {
        Self::Plan { key: key.into(), found: found.into(), accepted: accepted.into() }
    }
}

/// Adds the action to an error of the kernel.
pub(crate) trait Tried<T> {
    /// The message is "cannot `what`".
    fn tried(self, what: impl Into<String>) -> Result<T, HostsError>;

    /// As [`tried`](Self::tried), and what to change.
    fn tried_or(self, what: impl Into<String>, remedy: &'static str) -> Result<T, HostsError>;
}

impl<T, E: Into<io::Error>> Tried<T> for Result<T, E> {
    fn tried(self, what: impl Into<String>) -> Result<T, HostsError> {
        self.tried_or(what, "")
    }

    fn tried_or(self, what: impl Into<String>, remedy: &'static str) -> Result<T, HostsError> {
        self.map_err(|error| HostsError::Refused { what: what.into(), source: error.into(), remedy })
    }
}
