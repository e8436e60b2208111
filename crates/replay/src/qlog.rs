//! A recorded connection as a log in qlog, which qvis draws and implementers of other stacks read (`parshall replay --qlog`).
//!
//! The version is that which qvis reads: qlog 0.3, draft-ietf-quic-qlog-main-schema-02 (§6.2, JSON text sequences) and
//! draft-ietf-quic-qlog-quic-events-02. Times are milliseconds, windows bytes (packets of the kernel times the payload of a full segment),
//! rates bit/s.
//!
//! | event | when |
//! | --- | --- |
//! | `recovery:parameters_set` | first |
//! | `linux:FUNCTION` | at each call of the kernel's control, with what it was called with and its inner variables after: no event of the draft |
//! | `recovery:congestion_state_updated` | the kernel's state is another one: Open is slow start or congestion avoidance, Disorder the same, CWR and Recovery are recovery, Loss is "loss", as the simulator's logs have it |
//! | `recovery:metrics_updated` | after each call that changed something: what is new |

use crate::call::{Call, Kind};
use crate::recording::{Connection, Header};
use serde::Serialize;
use serde_json::{json, Map, Value};
use std::io::{self, Write};

/// The kernel's word for no threshold.
const INFINITE: u32 = 0x7fff_ffff;

/// The kernel's states in which it repairs losses or answers ECN, and that after a timeout.
const CWR: u32 = 2;
const LOSS: u32 = 4;

/// A record of a log.
#[derive(Serialize)]
struct Event<'a> {
    time: f64,
    name: &'a str,
    data: Map<String, Value>,
}

/// Writes the log of a connection.
///
/// # Errors
/// It cannot be written.
pub fn write(connection: &Connection, header: &Header, to: &mut impl Write) -> io::Result<()> {
    let Connection { control, flow, port, calls } = connection;
    let title = format!("{control} of Linux {}, flow {flow}, port {port}", header.kernel);
    let point = json!({"name": "sender", "type": "client"});
    let common = json!({"protocol_type": ["TCP"], "time_format": "relative", "reference_time": 0});
    record(
        to,
        &json!({
            "qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": title,
            "trace": {"title": title, "vantage_point": point, "common_fields": common},
        }),
    )?;
    let names: &[String] = header.inner.get(control).map_or(&[], Vec::as_slice);
    let (mut state, mut metrics) = ("", Map::new());
    for (number, call) in calls.iter().enumerate() {
        let mut event = |name: &str, data| record(to, &Event { time: call.time_ns as f64 / 1e6, name, data });
        if number == 0 {
            event("recovery:parameters_set", parameters(call))?;
        }
        event(&format!("linux:{}", function(call)), arguments(call, names))?;
        let turned = state_after(call);
        if turned != state {
            let mut data = Map::from_iter([("new".to_string(), json!(turned))]);
            if !state.is_empty() {
                data.insert("old".into(), json!(state));
            }
            event("recovery:congestion_state_updated", data)?;
            state = turned;
        }
        let mut changed = metrics_after(call);
        changed.retain(|key, value| metrics.get(key) != Some(value));
        if !changed.is_empty() {
            metrics.extend(changed.clone());
            event("recovery:metrics_updated", changed)?;
        }
    }
    Ok(())
}

/// A JSON value between a record separator and a line feed (RFC 7464 §2.1).
fn record(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    to.write_all(b"\x1e")?;
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

fn function(call: &Call) -> &'static str {
    Kind::ALL.get(call.kind as usize).map_or("unknown", |(_, name)| name)
}

fn parameters(call: &Call) -> Map<String, Value> {
    let bytes = u64::from(call.cwnd_after) * u64::from(call.mss);
    Map::from_iter([
        ("max_datagram_size".to_string(), json!(call.mss)),
        ("initial_congestion_window".to_string(), json!(bytes)),
    ])
}

/// What the function was called with, and the control's inner variables after it; packets, microseconds.
fn arguments(call: &Call, names: &[String]) -> Map<String, Value> {
    let mut given = Map::new();
    let in_flight =
        if call.kind() == Some(Kind::PktsAcked) { "bytes_in_flight_when_sent" } else { "prior_in_flight" };
    for (key, value) in [
        ("argument", i64::from(call.argument)),
        ("acked", i64::from(call.acked)),
        (in_flight, i64::from(call.prior_in_flight)),
        ("losses", i64::from(call.losses)),
        ("sample_flags", i64::from(call.sample_flags)),
        ("returned", i64::from(call.returned)),
    ] {
        if value != 0 {
            given.insert(key.into(), json!(value));
        }
    }
    if call.kind() == Some(Kind::CongControl) && call.delivered_in_interval >= 0 {
        given.insert("delivered_in_interval".into(), json!(call.delivered_in_interval));
        given.insert("interval_us".into(), json!(call.interval_us));
    }
    if call.rtt_us >= 0 {
        given.insert("rtt_us".into(), json!(call.rtt_us));
    }
    if !names.is_empty() {
        let inner: Map<_, _> =
            names.iter().zip(call.inner).map(|(name, value)| (name.clone(), json!(value))).collect();
        given.insert("inner".into(), Value::Object(inner));
    }
    given
}

fn state_after(call: &Call) -> &'static str {
    let state = if call.kind() == Some(Kind::SetState) { call.argument } else { call.ca_state };
    match state {
        LOSS.. => "loss",
        CWR.. => "recovery",
        _ if call.cwnd_after < call.ssthresh_after => "slow_start",
        _ => "congestion_avoidance",
    }
}

fn metrics_after(call: &Call) -> Map<String, Value> {
    let bytes = |packets: u32| json!(u64::from(packets) * u64::from(call.mss));
    let ms = |us: u32| json!(f64::from(us) / 1e3);
    let mut metrics = Map::from_iter([
        ("congestion_window".to_string(), bytes(call.cwnd_after)),
        ("bytes_in_flight".to_string(), bytes(call.in_flight())),
        ("packets_in_flight".to_string(), json!(call.in_flight())),
    ]);
    let mut put = |key: &str, value: Option<Value>| value.map(|value| metrics.insert(key.into(), value));
    put("ssthresh", (call.ssthresh_after < INFINITE).then(|| bytes(call.ssthresh_after)));
    put("pacing_rate", (call.pacing_rate < u64::MAX / 8).then(|| json!(call.pacing_rate * 8)));
    put("smoothed_rtt", (call.srtt_us > 0).then(|| ms(call.srtt_us)));
    put("min_rtt", (call.min_rtt_us < u32::MAX).then(|| ms(call.min_rtt_us)));
    put("latest_rtt", u32::try_from(call.rtt_us).ok().map(ms));
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn log(calls: Vec<Call>) -> Vec<Value> {
        let inner = BTreeMap::from_iter([("bbr".to_string(), vec!["state".to_string()])]);
        let connection = Connection { control: "bbr".into(), flow: 3, port: 40_000, calls };
        let mut text = Vec::new();
        write(&connection, &Header::new("6.18".into(), inner), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines().map(|line| serde_json::from_str(line.strip_prefix('\u{1e}').unwrap()).unwrap()).collect()
    }

    fn call(kind: Kind) -> Call {
        let place = Kind::ALL.iter().position(|(each, _)| *each == kind).unwrap();
        Call {
            time_ns: 1_500_000,
            kind: place as u32,
            mss: 1000,
            cwnd_after: 10,
            ssthresh_after: INFINITE,
            pacing_rate: u64::MAX,
            rtt_us: -1,
            min_rtt_us: u32::MAX,
            ..Call::default()
        }
    }

    #[test]
    fn a_call_and_what_it_changes() {
        let ack = Call { time_ns: 2_000_000, cwnd_after: 11, rtt_us: 40_250, ..call(Kind::CongControl) };
        let events = log(vec![call(Kind::Init), ack]);
        assert_eq!(events[0]["title"], "bbr of Linux 6.18, flow 3, port 40000");
        assert_eq!(events[1]["data"]["initial_congestion_window"], 10_000);
        assert_eq!((&events[2]["name"], &events[2]["time"]), (&json!("linux:init"), &json!(1.5)));
        assert_eq!(events[3]["data"], json!({"new": "slow_start"}));
        assert_eq!(
            events[4]["data"],
            json!({"congestion_window": 10_000, "bytes_in_flight": 0, "packets_in_flight": 0})
        );
        assert_eq!(events[5]["data"]["rtt_us"], 40_250);
        assert_eq!(events[5]["data"]["inner"], json!({"state": 0}));
        assert_eq!(events[6]["data"], json!({"congestion_window": 11_000, "latest_rtt": 40.25}));
        assert_eq!(events.len(), 7, "nothing is said twice");
    }

    #[test]
    fn a_change_of_state_is_told_once() {
        let to_loss = Call { argument: LOSS, cwnd_after: 1, ssthresh_after: 5, ..call(Kind::SetState) };
        let after = Call { ca_state: LOSS, cwnd_after: 1, ssthresh_after: 5, ..call(Kind::InAckEvent) };
        let events = log(vec![call(Kind::Init), to_loss, after]);
        let states: Vec<_> = events
            .iter()
            .filter(|event| event["name"] == "recovery:congestion_state_updated")
            .map(|event| event["data"]["new"].as_str().unwrap())
            .collect();
        assert_eq!(states, ["slow_start", "loss"]);
    }
}
