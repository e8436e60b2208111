//! Emulates one resolved scenario and says what it took: for work on the emulator, under a profiler too.
//!
//! `cargo run --release -p parshall-emulation --example emulate -- RESOLVED.json`, as root or as a user who may emulate; the scenario
//! is what `json.dumps(parshall.instruments.emulation.kernel.emulated(parshall.Scenario.load("S.toml")))` gives.

#![allow(clippy::disallowed_methods, reason = "the file is of whoever runs the example")]

#[cfg(target_os = "linux")]
fn main() {
    use parshall_emulation::{emulate, Extras};
    use parshall_records::Tables;
    use parshall_sim::{Monitor, Scenario};

    let path = std::env::args().nth(1).expect("a resolved scenario");
    let text = std::fs::read_to_string(path).expect("a readable file");
    let scenario: Scenario = serde_json::from_str(&text).expect("a resolved scenario");
    let (emulated, _) =
        emulate(&scenario, 0, Tables::none(), &Monitor::default(), &Extras::default()).expect("an emulation");
    println!("{}", serde_json::to_string_pretty(&emulated).expect("JSON"));
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("emulation is for Linux");
}
