//! Whatever JSON arrives, it is refused or it runs: no panic, no hang.
//!
//! A scenario that runs is damaged in a few places, so that most cases get past the parser and meet the checks behind it.

#[path = "../../../fuzz/src/scenario.rs"]
mod target;

use parshall_records::Tables;
use parshall_sim::{simulate, Monitor, Scenario, SimError};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

/// How long a damaged scenario may take before it is cancelled, which must then work.
const PATIENCE: Duration = Duration::from_millis(500);

fn sound() -> Value {
    let tcp = json!({
        "initial_window": 10, "initial_ssthresh": null, "slow_start": "hystart++", "max_ssthresh": 100, "receive_window": 50, "initial_receive_buffer": 131_072, "recovery": "sack", "prr": true,
        "limited_transmit": true, "delayed_ack": 40_000_000_000_u64, "min_rto": 200_000_000_000_u64, "rto_floor": "variation", "rules": parshall_tcp::Rules::RFC,
        "max_rto": 60_000_000_000_000_u64, "initial_rto": 1_000_000_000_000_u64, "rto_granularity": 1_000_000_000, "timer_tick": null,
        "timestamps": true, "ecn": true, "accurate_ecn": false, "l4s": true, "pacing": true, "handshake": true, "ssthresh_cached": "linux",
        "persistent": false, "byte_counting": true, "ack_size": 40
    });
    json!({
        "seed": 1, "duration_ps": 300_000_000_000_u64, "ends_with": [0], "warm_up_ps": 10_000_000_000_u64,
        "links": [
            {
                "name": "forth", "rate": {"constant": 10_000_000}, "delay_ps": 1_000_000_000,
                "queue": {"name": "drop_tail", "limit": {"packets": 10}},
                "loss": {"name": "bernoulli", "probability": 0.01}
            },
            {
                "name": "back", "rate": {"trace": [0, 1, 1, 5]}, "delay_ps": 1_000_000_000,
                "queue": {
                    "name": "rio", "limit": {"bytes": 15_000}, "in_min": 5, "in_max": 10, "in_probability": 0.01,
                    "out_min": 2, "out_max": 8, "out_probability": 0.1, "in_length": "in", "out_length": "total",
                    "averaging": 0.1, "coin": "spaced"
                }, "loss": {"name": "none"},
                "jitter": {"distribution": {"name": "exponential", "mean": 0.002}, "order": "free"}
            },
            {
                "name": "late", "rate": {"constant": 5_000_000}, "delay_ps": 1_000_000_000,
                "queue": {
                    "name": "codel", "limit": {"packets": 20}, "target": 1_000_000_000, "interval": 10_000_000_000_u64,
                    "ecn": true
                }, "loss": {"name": "none"}
            }
        ],
        "flows": [
            {
                "name": "transfers", "count": 3, "external": false, "path": [2, 0], "reverse_path": [1],
                "rtt_ps": {"linear": {"first": 20_000_000_000_u64, "step": 1_000_000_000}}, "access_bps": 100_000_000,
                "jitter": {"distribution": {"name": "uniform", "low": 0.0, "high": 0.01}, "order": "kept"},
                "reverse_jitter": {"distribution": {"name": "uniform", "low": 0.0, "high": 0.01}, "order": "free"},
                "processing_ps": 100_000_000, "dscp": 0,
                "marker": {"name": "token_bucket", "rate": 1_000_000, "burst": 6000},
                "start_ps": {"uniform": {"low": 0, "high": 10_000_000_000_u64}}, "packet_bytes": 1500, "header_bytes": 40,
                "tcp": tcp, "congestion_control": {"name": "reno", "increase": 1.0, "decrease": 0.5, "ecn_decrease": 0.0},
                "workload": {"name": "transfer", "sizes": [3000, 0, 50_000]}
            },
            {
                "name": "datagrams", "count": 1, "external": false, "path": [0, 2, 1], "reverse_path": [],
                "rtt_ps": {"constant": 20_000_000_000_u64}, "access_bps": null, "processing_ps": 0, "dscp": 0,
                "marker": {"name": "none"}, "start_ps": {"list": [0]},
                "packet_bytes": 500, "header_bytes": 28, "tcp": null, "congestion_control": null,
                "workload": {"name": "poisson", "rate": 100_000, "size": {"name": "exponential", "mean": 300.0}}
            },
            {
                "name": "controlled", "count": 2, "external": false, "path": [0, 2], "reverse_path": [],
                "rtt_ps": {"constant": 20_000_000_000_u64}, "access_bps": 1_000_000, "processing_ps": 1_000_000_000, "dscp": 46,
                "marker": {"name": "none"}, "start_ps": {"list": [0, 1_000_000]},
                "packet_bytes": 500, "header_bytes": 28, "tcp": null,
                "congestion_control": {
                    "name": "rate_based", "increase": 1000.0, "decrease": 1.0, "congestion": "loss", "ceiling": 1e5
                },
                "workload": {"name": "rate_controlled"}
            }
        ],
        "probes": {
            "flow_samples": {"every": 10_000_000_000_u64}, "flows_sampled": 2, "rounds_flows": 1,
            "link_samples": {"fitted": 1_000_000_u64}, "transfers": true, "latency": true, "internals": true, "pcap": [0], "qlog": true
        }
    })
}

/// What happens to one place of the scenario.
#[derive(Clone, Debug)]
enum Damage {
    Replaced(Value),
    Removed,
    Added(Value),
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop::sample::select(vec![
            0_u64,
            1,
            2,
            39,
            40,
            41,
            65_535,
            65_536,
            1 << 32,
            1 << 53,
            i64::MAX as u64,
            u64::MAX
        ])
        .prop_map(Value::from),
        prop::sample::select(vec![-1.0, 0.0, 1e-300, 0.5, 1.0, 1.5, 1e18, 1e308]).prop_map(Value::from),
        prop::sample::select(vec!["", "reno", "sack", "drop_tail", "none", "µ"]).prop_map(Value::from),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([0, 0])),
        Just(json!({"constant": 0})),
        Just(json!({"constant": u64::MAX})),
        Just(json!({"trace": [0]})),
        Just(json!({"trace": [5, 3]})),
        Just(json!({"name": "bulk"})),
        Just(json!({"name": "cbr", "rate": u64::MAX})),
        Just(json!({"name": "pareto", "mean": 1e300, "tail_index": 1.0})),
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        8 => odd_value().prop_map(Damage::Replaced),
        1 => Just(Damage::Removed),
        1 => odd_value().prop_map(Damage::Added),
    ]
}

/// Damages the `place`-th inner value, counted depth first.
fn strike(value: &mut Value, place: &mut usize, damage: &Damage) -> bool {
    let children: Vec<String> = match value {
        Value::Object(map) => map.keys().cloned().collect(),
        Value::Array(items) => (0..items.len()).map(|index| index.to_string()).collect(),
        _ => Vec::new(),
    };
    for child in children {
        if *place == 0 {
            match (value, damage) {
                (Value::Object(map), Damage::Replaced(new)) => drop(map.insert(child, new.clone())),
                (Value::Object(map), Damage::Removed) => drop(map.remove(&child)),
                (Value::Object(map), Damage::Added(new)) => {
                    drop(map.insert("surplus".to_owned(), new.clone()));
                }
                (Value::Array(items), Damage::Replaced(new)) => {
                    items[child.parse::<usize>().unwrap()] = new.clone();
                }
                (Value::Array(items), Damage::Removed) => drop(items.remove(child.parse().unwrap())),
                (Value::Array(items), Damage::Added(new)) => items.push(new.clone()),
                _ => unreachable!("only objects and arrays have children"),
            }
            return true;
        }
        *place -= 1;
        let inner = match value {
            Value::Object(map) => &mut map[&child],
            Value::Array(items) => &mut items[child.parse::<usize>().unwrap()],
            _ => unreachable!("only objects and arrays have children"),
        };
        if strike(inner, place, damage) {
            return true;
        }
    }
    false
}

/// Flows of a damaged scenario; those with millions would only use up memory and time.
fn flows(scenario: &Scenario) -> u64 {
    scenario.flows.iter().map(|group| u64::from(group.count)).sum()
}

/// Runs it, and cancels it when patience is over.
fn run(scenario: &Scenario) -> Result<(), SimError> {
    let monitor = Monitor::default();
    let (done, waiting) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watched = &monitor;
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE).is_err() {
                watched.cancel.store(true, Ordering::Relaxed);
            }
        });
        let result = simulate(scenario, 0, &mut Tables::none(), watched).map(|summary| {
            for link in summary.links {
                assert!(link.dropped <= link.arrivals, "more is lost than arrived: {link:?}");
            }
        });
        let _ = done.send(());
        result
    })
}

#[test]
fn the_sound_scenario_runs() {
    let scenario: Scenario = serde_json::from_value(sound()).unwrap();
    run(&scenario).unwrap();
}

#[test]
fn the_fuzz_target_runs_it_and_refuses_another() {
    let bytes = |value: &Value| serde_json::to_vec(value).unwrap();
    assert!(target::run(&bytes(&sound())).is_some());
    let mut wrong = sound();
    wrong["links"] = json!([]);
    assert!(target::run(&bytes(&wrong)).is_none());
    assert!(target::run(b"{").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_scenarios_are_refused_or_run(strikes in prop::collection::vec((0_usize..185, damage()), 1..4)) {
        let mut value = sound();
        for (mut place, damage) in strikes {
            strike(&mut value, &mut place, &damage);
        }
        if let Ok(scenario) = serde_json::from_value::<Scenario>(value) {
            if flows(&scenario) <= 10_000 {
                match run(&scenario) {
                    Ok(()) | Err(SimError::Interrupted { .. }) => {}
                    Err(error) => prop_assert!(error.to_string().len() > 10, "{error}"),
                }
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,300}") {
        let _ = serde_json::from_str::<Scenario>(&text);
    }
}
