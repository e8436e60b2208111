//! qlog: what a QUIC sender logged of its recovery, as a JSON document or as a JSON value a line (NDJSON, JSON-SEQ).
//!
//! | event, with or without its category | what is used | unit |
//! | --- | --- | --- |
//! | `metrics_updated`, `recovery_metrics_updated`, `metric_update`, `congestion_metric_update` | `congestion_window`, `cwnd` or `current_cwnd`, `bytes_in_flight`, `ssthresh` | bytes |
//! | | `smoothed_rtt`, `min_rtt` | as times |
//! | `parameters_set`, `recovery_parameters_set` | `max_datagram_size`: bytes become packets of it | bytes |
//! | `mtu_updated` | `mtu` or `new`, the same | bytes |
//! | `packet_sent`, `packet_lost` | counted | |
//! | `packets_lost` | `lost_packets`, counted | |
//!
//! An update says what changed; the rest stays. Times are in ms, or in what `time_units` says (drafts up to 02), also those of round
//! trips; they are absolute, relative, or each since the last (`time_format`), numbers or text. Each trace of a document is a flow.
//!
//! The events that implementations write, by their source:
//!
//! | implementation | qlog | events | times | window |
//! | --- | --- | --- | --- | --- |
//! | aioquic 1 | 0.3, JSON | objects | ms since 1970 | `cwnd` |
//! | aioquic 0.8 | draft-01, JSON | arrays | ms as text | `cwnd`, event `metric_update` |
//! | picoquic | draft-00, JSON | arrays | us | `cwnd` |
//! | mvfst | draft-00, JSON | arrays | us as text | `current_cwnd`, event `congestion_metric_update` |
//! | quic-go | draft-02, NDJSON; 0.3, JSON-SEQ | arrays; objects | ms | `congestion_window` |
//! | ngtcp2 | 0.3, JSON-SEQ | objects | ms | `congestion_window` |
//! | quiche, neqo | 0.3 and later, JSON-SEQ | objects | ms | `congestion_window` |
//!
//! Reference: R. Marx, L. Niccolini, M. Seemann, L. Pardue, qlog: Structured Logging for Network Protocols, and QUIC event
//! definitions for qlog, draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events; draft-marx-qlog-main-schema-01
//! for events that are arrays.

use super::flow::{self, Manner, Sample, Series, MAX_FLOWS};
use super::json::{as_number, number};
use super::{file_name, refused, stopped};
use crate::error::TraceError;
use crate::observer::{Monitor, Summary};
use parshall_reading::{json, Budget, Input, Lines, Reader};
use parshall_records::Tables;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// Where a trace does not say: the initial value of RFC 9002 §B.2 on most networks, and QUIC's smallest.
const DATAGRAM_BYTES: f64 = 1200.0;

/// RFC 7464: what a value of JSON-SEQ begins with.
const RECORD_SEPARATOR: u8 = 0x1e;

/// Memory that the value of a line may take; an event takes some kilobytes.
const LINE_MEMORY: u64 = 64 << 20;

/// The most fields that an event which is an array may have; the format has four.
const MAX_FIELDS: usize = 64;

/// A text with more lines that are no JSON is no log from there on.
const MAX_UNUSABLE: u64 = 1000;

/// True if a text of lines begins as such a log.
pub(super) fn recognise_lines(head: &[u8]) -> bool {
    let line =
        head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    line.first() == Some(&RECORD_SEPARATOR)
        || json::value(line, &Budget::new(LINE_MEMORY))
            .is_ok_and(|value| is_header(&value) && value.get("traces").is_none())
}

fn is_header(value: &Value) -> bool {
    ["qlog_version", "qlog_format", "file_schema"].iter().any(|key| value.get(key).is_some())
}

/// True if a JSON value is such a document.
pub(super) fn recognise(value: &Value) -> bool {
    value.get("traces").is_some_and(Value::is_array) || is_header(value)
}

#[derive(Default)]
pub(super) struct Log {
    traces: Vec<Trace>,
    unusable: u64,
}

/// A trace so far.
struct Trace {
    series: Series,
    clock: Clock,
    now_ms: f64,
    datagram_bytes: Option<f64>,
    /// The largest packet sent before the first window was told.
    largest_sent: f64,
    state: State,
    counted: bool,
}

/// How times are meant.
#[derive(Clone, Debug)]
struct Clock {
    unit_ms: f64,
    since_last: bool,
    /// Where an event's parts are, if events are arrays: time, category, name, data.
    fields: Option<Vec<String>>,
}

/// The last values.
#[derive(Default)]
struct State {
    cwnd_bytes: Option<f64>,
    in_flight_bytes: Option<f64>,
    ssthresh_bytes: Option<f64>,
    srtt_s: Option<f64>,
    min_rtt_s: Option<f64>,
    sent: u64,
    lost: u64,
    origin_ms: Option<f64>,
}

impl Log {
    /// A document, with all its traces.
    pub(super) fn document(
        &mut self,
        value: &Value,
        manner: Manner,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        for trace in value.get("traces").and_then(Value::as_array).into_iter().flatten().take(MAX_FLOWS) {
            self.begin(trace, manner);
            for event in trace.get("events").and_then(Value::as_array).into_iter().flatten() {
                self.event(event, tables)?;
            }
        }
        Ok(())
    }

    /// A trace begins whose description is this.
    fn begin(&mut self, description: &Value, manner: Manner) {
        let common = description.get("common_fields");
        let text = |value: Option<&Value>, key: &str| value?.get(key)?.as_str().map(str::to_owned);
        let title = text(Some(description), "title").or_else(|| text(common, "ODCID")).unwrap_or_default();
        let format = text(common, "time_format").unwrap_or_default();
        let units = text(description.get("configuration"), "time_units")
            .or_else(|| text(common, "time_units"))
            .unwrap_or_default();
        let names = description.get("event_fields").and_then(Value::as_array);
        let clock = Clock {
            unit_ms: match units.as_str() {
                "s" => 1e3,
                "us" => 1e-3,
                "ns" => 1e-6,
                _ => 1.0,
            },
            since_last: format == "delta" || format == "relative_to_previous_event",
            fields: names.map(|names| {
                let text = |name: &Value| {
                    name.as_str().map(|name| name.chars().take(64).collect::<String>().to_lowercase())
                };
                names.iter().take(MAX_FIELDS).map(|name| text(name).unwrap_or_default()).collect()
            }),
        };
        let name: String = title.chars().take(200).collect();
        self.traces.push(Trace {
            series: Series::new(name, self.traces.len() as u32, Manner { holds: true, ..manner }),
            clock,
            now_ms: 0.0,
            datagram_bytes: None,
            largest_sent: DATAGRAM_BYTES,
            state: State::default(),
            counted: false,
        });
    }

    fn event(&mut self, event: &Value, tables: &mut Tables) -> Result<(), TraceError> {
        let Some(trace) = self.traces.last_mut() else { return Ok(()) };
        self.unusable += u64::from(!trace.event(event, tables)?);
        Ok(())
    }

    /// The flows, and how many events could not be used.
    pub(super) fn finish(self, path: &Path, summary: &mut Summary) -> (Vec<Series>, u64) {
        let assumed = |trace: &&Trace| trace.state.cwnd_bytes.is_some() && trace.datagram_bytes.is_none();
        if let Some(trace) = self.traces.iter().find(assumed) {
            let bytes = trace.largest_sent;
            let why = if bytes > DATAGRAM_BYTES { ", the largest that was sent before" } else { "" };
            summary.remarks.push(format!(
                "the log does not say how large a datagram is (max_datagram_size): windows are in packets of {bytes} \
                 bytes{why}"
            ));
        }
        let series = self.traces.into_iter().map(|mut trace| {
            if trace.series.name.is_empty() {
                trace.series.name = file_name(path);
            }
            trace.series
        });
        (series.collect(), self.unusable)
    }
}

impl Trace {
    /// Takes an event; whether its time could be used, if it needs one.
    fn event(&mut self, event: &Value, tables: &mut Tables) -> Result<bool, TraceError> {
        let (time, name, data) = match (&self.clock.fields, event) {
            (Some(fields), Value::Array(parts)) => {
                let part =
                    |names: &[&str]| parts.get(fields.iter().position(|field| names.contains(&&**field))?);
                let time =
                    part(&["relative_time", "time", "delta_time", "reference_time"]).and_then(as_number);
                (time, part(&["event", "event_type", "name"]), part(&["data"]))
            }
            _ => (number(event, "time"), event.get("name"), event.get("data")),
        };
        let Some(time) = time else { return Ok(false) };
        let time_ms = time * self.clock.unit_ms;
        self.now_ms = if self.clock.since_last { self.now_ms + time_ms } else { time_ms };
        let (Some(name), Some(data)) = (name.and_then(Value::as_str), data) else { return Ok(true) };
        // `recovery:metrics_updated`, `quic:recovery_metrics_updated`, `metrics_updated`.
        let name = name.rsplit(':').next().unwrap_or(name).to_lowercase();
        let datagram = |key: &str| number(data, key).filter(|bytes| (1.0..=65_536.0).contains(bytes));
        match name.strip_prefix("recovery_").unwrap_or(&name) {
            "parameters_set" => {
                self.datagram_bytes = datagram("max_datagram_size").or(self.datagram_bytes);
            }
            "mtu_updated" => {
                self.datagram_bytes = datagram("mtu").or_else(|| datagram("new")).or(self.datagram_bytes);
            }
            "packet_sent" => {
                self.state.sent += 1;
                self.counted = true;
                if self.state.cwnd_bytes.is_none() {
                    self.largest_sent = self.largest_sent.max(sent_bytes(data).unwrap_or(0.0));
                }
            }
            "packet_lost" => {
                self.state.lost += 1;
                self.counted = true;
            }
            "packets_lost" => {
                self.state.lost += number(data, "lost_packets").map_or(1, |packets| packets as u64);
                self.counted = true;
            }
            "metrics_updated" | "metric_update" | "congestion_metric_update" => {
                return self.updated(data, tables);
            }
            _ => {}
        }
        Ok(true)
    }

    fn updated(&mut self, data: &Value, tables: &mut Tables) -> Result<bool, TraceError> {
        let state = &mut self.state;
        let unit_s = self.clock.unit_ms * 1e-3;
        let seconds = |key: &str| number(data, key).map(|time| time * unit_s);
        let window =
            ["congestion_window", "cwnd", "current_cwnd"].into_iter().find_map(|key| number(data, key));
        state.cwnd_bytes = window.or(state.cwnd_bytes);
        state.in_flight_bytes = number(data, "bytes_in_flight").or(state.in_flight_bytes);
        state.ssthresh_bytes = number(data, "ssthresh").or(state.ssthresh_bytes);
        state.srtt_s = seconds("smoothed_rtt").or(state.srtt_s);
        state.min_rtt_s = seconds("min_rtt").filter(|rtt_s| *rtt_s < 1e6).or(state.min_rtt_s);
        if state.cwnd_bytes.is_none() && state.srtt_s.is_none() {
            return Ok(true);
        }
        let origin_ms = *state.origin_ms.get_or_insert(self.now_ms);
        let packet = self.datagram_bytes.unwrap_or(self.largest_sent);
        let packets = |bytes: Option<f64>| bytes.map(|bytes| bytes / packet);
        let count = |number: u64| self.counted.then_some(number as f64);
        let sample = Sample {
            time_s: (self.now_ms - origin_ms) * 1e-3,
            cwnd_packets: packets(state.cwnd_bytes),
            in_flight_packets: packets(state.in_flight_bytes),
            // Some write the largest number for none.
            ssthresh_packets: packets(state.ssthresh_bytes.filter(|bytes| *bytes < 1e15)),
            srtt_s: state.srtt_s,
            min_rtt_s: state.min_rtt_s,
            packets_sent: count(state.sent),
            packets_lost: count(state.lost),
            ..Sample::default()
        };
        self.series.push(&sample, tables)
    }
}

/// Bytes of a packet that is sent, by the names of the drafts.
fn sent_bytes(data: &Value) -> Option<f64> {
    let header = data.get("header");
    let length = data.get("raw").and_then(|raw| number(raw, "length"));
    length
        .or_else(|| number(header?, "packet_size"))
        .or_else(|| number(data, "packet_size"))
        .filter(|bytes| *bytes <= 65_536.0)
}

/// A log of lines: a description of the trace, then an event each.
pub(super) fn observe_lines(
    path: &Path,
    input: Input,
    manner: Manner,
    tables: &mut Tables,
    monitor: &Monitor,
) -> Result<Summary, TraceError> {
    let mut lines = Lines::new(input, Reader::QlogLines);
    let mut log = Log::default();
    let (mut count, mut no_json) = (0u64, 0u64);
    while let Some(line) = lines.next() {
        count += 1;
        if count.is_multiple_of(4096) {
            monitor.frames.store(count, Relaxed);
            if monitor.cancel.load(Relaxed) {
                return Err(TraceError::Interrupted);
            }
        }
        let line = line.strip_prefix(&[RECORD_SEPARATOR]).unwrap_or(line).trim_ascii();
        if line.is_empty() {
            continue;
        }
        match json::value(line, &Budget::new(LINE_MEMORY)) {
            Ok(value) if log.traces.is_empty() || is_header(&value) => {
                if log.traces.len() < MAX_FLOWS {
                    log.begin(value.get("trace").unwrap_or(&value), manner);
                }
            }
            Ok(value) => log.event(&value, tables)?,
            Err(_) => no_json += 1,
        }
        if no_json >= MAX_UNUSABLE {
            lines.stopped = Some((lines.used(), format!("{MAX_UNUSABLE} lines that are no JSON")));
            break;
        }
    }
    let mut summary = Summary { format: "qlog", ..Summary::default() };
    for (number, words) in [
        (no_json, "lines are no JSON; they were passed over"),
        (lines.too_long, "lines are longer than 1 MiB; they were passed over"),
    ] {
        if number > 0 {
            summary.remarks.push(format!("{number} {words}"));
        }
    }
    let (flows, unusable) = log.finish(path, &mut summary);
    let flows: Vec<Series> = flows.into_iter().filter(|series| series.samples > 0).collect();
    if flows.is_empty() {
        return Err(refused(
            path,
            "found a qlog without an event metrics_updated that has congestion_window (or cwnd), or smoothed_rtt; accepted: one with such events",
        ));
    }
    flow::finish(flows, unusable, tables, &mut summary)?;
    stopped(path, lines.stopped.as_ref(), &mut summary);
    Ok(summary)
}
