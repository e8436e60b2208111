//! What the tests of all controls share.

use parshall_congestion::catalog::CATALOG;
use parshall_congestion::ControlConfig;
use parshall_units::parameters::{Entry, Kind};
use serde_json::{json, Map, Value};

/// The entry's configuration with its catalog defaults.
pub fn default_config(entry: &Entry) -> ControlConfig {
    serde_json::from_value(default_object(entry)).unwrap()
}

/// The same as a resolved scenario has it.
pub fn default_object(entry: &Entry) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), json!(entry.name));
    for parameter in entry.parameters {
        let text = parameter.default.expect("controls have defaults");
        let value: Value = match parameter.kind {
            Kind::Number => json!(text.parse::<f64>().unwrap()),
            Kind::Integer => json!(text.parse::<u64>().unwrap()),
            Kind::Choice => json!(text),
            Kind::Numbers => serde_json::from_str(text).unwrap(),
            Kind::Control => default_object(CATALOG.iter().find(|entry| entry.name == text).unwrap()),
            Kind::Boolean => json!(text.parse::<bool>().unwrap()),
            Kind::Duration => json!(parshall_units::parse_duration(text).unwrap().as_ps()),
            Kind::Packets => json!(parshall_units::parse_packets(text).unwrap().0),
            other => panic!("{other:?} is not expected in a congestion control"),
        };
        object.insert(parameter.name.into(), value);
    }
    Value::Object(object)
}
