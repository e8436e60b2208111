//! Series that the sender's own kernel recorded: congestion windows, or TCP_INFO.
//!
//! A series is one flow. Its times are relative to its first row.

mod cwnd;
mod tcp_info;

use crate::error::TraceError;
use crate::input::Input;
use crate::observer::{Monitor, Options, StoppedFile, Summary};
use parshall_records::Tables;
use std::io;
use std::path::Path;

/// What kind of series a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// CSV with a congestion window a row.
    Cwnd,
    /// CSV with TCP_INFO columns.
    TcpInfoCsv,
    /// JSON, or a JSON value a line, with TCP_INFO objects.
    TcpInfoJson,
}

/// By the first bytes.
pub(crate) fn recognise(head: &[u8]) -> Option<Kind> {
    let start = head.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if matches!(head[start], b'{' | b'[') {
        return Some(Kind::TcpInfoJson);
    }
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let text = std::str::from_utf8(line).ok()?;
    let names: Vec<&str> = text.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let has = |accepted: &[&str]| names.iter().any(|name| accepted.contains(name));
    if has(cwnd::TIME) && has(cwnd::WINDOW) {
        Some(Kind::Cwnd)
    } else if has(&["SndCwnd"]) && has(&["RTT"]) {
        Some(Kind::TcpInfoCsv)
    } else {
        None
    }
}

/// A file with a series.
pub(crate) struct Source<'a, F> {
    pub(crate) path: &'a Path,
    pub(crate) input: Input,
    /// Opens it a second time, where one reading is not enough.
    pub(crate) again: F,
}

/// Observes a series.
pub(crate) fn observe<F: FnOnce() -> io::Result<Input>>(
    kind: Kind,
    source: Source<'_, F>,
    options: &Options,
    tables: &mut Tables,
    monitor: &Monitor,
) -> Result<Summary, TraceError> {
    let compression = source.input.compression().to_vec();
    let files = vec![source.path.to_owned()];
    let mut summary = match kind {
        Kind::Cwnd => cwnd::observe(source, options, tables, monitor)?,
        Kind::TcpInfoCsv => tcp_info::observe_csv(source.path, source.input, tables)?,
        Kind::TcpInfoJson => tcp_info::observe_json(source.path, source.input, tables)?,
    };
    (summary.files, summary.compression, summary.flows) = (files, compression, 1);
    Ok(summary)
}

/// With more rows that are no numbers, a file is no series from there on.
const MAX_UNUSABLE: u64 = 1000;

/// Reads rows of a CSV file as far as they are whole.
struct Records {
    reader: csv::Reader<Input>,
    record: csv::StringRecord,
    /// Rows that were passed over.
    unusable: u64,
    /// Where the rows that were used end, and why there.
    used: u64,
    stopped: Option<(u64, String)>,
}

impl Records {
    fn new(path: &Path, mut input: Input) -> Result<(Self, csv::StringRecord), TraceError> {
        input.bound_lines();
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let header = reader.headers().map_err(|error| refused(path, error.to_string()))?.clone();
        let used = reader.position().byte();
        Ok((Self { reader, record: csv::StringRecord::new(), unusable: 0, used, stopped: None }, header))
    }

    /// The next row. The last row of a stream that broke off is left out unless its line is complete: half a number is a
    /// number.
    fn next(&mut self) -> Option<&csv::StringRecord> {
        while self.stopped.is_none() {
            if self.unusable >= MAX_UNUSABLE {
                self.stopped = Some((self.used, format!("{MAX_UNUSABLE} rows that are no numbers")));
                break;
            }
            match self.reader.read_record(&mut self.record) {
                Ok(true) => {
                    let (at, input) = (self.reader.position().byte(), self.reader.get_ref());
                    let cut = at >= input.given() && !input.at_line_end();
                    if let Some(reason) = input.problem().text().filter(|_| cut) {
                        self.stopped = Some((self.used, reason));
                        break;
                    }
                    self.used = at;
                    return Some(&self.record);
                }
                Ok(false) => {
                    self.stopped = self.reader.get_ref().problem().text().map(|reason| (self.used, reason));
                    break;
                }
                Err(_) => self.unusable += 1,
            }
        }
        None
    }

    /// Says in the summary where reading stopped.
    fn report(&self, path: &Path, summary: &mut Summary) {
        stopped(path, self.stopped.as_ref(), summary);
    }
}

fn stopped(path: &Path, stop: Option<&(u64, String)>, summary: &mut Summary) {
    if let Some((byte, reason)) = stop {
        let (file, reason) = (path.to_owned(), reason.clone());
        summary.stopped.push(StoppedFile { file, byte: *byte, reason });
    }
}

fn refused(path: &Path, problem: impl Into<String>) -> TraceError {
    TraceError::Refused { path: path.to_owned(), problem: problem.into() }
}
