//! What the tests of several catalogs need: a link with any queue of the catalog.

use parshall_net::link::Link;
use parshall_net::loss::{LossConfig, NoLossConfig};
use parshall_net::queues::catalog::CATALOG;
use parshall_net::queues::QueueConfig;
use parshall_net::rate::Transmitter;
use parshall_units::parameters::{Entry, Kind};
use parshall_units::{Duration, Rate};
use serde_json::{json, Map, Value};

pub const LIMIT: u64 = 20;

/// The entry's configuration: a limit of [`LIMIT`] packets, catalog defaults for the rest.
pub fn config(entry: &Entry) -> QueueConfig {
    serde_json::from_value(described(entry)).unwrap()
}

#[allow(dead_code)] // not every test asks
/// Packets that it holds at most: [`LIMIT`], or so many for each of the queues within it.
pub fn most(entry: &Entry) -> u64 {
    let queues = entry.parameters.iter().find(|each| each.kind == Kind::Queues);
    let default = queues.and_then(|each| each.default).unwrap_or("[null]");
    LIMIT * serde_json::from_str::<Vec<Value>>(default).unwrap().len() as u64
}

fn described(entry: &Entry) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), json!(entry.name));
    for parameter in entry.parameters {
        let text = parameter.default.expect("queues have defaults");
        let value: Value = match parameter.kind {
            Kind::Weight if text == "instantaneous" => json!(1.0),
            Kind::Buffer => json!({ "packets": LIMIT }),
            Kind::Number | Kind::Weight => json!(text.parse::<f64>().unwrap()),
            Kind::Integer => json!(text.parse::<u64>().unwrap()),
            Kind::Boolean => json!(text.parse::<bool>().unwrap()),
            Kind::Duration => json!(parshall_units::parse_duration(text).unwrap().as_ps()),
            Kind::Rate if text == "unlimited" => Value::Null,
            Kind::Packets => json!(parshall_units::parse_packets(text).unwrap().0),
            Kind::Rate => json!(parshall_units::parse_rate(text).unwrap().as_bps()),
            Kind::Choice => json!(text),
            Kind::Bytes => json!(parshall_units::parse_bytes(text).unwrap().0),
            Kind::Queue => described(named(text)),
            Kind::Queues => {
                let names: Vec<String> = serde_json::from_str(text).unwrap();
                names.iter().map(|name| described(named(name))).collect()
            }
            Kind::Numbers => serde_json::from_str(text).unwrap(),
            other => panic!("{other:?} is not expected in a queue"),
        };
        object.insert(parameter.name.into(), value);
    }
    Value::Object(object)
}

fn named(name: &str) -> &'static Entry {
    CATALOG.iter().find(|entry| entry.name == name).unwrap()
}

/// A link of 12 Mbit/s: 1500 bytes last 1 ms.
pub fn link(entry: &Entry) -> Link {
    let transmitter = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
    Link::new(transmitter, Duration::ZERO, &config(entry), &LossConfig::None(NoLossConfig {}))
}
