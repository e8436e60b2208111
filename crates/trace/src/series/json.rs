//! JSON, one value or one a line, of which what it holds tells what it is. `sampled` is for samples that a tool took at
//! intervals, `logged` for what was logged whenever it changed.

use super::flow::{self, Manner};
use super::{flent, iperf3, qlog, refused, stopped, tcp_info};
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
    Iperf3(iperf3::Test),
    Flent(flent::Test),
    Qlog(qlog::Log),
}

impl Found {
    fn of(value: &Value) -> Self {
        if iperf3::recognise(value) {
            Self::Iperf3(iperf3::Test::default())
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
    let bytes = input.document(Reader::JsonLogs).ok_or_else(|| {
        let most = Reader::JsonLogs.limits().document.unwrap_or_default() >> 20;
        refused(
            path,
            format!("found JSON of more than {most} MiB; accepted: {most} MiB or less, or a value a line"),
        )
    })?;
    let budget = Budget::new(MEMORY);
    let mut found = Found::default();
    let mut stop = None;
    let mut values = Values::new(&bytes, &budget);
    let mut begins = 0;
    while let Some(value) = values.next() {
        match value {
            Ok(value) => found.take(&value, sampled, logged, tables)?,
            Err(Broken { byte, reason }) => {
                whole_objects(&bytes[begins..byte.max(begins)], &budget, |value| {
                    found.take(value, sampled, logged, tables)
                })?;
                stop = Some((byte as u64, problem.text().unwrap_or(reason)));
                break;
            }
        }
        begins = values.byte();
    }
    // What decompression ends with may look like the end of a line.
    let stop = stop.or_else(|| problem.text().map(|reason| (bytes.len() as u64, reason)));
    let mut summary = Summary::default();
    let (format, flows, unusable, nothing) = match found {
        Found::Nothing => ("json", Vec::new(), 0, NO_SAMPLE),
        Found::TcpInfo(series) => {
            let nothing = NO_SAMPLE;
            let (flows, unusable) = series.finish(path);
            ("tcp_info", flows, unusable, nothing)
        }
        Found::Iperf3(test) => ("iperf3", test.finish(&mut summary), 0, "no interval of a TCP stream"),
        Found::Flent(test) => ("flent", test.finish(&mut summary), 0, "no series of a TCP flow"),
        Found::Qlog(log) => {
            let (flows, unusable) = log.finish(path, &mut summary);
            ("qlog", flows, unusable, "no event with congestion_window")
        }
    };
    if flows.iter().all(|series| series.samples == 0) {
        let problem = match &stop {
            Some((byte, reason)) => format!("byte {byte}: found {reason}; before it {nothing}; {ACCEPTED}"),
            None => format!("JSON with {nothing}; {ACCEPTED}"),
        };
        return Err(refused(path, problem));
    }
    summary.format = format;
    let flows = flows.into_iter().filter(|series| series.samples > 0).collect();
    flow::finish(flows, unusable, tables, &mut summary)?;
    stopped(path, stop.as_ref(), &mut summary);
    Ok(summary)
}

/// Of a value that breaks off: the objects without others in them, of which all is there.
fn whole_objects(
    bytes: &[u8],
    budget: &Budget,
    mut take: impl FnMut(&Value) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let (mut innermost, mut quoted, mut escaped) = (None, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' => innermost = Some(at),
            b'}' => {
                budget.renew();
                if let Some(Ok(value)) = innermost.take().map(|start| json::value(&bytes[start..=at], budget))
                {
                    take(&value)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A number at a key, also if it is written as text.
pub(super) fn number(value: &Value, key: &str) -> Option<f64> {
    let value = value.get(key)?;
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}
