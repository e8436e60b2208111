//! Series that the sender's own kernel recorded: congestion windows, or TCP_INFO.
//!
//! A series is one flow. Its times are relative to its first row.

mod cwnd;
mod tcp_info;

use crate::error::TraceError;
use crate::input::Input;
use crate::observer::{Monitor, Options, Summary};
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

fn refused(path: &Path, problem: impl Into<String>) -> TraceError {
    TraceError::Refused { path: path.to_owned(), problem: problem.into() }
}
