//! Scenarios for tests, as the Python schema hands them over: small, and with times that are round.

use crate::network::Network;
use crate::{build, Monitor, Scenario};
use serde_json::{json, Value};

/// Picoseconds of a millisecond.
pub(crate) const MS: u64 = 1_000_000_000;

/// TCP without what makes times hard to compute by hand: no handshake, no delayed ACKs.
pub(crate) fn tcp() -> Value {
    json!({
        "initial_window": 10, "initial_ssthresh": null, "slow_start": "standard", "max_ssthresh": 100, "receive_window": null,
        "initial_receive_buffer": 131_072, "recovery": "sack", "prr": true, "limited_transmit": true, "delayed_ack": null, "min_rto": 200 * MS,
        "rto_floor": "timeout", "rules": parshall_tcp::Rules::RFC, "max_rto": 60_000 * MS, "initial_rto": 1000 * MS, "rto_granularity": MS, "timer_tick": null,
        "timestamps": true, "ecn": false, "accurate_ecn": false, "l4s": false, "pacing": false, "handshake": false,
        "ssthresh_cached": "off", "persistent": false, "byte_counting": true, "ack_size": 40
    })
}

/// A queue that drops what finds so many packets.
pub(crate) fn drop_tail(packets: u64) -> Value {
    json!({"name": "drop_tail", "limit": {"packets": packets}})
}

/// A link of 1 ms.
pub(crate) fn link(name: &str, rate_bps: u64, queue: &Value) -> Value {
    json!({
        "name": name, "rate": {"constant": rate_bps}, "delay_ps": MS, "queue": queue, "loss": {"name": "none"}
    })
}

/// Flows of Reno over link 0 that send this, with an RTT of 100 ms and packets of 1500 bytes, from the beginning.
pub(crate) fn tcp_group(name: &str, count: u32, workload: &Value) -> Value {
    json!({
        "name": name, "count": count, "external": false, "path": [0], "reverse_path": [], "rtt_ps": {"constant": 100 * MS},
        "access_bps": null, "marker": {"name": "none"}, "start_ps": {"constant": 0}, "packet_bytes": 1500,
        "header_bytes": 40, "processing_ps": 0, "dscp": 0, "tcp": tcp(),
        "congestion_control": {"name": "reno", "increase": 1.0, "decrease": 0.5, "ecn_decrease": 0.0},
        "workload": workload
    })
}

/// Requests, responses and times to think of constant sizes and lengths.
pub(crate) fn exchanges(request: u64, response: f64, think_s: f64) -> Value {
    let constant = |value: f64| json!({"name": "constant", "value": value});
    json!({
        "name": "request_response", "request": request, "response": constant(response), "size_granularity": 1,
        "think": constant(think_s)
    })
}

/// Flows of datagrams over link 0, of 500 bytes at a constant rate, with an RTT of 20 ms, from the beginning.
pub(crate) fn datagram_group(name: &str, count: u32, rate_bps: u64) -> Value {
    json!({
        "name": name, "count": count, "external": false, "path": [0], "reverse_path": [], "rtt_ps": {"constant": 20 * MS},
        "access_bps": null, "marker": {"name": "none"}, "start_ps": {"constant": 0}, "packet_bytes": 500,
        "header_bytes": 28, "processing_ps": 0, "dscp": 0, "tcp": null, "congestion_control": null,
        "workload": {"name": "cbr", "rate": rate_bps}
    })
}

/// Nothing is recorded but the totals.
pub(crate) fn scenario(links: &[Value], flows: &[Value], duration_ms: u64) -> Value {
    json!({
        "seed": 1, "duration_ps": duration_ms * MS, "ends_with": [], "warm_up_ps": 0, "links": links, "flows": flows,
        "probes": {
            "flow_samples": null, "flows_sampled": 0, "rounds_flows": 0, "link_samples": null, "transfers": false,
            "latency": false, "internals": false, "pcap": [], "qlog": false
        }
    })
}

/// Everything at once: two kinds of queues and a contended way back, all kinds of flows, all probes.
pub(crate) fn everything() -> Value {
    let codel = json!({
        "name": "codel", "limit": {"packets": 50}, "target": 5 * MS, "interval": 100 * MS, "ecn": false
    });
    let links = [
        link("forth", 10_000_000, &drop_tail(30)),
        link("late", 2_000_000, &codel),
        link("back", 30_000, &drop_tail(5)),
    ];
    let mut crossing = tcp_group("crossing", 3, &json!({"name": "bulk"}));
    crossing["path"] = json!([0, 1]);
    crossing["reverse_path"] = json!([2]);
    crossing["marker"] = json!({"name": "token_bucket", "rate": 500_000, "burst": 6000});
    crossing["processing_ps"] = json!(MS);
    let sizes = json!({"name": "exponential", "mean": 30_000.0});
    let arriving = json!({
        "name": "open_loop", "size": sizes, "size_granularity": 1, "arrivals_per_s": 20.0
    });
    let mut arriving = tcp_group("arriving", 1, &arriving);
    arriving["tcp"]["handshake"] = json!(true);
    arriving["tcp"]["delayed_ack"] = json!(40 * MS);
    let mut paced = tcp_group("paced", 2, &json!({"name": "transfer", "sizes": [60_000, 30_000]}));
    paced["tcp"]["pacing"] = json!(true);
    paced["start_ps"] = json!({"uniform": {"low": 0, "high": 300 * MS}});
    let mut asking = tcp_group("asking", 2, &exchanges(300, 20_000.0, 0.05));
    asking["reverse_path"] = json!([2]);
    asking["tcp"]["delayed_ack"] = json!(40 * MS);
    asking["tcp"]["handshake"] = json!(true);
    let mut calls = datagram_group("calls", 2, 300_000);
    calls["path"] = json!([1, 0]);
    let mut controlled = datagram_group("controlled", 2, 1);
    controlled["workload"] = json!({"name": "rate_controlled"});
    controlled["congestion_control"] = json!({"name": "tfrc", "intervals": 8});
    let mut everything = scenario(&links, &[crossing, calls, arriving, controlled, paced, asking], 4000);
    everything["warm_up_ps"] = json!(500 * MS);
    everything["probes"] = json!({
        "flow_samples": {"every": 50 * MS}, "flows_sampled": 2, "rounds_flows": 2, "link_samples": {"fitted": MS},
        "transfers": true, "latency": true, "internals": true, "pcap": [0, 2], "qlog": true
    });
    everything
}

/// A time of its own for each packet: uniform up to this, ms.
pub(crate) fn uniform_jitter(up_to_ms: u64, order: &str) -> Value {
    let law = json!({"name": "uniform", "low": 0.0, "high": up_to_ms as f64 / 1e3});
    json!({"distribution": law, "order": order})
}

/// The same with jitter on links and on the flows' own parts of paths, in both orders.
pub(crate) fn everything_with_jitter() -> Value {
    let mut everything = everything();
    everything["links"][0]["jitter"] = uniform_jitter(4, "free");
    everything["links"][1]["jitter"] = uniform_jitter(9, "kept");
    everything["links"][2]["jitter"] = uniform_jitter(7, "free");
    for (group, orders) in
        [(0, ["free", "kept"]), (2, ["kept", "free"]), (4, ["free", "free"]), (5, ["kept", "kept"])]
    {
        for (key, order) in ["jitter", "reverse_jitter"].into_iter().zip(orders) {
            everything["flows"][group][key] = uniform_jitter(20, order);
        }
    }
    everything["flows"][3]["jitter"] = uniform_jitter(30, "free");
    everything["flows"][5]["reverse_path"] = json!([]); // requests that cross no link
    everything
}

/// A network that has not begun.
pub(crate) fn network(scenario: &Value, repetition: u32) -> Network {
    build::network(&read(scenario), repetition).unwrap()
}

/// A network that has come to its end.
pub(crate) fn run(scenario: &Value, repetition: u32) -> Network {
    let mut network = network(scenario, repetition);
    network.advance(parshall_units::Instant::MAX, &Monitor::default()).unwrap();
    network.end().unwrap();
    network
}

pub(crate) fn read(scenario: &Value) -> Scenario {
    serde_json::from_value(scenario.clone()).unwrap()
}
