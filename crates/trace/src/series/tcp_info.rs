//! TCP_INFO of the sender's kernel at intervals: CSV with its columns, or JSON as ndt7 servers and clients write it.
//!
//! | name | what | unit |
//! | --- | --- | --- |
//! | `ElapsedTime` | since the start; without it the rows are not placed in time, and refused | us |
//! | `SndCwnd`, `SndSsThresh`, `Unacked`, `TotalRetrans`, `SegsOut` | as in Linux's `struct tcp_info` | packets |
//! | `RTT`, `MinRTT` | | us |
//! | `BytesAcked` | | bytes |
//!
//! Samples are far more than a round trip apart, so there are no windows per round trip.

use super::{refused, stopped, Records};
use crate::error::TraceError;
use crate::input::Input;
use crate::observer::{read_limited, Summary};
use parshall_records::{FlowRow, FlowSampleRow, RecordsError, Tables};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// JSON is read at once; ndt7 results are below 1 MB.
const MAX_JSON: u64 = 64 << 20;

/// A threshold from here on is none.
const NO_THRESHOLD: f64 = 2_147_483_647.0;

/// Names that are used.
const NAMES: [&str; 9] = [
    "ElapsedTime",
    "SndCwnd",
    "SndSsThresh",
    "Unacked",
    "TotalRetrans",
    "SegsOut",
    "RTT",
    "MinRTT",
    "BytesAcked",
];

/// One sample, by name.
type Sample = HashMap<&'static str, f64>;

pub(super) fn observe_csv(path: &Path, input: Input, tables: &mut Tables) -> Result<Summary, TraceError> {
    let (mut records, header) = Records::new(path, input)?;
    let columns: Vec<(usize, &'static str)> = NAMES
        .iter()
        .filter_map(|name| Some((header.iter().position(|column| column.trim() == *name)?, *name)))
        .collect();
    let mut series = Series::default();
    while let Some(record) = records.next() {
        let number = |at: usize| record.get(at)?.trim().parse().ok().filter(|value: &f64| value.is_finite());
        let sample: Sample = columns.iter().filter_map(|&(at, name)| Some((name, number(at)?))).collect();
        records.unusable += u64::from(!series.push(&sample, tables)?);
    }
    let mut summary = series.finish(path, records.unusable, tables)?;
    records.report(path, &mut summary);
    Ok(summary)
}

pub(super) fn observe_json(
    path: &Path,
    mut input: Input,
    tables: &mut Tables,
) -> Result<Summary, TraceError> {
    let problem = input.problem();
    let bytes = read_limited(&mut input, MAX_JSON)
        .ok_or_else(|| refused(path, format!("JSON of more than {} MiB", MAX_JSON >> 20)))?;
    let mut series = Series::default();
    let (mut samples, mut unusable, mut stop) = (Vec::new(), 0, None);
    // One value, or one a line.
    let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
    let mut begins = 0;
    while let Some(value) = values.next() {
        match value {
            Ok(value) => collect(&value, &mut samples),
            Err(error) => {
                let at =
                    if error.is_eof() { bytes.len() } else { offset(&bytes, error.line(), error.column()) };
                collect_whole(&bytes[begins..at.max(begins)], &mut samples);
                let reason = problem.text().unwrap_or_else(|| format!("JSON that cannot be read: {error}"));
                stop = Some((at as u64, reason));
            }
        }
        begins = values.byte_offset();
        for sample in samples.drain(..) {
            unusable += u64::from(!series.push(&sample, tables)?);
        }
        if stop.is_some() {
            break;
        }
    }
    // What decompression ends with may look like the end of a line.
    let stop = stop.or_else(|| problem.text().map(|reason| (bytes.len() as u64, reason)));
    if let Some((byte, reason)) = stop.as_ref().filter(|_| series.samples == 0) {
        let before = "before it no TCP_INFO sample with ElapsedTime, SndCwnd and RTT";
        return Err(refused(path, format!("byte {byte}: {reason}; {before}")));
    }
    let mut summary = series.finish(path, unusable, tables)?;
    stopped(path, stop.as_ref(), &mut summary);
    Ok(summary)
}

/// The byte at a line and column, which count from 1.
fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let start = std::iter::once(0).chain(ends).nth(line.saturating_sub(1)).unwrap_or(bytes.len());
    (start + column.saturating_sub(1)).min(bytes.len())
}

/// The samples of a value that breaks off: objects without others in them, of which all is there.
fn collect_whole(bytes: &[u8], samples: &mut Vec<Sample>) {
    let (mut innermost, mut quoted, mut escaped) = (None, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' => innermost = Some(at),
            b'}' => {
                if let Some(Ok(value)) =
                    innermost.take().map(|start| serde_json::from_slice(&bytes[start..=at]))
                {
                    collect(&value, samples);
                }
            }
            _ => {}
        }
    }
}

/// All objects with a window and a round-trip time, in order. A client's and a server's measurements of the same connection
/// are not told apart; ndt7 files have one of them.
fn collect(value: &Value, samples: &mut Vec<Sample>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, samples)),
        Value::Object(fields) if fields.contains_key("SndCwnd") && fields.contains_key("RTT") => {
            let named = NAMES.iter().filter_map(|name| Some((*name, fields.get(*name)?.as_f64()?)));
            samples.push(named.collect());
        }
        Value::Object(fields) => fields.values().for_each(|value| collect(value, samples)),
        _ => {}
    }
}

/// Samples so far.
#[derive(Debug, Default)]
struct Series {
    samples: u64,
    /// First and last time; time without a gap in the windows.
    began: f64,
    last: f64,
    window: f64,
    area: f64,
    rtts: u64,
    rtt_sum: f64,
    rtt_least: Option<f64>,
    first_acked: Option<f64>,
    last_acked: Option<f64>,
    segments: Option<f64>,
    retransmissions: Option<f64>,
}

impl Series {
    /// Takes a sample; whether it could be used.
    fn push(&mut self, sample: &Sample, tables: &mut Tables) -> Result<bool, RecordsError> {
        let number = |name: &str| sample.get(name).copied().filter(|value| *value >= 0.0);
        let (Some(elapsed_us), Some(window)) = (number("ElapsedTime"), number("SndCwnd")) else {
            return Ok(false);
        };
        let time = elapsed_us * 1e-6;
        if self.samples == 0 {
            self.began = time;
        } else if time < self.last {
            return Ok(false);
        } else {
            self.area += self.window * (time - self.last);
        }
        (self.samples, self.last, self.window) = (self.samples + 1, time, window);
        let rtt_s = number("RTT").filter(|us| *us > 0.0).map(|us| us * 1e-6);
        if let Some(rtt_s) = rtt_s {
            self.rtts += 1;
            self.rtt_sum += rtt_s;
        }
        let least = number("MinRTT").filter(|us| *us > 0.0 && *us < f64::from(u32::MAX)).map(|us| us * 1e-6);
        self.rtt_least = [self.rtt_least, least].into_iter().flatten().reduce(f64::min);
        let acked = number("BytesAcked");
        self.first_acked = self.first_acked.or(acked);
        self.last_acked = acked.or(self.last_acked);
        self.segments = number("SegsOut").or(self.segments);
        self.retransmissions = number("TotalRetrans").or(self.retransmissions);
        let whole = |value: f64| value as u64;
        tables.flow_samples.push(FlowSampleRow {
            flow: 0,
            time_s: time,
            cwnd_packets: Some(window),
            rate_pps: None,
            ssthresh_packets: number("SndSsThresh").filter(|packets| *packets < NO_THRESHOLD),
            in_flight_packets: number("Unacked").map(whole),
            srtt_s: rtt_s,
            delivered_bytes: acked.map(whole),
            retransmissions: number("TotalRetrans").map(whole),
            largest_slope: None,
        })?;
        Ok(true)
    }

    fn finish(self, path: &Path, unusable: u64, tables: &mut Tables) -> Result<Summary, TraceError> {
        if self.samples == 0 {
            return Err(refused(path, "no TCP_INFO sample with ElapsedTime, SndCwnd and RTT"));
        }
        let lasted = self.last - self.began;
        let mean = |sum: f64| (lasted > 0.0).then(|| sum / lasted);
        let acked = self.last_acked.zip(self.first_acked).map(|(last, first)| (last - first).max(0.0));
        let name = path.file_name().map_or_else(|| "series".into(), |name| name.to_string_lossy());
        tables.flows.push(FlowRow {
            group: (&*name).into(),
            flow: 0,
            congestion_control: "".into(),
            rtt_base_s: None,
            start_s: self.began,
            goodput_bps: acked.and_then(|bytes| mean(bytes * 8.0)),
            throughput_bps: None,
            packets_sent: self.segments.map(|packets| packets as u64),
            retransmissions: self.retransmissions.map(|packets| packets as u64),
            packets_dropped: None,
            loss_rate: None,
            loss_events: None,
            timeouts: None,
            ecn_reductions: None,
            mean_cwnd_packets: mean(self.area),
            mean_rtt_s: (self.rtts > 0).then(|| self.rtt_sum / self.rtts as f64),
            min_rtt_s: self.rtt_least,
            mean_one_way_delay_s: None,
            max_one_way_delay_s: None,
            jitter_s: None,
            sent_in_packets: None,
            sent_out_packets: None,
            dropped_in_packets: None,
            dropped_out_packets: None,
            delivered_in_packets: None,
            delivered_out_packets: None,
        })?;
        let mut summary =
            Summary { format: "tcp_info", frames: self.samples, duration_s: self.last, ..Summary::default() };
        summary.remarks.push("samples of TCP_INFO are too far apart for windows per round trip".into());
        if unusable > 0 {
            summary
                .remarks
                .push(format!("{unusable} samples have no time or go back in it; they were passed over"));
        }
        Ok(summary)
    }
}
