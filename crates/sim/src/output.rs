//! A file that a probe writes beside the tables: packet after packet, so it is buffered, and no larger than tools can read.

use crate::SimError;
use parshall_records::RecordsError;
use parshall_units::Instant;
use std::fs::{create_dir_all, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The largest file that a probe writes: a run that would write more is refused when it gets there. (Tests get there soon.)
pub(crate) const MOST_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 4 << 30 };

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: BufWriter<File>,
    written: u64,
    failed: Option<io::Error>,
}

impl Output {
    /// Creates the file and its directory.
    pub(crate) fn create(path: PathBuf) -> Result<Self, RecordsError> {
        let made = path.parent().map_or(Ok(()), create_dir_all).and_then(|()| File::create(&path));
        let file = made.map_err(|error| refused(&path, error))?;
        Ok(Self { path, file: BufWriter::with_capacity(1 << 16, file), written: 0, failed: None })
    }

    /// Appends bytes; what goes wrong is told by [`check`](Self::check) and [`finish`](Self::finish).
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() && self.written <= MOST_BYTES {
            self.written += bytes.len() as u64;
            self.failed = self.file.write_all(bytes).err();
        }
    }

    /// Refuses to go on if the file could not be written, or has become too large; `key`: what asked for it.
    pub(crate) fn check(&mut self, key: &str, now: Instant) -> Result<(), SimError> {
        if let Some(error) = self.failed.take() {
            return Err(refused(&self.path, error).into());
        }
        if self.written <= MOST_BYTES {
            return Ok(());
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let (mib, at) = (MOST_BYTES >> 20, now.as_secs_f64());
        let problem = format!(
            "{name} has {mib} MiB after {at:.3} s, which is the most; make the run shorter, or record less"
        );
        Err(SimError::invalid(key, problem))
    }

    /// Completes the file and makes sure that it is on the disk.
    pub(crate) fn finish(mut self) -> Result<(), RecordsError> {
        let flushed = self.failed.take().map_or_else(|| self.file.flush(), Err);
        flushed.and_then(|()| self.file.get_ref().sync_all()).map_err(|error| refused(&self.path, error))
    }
}

/// Refuses a name that cannot be part of a file's.
pub(crate) fn check_name(key: &str, name: &str) -> Result<(), SimError> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if name.is_empty() || name.len() > 200 || !name.chars().all(is_plain) {
        let name: String = name.chars().take(40).collect();
        return Err(SimError::invalid(key, format!("{name:?} cannot be the name of a file")));
    }
    Ok(())
}

fn refused(path: &Path, source: io::Error) -> RecordsError {
    RecordsError::Write { path: path.to_owned(), source }
}
