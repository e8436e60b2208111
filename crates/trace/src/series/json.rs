//! JSON, one value or one a line, of which what it holds tells what it is. `sampled` is for samples that a tool took at
//! intervals, `logged` for what was logged whenever it changed.

use super::flow::{self, Manner};
use super::{flent, inet_diag, iperf3, qlog, refused, repair, stopped, tcp_info};
use crate::error::TraceError;
use crate::observer::Summary;
use parshall_reading::json::{self, Broken, Values};
use parshall_reading::{Budget, Input, Reader};
use parshall_records::Tables;
use serde_json::Value;
use std::path::Path;

/// Memory that a value may take. A log of qlog of 64 MiB takes about 0.8 GiB.
const MEMORY: u64 = 1 << 30;

/// What is accepted, for messages.
const ACCEPTED: &str = "accepted: TCP_INFO samples with ElapsedTime, SndCwnd and RTT, iperf3 -J, flent, qlog";

const NO_SAMPLE: &str = "no TCP_INFO sample with ElapsedTime, SndCwnd and RTT";

/// What was found so far; the first value with anything in it says which format it is.
#[derive(Default)]
enum Found {
    #[default]
    Nothing,
    TcpInfo(Box<tcp_info::Samples>),
    Archive(inet_diag::Archive),
    Iperf3(iperf3::Test),
    Flent(flent::Test),
    Qlog(qlog::Log),
}

impl Found {
    fn of(value: &Value) -> Self {
        if iperf3::recognise(value) {
            Self::Iperf3(iperf3::Test::default())
        } else if inet_diag::recognise(value) {
            Self::Archive(inet_diag::Archive::default())
        } else if flent::recognise(value) {
            Self::Flent(flent::Test::default())
        } else if qlog::recognise(value) {
            Self::Qlog(qlog::Log::default())
        } else {
            Self::TcpInfo(Box::default())
        }
    }

    fn take(
        &mut self,
        value: &Value,
        sampled: Manner,
        logged: Manner,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        if matches!(self, Self::Nothing) {
            *self = Self::of(value);
        }
        match self {
            Self::Nothing => Ok(()),
            Self::TcpInfo(series) => series.take(value, sampled, tables),
            Self::Archive(archive) => archive.take(value, sampled, tables),
            Self::Iperf3(test) => test.take(value, sampled, tables),
            Self::Flent(test) => test.take(value, sampled, tables),
            Self::Qlog(log) => log.document(value, logged, tables),
        }
    }
}

pub(super) fn observe(
    path: &Path,
    mut input: Input,
    sampled: Manner,
    logged: Manner,
    tables: &mut Tables,
) -> Result<Summary, TraceError> {
    let problem = input.problem();
    let mut bytes = input.document(Reader::JsonLogs).ok_or_else(|| {
        let most = Reader::JsonLogs.limits().document.unwrap_or_default() >> 20;
        refused(
            path,
            format!("found JSON of more than {most} MiB; accepted: {most} MiB or less, or a value a line"),
        )
    })?;
    let budget = Budget::new(MEMORY);
    let mut summary = Summary::default();
    let mut begins = passed_over(&bytes, &mut summary);
    let mut found = Found::default();
    let mut no_numbers = None;
    let mut stop = None;
    while let Err(Broken { byte, reason }) =
        values(&bytes, &mut begins, &budget, |value| found.take(value, sampled, logged, tables))?
    {
        if no_numbers.is_none() {
            let count = repair::blank_no_numbers(&mut bytes[begins..]);
            no_numbers = Some(count);
            if count > 0 {
                continue;
            }
        }
        budget.renew();
        let left = repair::closed(&bytes[begins..byte.max(begins)]);
        if let Some(Ok(value)) = left.map(|text| json::value(&text, &budget)) {
            found.take(&value, sampled, logged, tables)?;
        }
        stop = Some((byte as u64, problem.text().unwrap_or(reason)));
        break;
    }
    if let Some(count @ 1..) = no_numbers {
        summary.remarks.push(format!("{count} numbers are none (nan, inf); they were taken as unknown"));
    }
    // What decompression ends with may look like the end of a line.
    let stop = stop.or_else(|| problem.text().map(|reason| (bytes.len() as u64, reason)));
    let (format, flows, unusable, nothing) = match found {
        Found::Nothing => ("json", Vec::new(), 0, NO_SAMPLE),
        Found::TcpInfo(series) => {
            let (flows, unusable) = series.finish(path);
            ("tcp_info", flows, unusable, NO_SAMPLE)
        }
        Found::Archive(archive) => {
            let (flows, unusable) = archive.finish();
            ("tcp_info", flows, unusable, "no TCP_INFO with a time")
        }
        Found::Iperf3(test) => ("iperf3", test.finish(&mut summary), 0, "no interval of a TCP stream"),
        Found::Flent(test) => ("flent", test.finish(&mut summary), 0, "no series of a TCP flow"),
        Found::Qlog(log) => {
            let (flows, unusable) = log.finish(path, &mut summary);
            ("qlog", flows, unusable, "no event with congestion_window")
        }
    };
    if flows.iter().all(|series| series.samples == 0) {
        let problem = match (&stop, summary.remarks.as_slice()) {
            (Some((byte, reason)), _) => {
                format!("byte {byte}: found {reason}; before it {nothing}; {ACCEPTED}")
            }
            (None, []) => format!("JSON with {nothing}; {ACCEPTED}"),
            (None, remarks) => format!("JSON with {nothing}: {}; {ACCEPTED}", remarks.join("; ")),
        };
        return Err(refused(path, problem));
    }
    summary.format = format;
    let flows = flows.into_iter().filter(|series| series.samples > 0).collect();
    flow::finish(flows, unusable, tables, &mut summary)?;
    stopped(path, stop.as_ref(), &mut summary);
    Ok(summary)
}

/// Calls `take` with each whole value from `begins` on, which moves on behind it; what the first that is none is like.
fn values(
    bytes: &[u8],
    begins: &mut usize,
    budget: &Budget,
    mut take: impl FnMut(&Value) -> Result<(), TraceError>,
) -> Result<Result<(), Broken>, TraceError> {
    let start = *begins;
    let mut values = Values::new(&bytes[start..], budget);
    while let Some(value) = values.next() {
        match value {
            Ok(value) => take(&value)?,
            Err(Broken { byte, reason }) => return Ok(Err(Broken { byte: start + byte, reason })),
        }
        *begins = start + values.byte();
    }
    Ok(Ok(()))
}

/// Where the first value begins, behind lines that are no JSON, as warnings of the tool that wrote it.
fn passed_over(bytes: &[u8], summary: &mut Summary) -> usize {
    let start = repair::preface(bytes).unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..start]);
    let Some(line) = text.lines().map(str::trim).find(|line| !line.is_empty()) else { return 0 };
    if line.starts_with(['{', '[']) {
        return 0;
    }
    let shown: String = line.chars().take(60).collect();
    summary.remarks.push(format!("what stands before the JSON was passed over: \"{shown}\""));
    start
}

/// A number at a key, also if it is written as text.
pub(super) fn number(value: &Value, key: &str) -> Option<f64> {
    as_number(value.get(key)?)
}

/// A number, also if it is written as text.
pub(super) fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}
