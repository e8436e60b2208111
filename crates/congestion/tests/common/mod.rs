//! What the tests of all controls share.

use parshall_congestion::catalog::CATALOG;
use parshall_congestion::ControlConfig;
use parshall_units::parameters::{Entry, Kind, Parameter};
use parshall_units::testing;
use serde_json::Value;

/// The entry's configuration with its catalog defaults.
pub fn default_config(entry: &Entry) -> ControlConfig {
    serde_json::from_value(default_object(entry)).unwrap()
}

/// The same as a resolved scenario has it.
pub fn default_object(entry: &Entry) -> Value {
    testing::default_object(entry, |parameter: &Parameter| {
        let named = || CATALOG.iter().find(|entry| parameter.default == Some(entry.name)).unwrap();
        (parameter.kind == Kind::Control).then(|| default_object(named()))
    })
}
