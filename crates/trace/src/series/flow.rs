//! A flow's values at moments of time, made into the records: the common part of all readers of series.
//!
//! Windows per round trip are made where samples are as close as the round trips are long: of the first [`LOOKED_AT`] gaps
//! between samples at least [`CLOSE`] must be at most a round-trip time, give or take what timers do. Else there are
//! none, and a remark says so.

use super::kernel_times::{Counters, KernelTimes};
use super::window::Window;
use crate::error::TraceError;
use crate::observer::Summary;
use parshall_records::{FlowRow, FlowSampleRow, Tables};

/// Gaps that decide whether there are windows per round trip, and the share of them that must be short.
const LOOKED_AT: usize = 64;
const CLOSE: f64 = 0.9;
const TIMERS: f64 = 1.05;

/// In a longer time without a sample, in round trips, the window is not known; and where it holds until it changes.
const LONGEST_GAP: f64 = 10.0;
const LONGEST_HOLD: f64 = 10_000.0;

/// Times beyond, 30,000 years, are damage, and so are windows of more packets.
const LATEST_S: f64 = 1e12;
const LARGEST: f64 = 1e9;

/// A threshold from here on is none: Linux's `TCP_INFINITE_SSTHRESH`.
const NO_THRESHOLD: f64 = 2_147_483_647.0;

/// The most flows of a file.
pub(super) const MAX_FLOWS: usize = 4096;

/// A sender's values of a flow at a moment; a missing one is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    pub(super) time_s: f64,
    pub(super) cwnd_packets: Option<f64>,
    pub(super) ssthresh_packets: Option<f64>,
    pub(super) in_flight_packets: Option<f64>,
    pub(super) srtt_s: Option<f64>,
    pub(super) min_rtt_s: Option<f64>,
    pub(super) rate_pps: Option<f64>,
    /// Counted from the beginning of the connection.
    pub(super) delivered_bytes: Option<f64>,
    pub(super) retransmissions: Option<f64>,
    pub(super) packets_sent: Option<f64>,
    pub(super) packets_lost: Option<f64>,
    /// Times that the kernel counts.
    pub(super) counters: Option<Counters>,
}

/// The way in which the samples of a flow become rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// The round-trip time, where samples have none.
    pub(super) rtt_s: Option<f64>,
    /// Least time between rows of `flow_samples`; `None`: a row each.
    pub(super) every_s: Option<f64>,
    /// True if a row is there whenever something changes: then a window holds until the next.
    pub(super) holds: bool,
}

/// A flow so far.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: String,
    flow: u32,
    pub(super) manner: Manner,
    pub(super) samples: u64,
    began: f64,
    last: f64,
    sampled: f64,
    /// The first samples, until it is known whether there are windows per round trip; then the window, if there are.
    waiting: Vec<(f64, f64, Option<f64>)>,
    window: Option<Window>,
    decided: bool,
    /// Sum of window x duration, and of durations with a window.
    area: f64,
    value: Option<f64>,
    rtts: u64,
    rtt_sum: f64,
    rtt_least: Option<f64>,
    acked: Option<(f64, f64)>,
    end: Sample,
    kernel_times: KernelTimes,
}

impl Series {
    pub(super) fn new(name: impl Into<String>, flow: u32, manner: Manner) -> Self {
        Self {
            name: name.into(),
            flow,
            manner,
            samples: 0,
            began: 0.0,
            last: 0.0,
            sampled: f64::NEG_INFINITY,
            waiting: Vec::new(),
            window: None,
            decided: false,
            area: 0.0,
            value: None,
            rtts: 0,
            rtt_sum: 0.0,
            rtt_least: None,
            acked: None,
            end: Sample::default(),
            kernel_times: KernelTimes::default(),
        }
    }

    /// Takes a sample; whether it could be used: its time is a number and not before the last one's.
    pub(super) fn push(&mut self, sample: &Sample, tables: &mut Tables) -> Result<bool, TraceError> {
        let now = sample.time_s;
        if now.is_nan() || now.abs() > LATEST_S || self.samples > 0 && now < self.last {
            return Ok(false);
        }
        let positive = |value: Option<f64>| value.filter(|value| *value > 0.0 && value.is_finite());
        let counter = |value: Option<f64>| value.filter(|value| (0.0..1e18).contains(value));
        let cwnd = sample.cwnd_packets.filter(|window| (0.0..LARGEST).contains(window));
        let srtt_s = positive(sample.srtt_s);
        if self.samples == 0 {
            self.began = now;
        } else if let Some(value) = self.value {
            self.area += value * (now - self.last);
        }
        (self.samples, self.last) = (self.samples + 1, now);
        if let Some(srtt_s) = srtt_s {
            (self.rtts, self.rtt_sum) = (self.rtts + 1, self.rtt_sum + srtt_s);
        }
        let least = positive(sample.min_rtt_s);
        self.rtt_least = [self.rtt_least, least].into_iter().flatten().reduce(f64::min);
        if let Some(bytes) = counter(sample.delivered_bytes) {
            self.acked = Some((self.acked.map_or(bytes, |(first, _)| first), bytes));
        }
        self.kernel_times.push(self.flow, sample, tables)?;
        let end = &mut self.end;
        end.retransmissions = counter(sample.retransmissions).or(end.retransmissions);
        end.packets_sent = counter(sample.packets_sent).or(end.packets_sent);
        end.packets_lost = counter(sample.packets_lost).or(end.packets_lost);
        if let Some(cwnd) = cwnd {
            self.value = Some(cwnd);
            self.windows(tables, now, cwnd, self.manner.rtt_s.or(srtt_s))?;
        }
        if self.manner.every_s.is_none_or(|every| now >= self.sampled + every) {
            self.sampled = now;
            let whole = |value: Option<f64>| counter(value).map(|value| value as u64);
            tables.flow_samples.push(FlowSampleRow {
                flow: self.flow,
                time_s: now,
                cwnd_packets: cwnd,
                rate_pps: positive(sample.rate_pps),
                ssthresh_packets: sample
                    .ssthresh_packets
                    .filter(|packets| (0.0..NO_THRESHOLD).contains(packets)),
                in_flight_packets: whole(sample.in_flight_packets),
                srtt_s,
                delivered_bytes: whole(sample.delivered_bytes),
                retransmissions: whole(sample.retransmissions),
                largest_slope: None,
            })?;
        }
        Ok(true)
    }

    /// The tool's own summary of all round trips: the least, and the mean, which counts where no sample has one.
    pub(super) fn round_trips(&mut self, least_s: Option<f64>, mean_s: Option<f64>) {
        let positive = |value: Option<f64>| value.filter(|value| *value > 0.0 && value.is_finite());
        self.rtt_least = [self.rtt_least, positive(least_s)].into_iter().flatten().reduce(f64::min);
        if let (0, Some(mean_s)) = (self.rtts, positive(mean_s)) {
            (self.rtts, self.rtt_sum) = (1, mean_s);
        }
    }

    /// Windows per round trip, once it is known that there are any.
    fn windows(
        &mut self,
        tables: &mut Tables,
        now: f64,
        cwnd: f64,
        rtt_s: Option<f64>,
    ) -> Result<(), TraceError> {
        if let Some(window) = &mut self.window {
            return window.value(tables, now, cwnd, rtt_s);
        }
        if self.decided {
            return Ok(());
        }
        self.waiting.push((now, cwnd, rtt_s));
        if self.waiting.len() > LOOKED_AT {
            self.decide(tables)?;
        }
        Ok(())
    }

    fn decide(&mut self, tables: &mut Tables) -> Result<(), TraceError> {
        self.decided = true;
        let waiting = std::mem::take(&mut self.waiting);
        let gaps = waiting
            .windows(2)
            .map(|pair| pair[1].2.is_some_and(|rtt_s| pair[1].0 - pair[0].0 <= TIMERS * rtt_s));
        let short = gaps.filter(|short| *short).count();
        if waiting.len() < 2 || (short as f64) < CLOSE * (waiting.len() - 1) as f64 {
            return Ok(());
        }
        let longest_gap = if self.manner.holds { LONGEST_HOLD } else { LONGEST_GAP };
        let mut window = Window::new(self.flow, waiting[0].0, waiting[0].1, longest_gap);
        for &(now, cwnd, rtt_s) in &waiting {
            window.value(tables, now, cwnd, rtt_s)?;
        }
        self.window = Some(window);
        Ok(())
    }

    /// Writes the flow's row; whether it has windows per round trip.
    fn finish(mut self, tables: &mut Tables, summary: &mut Summary) -> Result<bool, TraceError> {
        if !self.decided {
            self.decide(tables)?;
        }
        if let Some(window) = &mut self.window {
            window.finish(tables)?;
            summary.undone_reductions += window.undone;
            summary.spikes += window.spikes;
        }
        let lasted = self.last - self.began;
        let mean = |sum: f64| (lasted > 0.0).then(|| sum / lasted);
        let whole = |value: Option<f64>| value.map(|value| value as u64);
        let sent = self.end.packets_sent.filter(|packets| *packets > 0.0);
        self.kernel_times.finish(self.name.as_str().into(), self.flow, tables)?;
        tables.flows.push(FlowRow {
            group: self.name.as_str().into(),
            flow: self.flow,
            start_s: self.began,
            mean_cwnd_packets: self.value.and_then(|_| mean(self.area)),
            goodput_bps: self.acked.and_then(|(first, last)| mean((last - first).max(0.0) * 8.0)),
            packets_sent: whole(self.end.packets_sent),
            retransmissions: whole(self.end.retransmissions),
            packets_dropped: whole(self.end.packets_lost),
            loss_rate: self.end.packets_lost.zip(sent).map(|(lost, sent)| (lost / sent).min(1.0)),
            loss_events: self.window.as_ref().map(|window| window.reductions),
            mean_rtt_s: (self.rtts > 0).then(|| self.rtt_sum / self.rtts as f64).or(self.manner.rtt_s),
            min_rtt_s: self.rtt_least,
            ..FlowRow::default()
        })?;
        Ok(self.window.is_some())
    }
}

/// Writes the rows of all flows of a file, and what is to be said of them.
pub(super) fn finish(
    flows: Vec<Series>,
    unusable: u64,
    tables: &mut Tables,
    summary: &mut Summary,
) -> Result<(), TraceError> {
    let count = flows.len();
    let (mut sparse, mut windowless) = (0, 0);
    for series in flows {
        summary.frames += series.samples;
        summary.duration_s = summary.duration_s.max(series.last);
        let has_window = series.value.is_some();
        if !series.finish(tables, summary)? {
            (sparse, windowless) =
                if has_window { (sparse + 1, windowless) } else { (sparse, windowless + 1) };
        }
    }
    summary.flows = u32::try_from(count).unwrap_or(u32::MAX);
    for (number, words) in [
        (sparse, "are further apart than its round trips, or have no round-trip time"),
        (windowless, "have no congestion window"),
    ] {
        let which = if count == 1 { String::new() } else { format!(" of {number} of {count} flows") };
        if number > 0 {
            summary.remarks.push(format!("samples{which} {words}: there are no windows per round trip"));
        }
    }
    if unusable > 0 {
        summary.remarks.push(format!(
            "{unusable} {} no time or go back in it; they were passed over",
            if unusable == 1 { "sample has" } else { "samples have" }
        ));
    }
    say_of_windows(summary);
    Ok(())
}

/// Says what falls of the window were no losses.
pub(super) fn say_of_windows(summary: &mut Summary) {
    let undone = summary.undone_reductions;
    if undone > 0 {
        summary.remarks.push(format!(
            "undone reductions: {undone}; the sender restored the window within three round trips. They are not \
             counted as losses"
        ));
    }
    let spikes = summary.spikes;
    if spikes > 0 {
        summary.remarks.push(format!(
            "{spikes} values of the window are more than half again the last one, which is back within half a round \
             trip: no sender's window does that. They were passed over"
        ));
    }
}
