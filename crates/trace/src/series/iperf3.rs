//! What `iperf3 -J` (or `--json-stream`) prints: an interval of each stream after the other.
//!
//! | key of a stream's interval | what | unit |
//! | --- | --- | --- |
//! | `start`, `end` | of the interval, since the test began | s |
//! | `bytes` | sent in it, or received at a receiver | bytes |
//! | `retransmits` | in it | packets |
//! | `snd_cwnd` | at its end; by the test's `tcp_mss_default` these are packets | bytes |
//! | `rtt` | smoothed, at its end | us |
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
    assumed: bool,
}

struct Stream {
    socket: u64,
    series: Series,
    bytes: f64,
    retransmissions: f64,
}

/// Whether a value is such a result, or an event of a stream of them.
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
            return match event {
                "start" => {
                    self.start(data);
                    Ok(())
                }
                "interval" => self.interval(data, manner, tables),
                _ => Ok(()),
            };
        }
        if let Some(start) = value.get("start") {
            self.start(start);
        }
        for interval in value.get("intervals").and_then(Value::as_array).into_iter().flatten() {
            self.interval(interval, manner, tables)?;
        }
        Ok(())
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
        let cwnd = number(stream, "snd_cwnd").filter(|bytes| *bytes > 0.0);
        self.assumed |= cwnd.is_some() && self.segment_bytes.is_none();
        let known = &mut self.streams[at];
        known.bytes += number(stream, "bytes").unwrap_or(0.0).max(0.0);
        let again = number(stream, "retransmits");
        known.retransmissions += again.unwrap_or(0.0).max(0.0);
        let sample = Sample {
            time_s: end,
            cwnd_packets: cwnd.map(|bytes| bytes / segment_bytes),
            srtt_s: number(stream, "rtt").map(|us| us * 1e-6),
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
        ] {
            if number > 0 {
                summary.remarks.push(format!("{number} {words}"));
            }
        }
        if self.assumed {
            summary.remarks.push(format!(
                "the result does not say how large a segment is: windows are in packets of {SEGMENT_BYTES} bytes"
            ));
        }
        self.before
    }
}
