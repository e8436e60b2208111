//! From a group of the scenario to what its flows are made from, whatever their kind, and what can be wrong with it.
//!
//! The private delay of a flow (its RTT less the links of its path, both ways) is split evenly between four propagation
//! segments: sender to first link, last link to receiver, and the same two on the way back. Where the way back is
//! uncontended it is as long as the way there.

mod group;
mod jitter;
mod spread;

pub(crate) use group::GroupPlan;
pub(crate) use jitter::jittered_path;

use parshall_units::ConfigError;

/// A problem inside one link or group: key within it, and what is wrong.
pub(crate) type Problem = (String, String);

pub(crate) fn problem(key: &str, what: impl std::fmt::Display) -> Problem {
    (key.to_owned(), what.to_string())
}

/// A refusal of a configuration's own checks.
pub(crate) fn refused(error: &ConfigError) -> Problem {
    problem(&error.key, format!("found {}; write {}", error.found, error.accepted))
}

/// The same of a part, seen from the link or group.
pub(crate) fn at_key(part: &str, error: ConfigError) -> Problem {
    refused(&error.within(part))
}
