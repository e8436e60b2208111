//! qlog as implementations write it: the same flow in the words of each. The writers here follow the sources of aioquic
//! (`quic/logger.py`, `quic/recovery.py`), picoquic (`loglib/qlog.c`), mvfst (`quic/logging/QLoggerTypes.cpp`, `FileQLogger.cpp`),
//! quic-go (`qlog/event.go`, `trace.go`), ngtcp2 (`lib/ngtcp2_qlog.c`), and quiche's crate `qlog`, which neqo uses too.

mod common;

use common::{observe_file, Observed};
use std::fmt::Write;

const DATAGRAM: u32 = 1350;

/// An event: milliseconds since the beginning, and what.
#[derive(Clone, Copy)]
enum Event {
    Sent(u32),
    Lost(u32),
    /// Window in datagrams.
    Metrics(u32),
}

/// Reno over QUIC: round trips of 50 ms, 48 at least; one datagram a round trip more, halved at 40.
fn flow() -> Vec<(u32, Event)> {
    let mut events = Vec::new();
    let (mut window, mut number) = (20, 0);
    for i in 1..=400 {
        let time = 50 * i;
        events.push((time, Event::Sent(number)));
        if window == 40 {
            window = 20;
            events.push((time, Event::Lost(number)));
        } else {
            window += 1;
        }
        number += 1;
        events.push((time, Event::Metrics(window)));
    }
    events
}

fn is_the_flow(name: &str, text: &str) -> Observed {
    let seen = observe_file(text.as_bytes());
    assert_eq!((seen.summary.format, seen.summary.flows), ("qlog", 1), "{name}");
    for (column, right) in [
        ("mean_rtt_s", 0.050),
        ("min_rtt_s", 0.048),
        ("packets_sent", 400.0),
        ("packets_dropped", 19.0),
        ("loss_events", 19.0),
    ] {
        let found = seen.first("flows", column);
        assert!((found - right).abs() < 1e-6, "{name}: {column} {found} for {right}");
    }
    assert!((seen.summary.duration_s - 19.95).abs() < 1e-3, "{name}: {}", seen.summary.duration_s);
    let windows = seen.column("rounds", "window_packets");
    assert!(windows.len() >= 395, "{name}: {}", windows.len());
    assert!(windows.iter().all(|window| (20.0..=40.0).contains(window)), "{name}: {windows:?}");
    assert!(!seen.summary.remarks.iter().any(|said| said.contains("no windows per round trip")), "{name}");
    seen
}

/// Each event made text, separated by commas.
fn listed(write: impl Fn(u32, Event) -> String) -> String {
    flow().into_iter().map(|(time, event)| write(time, event)).collect::<Vec<_>>().join(",\n")
}

fn bytes(window: u32) -> u32 {
    window * DATAGRAM
}

#[test]
fn aioquic() {
    // 0.3: objects, milliseconds since 1970, and the window is `cwnd`.
    let events = listed(|time, event| {
        let time = 1_700_000_000_000u64 + u64::from(time);
        match event {
            Event::Sent(number) => format!(
                r#"{{"data":{{"frames":[],"header":{{"packet_number":{number},"packet_type":"1RTT"}},"raw":{{"length":{DATAGRAM}}}}},"name":"transport:packet_sent","time":{time}.25}}"#
            ),
            Event::Lost(number) => format!(
                r#"{{"data":{{"packet_number":{number},"type":"1RTT"}},"name":"recovery:packet_lost","time":{time}.25}}"#
            ),
            Event::Metrics(window) => format!(
                r#"{{"data":{{"bytes_in_flight":9000,"cwnd":{},"latest_rtt":50.5,"min_rtt":48.0,"smoothed_rtt":50.0,"rtt_variance":3.1}},"name":"recovery:metrics_updated","time":{time}.25}}"#,
                bytes(window)
            ),
        }
    });
    let seen = is_the_flow(
        "aioquic",
        &format!(
            r#"{{"qlog_format":"JSON","qlog_version":"0.3","traces":[{{"common_fields":{{"ODCID":"6b4c"}},"events":[{events}],"vantage_point":{{"name":"aioquic","type":"server"}}}}]}}"#
        ),
    );
    let said = seen.summary.remarks.join(" ");
    assert!(said.contains("in packets of 1350 bytes, the largest that was sent before"), "{said}");
    // draft-01: arrays, times as text, `metric_update`.
    let events = listed(|time, event| match event {
        Event::Sent(number) => format!(
            r#"["{time}","transport","packet_sent",{{"header":{{"packet_number":{number},"packet_size":{DATAGRAM}}},"packet_type":"1RTT","frames":[]}}]"#
        ),
        Event::Lost(number) => {
            format!(r#"["{time}","recovery","packet_lost",{{"packet_number":"{number}","type":"1RTT"}}]"#)
        }
        Event::Metrics(window) => format!(
            r#"["{time}","recovery","metric_update",{{"bytes_in_flight":9000,"cwnd":{},"min_rtt":48,"smoothed_rtt":50}}]"#,
            bytes(window)
        ),
    });
    is_the_flow(
        "aioquic, draft-01",
        &format!(
            r#"{{"qlog_version":"draft-01","traces":[{{"common_fields":{{"ODCID":"8b8c","reference_time":"1575028855415"}},"event_fields":["relative_time","category","event_type","data"],"events":[{events}],"vantage_point":{{"name":"aioquic","type":"client"}}}}]}}"#
        ),
    );
}

#[test]
fn picoquic() {
    // draft-00: arrays, all times in microseconds; an update has what changed.
    let events = listed(|time, event| match event {
        Event::Sent(number) => format!(
            r#"[{time}000, "transport", "packet_sent", {{ "packet_type": "1RTT", "header": {{ "packet_size": {DATAGRAM}, "packet_number": {number} }}, "frames": []}}]"#
        ),
        Event::Lost(number) => format!(
            r#"[{time}000, "RECOVERY", "PACKET_LOST", {{"packet_type" : "1RTT", "packet_number" : {number}, "trigger": "repeat"}}]"#
        ),
        Event::Metrics(window) => {
            let rtt = if time == 50 { r#","smoothed_rtt": 50000,"min_rtt": 48000"# } else { "" };
            format!(
                r#"[{time}000, "recovery", "metrics_updated", {{"cwnd": {},"pacing_rate": 8000000{rtt},"latest_rtt": 50100}}]"#,
                bytes(window)
            )
        }
    });
    is_the_flow(
        "picoquic",
        &format!(
            r#"{{ "qlog_version": "draft-00", "title": "picoquic", "traces": [
{{ "vantage_point": {{ "name": "backend-67", "type": "server" }},
"title": "picoquic", "description": "0102","event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"],
"configuration": {{"time_units": "us"}},
"common_fields": {{ "protocol_type": "QUIC_HTTP3", "reference_time": "1700000000000000"}},
"events": [{events}]}}]}}"#
        ),
    );
}

#[test]
fn mvfst() {
    // draft-00: arrays, times as text, in microseconds of a clock that runs since the host started; window and times apart.
    let origin = 8_640_000_000u64;
    let events = listed(|time, event| {
        let time = origin + 1000 * u64::from(time);
        match event {
            Event::Sent(number) => format!(
                r#"["{time}","transport","packet_sent",{{"frames":[],"header":{{"packet_number":{number},"packet_size":{DATAGRAM}}},"packet_type":"1RTT"}}]"#
            ),
            Event::Lost(number) => format!(
                r#"["{time}","loss","packets_lost",{{"largest_lost_packet_num":{number},"lost_bytes":{DATAGRAM},"lost_packets":1}}]"#
            ),
            Event::Metrics(window) => format!(
                r#"["{time}","recovery","metric_update",{{"ack_delay":100,"latest_rtt":50100,"min_rtt":48000,"smoothed_rtt":50000}}],
["{time}","metric_update","congestion_metric_update",{{"bytes_in_flight":9000,"congestion_event":"congestion packet ack","current_cwnd":{},"recovery_state":"","state":"Steady"}}]"#,
                bytes(window)
            ),
        }
    });
    is_the_flow(
        "mvfst",
        &format!(
            r#"{{"description":"Converted from file","qlog_version":"draft-00","summary":{{"max_duration":19950000,"total_event_count":1000,"trace_count":1}},"title":"mvfst qlog","traces":[{{"common_fields":{{"dcid":"01","protocol_type":"QUIC","reference_time":"0","scid":"02"}},"configuration":{{"time_offset":0,"time_units":"us"}},"description":"Generated qlog from connection","event_fields":["relative_time","category","event","data"],"events":[{events}],"title":"mvfst qlog from single connection","vantage_point":{{"name":"server","type":"server"}}}}]}}"#
        ),
    );
}

/// A header and an event a line, each after `before`.
fn lines(header: &str, before: &str, write: impl Fn(u32, Event) -> String) -> String {
    let mut text = format!("{before}{header}\n");
    for (time, event) in flow() {
        writeln!(text, "{before}{}", write(time, event)).unwrap();
    }
    text
}

#[test]
fn quic_go() {
    // draft-02: a JSON value a line, events as arrays.
    let header = r#"{"qlog_format":"NDJSON","qlog_version":"draft-02","title":"quic-go qlog","configuration":{"code_version":"(devel)"},"trace":{"vantage_point":{"type":"server"},"common_fields":{"ODCID":"0102","group_id":"0102","reference_time":1700000000000,"time_format":"relative"},"event_fields":["relative_time","category","event","data"]}}"#;
    let text = lines(header, "", |time, event| match event {
        Event::Sent(number) => format!(
            r#"[{time}.5,"transport","packet_sent",{{"packet_type":"1RTT","header":{{"packet_number":{number},"packet_size":{DATAGRAM}}}}}]"#
        ),
        Event::Lost(number) => format!(
            r#"[{time}.5,"recovery","packet_lost",{{"packet_type":"1RTT","packet_number":{number},"trigger":"reordering_threshold"}}]"#
        ),
        Event::Metrics(window) => format!(
            r#"[{time}.5,"recovery","metrics_updated",{{"min_rtt":48,"smoothed_rtt":50,"latest_rtt":50.1,"congestion_window":{},"packets_in_flight":9}}]"#,
            bytes(window)
        ),
    });
    is_the_flow("quic-go, draft-02", &text);
    // 0.3: JSON-SEQ, events as objects; the datagram's size is told by `mtu_updated`.
    let header = r#"{"qlog_format":"JSON-SEQ","qlog_version":"0.3","title":"quic-go qlog","configuration":{"code_version":"v0.50"},"trace":{"vantage_point":{"type":"server"},"common_fields":{"ODCID":"0102","group_id":"0102","reference_time":1700000000000,"time_format":"relative"}}}"#;
    let text = lines(header, "\x1e", |time, event| match event {
        Event::Sent(0) => format!(
            r#"{{"time":{time}.5,"name":"recovery:mtu_updated","data":{{"mtu":{DATAGRAM},"done":true}}}}
{}{{"time":{time}.5,"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":0}},"raw":{{"length":1252}}}}}}"#,
            '\x1e'
        ),
        Event::Sent(number) => format!(
            r#"{{"time":{time}.5,"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1252,"payload_length":1200}}}}}}"#
        ),
        Event::Lost(number) => format!(
            r#"{{"time":{time}.5,"name":"recovery:packet_lost","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"trigger":"time_threshold"}}}}"#
        ),
        Event::Metrics(window) => format!(
            r#"{{"time":{time}.5,"name":"recovery:metrics_updated","data":{{"min_rtt":48,"smoothed_rtt":50,"congestion_window":{}}}}}"#,
            bytes(window)
        ),
    });
    let seen = is_the_flow("quic-go, 0.3", &text);
    assert!(seen.summary.remarks.is_empty(), "{:?}", seen.summary.remarks);
}

#[test]
fn ngtcp2() {
    let header = r#"{"qlog_format":"JSON-SEQ","qlog_version":"0.3","trace":{"vantage_point":{"name":"ngtcp2","type":"server"},"common_fields":{"protocol_type":["QUIC"],"time_format":"relative","reference_time":"0","group_id":"0102"}}}"#;
    let text = lines(header, "\x1e", |time, event| match event {
        Event::Sent(number) => format!(
            r#"{{"time":{time}.000123,"name":"transport:packet_sent","data":{{"frames":[],"header":{{"packet_number":{number},"packet_type":"1RTT","dcid":""}},"raw":{{"length":{DATAGRAM}}}}}}}"#
        ),
        Event::Lost(number) => format!(
            r#"{{"time":{time}.000123,"name":"recovery:packet_lost","data":{{"header":{{"packet_number":{number},"packet_type":"1RTT","dcid":""}}}}}}"#
        ),
        Event::Metrics(window) => format!(
            r#"{{"time":{time}.000123,"name":"recovery:metrics_updated","data":{{"min_rtt":48.000000,"smoothed_rtt":50.000000,"latest_rtt":50.100000,"rtt_variance":1.2,"pto_count":0,"congestion_window":{},"bytes_in_flight":9000,"ssthresh":27000}}}}"#,
            bytes(window)
        ),
    });
    is_the_flow("ngtcp2", &text);
}

#[test]
fn quiche_and_neqo() {
    // 0.3, and the names of later drafts.
    for (header, space) in [
        (
            r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"neqo-client qlog","trace":{"vantage_point":{"name":"neqo-client","type":"client"},"title":"neqo-client trace","common_fields":{"group_id":"01","reference_time":1700000000000.0,"time_format":"relative"},"configuration":{"time_offset":0.0}}}"#,
            [
                "transport:packet_sent",
                "recovery:packet_lost",
                "recovery:metrics_updated",
                "recovery:parameters_set",
            ],
        ),
        (
            r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","title":"quiche-server qlog","trace":{"title":"quiche-server trace","common_fields":{"reference_time":{"clock_type":"monotonic","epoch":"unknown","wall_clock_time":"2026-01-01T00:00:00Z"},"time_format":"relative_to_epoch"},"vantage_point":{"type":"server"},"event_schemas":["urn:ietf:params:qlog:events:quic-12"]}}"#,
            [
                "quic:packet_sent",
                "quic:packet_lost",
                "quic:recovery_metrics_updated",
                "quic:recovery_parameters_set",
            ],
        ),
    ] {
        let [sent, lost, metrics, parameters] = space;
        let text = lines(header, "\x1e", |time, event| {
            match event {
            Event::Sent(0) => format!("{{\"time\":{time}.0,\"name\":\"{parameters}\",\"data\":{{\"max_datagram_size\":{DATAGRAM},\"initial_congestion_window\":13500}}}}\n\x1e{{\"time\":{time}.0,\"name\":\"{sent}\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":0}}}}}}"),
            Event::Sent(number) => format!(
                r#"{{"time":{time}.0,"name":"{sent}","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":900}},"frames":[]}}}}"#
            ),
            Event::Lost(number) => format!(
                r#"{{"time":{time}.0,"name":"{lost}","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"trigger":"reordering_threshold"}}}}"#
            ),
            Event::Metrics(window) => format!(
                r#"{{"time":{time}.0,"name":"{metrics}","data":{{"min_rtt":48.0,"smoothed_rtt":50.0,"congestion_window":{},"bytes_in_flight":9000}}}}"#,
                bytes(window)
            ),
        }
        });
        let seen = is_the_flow("quiche and neqo", &text);
        assert!(seen.summary.remarks.is_empty(), "{:?}", seen.summary.remarks);
    }
}

#[test]
fn a_log_without_a_window_says_that() {
    let text = r#"{"qlog_version":"0.3","traces":[{"events":[
      {"time":0,"name":"recovery:metrics_updated","data":{"smoothed_rtt":50}},
      {"time":9,"name":"recovery:metrics_updated","data":{"smoothed_rtt":51}}]}]}"#;
    let said = observe_file(text.as_bytes()).summary.remarks.join(" ");
    assert!(said.contains("samples have no congestion window"), "{said}");
    assert!(!said.contains("further apart") && !said.contains("max_datagram_size"), "{said}");
}
