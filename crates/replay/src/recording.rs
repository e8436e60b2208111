//! The file of a recording: text of comma-separated values, compressed with zstd.
//!
//! The first line is `# ` and the [`Header`] as JSON, the second has the names of the columns, and each line after these is a call. The
//! last line is `# ` and the [`End`] as JSON; a file without it was cut off, and what is whole of it can be read. Any reader of CSV that skips comments
//! reads such a file.

use crate::call::{Call, Kind, INNER};
use crate::left_out::Watch;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The version of the format.
const VERSION: u32 = 1;

/// What is known of a recording when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub version: u32,
    /// The kernel whose calls these are, as `uname -r` says.
    pub kernel: String,
    /// The names of the inner variables of each recorded control.
    pub inner: BTreeMap<String, Vec<String>>,
}

impl Header {
    /// One of this format.
    pub fn new(kernel: String, inner: BTreeMap<String, Vec<String>>) -> Self {
        Self { version: VERSION, kernel, inner }
    }
}

/// What is known when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Calls that it has.
    pub calls: u64,
    /// Calls for which there was no room: they are missing.
    pub dropped: u64,
    /// Calls that the kernel left out, at least: neither the control nor the recorder got them ([`LeftOut`](crate::LeftOut)).
    #[serde(default)]
    pub left_out: u64,
}

/// Writes a recording.
pub struct Writer {
    to: zstd::Encoder<'static, BufWriter<File>>,
    calls: u64,
    left_out: u64,
    watches: BTreeMap<(u32, u32), Watch>,
}

impl Writer {
    /// Creates the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let mut to = zstd::Encoder::new(BufWriter::new(File::create(path)?), 1)?;
        writeln!(to, "# {}", serde_json::to_string(header)?)?;
        write!(to, "control")?;
        Call::COLUMNS.iter().try_for_each(|name| write!(to, ",{name}"))?;
        (0..INNER).try_for_each(|number| write!(to, ",inner_{number}"))?;
        writeln!(to)?;
        Ok(Self { to, calls: 0, left_out: 0, watches: BTreeMap::new() })
    }

    /// Writes a call of that control.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, control: &str, call: &Call) -> io::Result<()> {
        self.calls += 1;
        self.left_out += self.watches.entry((call.flow, call.port)).or_default().count(call);
        write!(self.to, "{control}")?;
        call.write(&mut self.to)?;
        writeln!(self.to)
    }

    /// Writes the end; `dropped` calls are missing.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self, dropped: u64) -> io::Result<End> {
        let end = End { calls: self.calls, dropped, left_out: self.left_out };
        writeln!(self.to, "# {}", serde_json::to_string(&end)?)?;
        self.to.finish()?.flush()?;
        Ok(end)
    }
}

/// Why a recording cannot be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// There is no such file, or it cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is something else.
    #[error("{}: found {found}; accepted: a recording of `parshall emulate --record-controls`", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
}

/// A recording that was read.
#[derive(Debug)]
pub struct Recording {
    /// What it says of itself.
    pub header: Header,
    /// The connections, each with its calls in their order.
    pub connections: Vec<Connection>,
    /// How it ends; `None`: it was cut off.
    pub end: Option<End>,
    /// Lines that are no calls, such as the one in which it was cut off.
    pub broken: u64,
}

/// The calls of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The recorded control.
    pub control: String,
    /// The flow's number.
    pub flow: u32,
    /// The sender's port.
    pub port: u32,
    /// In order of time.
    pub calls: Vec<Call>,
}

impl Recording {
    /// Reads a file: all of it that is whole.
    ///
    /// # Errors
    /// It cannot be read, or is no recording.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let other = |found: &str| RecordingError::Other { path: path.into(), found: found.into() };
        let unreadable = |source| RecordingError::Unreadable { path: path.into(), source };
        let file = File::open(path).map_err(unreadable)?;
        let decoder = zstd::Decoder::new(BufReader::new(file)).map_err(unreadable)?;
        let mut lines = Lines(BufReader::new(decoder));
        let first = lines.next().ok_or_else(|| other("no file compressed with zstd, or an empty one"))?;
        let header: Header = first
            .strip_prefix("# ")
            .and_then(|text| serde_json::from_str(text).ok())
            .ok_or_else(|| other("a first line that is no header"))?;
        if header.version != VERSION {
            return Err(other(&format!("version {} of the format, not {VERSION}", header.version)));
        }
        lines.next(); // names of the columns
        let mut recording = Self { header, connections: Vec::new(), end: None, broken: 0 };
        let mut places = BTreeMap::new();
        for line in lines {
            recording.add(&line, &mut places);
        }
        Ok(recording)
    }

    fn add(&mut self, line: &str, places: &mut BTreeMap<(u32, u32), usize>) {
        if let Some(end) = line.strip_prefix("# ").and_then(|text| serde_json::from_str(text).ok()) {
            self.end = Some(end);
            return;
        }
        let mut fields = line.split(',');
        let control = fields.next().unwrap_or_default();
        let Some(call) = Call::read(fields).filter(|call| call.kind().is_some()) else {
            self.broken += 1;
            return;
        };
        let key = (call.flow, call.port);
        let begun =
            |place: usize| self.connections[place].calls.iter().any(|call| call.kind() == Some(Kind::Init));
        let place = match places.get(&key) {
            // A port may serve again. The first ACK comes before the beginning.
            Some(place) if call.kind() != Some(Kind::Init) || !begun(*place) => *place,
            _ => {
                places.insert(key, self.connections.len());
                let (control, (flow, port)) = (control.to_string(), key);
                self.connections.push(Connection { control, flow, port, calls: Vec::new() });
                self.connections.len() - 1
            }
        };
        self.connections[place].calls.push(call);
    }

    /// The controls of which it has calls.
    pub fn controls(&self) -> Vec<&str> {
        let names: BTreeSet<_> = self.connections.iter().map(|connection| &*connection.control).collect();
        names.into_iter().collect()
    }

    /// Calls that can be replayed.
    pub fn calls(&self) -> usize {
        self.connections.iter().map(|connection| connection.calls.len()).sum()
    }
}

/// Whole lines, up to the first that cannot be read: of a file that was cut off, the rest cannot be uncompressed.
struct Lines<R>(R);

impl<R: BufRead> Iterator for Lines<R> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end_matches('\n').to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(time_ns: u64, kind: Kind) -> Call {
        let place = Kind::ALL.iter().position(|(each, _)| *each == kind).unwrap();
        Call { time_ns, kind: place as u32, rtt_us: -1, inner: [7; INNER], ..Call::default() }
    }

    fn written(directory: &Path) -> PathBuf {
        let path = directory.join("calls.csv.zst");
        let mut writer = Writer::create(&path, &Header::new("6.18".into(), BTreeMap::new())).unwrap();
        writer.write("reno", &call(1, Kind::Init)).unwrap();
        for time in 2..20_000 {
            writer.write("reno", &call(time, Kind::CongAvoid)).unwrap();
        }
        writer.finish(3).unwrap();
        path
    }

    #[test]
    fn what_was_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let read = Recording::read(&written(directory.path())).unwrap();
        assert_eq!((read.calls(), read.connections.len(), read.broken), (19_999, 1, 0));
        assert_eq!(read.connections[0].calls[0], call(1, Kind::Init));
        assert_eq!(read.end, Some(End { calls: 19_999, dropped: 3, left_out: 0 }));
    }

    #[test]
    fn what_is_whole_of_a_recording_that_was_cut_off_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = written(directory.path());
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let read = Recording::read(&path).unwrap();
        assert_eq!(read.end, None);
        assert!((1000..19_000).contains(&read.calls()), "{}", read.calls());
    }

    #[test]
    fn other_files_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("other");
        for (bytes, said) in [
            (b"a,b".to_vec(), "no file compressed with zstd"),
            (zstd::encode_all(&b"a,b"[..], 1).unwrap(), "no header"),
            (zstd::encode_all(&br#"# {"version":9,"kernel":"7","inner":{}}"#[..], 1).unwrap(), "version 9"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = Recording::read(&path).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_call_of_another_length_is_none() {
        assert_eq!(Call::from_memory(&[0; 8]), None);
        assert_eq!(Call::from_memory(&[0; Call::BYTES]), Some(Call::default()));
        assert_eq!(Call::BYTES % size_of::<u64>(), 0); // or C has a gap at the end of its struct
    }
}
