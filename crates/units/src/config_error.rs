//! Why a configuration is refused.

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
