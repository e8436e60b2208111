//! TCP_INFO of the sender's kernel at intervals: CSV with its columns, or JSON as ndt7 servers and clients write it.
//!
//! | name | what | unit |
//! | --- | --- | --- |
//! | `ElapsedTime` | since the start; without it the rows are not placed in time, and refused | us |
//! | `SndCwnd`, `SndSsThresh`, `Unacked`, `TotalRetrans`, `SegsOut` | as in Linux's `struct tcp_info` | packets |
//! | `RTT`, `MinRTT` | | us |
//! | `BytesAcked` | | bytes |
//! | `BusyTime`, `RWndLimited`, `SndBufLimited` | times so far | us |

use super::flow::{self, Manner, Sample, Series};
use super::kernel_times::Counters;
use super::{file_name, refused, Records};
use crate::error::TraceError;
use crate::observer::Summary;
use parshall_reading::Input;
use parshall_records::Tables;
use serde_json::Value;
use std::path::Path;

/// Names that are used.
const NAMES: [&str; 12] = [
    "ElapsedTime",
    "SndCwnd",
    "SndSsThresh",
    "Unacked",
    "TotalRetrans",
    "SegsOut",
    "RTT",
    "MinRTT",
    "BytesAcked",
    "BusyTime",
    "RWndLimited",
    "SndBufLimited",
];

/// Samples so far, all of one flow.
pub(super) struct Samples {
    series: Series,
    unusable: u64,
}

impl Default for Samples {
    fn default() -> Self {
        Self { series: Series::new("", 0, Manner::default()), unusable: 0 }
    }
}

impl Samples {
    /// Takes all samples of a value.
    pub(super) fn take(
        &mut self,
        value: &Value,
        manner: Manner,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        let mut samples = Vec::new();
        collect(value, &mut samples);
        let named = |value: &Value, name: &str| value.get(name).and_then(Value::as_f64);
        samples.into_iter().try_for_each(|value| self.push(|name| named(value, name), manner, tables))
    }

    fn push(
        &mut self,
        named: impl Fn(&str) -> Option<f64>,
        manner: Manner,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        self.series.manner = manner;
        let used = match sample(named) {
            Some(sample) => self.series.push(&sample, tables)?,
            None => false,
        };
        self.unusable += u64::from(!used);
        Ok(())
    }

    /// The flow, and how many samples could not be used.
    pub(super) fn finish(mut self, path: &Path) -> (Vec<Series>, u64) {
        self.series.name = file_name(path);
        (vec![self.series], self.unusable)
    }
}

pub(super) fn observe_csv(
    path: &Path,
    input: Input,
    manner: Manner,
    tables: &mut Tables,
) -> Result<Summary, TraceError> {
    let (mut records, header) = Records::new(path, input, b',')?;
    let columns = NAMES.map(|name| header.iter().position(|column| column.trim() == name));
    let mut samples = Samples::default();
    while let Some(record) = records.next() {
        let number = |name: &str| {
            let at = columns[NAMES.iter().position(|known| *known == name)?]?;
            record.get(at)?.trim().parse().ok().filter(|value: &f64| value.is_finite())
        };
        samples.push(number, manner, tables)?;
        records.unusable = samples.unusable;
    }
    let (flows, unusable) = samples.finish(path);
    if flows.iter().all(|series| series.samples == 0) {
        return Err(refused(path, "no TCP_INFO sample with ElapsedTime, SndCwnd and RTT"));
    }
    let mut summary = Summary { format: "tcp_info", ..Summary::default() };
    flow::finish(flows, unusable, tables, &mut summary)?;
    records.report(path, &mut summary);
    Ok(summary)
}

/// A sample by the names of its values; `None` without a time or a window.
fn sample(named: impl Fn(&str) -> Option<f64>) -> Option<Sample> {
    let number = |name: &str| named(name).filter(|value| *value >= 0.0);
    let seconds = |name: &str| number(name).map(|us| us * 1e-6);
    Some(Sample {
        time_s: seconds("ElapsedTime")?,
        cwnd_packets: Some(number("SndCwnd")?),
        ssthresh_packets: number("SndSsThresh"),
        in_flight_packets: number("Unacked"),
        srtt_s: seconds("RTT"),
        // Linux has all ones where there is none.
        min_rtt_s: number("MinRTT").filter(|us| *us < f64::from(u32::MAX)).map(|us| us * 1e-6),
        delivered_bytes: number("BytesAcked"),
        retransmissions: number("TotalRetrans"),
        packets_sent: number("SegsOut"),
        counters: seconds("BusyTime").map(|busy_s| Counters {
            busy_s,
            receiver_s: seconds("RWndLimited").unwrap_or(0.0),
            buffer_s: seconds("SndBufLimited").unwrap_or(0.0),
        }),
        ..Sample::default()
    })
}

/// All objects with a window and a round-trip time, in order. A client's and a server's measurements of the same connection
/// are not told apart; ndt7 files have one of them.
fn collect<'a>(value: &'a Value, samples: &mut Vec<&'a Value>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, samples)),
        Value::Object(fields) if fields.contains_key("SndCwnd") && fields.contains_key("RTT") => {
            samples.push(value);
        }
        Value::Object(fields) => fields.values().for_each(|value| collect(value, samples)),
        _ => {}
    }
}
