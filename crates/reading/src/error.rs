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
        /// What the system says.
        source: io::Error,
    },
    /// It is nothing that is read here.
    #[error("{}: found {found}; accepted: {accepted}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
        /// What is accepted.
        accepted: String,
    },
}
