//! What the tests of several catalogs need: a link with any queue of the catalog.

use parshall_net::link::Link;
use parshall_net::loss::{LossConfig, NoLossConfig};
use parshall_net::queues::QueueConfig;
use parshall_net::rate::Transmitter;
use parshall_units::parameters::{Entry, Kind, Parameter};
use parshall_units::{testing, Duration, Rate};
use serde_json::{json, Value};

pub const LIMIT: u64 = 20;

/// The entry's configuration: a limit of [`LIMIT`] packets, catalog defaults for the rest.
pub fn config(entry: &Entry) -> QueueConfig {
    config_with_limit(entry, LIMIT)
}

/// The entry's configuration: a limit in packets, catalog defaults for the rest.
pub fn config_with_limit(entry: &Entry, packets: u64) -> QueueConfig {
    serde_json::from_value(object(entry, packets)).unwrap()
}

/// The same as a resolved scenario has it.
pub fn object(entry: &Entry, packets: u64) -> Value {
    testing::default_object(entry, |parameter| limit(parameter, packets))
}

/// So many packets, if the parameter is a queue's limit.
pub fn limit(parameter: &Parameter, packets: u64) -> Option<Value> {
    (parameter.kind == Kind::Buffer).then(|| json!({ "packets": packets }))
}

/// A link of 12 Mbit/s: 1500 bytes last 1 ms.
pub fn link(queue: &QueueConfig) -> Link {
    let transmitter = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
    Link::new(transmitter, Duration::ZERO, queue, &LossConfig::None(NoLossConfig {}))
}
