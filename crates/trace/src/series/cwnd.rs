//! A congestion window whenever it changed: CSV with the columns `t_s` and `cwnd_pkts`.
//!
//! Windows per round trip: [`super::window`]. The round-trip time is not in the series: it is given, or, for Reno in
//! congestion avoidance, the time in which the window grows by one packet.

use super::flow::say_of_windows;
use super::window::Window;
use super::{file_name, refused, Records, Source};
use crate::error::TraceError;
use crate::observer::{Monitor, Options, Summary};
use parshall_reading::Input;
use parshall_records::{FlowRow, FlowSampleRow, Tables};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

pub(super) const TIME: &[&str] = &["t_s", "time_s"];
pub(super) const WINDOW: &[&str] = &["cwnd_pkts", "cwnd_packets"];

/// Times beyond, 30,000 years, are damage.
const LATEST_S: f64 = 1e12;

/// In a longer time without a row, in round trips, the window is not known: it has no rounds.
const LONGEST_GAP: f64 = 10_000.0;

/// Buckets of the histogram of slopes: [`BUCKETS`] of 1 % from [`SHORTEST_S`] on.
const BUCKETS: usize = 1800;
const SHORTEST_S: f64 = 1e-6;
const STEP: f64 = 1.01;

/// The middle half of the slopes of a Reno flow lies within this factor.
const RENO_SPREAD: f64 = 1.6;

/// Reads rows as (time, window).
struct Rows {
    records: Records,
    time: usize,
    window: usize,
    last_s: Option<f64>,
}

impl Rows {
    fn new(path: &Path, input: Input) -> Result<Self, TraceError> {
        let (records, header) = Records::new(path, input, b',')?;
        let column = |names: &[&str]| {
            header
                .iter()
                .position(|name| names.contains(&name.trim()))
                .ok_or_else(|| refused(path, format!("line 1: no column {}", names.join(" or "))))
        };
        let (time, window) = (column(TIME)?, column(WINDOW)?);
        Ok(Self { records, time, window, last_s: None })
    }

    /// The next row in order of time; rows that are not numbers, or go back in time, are counted and passed over.
    fn next(&mut self) -> Option<(f64, f64)> {
        loop {
            let record = self.records.next()?;
            let number = |at: usize| record.get(at).and_then(|text| text.trim().parse::<f64>().ok());
            match (number(self.time), number(self.window)) {
                (Some(time), Some(window))
                    if time.abs() < LATEST_S
                        && (0.0..1e9).contains(&window)
                        && self.last_s.is_none_or(|last| time >= last) =>
                {
                    self.last_s = Some(time);
                    return Some((time, window));
                }
                _ => self.records.unusable += 1,
            }
        }
    }
}

pub(super) fn observe<F: FnOnce() -> io::Result<Input>>(
    source: Source<'_, F>,
    options: &Options,
    tables: &mut Tables,
    monitor: &Monitor,
) -> Result<Summary, TraceError> {
    let Source { path, input, again } = source;
    let mut summary = Summary { format: "cwnd", ..Summary::default() };
    let rtt_s = if options.rtt_s.is_some() { options.rtt_s } else { from_slope(path, again, &mut summary)? };
    let mut rows = Rows::new(path, input)?;
    let Some((origin, first)) = rows.next() else {
        return Err(refused(path, "a series without a row of two numbers, time and window"));
    };
    let mut window = Window::new(0, 0.0, first, LONGEST_GAP);
    let mut sampled = f64::NEG_INFINITY;
    window.value(tables, 0.0, first, rtt_s)?;
    let mut last = 0.0;
    summary.frames = 1;
    while let Some((time, value)) = rows.next() {
        let now = time - origin;
        summary.frames += 1;
        if summary.frames.is_multiple_of(4096) {
            monitor.frames.store(summary.frames, Relaxed);
            if monitor.cancel.load(Relaxed) {
                return Err(TraceError::Interrupted);
            }
        }
        window.value(tables, now, value, rtt_s)?;
        last = now;
        if options.sample_every_s.is_some_and(|every| now >= sampled + every) {
            sampled = now;
            tables.flow_samples.push(FlowSampleRow {
                flow: 0,
                time_s: now,
                cwnd_packets: Some(value),
                rate_pps: None,
                ssthresh_packets: None,
                in_flight_packets: None,
                srtt_s: None,
                delivered_bytes: None,
                retransmissions: None,
                largest_slope: None,
            })?;
        }
    }
    let unusable = rows.records.unusable;
    if unusable > 0 {
        let words = "rows are no numbers or go back in time; they were passed over";
        summary.remarks.push(format!("{unusable} {words}"));
    }
    rows.records.report(path, &mut summary);
    window.finish(tables)?;
    (summary.undone_reductions, summary.spikes) = (window.undone, window.spikes);
    say_of_windows(&mut summary);
    (summary.duration_s, summary.flows) = (last, 1);
    tables.flows.push(FlowRow {
        group: file_name(path).as_str().into(),
        loss_events: Some(window.reductions),
        mean_cwnd_packets: window.mean(0.0),
        mean_rtt_s: rtt_s,
        ..FlowRow::default()
    })?;
    Ok(summary)
}

/// The round-trip time of a Reno flow, from a first reading of the file; a remark says so, or why there is none.
fn from_slope(
    path: &Path,
    again: impl FnOnce() -> io::Result<Input>,
    summary: &mut Summary,
) -> Result<Option<f64>, TraceError> {
    let input = again().map_err(|source| TraceError::Read { path: path.to_owned(), source })?;
    let found = slope(&mut Rows::new(path, input)?);
    summary.remarks.push(match &found {
        Ok(rtt_s) => format!(
            "the round-trip time, {:.1} ms, is the time in which the window grows by one packet, as Reno's does",
            rtt_s * 1e3
        ),
        Err(reason) => format!("no windows per round trip: {reason}; give the round-trip time"),
    });
    Ok(found.ok())
}

/// The time in which the window grows by one packet: the median over time.
fn slope(rows: &mut Rows) -> Result<f64, String> {
    let mut weights = vec![0.0; BUCKETS];
    let mut last: Option<(f64, f64)> = None;
    while let Some((time, window)) = rows.next() {
        if let Some((before, smaller)) = last {
            let (took, grown) = (time - before, window - smaller);
            if took > 0.0 && (1.0..=3.0).contains(&grown) {
                let bucket = ((took / grown / SHORTEST_S).ln() / STEP.ln()).max(0.0) as usize;
                weights[bucket.min(BUCKETS - 1)] += took;
            }
        }
        last = Some((time, window));
    }
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err("the window never grows by a packet".into());
    }
    let quantile = |share: f64| {
        let mut sum = 0.0;
        let at = weights.iter().position(|weight| {
            sum += weight;
            sum >= share * total
        });
        SHORTEST_S * STEP.powf(at.unwrap_or(0) as f64 + 0.5)
    };
    if quantile(0.75) > RENO_SPREAD * quantile(0.25) {
        return Err("the window does not grow evenly, as Reno's would".into());
    }
    Ok(quantile(0.5))
}
