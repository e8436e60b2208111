//! Why a file cannot be read.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// There is no such file, or the system does not give it.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's own words.
        source: io::Error,
    },
    /// It is nothing that is read here.
    #[error("{}: found {found}; accepted: {accepted}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The text that was found.
        found: String,
        /// The texts that are accepted.
        accepted: String,
    },
}
