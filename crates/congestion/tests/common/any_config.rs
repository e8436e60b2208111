//! Configurations from the whole of what their parameters accept.

use super::common::default_object;
use parshall_congestion::catalog::CATALOG;
use parshall_congestion::ControlConfig;
use parshall_units::parameters::{Entry, Kind, Parameter};
use parshall_units::testing::{any_object, default_value};
use proptest::prelude::*;
use serde_json::Value;

/// A configuration of the entry from all that its parameters accept, their ends and defaults among it.
pub fn any_config(entry: &'static Entry) -> impl Strategy<Value = ControlConfig> {
    any_object(entry, known).prop_filter_map("a configuration that contradicts itself", |object| {
        let config: ControlConfig = serde_json::from_value(object).unwrap();
        config.check(parshall_units::Duration::ZERO).is_ok().then_some(config)
    })
}

/// Controls that can be steered, with their defaults; lists as they are by default.
fn known(parameter: &Parameter) -> Option<BoxedStrategy<Value>> {
    match parameter.kind {
        Kind::Control => {
            let entries = CATALOG.iter().filter(|entry| parameter.choices.contains(&entry.name));
            Some(prop::sample::select(entries.map(default_object).collect::<Vec<_>>()).boxed())
        }
        Kind::Numbers => default_value(parameter).map(|list| Just(list).boxed()),
        _ => None,
    }
}
