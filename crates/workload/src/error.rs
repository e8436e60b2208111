//! Why a configuration is refused, and the checks that refuse it.

use parshall_units::parameters::Parameter;
use std::fmt::Display;
use thiserror::Error;

/// A value that a distribution or workload cannot be configured with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: found {found}; write {accepted}")]
pub struct ConfigError {
    /// The path of the key, e.g. `size.tail_index`.
    pub key: String,
    /// What was found there.
    pub found: String,
    /// What is accepted there.
    pub accepted: String,
}

impl ConfigError {
    pub(crate) fn new(key: impl Into<String>, found: impl Display, accepted: impl Into<String>) -> Self {
        Self { key: key.into(), found: found.to_string(), accepted: accepted.into() }
    }

    /// The same error seen from outside: `tail_index` within `size` is `size.tail_index`.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        self.key = format!("{parent}.{}", self.key);
        self
    }
}

/// Refuses a value outside the range its parameter declares; NaN is outside every range.
pub(crate) fn in_range(parameters: &[Parameter], key: &str, value: f64) -> Result<(), ConfigError> {
    let parameter = parameters.iter().find(|p| p.name == key).expect("a declared parameter");
    let (min, max) = (parameter.min.unwrap_or(f64::MIN), parameter.max.unwrap_or(f64::MAX));
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let description = parameter.description.trim_end_matches('.');
    let accepted = format!("a number from {} to {} ({description})", short(min), short(max));
    Err(ConfigError::new(key, value, accepted))
}

/// The number without a row of zeros.
fn short(number: f64) -> String {
    if number == 0.0 || (1e-4..1e6).contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::ParetoConfig;

    #[test]
    fn the_message_says_where_what_and_what_is_accepted() {
        let error = in_range(ParetoConfig::PARAMETERS, "tail_index", 0.9).unwrap_err().within("size");
        let message = error.to_string();
        assert!(
            message.starts_with("size.tail_index: found 0.9; write a number from 1.001 to 100"),
            "{message}"
        );
        assert!(message.contains("infinite"), "{message}");
    }

    #[test]
    fn ends_of_a_range_are_short() {
        let error = in_range(ParetoConfig::PARAMETERS, "mean", 0.0).unwrap_err();
        assert_eq!(error.accepted, "a number from 1e-12 to 1e18 (Mean)");
    }

    #[test]
    fn nan_and_infinity_are_outside_every_range() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(in_range(ParetoConfig::PARAMETERS, "mean", value).is_err());
        }
    }
}
