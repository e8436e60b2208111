//! The properties of a workload that matter to reasoning about its traffic without a simulation.

use serde::Serialize;

/// Its demand on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Demand {
    /// All that it can get, without end.
    Endless,
    /// All that it can get, until what it has is sent.
    Finite,
    /// The same mean rate at any time.
    Steady,
    /// What is not known beforehand: it pauses, or what it wants is drawn.
    Varying,
    /// What a congestion control says.
    Controlled,
}

/// The declaration of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Traits {
    /// Its description in text, such as `transfers and pauses`.
    pub title: &'static str,
    /// True if it sends datagrams, without TCP.
    pub datagrams: bool,
    /// Its demand on the network.
    pub demand: Demand,
    /// True if it draws random numbers.
    pub random: bool,
}
