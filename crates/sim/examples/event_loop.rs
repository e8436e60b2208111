//! Times the event loop on one resolved scenario: for work on the hot path, under a profiler too.
//!
//! `cargo run --release -p parshall-sim --example event_loop -- RESOLVED.json [RUNS]`; the scenario is what
//! `json.dumps(parshall.Scenario.load("S.toml").resolve())` gives. With `--profile profiling` for `--release` a profiler knows the lines.

#![allow(clippy::disallowed_methods, reason = "the file is of whoever runs the example")]

use parshall_records::Tables;
use parshall_sim::{simulate, Monitor, Scenario};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text =
        std::fs::read_to_string(arguments.get(1).expect("a resolved scenario")).expect("a readable file");
    let scenario: Scenario = serde_json::from_str(&text).expect("a resolved scenario");
    let runs = arguments.get(2).map_or(1, |runs| runs.parse().expect("a number of runs"));
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let summary = simulate(&scenario, 0, &mut Tables::none(), &Monitor::default()).expect("a run");
        let cost_ns = 1e9 * summary.cpu_s.expect("a clock of CPU time") / summary.packets_forwarded as f64;
        best = best.min(cost_ns);
        println!(
            "{cost_ns:7.2} ns a packet, {} packets, {} dropped",
            summary.packets_forwarded, summary.packets_dropped
        );
    }
    println!("{best:7.2} ns a packet in the fastest of {runs} runs");
}
