//! What of a workload matters to who reasons about its traffic without simulating it.

use serde::Serialize;

/// What it wants of the network.
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

/// What a workload declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Traits {
    /// What it is in text, such as `transfers and pauses`.
    pub title: &'static str,
    /// Whether it sends datagrams, without TCP.
    pub datagrams: bool,
    /// What it wants of the network.
    pub demand: Demand,
    /// Whether it draws random numbers.
    pub random: bool,
}
