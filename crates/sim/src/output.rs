//! A file that a probe writes beside the tables: packet after packet, so it is buffered, and no larger than tools can read.

mod background;

use crate::SimError;
use background::Background;
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
    sink: Sink,
    written: u64,
    failed: Option<io::Error>,
}

#[derive(Debug)]
enum Sink {
    /// It is written at once.
    Here(BufWriter<File>),
    /// A thread writes it.
    Background(Background),
    /// It is closed.
    Nowhere,
}

impl Sink {
    fn finish(self) -> io::Result<()> {
        let file = match self {
            Self::Here(buffered) => buffered.into_inner()?,
            Self::Background(background) => background.finish()?,
            Self::Nowhere => return Ok(()),
        };
        file.sync_all()
    }
}

impl Output {
    /// Creates the file and its directory.
    pub(crate) fn create(path: PathBuf) -> Result<Self, RecordsError> {
        let made = path.parent().map_or(Ok(()), create_dir_all).and_then(|()| File::create(&path));
        let file = made.map_err(|error| refused(&path, error))?;
        let sink = Sink::Here(BufWriter::with_capacity(1 << 16, file));
        Ok(Self { path, sink, written: 0, failed: None })
    }

    /// Has a thread of its own write the file from now on, so that whoever writes never waits for the disk.
    pub(crate) fn write_in_background(&mut self) -> Result<(), RecordsError> {
        let begun = match std::mem::replace(&mut self.sink, Sink::Nowhere) {
            Sink::Here(buffered) => buffered
                .into_inner()
                .map_err(io::Error::from)
                .and_then(Background::begin)
                .map(Sink::Background),
            other => Ok(other),
        };
        self.sink = begun.map_err(|error| refused(&self.path, error))?;
        Ok(())
    }

    /// Appends a packet, in parts; what goes wrong is told by [`check`](Self::check) and [`finish`](Self::finish).
    pub(crate) fn write(&mut self, parts: &[&[u8]]) {
        if self.failed.is_some() || self.written > MOST_BYTES {
            return;
        }
        self.written += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        match &mut self.sink {
            Sink::Here(file) => self.failed = parts.iter().find_map(|part| file.write_all(part).err()),
            Sink::Background(background) => {
                if !background.write(parts) {
                    self.failed = std::mem::replace(&mut self.sink, Sink::Nowhere).finish().err();
                }
            }
            Sink::Nowhere => {}
        }
    }

    /// Packets that a disk was too slow for; none, unless it is written in the background.
    pub(crate) fn left_out(&self) -> u64 {
        match &self.sink {
            Sink::Background(background) => background.left_out(),
            Sink::Here(_) | Sink::Nowhere => 0,
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
        self.failed.take().map_or_else(|| self.sink.finish(), Err).map_err(|error| refused(&self.path, error))
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
