//! Configurations from the whole of what their parameters accept.

use super::common::default_object;
use parshall_congestion::catalog::CATALOG;
use parshall_congestion::ControlConfig;
use parshall_units::parameters::{Entry, Kind, Parameter};
use proptest::prelude::*;
use serde_json::{json, Value};

/// A configuration of the entry from all that its parameters accept, their ends and defaults among it.
pub fn any_config(entry: &'static Entry) -> impl Strategy<Value = ControlConfig> {
    let values: Vec<_> = entry.parameters.iter().map(any_value).collect();
    values.prop_filter_map("a configuration that contradicts itself", move |values| {
        let mut object = default_object(entry);
        for (parameter, value) in entry.parameters.iter().zip(values) {
            if let Some(value) = value {
                object[parameter.name] = value;
            }
        }
        let config: ControlConfig = serde_json::from_value(object).unwrap();
        config.check(parshall_units::Duration::ZERO).is_ok().then_some(config)
    })
}

/// A value of a parameter; `None`: its default.
fn any_value(parameter: &'static Parameter) -> BoxedStrategy<Option<Value>> {
    let kind = parameter.kind;
    let number = |least: f64, most: f64| {
        let (min, max) = (parameter.min.unwrap_or(least), parameter.max.unwrap_or(most));
        let within = (0.0..=1.0).prop_map(move |part: f64| {
            if min > 0.0 && max > 100.0 * min {
                (min * (max / min).powf(part)).clamp(min, max)
            } else {
                min + part * (max - min)
            }
        });
        prop_oneof![8 => within, 1 => Just(min), 1 => Just(max)]
    };
    let value = match kind {
        Kind::Number => number(-1e9, 1e9).prop_map(|number| json!(number)).boxed(),
        Kind::Integer | Kind::Packets | Kind::Duration => {
            number(0.0, 1e18).prop_map(|number| json!(number as u64)).boxed()
        }
        Kind::Boolean => any::<bool>().prop_map(|on| json!(on)).boxed(),
        Kind::Choice => prop::sample::select(parameter.choices).prop_map(|name| json!(name)).boxed(),
        Kind::Control => {
            let entries = CATALOG.iter().filter(|entry| parameter.choices.contains(&entry.name));
            prop::sample::select(entries.map(default_object).collect::<Vec<_>>()).boxed()
        }
        _ => return Just(None).boxed(),
    };
    prop_oneof![3 => value.prop_map(Some), 2 => Just(None)].boxed()
}
