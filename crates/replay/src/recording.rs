//! The file of a recording: text of comma-separated values, compressed with zstd.
//!
//! The first line is `# ` and the [`Header`] as JSON, the second has the names of the columns, and each line after these is a call. The
//! last line is `# ` and the [`End`] as JSON; a file without it was cut off, and what is whole of it can be read. Any
//! reader of CSV that skips comments reads such a file. It may also be uncompressed, or compressed with gzip.
//!
//! Calls are kept in memory, up to [`MEMORY`]: a small file may have gigabytes of them in it.

use crate::call::{Call, Kind, INNER};
use crate::left_out::Watch;
use parshall_reading::{Budget, Input, Lines, Reader};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The version of the format.
const VERSION: u32 = 1;

/// Memory that the calls of a recording may take, by which it has eight million of them.
const MEMORY: u64 = 2 << 30;

/// Memory of a connection but for its calls: its place in the lists, and calls for which there is room already.
const CONNECTION_MEMORY: u64 = 256 + 4 * size_of::<Call>() as u64;

/// A longer name is none: a control of Linux has 15 letters (TCP_CA_NAME_MAX), and its recorded name is that of a scenario.
const LONGEST_NAME: usize = 64;

/// The facts on a recording that are known when it begins.
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

/// The facts that are known when it ends.
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
        /// The text that was found.
        found: String,
    },
    /// Its calls take too much memory.
    #[error("{}: line {line}: found calls that take more than {} GiB of memory; accepted: {} calls or less", path.display(), MEMORY >> 30, MEMORY / size_of::<Call>() as u64)]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line of the first call for which there is no memory.
        line: u64,
    },
}

/// A recording that was read.
#[derive(Debug)]
pub struct Recording {
    /// Its header.
    pub header: Header,
    /// The connections, each with its calls in their order.
    pub connections: Vec<Connection>,
    /// Its end; `None`: it was cut off.
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
    /// It cannot be read, is no recording, or has more calls than there is memory for.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let input = Input::open(path);
        Self::of(input.map_err(|source| RecordingError::Unreadable { path: path.into(), source })?, path)
    }

    /// Reads a file that is in memory, as [`read`](Self::read).
    ///
    /// # Errors
    /// As there.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Self, RecordingError> {
        let path = Path::new("memory");
        let input = Input::of_bytes(bytes);
        Self::of(input.map_err(|source| RecordingError::Unreadable { path: path.into(), source })?, path)
    }

    fn of(input: Input, path: &Path) -> Result<Self, RecordingError> {
        let other = |found: &str| RecordingError::Other { path: path.into(), found: found.into() };
        let mut lines = Lines::new(input, Reader::Recordings);
        let first =
            lines.next().ok_or_else(|| other("an empty file, or one that is damaged from its beginning"))?;
        let header: Header = std::str::from_utf8(first)
            .ok()
            .and_then(|text| serde_json::from_str(text.strip_prefix("# ")?).ok())
            .ok_or_else(|| other("a first line that is no header"))?;
        if header.version != VERSION {
            return Err(other(&format!("version {} of the format, not {VERSION}", header.version)));
        }
        lines.next(); // names of the columns
        let recording = Self { header, connections: Vec::new(), end: None, broken: 0 };
        let mut building = Building { recording, places: BTreeMap::new(), budget: Budget::new(MEMORY) };
        let mut number = 2;
        while let Some(line) = lines.next() {
            number += 1;
            let line = std::str::from_utf8(line).unwrap_or_default();
            if !building.add(line.trim_end_matches('\n')) {
                return Err(RecordingError::TooLong { path: path.into(), line: number });
            }
        }
        building.recording.broken += lines.too_long;
        Ok(building.recording)
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

/// A recording so far.
struct Building {
    recording: Recording,
    /// Where the connection of a flow and a port is.
    places: BTreeMap<(u32, u32), usize>,
    budget: Budget,
}

impl Building {
    /// Adds a line; `false` if there is no memory for it.
    fn add(&mut self, line: &str) -> bool {
        let recording = &mut self.recording;
        if let Some(end) = line.strip_prefix("# ").and_then(|text| serde_json::from_str(text).ok()) {
            recording.end = Some(end);
            return true;
        }
        let mut fields = line.split(',');
        let control = fields.next().filter(|name| name.len() <= LONGEST_NAME);
        let call = Call::read(fields).filter(|call| call.kind().is_some());
        let (Some(control), Some(call)) = (control, call) else {
            recording.broken += 1;
            return true;
        };
        let key = (call.flow, call.port);
        let connections = &mut recording.connections;
        let begun =
            |place: usize| connections[place].calls.iter().any(|call| call.kind() == Some(Kind::Init));
        let place = match self.places.get(&key) {
            // A port may serve again. The first ACK comes before the beginning.
            Some(place) if call.kind() != Some(Kind::Init) || !begun(*place) => *place,
            _ => {
                if !self.budget.take(CONNECTION_MEMORY) {
                    return false;
                }
                self.places.insert(key, connections.len());
                let (control, (flow, port)) = (control.to_string(), key);
                connections.push(Connection { control, flow, port, calls: Vec::new() });
                connections.len() - 1
            }
        };
        connections[place].calls.push(call);
        self.budget.take(size_of::<Call>() as u64)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of the tests' own")]
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
            (Vec::new(), "an empty file"),
            (b"\x28\xb5\x2f\xfda,b".to_vec(), "damaged from its beginning"),
            (b"a,b".to_vec(), "no header"),
            (zstd::encode_all(&b"a,b"[..], 1).unwrap(), "no header"),
            (zstd::encode_all(&br#"# {"version":9,"kernel":"7","inner":{}}"#[..], 1).unwrap(), "version 9"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = Recording::read(&path).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    const HEADER: &str = "# {\"version\":1,\"kernel\":\"7\",\"inner\":{}}\nnames\n";

    #[test]
    fn a_long_line_is_broken_and_no_more() {
        let mut line = Vec::new();
        call(1, Kind::CongAvoid).write(&mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        let text =
            format!("{HEADER}reno{line}\n{}\n{}{line}\nreno{line}\n", "a".repeat(2 << 20), "n".repeat(65));
        let read = Recording::of_bytes(text.into_bytes()).unwrap();
        assert_eq!((read.calls(), read.broken, read.controls()), (2, 2, vec!["reno"]));
    }

    #[test]
    fn calls_and_connections_are_counted_against_memory() {
        for (line, lines) in [("reno", 5), ("reno", 3)] {
            let header = Header::new("7".into(), BTreeMap::new());
            let recording = Recording { header, connections: Vec::new(), end: None, broken: 0 };
            let most = CONNECTION_MEMORY + lines * size_of::<Call>() as u64;
            let mut building = Building { recording, places: BTreeMap::new(), budget: Budget::new(most) };
            let mut add = |flow: u32| {
                let mut bytes = line.as_bytes().to_vec();
                Call { flow, ..call(1, Kind::CongAvoid) }.write(&mut bytes).unwrap();
                building.add(std::str::from_utf8(&bytes).unwrap())
            };
            assert!((0..lines).all(|_| add(0)));
            assert!(!add(0), "one call more");
            assert!(!add(1), "another connection");
        }
    }

    #[test]
    fn a_call_of_another_length_is_none() {
        assert_eq!(Call::from_memory(&[0; 8]), None);
        assert_eq!(Call::from_memory(&[0; Call::BYTES]), Some(Call::default()));
        assert_eq!(Call::BYTES % size_of::<u64>(), 0); // or C has a gap at the end of its struct
    }
}
