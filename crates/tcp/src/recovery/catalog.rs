//! The one list of loss recoveries.

use parshall_units::parameters::{Bounded, Entry};
use serde::Deserialize;

/// Which loss recovery a sender uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery that ends with the first new ACK.
    Reno,
    /// Fast recovery that repairs a whole window.
    NewReno,
    /// Selective acknowledgements.
    Sack,
    /// Selective acknowledgements, losses found by time, probes at the tail.
    Rack,
}

impl Bounded for Recovery {}

impl Recovery {
    /// True if receivers report what arrived out of order.
    pub fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }

    /// True if they report what arrived twice.
    pub fn uses_duplicates(self) -> bool {
        self == Self::Rack
    }
}

/// Every loss recovery.
pub const CATALOG: &[Entry] = &[
    entry("tahoe", "fast retransmit, then slow start", "Jacobson, SIGCOMM 1988"),
    entry("reno", "fast recovery, ended by the first new ACK", "RFC 5681"),
    entry("newreno", "fast recovery that repairs one loss a round trip", "RFC 6582"),
    entry(
        "sack",
        "selective acknowledgements, with proportional rate reduction unless prr = false",
        "RFC 6675, RFC 6937",
    ),
    entry(
        "rack",
        "as sack, but losses are found by time, lost retransmissions too, and the tail is probed",
        "RFC 8985, RFC 6937",
    ),
];

/// A loss recovery without parameters of its own.
const fn entry(name: &'static str, summary: &'static str, reference: &'static str) -> Entry {
    Entry { name, summary, reference, parameters: &[], defaults: &[], variables: &[] }
}
