//! The parameters of catalog entries.
//!
//! [`configuration!`](crate::configuration) declares a config struct once; from it come the
//! fields Rust reads (no defaults: the scenario resolves them), and the [`Parameter`] list from which the
//! Python schema, `parshall list` and the docs tables are made. The type of a field is that of its quantity, and says which
//! [`Kind`] of parameter it is ([`ParameterType`]); [`choice!`](crate::choice) declares an enum of names.

mod declaration;
mod types;

#[doc(hidden)]
pub use declaration::Literal;
pub use types::{Bounded, ParameterType};

use crate::{ConfigError, Duration};
use serde::Serialize;

/// The form of a parameter in a scenario and in a resolved one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A real number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// `"10 ms"`; resolved to picoseconds.
    Duration,
    /// `"48 Mbit/s"`; resolved to bit/s.
    Rate,
    /// `"30 GB"`; resolved to bytes.
    Bytes,
    /// `"20 packets"`; resolved to packets.
    Packets,
    /// `"30 kB"` or, in full packets, `"20 packets"`; resolved to bytes.
    Size,
    /// One of the parameter's choices, by name.
    Choice,
    /// Policies of TCP, each in one of its forms: one of the parameter's choices, which all of them have then, or a table;
    /// resolved to a table of all.
    Rules,
    /// A list of real numbers.
    Numbers,
    /// A congestion control (the congestion crate's catalog), one of the parameter's choices.
    Control,
    /// A queue within another one (the net crate's catalog), one of the parameter's choices.
    Queue,
    /// A list of such queues.
    Queues,
    /// The weight of the newest sample in a moving average, or `"instantaneous"`; resolved to a number, 1 for the latter.
    Weight,
    /// A queue limit: `"100 packets"`, `"150 kB"` or `"1 BDP"`; resolved to `{"packets": n}` or
    /// `{"bytes": n}`.
    Buffer,
    /// A distribution of sizes (the workload crate's catalog); resolved values are bytes.
    SizeDistribution,
    /// A distribution of times; resolved values are seconds.
    TimeDistribution,
    /// A list of sizes; resolved to bytes.
    Sizes,
    /// A loss recovery (the TCP crate's catalog), by name.
    Recovery,
    /// A value in the unit of the distribution it belongs to; resolved to bytes or seconds.
    Value,
    /// The points `[[value, probability], ...]` of a cumulative distribution, read from a file.
    CdfPoints,
}

/// One parameter of a catalog entry.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Parameter {
    /// The key in the scenario.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// The default as the scenario would write it (`"0.4"`, `"10 ms"`); `None`: must be given.
    pub default: Option<&'static str>,
    /// Smallest accepted value, in the resolved unit.
    pub min: Option<f64>,
    /// Largest accepted value, in the resolved unit.
    pub max: Option<f64>,
    /// The accepted names; empty unless the kind says that there are choices.
    pub choices: &'static [&'static str],
    /// One sentence.
    pub description: &'static str,
}

impl Kind {
    /// What stands before a range of it.
    fn noun(self) -> &'static str {
        match self {
            Self::Duration => "a duration from",
            Self::Rate => "a rate from",
            Self::Bytes | Self::Size => "a size from",
            _ => "a number from",
        }
    }
}

impl Parameter {
    /// Refuses a number outside the declared range; NaN is outside every range.
    pub(crate) fn check_number(&self, value: f64) -> Result<(), ConfigError> {
        let (min, max) = (self.min.unwrap_or(f64::MIN), self.max.unwrap_or(f64::MAX));
        if (min..=max).contains(&value) {
            return Ok(());
        }
        let described = self.description.trim_end_matches('.');
        let shown = |bound: Option<f64>| bound.map(|bound| self.shown(bound));
        let accepted = match (shown(self.min), shown(self.max)) {
            (Some(min), Some(max)) => format!("{} {min} to {max} ({described})", self.kind.noun()),
            (Some(min), None) => format!("{min} or more ({described})"),
            (None, Some(max)) => format!("{max} or less ({described})"),
            (None, None) => format!("a finite number ({described})"),
        };
        Err(ConfigError::new(self.name, self.shown(value), accepted))
    }

    /// A number as a scenario would write it.
    fn shown(&self, number: f64) -> String {
        match self.kind {
            Kind::Duration => Duration::from_ps(number as u64).to_string(),
            Kind::Packets => format!("{} packets", short(number)),
            Kind::Bytes => format!("{} B", short(number)),
            Kind::Rate => format!("{} bit/s", short(number)),
            _ => short(number),
        }
    }
}

/// The number without a row of zeros.
fn short(number: f64) -> String {
    if number == 0.0 || (1e-4..1e6).contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

/// One entry of a family's catalog.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    /// The name users write.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it is specified.
    pub reference: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Keys of the flows that have another default with this entry, and that default as the scenario would write it.
    pub defaults: &'static [(&'static str, &'static str)],
    /// The variables that `probes.internals` records of it.
    pub variables: &'static [Variable],
}

/// An inner variable of a catalog entry, which can be recorded while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name in records.
    pub name: &'static str,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// One sentence.
    pub description: &'static str,
}

impl Variable {
    /// A variable.
    pub const fn new(name: &'static str, unit: &'static str, description: &'static str) -> Self {
        Self { name, unit, description }
    }
}

/// Is told the values of inner variables, by their names.
pub type Reader<'a> = dyn FnMut(&'static str, f64) + 'a;
