//! Result files of flent: JSON with measurements of many runners at once.
//!
//! | in a runner's `raw_values`, or `results` beside `x_values` | what | unit |
//! | --- | --- | --- |
//! | `t` | since 1970; made relative to the first of the file | s |
//! | `tcp_cwnd` | congestion window (`--socket-stats`) | packets |
//! | `tcp_rtt` | smoothed | ms |
//! | `val`, `dur` | throughput over the time before `t` | Mbit/s, s |
//!
//! Runners whose name begins with `TCP` are flows: those with socket statistics have windows and round-trip times, all have goodput.
//! Pings, UDP, and what flent computes from other runners (averages, sums) are passed over, and a remark says how many.

use super::flow::{Manner, Sample, Series, MAX_FLOWS};
use super::json::number;
use crate::error::TraceError;
use crate::observer::Summary;
use parshall_records::Tables;
use serde_json::{Map, Value};

#[derive(Default)]
pub(super) struct Test {
    flows: Vec<Series>,
    passed_over: u64,
}

pub(super) fn recognise(value: &Value) -> bool {
    value.get("results").is_some_and(Value::is_object) && value.get("x_values").is_some_and(Value::is_array)
}

/// Points of a flow that are used: a day has 864,000 at intervals of 100 ms.
const MAX_POINTS: usize = 1 << 20;

/// A point: time, and which values are known there.
type Point = (f64, Sample, Option<(f64, Option<f64>)>);

impl Test {
    pub(super) fn take(
        &mut self,
        value: &Value,
        manner: Manner,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        let empty = Map::new();
        let object = |key: &str| value.get(key).and_then(Value::as_object).unwrap_or(&empty);
        let (raw, results) = (object("raw_values"), object("results"));
        let whole = |name: &&String| !name.contains("::tcp_");
        let mut names: Vec<&String> = raw.keys().chain(results.keys()).filter(whole).collect();
        names.sort_by_key(|name| in_order(name));
        names.dedup();
        let origin = raw.values().flat_map(points).filter_map(|point| number(point, "t")).reduce(f64::min);
        for name in names {
            let mut found: Vec<Point> = raw
                .get(name)
                .into_iter()
                .flat_map(points)
                .take(MAX_POINTS)
                .filter_map(|point| of_raw(point, origin))
                .collect();
            if found.is_empty() {
                found = of_results(name, results, value.get("x_values"));
            }
            let computed = [" avg", " sum", " totals"].iter().any(|end| name.ends_with(end));
            if !name.starts_with("TCP") || computed || found.is_empty() || self.flows.len() >= MAX_FLOWS {
                self.passed_over += 1;
                continue;
            }
            found.sort_by(|one, other| one.0.total_cmp(&other.0));
            let mut series =
                Series::new(name.chars().take(200).collect::<String>(), self.flows.len() as u32, manner);
            let (mut bytes, mut last) = (None::<f64>, None::<f64>);
            for (time_s, mut sample, throughput) in found {
                if let Some((mbit_per_s, lasted)) = throughput {
                    let lasted = lasted.or(last.map(|last| time_s - last)).unwrap_or(0.0);
                    // What was transferred before the first point is not goodput after it.
                    bytes = Some(bytes.map_or(0.0, |bytes| bytes + (mbit_per_s * lasted / 8e-6).max(0.0)));
                    sample.delivered_bytes = bytes;
                    last = Some(time_s);
                }
                series.push(&Sample { time_s, ..sample }, tables)?;
            }
            self.flows.push(series);
        }
        Ok(())
    }

    pub(super) fn finish(self, summary: &mut Summary) -> Vec<Series> {
        if self.passed_over > 0 {
            summary.remarks.push(format!(
                "{} series are no TCP flows (pings, UDP, averages and sums) or are empty; they were passed over",
                self.passed_over
            ));
        }
        self.flows
    }
}

/// `TCP upload::2` before `TCP upload::10`.
fn in_order(name: &str) -> (String, u64) {
    let (stem, place) = name.rsplit_once("::").unwrap_or((name, ""));
    match place.parse() {
        Ok(place) => (stem.to_owned(), place),
        Err(_) => (name.to_owned(), 0),
    }
}

fn points(runner: &Value) -> impl Iterator<Item = &Value> {
    runner.as_array().into_iter().flatten()
}

fn of_raw(point: &Value, origin: Option<f64>) -> Option<Point> {
    let time_s = number(point, "t")? - origin?;
    let throughput = number(point, "val").map(|mbit_per_s| (mbit_per_s, number(point, "dur")));
    let sample = Sample {
        cwnd_packets: number(point, "tcp_cwnd"),
        srtt_s: number(point, "tcp_rtt").map(|ms| ms * 1e-3),
        ..Sample::default()
    };
    Some((time_s, sample, throughput))
}

/// A runner's series at the file's common times, with those of its socket.
fn of_results(name: &str, results: &Map<String, Value>, times: Option<&Value>) -> Vec<Point> {
    let series = |key: &str| results.get(key).and_then(Value::as_array);
    let value = |series: Option<&Vec<Value>>, at: usize| series.and_then(|values| values.get(at)?.as_f64());
    let own = series(name);
    let (cwnd, rtt) = (series(&format!("{name}::tcp_cwnd")), series(&format!("{name}::tcp_rtt")));
    let times = times.and_then(Value::as_array).into_iter().flatten().map(Value::as_f64).enumerate();
    times
        .take(MAX_POINTS)
        .filter_map(|(at, time_s)| {
            let sample = Sample {
                cwnd_packets: value(cwnd, at),
                srtt_s: value(rtt, at).map(|ms| ms * 1e-3),
                ..Sample::default()
            };
            let throughput = value(own, at).map(|mbit_per_s| (mbit_per_s, None));
            let known = throughput.is_some() || sample.cwnd_packets.is_some() || sample.srtt_s.is_some();
            known.then_some((time_s?, sample, throughput))
        })
        .collect()
}
