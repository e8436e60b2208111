//! Values of parameters as resolved scenarios have them, for the tests of catalogs: what a family must keep is tried with all
//! that its parameters accept.

use crate::parameters::{Entry, Kind, Parameter};
use crate::{parse_bytes, parse_duration, parse_packets, parse_rate};
use proptest::prelude::*;
use proptest::strategy::Union;
use serde::de::DeserializeOwned;
use serde_json::{json, Map, Value};

/// The default of a parameter.
///
/// `None`: it has none, or one of a family that only a catalog knows.
///
/// # Panics
/// The default cannot be read.
pub fn default_value(parameter: &Parameter) -> Option<Value> {
    let text = parameter.default?;
    let value = match parameter.kind {
        Kind::Rate | Kind::Packets | Kind::Duration if matches!(text, "unlimited" | "off") => Value::Null,
        Kind::Weight if text == "instantaneous" => json!(1.0),
        Kind::Number | Kind::Weight | Kind::Value => json!(text.parse::<f64>().unwrap()),
        Kind::Integer => json!(text.parse::<u64>().unwrap()),
        Kind::Boolean => json!(text.parse::<bool>().unwrap()),
        Kind::Duration => json!(parse_duration(text).unwrap().as_ps()),
        Kind::Rate => json!(parse_rate(text).unwrap().as_bps()),
        Kind::Bytes | Kind::Size => json!(parse_bytes(text).unwrap().0),
        Kind::Packets => json!(parse_packets(text).unwrap().0),
        Kind::Choice | Kind::Recovery => json!(text),
        Kind::Numbers => serde_json::from_str(text).unwrap(),
        Kind::Control
        | Kind::Queue
        | Kind::Queues
        | Kind::Buffer
        | Kind::SizeDistribution
        | Kind::TimeDistribution
        | Kind::Sizes
        | Kind::Rules
        | Kind::CdfPoints => return None,
    };
    Some(value)
}

/// A value from all that a parameter accepts; the ends of its range are drawn often.
///
/// `None`: only a catalog knows what it accepts.
pub fn any_value(parameter: &Parameter) -> Option<BoxedStrategy<Value>> {
    let strategy = match parameter.kind {
        Kind::Number | Kind::Value | Kind::Weight => {
            any_number(parameter, -1e9, 1e9).prop_map(|x| json!(x)).boxed()
        }
        Kind::Integer | Kind::Duration | Kind::Rate | Kind::Bytes | Kind::Size | Kind::Packets => {
            any_number(parameter, 0.0, 1e18).prop_map(|x| json!(x as u64)).boxed()
        }
        Kind::Boolean => any::<bool>().prop_map(|on| json!(on)).boxed(),
        Kind::Choice => prop::sample::select(parameter.choices).prop_map(|name| json!(name)).boxed(),
        Kind::Control
        | Kind::Queue
        | Kind::Queues
        | Kind::Numbers
        | Kind::Buffer
        | Kind::SizeDistribution
        | Kind::TimeDistribution
        | Kind::Sizes
        | Kind::Recovery
        | Kind::Rules
        | Kind::CdfPoints => return None,
    };
    Some(strategy)
}

/// A number of the range, evenly or of all magnitudes alike. Ends that are not declared are `least` and `most`.
fn any_number(parameter: &Parameter, least: f64, most: f64) -> impl Strategy<Value = f64> {
    let (min, max) = (parameter.min.unwrap_or(least), parameter.max.unwrap_or(most));
    let from = if min == 0.0 { 1e-6 * max.min(1e6) } else { min };
    let evenly = move |part: f64| min + part * (max - min);
    let by_magnitude = move |part: f64| {
        if from > 0.0 {
            (from * (max / from).powf(part)).clamp(min, max)
        } else {
            evenly(part)
        }
    };
    let part = || 0.0..=1.0;
    prop_oneof![2 => part().prop_map(evenly), 6 => part().prop_map(by_magnitude), 1 => Just(min), 1 => Just(max)]
}

/// A configuration of an entry as a resolved scenario has it: each parameter at its default, or anywhere within its range.
///
/// `known` says what only the catalog knows: the value of a parameter that has neither, or one that is not to vary.
pub fn any_object(
    entry: &'static Entry,
    known: impl Fn(&Parameter) -> Option<BoxedStrategy<Value>>,
) -> BoxedStrategy<Value> {
    let strategies: Vec<BoxedStrategy<Value>> = entry
        .parameters
        .iter()
        .map(|parameter| {
            known(parameter).unwrap_or_else(|| {
                let default = default_value(parameter).map(|value| (2, Just(value).boxed()));
                let any = any_value(parameter).map(|values| (3, values));
                Union::new_weighted(default.into_iter().chain(any).collect()).boxed()
            })
        })
        .collect();
    let object = move |values: Vec<Value>| {
        let names = entry.parameters.iter().map(|parameter| parameter.name.to_owned());
        let mut object: Map<String, Value> = names.zip(values).collect();
        object.insert("name".into(), json!(entry.name));
        Value::Object(object)
    };
    strategies.prop_map(object).boxed()
}

/// The configuration of an entry with its defaults; `known` as in [`any_object`].
///
/// # Panics
/// A parameter has neither a default nor a known value.
pub fn default_object(entry: &Entry, known: impl Fn(&Parameter) -> Option<Value>) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), json!(entry.name));
    for parameter in entry.parameters {
        let value = known(parameter).or_else(|| default_value(parameter));
        let value = value.unwrap_or_else(|| panic!("{}: {} has no default", entry.name, parameter.name));
        object.insert(parameter.name.into(), value);
    }
    Value::Object(object)
}

/// A configuration with the defaults that it declares.
///
/// # Panics
/// A parameter has none, or one that only a catalog knows.
pub fn defaults<C: DeserializeOwned>(parameters: &[Parameter]) -> C {
    defaults_with(parameters, |_| None)
}

/// A configuration with the defaults that it declares; `known` as in [`any_object`].
///
/// # Panics
/// A parameter has neither a default nor a known value.
pub fn defaults_with<C: DeserializeOwned>(
    parameters: &[Parameter],
    known: impl Fn(&Parameter) -> Option<Value>,
) -> C {
    let value = |parameter: &Parameter| {
        let value = known(parameter).or_else(|| default_value(parameter));
        value.unwrap_or_else(|| panic!("{} has no default", parameter.name))
    };
    let object = parameters.iter().map(|parameter| (parameter.name.to_owned(), value(parameter))).collect();
    serde_json::from_value(Value::Object(object)).unwrap()
}

/// The object of an entry with one of its choices misspelt, for each choice.
pub fn misspelt<'a>(entry: &'a Entry, object: &'a Value) -> impl Iterator<Item = Value> + 'a {
    let choices = entry.parameters.iter().filter(|parameter| parameter.kind == Kind::Choice);
    choices.map(|parameter| {
        let mut misspelt = object.clone();
        misspelt[parameter.name] = json!("misspelt");
        misspelt
    })
}
