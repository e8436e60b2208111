//! Any CSV, by the names of its columns: `time=t,cwnd=cwnd_bytes,rtt=srtt:us,mss=1448`.
//!
//! | name | what | units, the first if none is given |
//! | --- | --- | --- |
//! | `time` | since any moment; has to be there | `s`, `ms`, `us`, `ns` |
//! | `cwnd` | congestion window | `packets`, `bytes` |
//! | `rtt`, `min_rtt` | smoothed, least | `s`, `ms`, `us`, `ns` |
//! | `ssthresh`, `in_flight` | | `packets`, `bytes` |
//! | `delivered` | so far | `bytes`, `packets` |
//! | `sent`, `retransmissions`, `lost` | so far | `packets` |
//! | `mss` | no column but a number: bytes of a packet, where one of the others is in the other unit | |
//!
//! `name=column` or `name=column:unit`; without a unit it is what the column's name ends with (`_ms`, `_bytes`, `_pkts`). A column is
//! named as in the first row, or by its place from 1 on; if all are given by places, the first row may be numbers. Columns are
//! separated by the one of comma, semicolon, tab and blank that the first row has most of.

use super::flow::{self, Manner, Sample, Series};
use super::{file_name, refused, Records};
use crate::error::TraceError;
use crate::observer::{Monitor, Summary};
use parshall_reading::Input;
use parshall_records::Tables;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

const SECONDS: &[(&str, f64)] = &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)];

/// What a column may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Time,
    Cwnd,
    Rtt,
    MinRtt,
    Ssthresh,
    InFlight,
    Delivered,
    Sent,
    Retransmissions,
    Lost,
}

const NAMES: [(&str, What); 10] = [
    ("time", What::Time),
    ("cwnd", What::Cwnd),
    ("rtt", What::Rtt),
    ("min_rtt", What::MinRtt),
    ("ssthresh", What::Ssthresh),
    ("in_flight", What::InFlight),
    ("delivered", What::Delivered),
    ("sent", What::Sent),
    ("retransmissions", What::Retransmissions),
    ("lost", What::Lost),
];

#[derive(Clone, Debug, PartialEq)]
struct Column {
    what: What,
    name: String,
    /// What a value is multiplied with.
    factor: f64,
}

/// Which columns are what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns(Vec<Column>);

impl Columns {
    /// Reads what the user wrote.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let accepted = "accepted: time=COLUMN[:UNIT],cwnd=COLUMN[:UNIT],... with time, and cwnd or rtt";
        let mut parts = Vec::new();
        let mut mss = None;
        for part in text.split(',') {
            let (name, column) = part
                .split_once('=')
                .map(|(name, column)| (name.trim(), column.trim()))
                .filter(|(_, column)| !column.is_empty())
                .ok_or_else(|| format!("columns: found \"{part}\"; {accepted}"))?;
            if name == "mss" {
                let bytes = column.parse().ok().filter(|bytes| (1.0..=65_536.0).contains(bytes));
                mss = Some(bytes.ok_or_else(|| {
                    format!("columns: mss: found \"{column}\"; accepted: 1 to 65536, bytes")
                })?);
                continue;
            }
            let what =
                NAMES.iter().find(|(known, _)| *known == name).map(|(_, what)| *what).ok_or_else(|| {
                    let names = NAMES.map(|(known, _)| known).join(", ");
                    format!("columns: found \"{name}\"; accepted: {names}, mss")
                })?;
            if parts.iter().any(|(known, _, _)| *known == what) {
                return Err(format!("columns: found \"{name}\" twice"));
            }
            parts.push((what, name, column));
        }
        let has = |wanted: What| parts.iter().any(|(what, _, _)| *what == wanted);
        if !has(What::Time) || !(has(What::Cwnd) || has(What::Rtt)) {
            return Err(format!("columns: found \"{text}\"; {accepted}"));
        }
        let columns = parts.into_iter().map(|(what, name, column)| Self::column(what, name, column, mss));
        columns.collect::<Result<_, _>>().map(Self)
    }

    fn column(what: What, name: &str, column: &str, mss: Option<f64>) -> Result<Column, String> {
        let (column, unit) = match column.rsplit_once(':') {
            Some((column, unit)) if !column.is_empty() => (column, Some(unit)),
            _ => (column, None),
        };
        let suffix = || column.rsplit(['_', '.', ' ']).next().filter(|end| end.len() < column.len());
        let times = matches!(what, What::Time | What::Rtt | What::MinRtt);
        let in_bytes = what == What::Delivered;
        let factor = |unit: &str| -> Option<Result<f64, String>> {
            let by_packets = matches!(unit, "packets" | "packet" | "pkts" | "segments" | "mss");
            let by_bytes = matches!(unit, "bytes" | "byte" | "B");
            let needed = || format!("columns: {name} is in {unit}; say how large a packet is, e.g. mss=1448");
            if times {
                return SECONDS.iter().find(|(known, _)| *known == unit).map(|(_, factor)| Ok(*factor));
            }
            match (by_packets, by_bytes) {
                (true, _) if in_bytes => Some(mss.ok_or_else(needed)),
                (_, true) if in_bytes => Some(Ok(1.0)),
                (true, _) => Some(Ok(1.0)),
                (_, true) => Some(mss.map(|mss| 1.0 / mss).ok_or_else(needed)),
                _ => None,
            }
        };
        let factor = match unit {
            Some(unit) => factor(unit).unwrap_or_else(|| {
                let accepted = if times { "s, ms, us, ns" } else { "packets, bytes" };
                Err(format!("columns: {name}: found unit \"{unit}\"; accepted: {accepted}"))
            })?,
            None => suffix().and_then(factor).unwrap_or(Ok(1.0))?,
        };
        Ok(Column { what, name: column.to_owned(), factor })
    }

    /// Where the columns are in rows with this header.
    fn places(&self, header: &csv::StringRecord) -> Result<Vec<usize>, String> {
        let place = |column: &Column| {
            let named = header.iter().position(|name| name.trim() == column.name);
            named
                .or_else(|| column.name.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < header.len()))
        };
        let find = |column: &Column| {
            place(column).ok_or_else(|| {
                let names: Vec<&str> = header.iter().take(20).map(str::trim).collect();
                let shown: String = names.join(", ").chars().take(300).collect();
                format!("columns: found \"{}\", which is no column; there are: {shown}", column.name)
            })
        };
        self.0.iter().map(find).collect()
    }

    /// The sample of a row; `None` without a time.
    fn sample(&self, places: &[usize], record: &csv::StringRecord) -> Option<Sample> {
        let mut sample = Sample { time_s: f64::NAN, ..Sample::default() };
        for (column, place) in self.0.iter().zip(places) {
            let value = record.get(*place).and_then(|text| text.trim().parse::<f64>().ok());
            let value = value.filter(|value| value.is_finite()).map(|value| value * column.factor);
            match column.what {
                What::Time => sample.time_s = value?,
                What::Cwnd => sample.cwnd_packets = value,
                What::Rtt => sample.srtt_s = value,
                What::MinRtt => sample.min_rtt_s = value,
                What::Ssthresh => sample.ssthresh_packets = value,
                What::InFlight => sample.in_flight_packets = value,
                What::Delivered => sample.delivered_bytes = value,
                What::Sent => sample.packets_sent = value,
                What::Retransmissions => sample.retransmissions = value,
                What::Lost => sample.packets_lost = value,
            }
        }
        let known = sample.cwnd_packets.is_some() || sample.srtt_s.is_some();
        known.then_some(sample)
    }
}

/// The separator that the first row has most of.
fn separator(head: &[u8]) -> u8 {
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let count = |sign: u8| line.split(|byte| *byte == sign).count();
    // The last of equals wins: commas.
    *b" \t;,".iter().max_by_key(|sign| count(**sign)).unwrap_or(&b',')
}

pub(super) fn observe(
    path: &Path,
    mut input: Input,
    columns: &str,
    manner: Manner,
    tables: &mut Tables,
    monitor: &Monitor,
) -> Result<Summary, TraceError> {
    let columns = Columns::parse(columns).map_err(|problem| refused(path, problem))?;
    let head = input.peek(4096).map_err(|source| TraceError::Read { path: path.to_owned(), source })?;
    let (mut records, header) = Records::new(path, input, separator(&head))?;
    let places = columns.places(&header).map_err(|problem| refused(path, problem))?;
    let mut series = Series::new(file_name(path), 0, Manner { holds: true, ..manner });
    let mut origin = None;
    let mut take = |record: &csv::StringRecord, tables: &mut Tables| -> Result<bool, TraceError> {
        let Some(mut sample) = columns.sample(&places, record) else { return Ok(false) };
        sample.time_s -= *origin.get_or_insert(sample.time_s);
        series.push(&sample, tables)
    };
    // A first row of numbers is a row.
    take(&header, tables)?;
    let mut count = 0u64;
    while let Some(record) = records.next() {
        let used = take(record, tables)?;
        records.unusable += u64::from(!used);
        count += 1;
        if count.is_multiple_of(4096) {
            monitor.frames.store(count, Relaxed);
            if monitor.cancel.load(Relaxed) {
                return Err(TraceError::Interrupted);
            }
        }
    }
    if series.samples == 0 {
        return Err(refused(path, "no row with numbers in the columns that are named"));
    }
    let mut summary = Summary { format: "columns", ..Summary::default() };
    flow::finish(vec![series], records.unusable, tables, &mut summary)?;
    records.report(path, &mut summary);
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_that_are_said() {
        let factors = |text: &str| -> Vec<f64> {
            Columns::parse(text).unwrap().0.iter().map(|column| column.factor).collect()
        };
        assert_eq!(factors("time=t,cwnd=w"), [1.0, 1.0]);
        assert_eq!(factors("time=t_ms,cwnd=w_bytes,rtt=r:us,mss=1000"), [1e-3, 1e-3, 1e-6]);
        assert_eq!(factors("time=t_ms:s,rtt=rtt,delivered=acked:packets,mss=1000"), [1.0, 1.0, 1000.0]);
        for (text, said) in [
            ("cwnd=w", "with time"),
            ("time=t", "cwnd or rtt"),
            ("time=t,window=w", "found \"window\"; accepted: time, cwnd"),
            ("time=t,cwnd", "found \"cwnd\""),
            ("time=t,cwnd=w_bytes", "mss=1448"),
            ("time=t:hours,cwnd=w", "accepted: s, ms, us, ns"),
            ("time=t,cwnd=w,cwnd=v", "twice"),
            ("time=t,cwnd=w,mss=0", "1 to 65536"),
        ] {
            let problem = Columns::parse(text).unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
    }
}
