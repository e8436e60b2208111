//! The output of `iperf3 -J` (or `--json-stream`): an interval of each stream after the other.
//!
//! | key of a stream's interval | what | unit |
//! | --- | --- | --- |
//! | `start`, `end` | of the interval, since the test began | s |
//! | `bytes` | sent in it, or received at a receiver | bytes |
//! | `retransmits` | in it | packets |
//! | `snd_cwnd` | at its end; by the test's `tcp_mss_default` these are packets | bytes |
//! | `rtt` | smoothed, at its end | us |
//!
//! Of the test's `end`, `min_rtt` and `mean_rtt` of each sender are used (us), and its `error` is told. Counters that no kernel
//! has are passed over, and counted: some versions write -2 as 4294967294, windows above what TCP can have, or the
//! times of a socket whose window is 0.
//!
//! A stream is a flow, named by its ends; streams that this end receives have bytes only. Intervals that `-O` omits and UDP
//! streams are passed over.

use super::flow::{Manner, Sample, Series, MAX_FLOWS};
use super::json::number;
use crate::error::TraceError;
use crate::observer::Summary;
use parshall_records::Tables;
use serde_json::Value;

/// Where a result does not say: Ethernet with timestamps.
const SEGMENT_BYTES: f64 = 1448.0;

/// The largest window that a receiver can offer (RFC 7323 §2.3), and from where on a counter is one below 0.
const LARGEST_WINDOW: f64 = (1u64 << 30) as f64;
const NEGATIVE: f64 = (1u64 << 31) as f64;

/// Errors that are told.
const ERRORS: usize = 8;

#[derive(Default)]
pub(super) struct Test {
    segment_bytes: Option<f64>,
    /// Sockets by number, and their ends.
    ends: Vec<(u64, String)>,
    /// Streams of the test under way; then those of tests before.
    streams: Vec<Stream>,
    before: Vec<Series>,
    omitted: u64,
    datagrams: u64,
    impossible: u64,
    errors: Vec<String>,
    assumed: bool,
}

struct Stream {
    socket: u64,
    series: Series,
    bytes: f64,
    retransmissions: f64,
}

/// True if a value is such a result, or an event of a stream of them.
pub(super) fn recognise(value: &Value) -> bool {
    let test = value.get("intervals").is_some_and(Value::is_array) && value.get("start").is_some();
    let event = value.get("event").and_then(Value::as_str).is_some() && value.get("data").is_some();
    test || event
}

impl Test {
    pub(super) fn take(
        &mut self,
        value: &Value,
        manner: Manner,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        if let Some(event) = value.get("event").and_then(Value::as_str) {
            let Some(data) = value.get("data") else { return Ok(()) };
            match event {
                "start" => self.start(data),
                "interval" => self.interval(data, manner, tables)?,
                "end" => self.end(data),
                "error" => self.error(data),
                _ => {}
            }
            return Ok(());
        }
        if let Some(start) = value.get("start") {
            self.start(start);
        }
        for interval in value.get("intervals").and_then(Value::as_array).into_iter().flatten() {
            self.interval(interval, manner, tables)?;
        }
        if let Some(end) = value.get("end") {
            self.end(end);
        }
        if let Some(error) = value.get("error") {
            self.error(error);
        }
        Ok(())
    }

    /// The error that iperf3 itself reports.
    fn error(&mut self, error: &Value) {
        let text = error.as_str().or_else(|| error.get("error")?.as_str());
        if let Some(text) = text.filter(|_| self.errors.len() < ERRORS) {
            self.errors.push(text.trim().chars().take(200).collect());
        }
    }

    /// The times of the whole test, of each sender.
    fn end(&mut self, end: &Value) {
        for sender in end.get("streams").and_then(Value::as_array).into_iter().flatten() {
            let Some(sender) = sender.get("sender") else { continue };
            let socket = sender.get("socket").and_then(Value::as_u64);
            let seconds =
                |key: &str| number(sender, key).filter(|us| (0.0..NEGATIVE).contains(us)).map(|us| us * 1e-6);
            if let Some(stream) = self.streams.iter_mut().find(|stream| Some(stream.socket) == socket) {
                stream.series.round_trips(seconds("min_rtt"), seconds("mean_rtt"));
            }
        }
    }

    fn start(&mut self, start: &Value) {
        self.before.extend(self.streams.drain(..).map(|stream| stream.series));
        self.ends.clear();
        self.segment_bytes = number(start, "tcp_mss_default")
            .or_else(|| number(start, "tcp_mss"))
            .filter(|bytes| (1.0..=65_536.0).contains(bytes));
        for end in start.get("connected").and_then(Value::as_array).into_iter().flatten().take(MAX_FLOWS) {
            let text = |key: &str| end.get(key).and_then(Value::as_str).unwrap_or("?").chars().take(80);
            let port = |key: &str| number(end, key).unwrap_or(0.0) as u16;
            let name = format!(
                "{}:{} > {}:{}",
                text("local_host").collect::<String>(),
                port("local_port"),
                text("remote_host").collect::<String>(),
                port("remote_port")
            );
            if let Some(socket) = end.get("socket").and_then(Value::as_u64) {
                self.ends.push((socket, name));
            }
        }
    }

    fn interval(&mut self, interval: &Value, manner: Manner, tables: &mut Tables) -> Result<(), TraceError> {
        for stream in interval.get("streams").and_then(Value::as_array).into_iter().flatten() {
            let truth = |key: &str| stream.get(key).and_then(Value::as_bool);
            if truth("omitted") == Some(true) {
                self.omitted += 1;
            } else if stream.get("packets").is_some() {
                self.datagrams += 1;
            } else {
                self.stream(stream, manner, tables)?;
            }
        }
        Ok(())
    }

    fn stream(&mut self, stream: &Value, manner: Manner, tables: &mut Tables) -> Result<(), TraceError> {
        let socket = stream.get("socket").and_then(Value::as_u64).unwrap_or(0);
        let (Some(start), Some(end)) = (number(stream, "start"), number(stream, "end")) else {
            return Ok(());
        };
        let at = match self.streams.iter().position(|each| each.socket == socket) {
            Some(at) => at,
            None if self.before.len() + self.streams.len() >= MAX_FLOWS => return Ok(()),
            None => {
                let named = self.ends.iter().find(|(number, _)| *number == socket);
                let mut name = named.map_or_else(|| format!("stream {socket}"), |(_, name)| name.clone());
                if stream.get("sender").and_then(Value::as_bool) == Some(false) {
                    name.push_str(" (received)");
                }
                let number = (self.before.len() + self.streams.len()) as u32;
                let mut series = Series::new(name, number, manner);
                series.push(
                    &Sample { time_s: start, delivered_bytes: Some(0.0), ..Sample::default() },
                    tables,
                )?;
                self.streams.push(Stream { socket, series, bytes: 0.0, retransmissions: 0.0 });
                self.streams.len() - 1
            }
        };
        let segment_bytes = self.segment_bytes.unwrap_or(SEGMENT_BYTES);
        let told = number(stream, "snd_cwnd");
        let cwnd = told.filter(|bytes| (1.0..=LARGEST_WINDOW).contains(bytes));
        let again = number(stream, "retransmits").filter(|packets| (0.0..NEGATIVE).contains(packets));
        // A socket without a window has no times either.
        let rtt_us = number(stream, "rtt")
            .filter(|us| (0.0..NEGATIVE).contains(us) && (told.is_none() || cwnd.is_some()));
        // Zeroes alone are what is written where the system says nothing.
        let impossible = |key: &str, used: Option<f64>| {
            u64::from(used.is_none() && number(stream, key).is_some_and(|value| value != 0.0))
        };
        self.impossible +=
            impossible("snd_cwnd", cwnd) + impossible("retransmits", again) + impossible("rtt", rtt_us);
        self.assumed |= cwnd.is_some() && self.segment_bytes.is_none();
        let known = &mut self.streams[at];
        known.bytes += number(stream, "bytes").unwrap_or(0.0).max(0.0);
        known.retransmissions += again.unwrap_or(0.0);
        let sample = Sample {
            time_s: end,
            cwnd_packets: cwnd.map(|bytes| bytes / segment_bytes),
            srtt_s: rtt_us.map(|us| us * 1e-6),
            delivered_bytes: Some(known.bytes),
            retransmissions: again.map(|_| known.retransmissions),
            ..Sample::default()
        };
        known.series.push(&sample, tables)?;
        Ok(())
    }

    pub(super) fn finish(mut self, summary: &mut Summary) -> Vec<Series> {
        self.before.extend(self.streams.drain(..).map(|stream| stream.series));
        for (number, words) in [
            (self.omitted, "intervals are of the test's omitted beginning; they were passed over"),
            (self.datagrams, "intervals are of UDP, which has no window; they were passed over"),
            (
                self.impossible,
                "counters are none that a kernel has (below 0, a window above 1 GiB, times of a socket without a \
                 window); they were passed over",
            ),
        ] {
            if number > 0 {
                summary.remarks.push(format!("{number} {words}"));
            }
        }
        for error in self.errors {
            summary.remarks.push(format!("iperf3 says: \"{error}\""));
        }
        if self.assumed {
            summary.remarks.push(format!(
                "the result does not say how large a segment is: windows are in packets of {SEGMENT_BYTES} bytes"
            ));
        }
        self.before
    }
}
