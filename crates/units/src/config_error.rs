//! Why a configuration is refused.

use std::fmt::Display;
use thiserror::Error;

/// A value that an entry of a catalog cannot be configured with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: found {found}; write {accepted}")]
pub struct ConfigError {
    /// The path of the key, e.g. `size.tail_index`.
    pub key: String,
    /// The value that was found there.
    pub found: String,
    /// The values that are accepted there.
    pub accepted: String,
}

impl ConfigError {
    /// Returns the error of a value at a key, with the accepted ones.
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
