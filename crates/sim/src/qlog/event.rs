//! The records of a log, as text: each a JSON value between a record separator and a line feed (RFC 7464 §2.1).

use super::Metrics;
use crate::capture::{Ends, DISCARD};
use crate::output::Output;
use parshall_units::{Duration, Instant};
use std::fmt::{self, Write};

/// Records that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Text(String);

/// Milliseconds with all the nanoseconds.
struct Ms(u64);

impl From<Duration> for Ms {
    fn from(time: Duration) -> Self {
        Self(time.as_ps() / 1000)
    }
}

impl fmt::Display for Ms {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

impl Text {
    pub(super) fn flush(&mut self, output: &mut Output) {
        output.write(&[self.0.as_bytes()]);
        self.0.clear();
    }

    fn add(&mut self, arguments: fmt::Arguments<'_>) {
        self.0.write_fmt(arguments).unwrap_or_else(|_| unreachable!("a String takes any text"));
    }

    /// The beginning of an event, up to its data's fields.
    fn event(&mut self, now: Instant, name: &str) {
        let time = Ms(now.as_ps() / 1000);
        self.add(format_args!("\u{1e}{{\"time\":{time},\"name\":\"{name}\",\"data\":{{"));
    }

    fn end(&mut self) {
        self.0.push_str("}}\n");
    }

    /// The first record: what the log is. (The title needs no escapes.)
    pub(super) fn header(&mut self, title: &str) {
        self.add(format_args!(
            "\u{1e}{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"{title}\",\"trace\":{{\
             \"title\":\"{title}\",\"vantage_point\":{{\"name\":\"sender\",\"type\":\"client\"}},\
             \"common_fields\":{{\"protocol_type\":[\"TCP\"],\"time_format\":\"relative\",\"reference_time\":0}}}}}}\n"
        ));
    }

    pub(super) fn connection(&mut self, now: Instant, ends: Ends, port: u16) {
        self.event(now, "connectivity:connection_started");
        let Ends { sender, receiver } = ends;
        self.add(format_args!(
            "\"ip_version\":\"v4\",\"src_ip\":\"{sender}\",\"dst_ip\":\"{receiver}\",\"protocol\":\"TCP\",\
             \"src_port\":{port},\"dst_port\":{DISCARD}"
        ));
        self.end();
    }

    pub(super) fn parameters(
        &mut self,
        now: Instant,
        payload: u32,
        initial_window: u64,
        granularity_ms: u64,
    ) {
        self.event(now, "recovery:parameters_set");
        self.add(format_args!(
            "\"timer_granularity\":{granularity_ms},\"max_datagram_size\":{payload},\
             \"initial_congestion_window\":{initial_window}"
        ));
        self.end();
    }

    /// A packet that is sent: its number and whether it is a SYN; of data, its place and length in bytes.
    pub(super) fn sent(
        &mut self,
        now: Instant,
        (number, syn): (u64, bool),
        bytes: u32,
        data: Option<(u64, u32)>,
        trigger: Option<&str>,
    ) {
        self.event(now, "transport:packet_sent");
        self.packet((number, syn), bytes, data.map_or(0, |(_, payload)| payload));
        if let Some((offset, payload)) = data {
            self.add(format_args!(
                ",\"frames\":[{{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":{offset},\"length\":{payload}}}]"
            ));
        }
        if let Some(trigger) = trigger {
            self.add(format_args!(",\"trigger\":\"{trigger}\""));
        }
        self.end();
    }

    fn packet(&mut self, (number, syn): (u64, bool), bytes: u32, payload: u32) {
        let kind = if syn { "initial" } else { "1RTT" };
        self.add(format_args!(
            "\"header\":{{\"packet_type\":\"{kind}\",\"packet_number\":{number}}},\
             \"raw\":{{\"length\":{bytes},\"payload_length\":{payload}}}"
        ));
    }

    pub(super) fn begin_heard(&mut self, now: Instant, number: u64, bytes: u32, syn: bool) {
        self.event(now, "transport:packet_received");
        self.packet((number, syn), bytes, 0);
        self.0.push_str(",\"frames\":[{\"frame_type\":\"ack\"");
    }

    /// Writes the packets that it is the first to acknowledge, in order. (`ecn_echo` is no field of the draft: TCP's echo
    /// is one bit.)
    pub(super) fn end_heard(&mut self, numbers: &[u64], ecn_echo: bool) {
        let mut separator = ",\"acked_ranges\":[";
        for run in numbers.chunk_by(|one, next| one + 1 == *next) {
            match run {
                [one] => self.add(format_args!("{separator}[{one}]")),
                [first, .., last] => self.add(format_args!("{separator}[{first},{last}]")),
                [] => {}
            }
            separator = ",";
        }
        self.0.push_str(if numbers.is_empty() { "}]" } else { "]}]" });
        if ecn_echo {
            self.0.push_str(",\"ecn_echo\":true");
        }
        self.end();
    }

    pub(super) fn lost(&mut self, now: Instant, number: u64, trigger: &str) {
        self.event(now, "recovery:packet_lost");
        self.add(format_args!(
            "\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}},\"trigger\":\"{trigger}\""
        ));
        self.end();
    }

    pub(super) fn timer_expired(&mut self, now: Instant) {
        self.event(now, "recovery:loss_timer_updated");
        self.0.push_str("\"timer_type\":\"pto\",\"event_type\":\"expired\"");
        self.end();
    }

    pub(super) fn state(&mut self, now: Instant, old: &str, new: &str) {
        self.event(now, "recovery:congestion_state_updated");
        if !old.is_empty() {
            self.add(format_args!("\"old\":\"{old}\","));
        }
        self.add(format_args!("\"new\":\"{new}\""));
        self.end();
    }

    /// Writes the metrics that differ from before.
    pub(super) fn metrics(&mut self, now: Instant, metrics: &Metrics, before: &Metrics) {
        self.event(now, "recovery:metrics_updated");
        let mut separator = "";
        let mut number = |text: &mut Self, key: &str, value: Option<u64>, before: Option<u64>| {
            if let Some(value) = value.filter(|_| value != before) {
                text.add(format_args!("{separator}\"{key}\":{value}"));
                separator = ",";
            }
        };
        number(self, "congestion_window", Some(metrics.window), Some(before.window));
        number(self, "bytes_in_flight", Some(metrics.in_flight), Some(before.in_flight));
        number(self, "packets_in_flight", Some(metrics.packets_in_flight), Some(before.packets_in_flight));
        number(self, "ssthresh", metrics.ssthresh, before.ssthresh);
        number(self, "pacing_rate", metrics.pacing_rate, before.pacing_rate);
        let mut time = |text: &mut Self, key: &str, value: Option<Duration>, before: Option<Duration>| {
            if let Some(value) = value.filter(|_| value != before) {
                let ms = Ms::from(value);
                text.add(format_args!("{separator}\"{key}\":{ms}"));
                separator = ",";
            }
        };
        time(self, "smoothed_rtt", metrics.smoothed_rtt, before.smoothed_rtt);
        time(self, "min_rtt", metrics.min_rtt, before.min_rtt);
        time(self, "latest_rtt", metrics.latest_rtt, before.latest_rtt);
        self.end();
    }
}
