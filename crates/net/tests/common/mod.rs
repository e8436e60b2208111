//! What the tests of several catalogs need: a link with any queue of the catalog.

use parshall_net::link::Link;
use parshall_net::loss::{LossConfig, NoLossConfig};
use parshall_net::queues::catalog::CATALOG;
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

/// The entry's configuration: a limit in packets, also of the queues within it, catalog defaults for the rest.
pub fn config_with_limit(entry: &Entry, packets: u64) -> QueueConfig {
    serde_json::from_value(object(entry, packets)).unwrap()
}

/// The same as a resolved scenario has it.
pub fn object(entry: &Entry, packets: u64) -> Value {
    testing::default_object(entry, |parameter| known(parameter, packets))
}

/// What only this catalog knows: so many packets, if the parameter is a queue's limit; the default queues, if it is a queue.
pub fn known(parameter: &Parameter, packets: u64) -> Option<Value> {
    let default = || parameter.default.expect("queues have defaults");
    match parameter.kind {
        Kind::Buffer => Some(json!({ "packets": packets })),
        Kind::Queue => Some(named(default(), packets)),
        Kind::Queues => {
            let names: Vec<String> = serde_json::from_str(default()).unwrap();
            Some(names.iter().map(|name| named(name, packets)).collect())
        }
        _ => None,
    }
}

/// A queue by its name.
pub fn named(name: &str, packets: u64) -> Value {
    object(CATALOG.iter().find(|entry| entry.name == name).unwrap(), packets)
}

/// A link of 12 Mbit/s: 1500 bytes last 1 ms.
pub fn link(queue: &QueueConfig) -> Link {
    let transmitter = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
    Link::new(transmitter, Duration::ZERO, queue, &LossConfig::None(NoLossConfig {}))
}
