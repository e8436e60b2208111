//! Series that a sender recorded itself: congestion windows, TCP_INFO, and what tools make of them.
//!
//! Each reader makes [`flow::Sample`]s, one a moment, and [`flow::Series`] makes them into rows; a log of windows alone goes
//! straight to [`window::Window`].
//!
//! | module | reads |
//! | --- | --- |
//! | [`cwnd`] | CSV with a congestion window whenever it changed |
//! | [`columns`] | any CSV, by the names of its columns |
//! | [`tcp_info`] | TCP_INFO as ndt7 writes it, CSV or JSON |
//! | [`ss`] | logs of `ss -ti` |
//! | [`inet_diag`] | TCP_INFO as M-Lab's tcp-info archives it |
//! | [`iperf3`], [`flent`], [`qlog`] | JSON of these; [`json`] tells them apart, and [`repair`] mends what is not quite JSON |

mod columns;
mod cwnd;
mod flent;
mod flow;
mod inet_diag;
mod iperf3;
mod json;
mod kernel_times;
mod qlog;
mod repair;
mod ss;
mod tcp_info;
mod window;

use crate::error::TraceError;
use crate::observer::{Monitor, Options, StoppedFile, Summary};
use flow::Manner;
use parshall_reading::{Input, Reader};
use parshall_records::Tables;
use std::io;
use std::path::Path;

/// The kind of a file of series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// CSV with a congestion window a row.
    Cwnd,
    /// CSV with TCP_INFO columns.
    TcpInfoCsv,
    /// JSON, or a JSON value a line: TCP_INFO objects, iperf3, flent, qlog.
    Json,
    /// qlog, a JSON value a line.
    QlogLines,
    /// A log of `ss -ti`.
    Ss,
    /// CSV whose columns the user named.
    Columns,
}

/// By the first bytes, and by whether the user named columns.
pub(crate) fn recognise(head: &[u8], options: &Options) -> Option<Kind> {
    if options.columns.is_some() {
        return (!head.is_empty()).then_some(Kind::Columns);
    }
    let start = head.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if qlog::recognise_lines(&head[start..]) {
        return Some(Kind::QlogLines);
    }
    let text = String::from_utf8_lossy(head);
    // A bracket may also be around the time of a log.
    if head[start] == b'{' || head[start] == b'[' && !ss::recognise(&text) {
        return Some(Kind::Json);
    }
    let line = text.split(['\n', '\r']).next()?;
    let names: Vec<&str> = line.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let has = |accepted: &[&str]| names.iter().any(|name| accepted.contains(name));
    if has(cwnd::TIME) && has(cwnd::WINDOW) {
        Some(Kind::Cwnd)
    } else if has(&["SndCwnd"]) && has(&["RTT"]) {
        Some(Kind::TcpInfoCsv)
    } else {
        let ss = ss::recognise(&text).then_some(Kind::Ss);
        ss.or_else(|| repair::preface(head).map(|_| Kind::Json))
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
    let path = source.path;
    // Samples that a tool took now and then are rows as they are; what is logged at every change is thinned.
    let sampled = Manner { rtt_s: options.rtt_s, every_s: None, holds: false };
    let logged = Manner { every_s: Some(options.sample_every_s.unwrap_or(f64::INFINITY)), ..sampled };
    let mut summary = match kind {
        Kind::Cwnd => cwnd::observe(source, options, tables, monitor)?,
        Kind::TcpInfoCsv => tcp_info::observe_csv(path, source.input, sampled, tables)?,
        Kind::Json => json::observe(path, source.input, sampled, logged, tables)?,
        Kind::QlogLines => qlog::observe_lines(path, source.input, logged, tables, monitor)?,
        Kind::Ss => ss::observe(path, source.input, sampled, tables, monitor)?,
        Kind::Columns => {
            let columns = options.columns.as_deref().unwrap_or_default();
            columns::observe(path, source.input, columns, logged, tables, monitor)?
        }
    };
    (summary.files, summary.compression) = (vec![path.to_owned()], compression);
    Ok(summary)
}

/// What the flow of a series is called that has no name of its own.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "series".into(), |name| name.to_string_lossy().into_owned())
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
    fn new(path: &Path, mut input: Input, separator: u8) -> Result<(Self, csv::StringRecord), TraceError> {
        input.bound_lines(Reader::Series);
        let mut reader = csv::ReaderBuilder::new().flexible(true).delimiter(separator).from_reader(input);
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
