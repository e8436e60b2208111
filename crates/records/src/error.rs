//! Why records could not be written.

use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why records could not be written.
#[derive(Debug, Error)]
pub enum RecordsError {
    /// The file, or its directory, could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A row holds a number that stands for nothing.
    #[error("{table}.{column}: found {value}; a number must be finite (what is not known is null)")]
    NotFinite {
        /// The table's name.
        table: &'static str,
        /// The column's name.
        column: &'static str,
        /// NaN or an infinity.
        value: f64,
    },
}

impl RecordsError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// The system's own error if there is one below, so that a full disk can be told from others.
    pub(crate) fn parquet(path: &Path, error: ParquetError) -> Self {
        let source = match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => *error,
                Err(other) => io::Error::other(other),
            },
            other => io::Error::other(other),
        };
        Self::io(path, source)
    }
}
