//! Why a configuration is refused, and the checks that refuse it.

use crate::parameters::Parameter;
use std::fmt::Display;
use thiserror::Error;

/// A value that an entry of a catalog cannot be configured with.
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
    /// What was found at a key, and what is accepted there.
    pub fn new(key: impl Into<String>, found: impl Display, accepted: impl Into<String>) -> Self {
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
///
/// # Errors
/// [`ConfigError`]: it is outside.
///
/// # Panics
/// `key` is none of the parameters.
pub fn in_range(parameters: &[Parameter], key: &str, value: f64) -> Result<(), ConfigError> {
    let parameter = parameters.iter().find(|p| p.name == key).expect("a declared parameter");
    let (min, max) = (parameter.min.unwrap_or(f64::MIN), parameter.max.unwrap_or(f64::MAX));
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let description = parameter.description.trim_end_matches('.');
    let accepted = format!("a number from {} to {} ({description})", short(min), short(max));
    Err(ConfigError::new(key, value, accepted))
}

/// Refuses a name that is none of the parameter's choices.
///
/// # Errors
/// [`ConfigError`]: it is none of them.
///
/// # Panics
/// `key` is none of the parameters.
pub fn one_of(parameters: &[Parameter], key: &str, name: &str) -> Result<(), ConfigError> {
    let parameter = parameters.iter().find(|p| p.name == key).expect("a declared parameter");
    if parameter.choices.contains(&name) {
        return Ok(());
    }
    Err(ConfigError::new(key, name, format!("one of {}", parameter.choices.join(", "))))
}

/// The number without a row of zeros.
fn short(number: f64) -> String {
    if number == 0.0 || (1e-4..1e6).contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}
