//! What the tests of several catalogs need: a link with any queue of the catalog.

use parshall_net::link::Link;
use parshall_net::loss::{LossConfig, NoLossConfig};
use parshall_net::queues::QueueConfig;
use parshall_net::rate::Transmitter;
use parshall_units::parameters::{Entry, Kind};
use parshall_units::{Duration, Rate};
use serde_json::{json, Map, Value};

pub const LIMIT: u64 = 20;

/// The entry's configuration: a limit of [`LIMIT`] packets, catalog defaults for the rest.
pub fn config(entry: &Entry) -> QueueConfig {
    config_with_limit(entry, LIMIT)
}

/// The entry's configuration: a limit in packets, catalog defaults for the rest.
pub fn config_with_limit(entry: &Entry, limit: u64) -> QueueConfig {
    let mut object = Map::new();
    object.insert("name".into(), json!(entry.name));
    for parameter in entry.parameters {
        let text = parameter.default.expect("queues have defaults");
        let value: Value = match parameter.kind {
            Kind::Weight if text == "instantaneous" => json!(1.0),
            Kind::Buffer => json!({ "packets": limit }),
            Kind::Number | Kind::Weight => json!(text.parse::<f64>().unwrap()),
            Kind::Integer => json!(text.parse::<u64>().unwrap()),
            Kind::Boolean => json!(text.parse::<bool>().unwrap()),
            Kind::Duration => json!(parshall_units::parse_duration(text).unwrap().as_ps()),
            Kind::Packets => json!(parshall_units::parse_packets(text).unwrap().0),
            Kind::Rate => json!(parshall_units::parse_rate(text).unwrap().as_bps()),
            Kind::Choice => json!(text),
            Kind::Bytes => json!(parshall_units::parse_bytes(text).unwrap().0),
            other => panic!("{other:?} is not expected in a queue"),
        };
        object.insert(parameter.name.into(), value);
    }
    serde_json::from_value(Value::Object(object)).unwrap()
}

/// A link of 12 Mbit/s: 1500 bytes last 1 ms.
pub fn link(entry: &Entry) -> Link {
    let transmitter = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
    Link::new(transmitter, Duration::ZERO, &config(entry), &LossConfig::None(NoLossConfig {}))
}
