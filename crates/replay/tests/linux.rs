//! Our controls against recordings of Linux 6.18 (`tests/data/linux-6.18`, made by `tests/replay/record.py`).

use parshall_congestion::ControlConfig;
use parshall_replay::{replay, Quantity, Recording, Replayed};
use std::path::Path;

const RENO: &str = r#"{"name":"reno","increase":1.0,"decrease":0.5,"ecn_decrease":0.0}"#;
const RENO_LINUX: &str = r#"{"name":"reno_linux"}"#;
const CUBIC: &str =
    r#"{"name":"cubic","c":0.4,"beta":0.7,"beta_ecn":0.0,"fast_convergence":true,"reno_friendly":true}"#;
const CUBIC_LINUX: &str =
    r#"{"name":"cubic_linux","tick":4000000000,"fast_convergence":true,"reno_friendly":true,"hystart":true}"#;
const BBR: &str =
    r#"{"name":"bbr","cwnd_gain":2.0,"probe_rtt_interval":10000000000000,"probe_rtt_duration":200000000000}"#;

const BBR_LINUX: &str = r#"{"name":"bbr_linux","ack_aggregation":true,"policer_detection":true,"probe_rtt_interval":10000000000000}"#;

/// With T_L = 200 ms, as it was recorded; all else are the defaults.
const MULTIPLE_TIME_SCALE: &str = r#"{"name":"multiple_time_scale",
    "control":{"name":"reno","increase":1.0,"decrease":0.5,"ecn_decrease":0.0},"interval":200000000000,"levels":8,
    "quantiser":"quantile","peak":0.0,"memory":256,"schedule":"inverse_linear","aggressiveness":6.0,
    "conservativeness":1.0,"threshold":4.0,"slopes":[],"coupling":"congestion_avoidance","shift":0.0,
    "metacontrol":false,"adjustment":0.05,"block":"following","learning":0,"prior":[],"shared":"none","oracle":[]}"#;

const SITUATIONS: [&str; 6] = ["clean", "overflow", "loss", "ecn", "application_limited", "idle_restart"];

fn replayed(control: &str, situation: &str, config: &str) -> Replayed {
    let name = format!("../../tests/data/linux-6.18/{control}-{situation}.csv.zst");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let recording = Recording::read(&path).unwrap();
    assert_eq!((recording.end.unwrap().dropped, recording.broken), (0, 0));
    let config: ControlConfig = serde_json::from_str(config).unwrap();
    replay(&recording, control, &config)
}

/// How many values of a quantity were compared, and how many of them differ by more than the tolerance.
fn differ(replayed: &Replayed, quantity: Quantity) -> (u64, u64) {
    let found = replayed.compared.iter().find(|each| each.quantity == quantity).unwrap();
    (found.calls, found.calls - found.within)
}

/// Holds the values that differ against `expected`, in the order of `SITUATIONS`.
fn hold<const N: usize>(control: &str, config: &str, quantities: [Quantity; N], expected: [[u64; N]; 6]) {
    for (situation, expected) in SITUATIONS.into_iter().zip(expected) {
        let replayed = replayed(control, situation, config);
        let found = quantities.map(|quantity| differ(&replayed, quantity));
        assert!(found.iter().all(|(calls, _)| *calls > 200), "{control} {situation}: {found:?}");
        assert_eq!(found.map(|(_, differ)| differ), expected, "{control} {situation}: {:?}", replayed.causes);
    }
}

const WINDOWS: [Quantity; 2] = [Quantity::Cwnd, Quantity::Ssthresh];

#[test]
fn reno_has_the_window_of_linux_within_a_packet() {
    hold("reno", RENO, WINDOWS, [[0, 0], [0, 0], [0, 1], [0, 1], [0, 0], [0, 0]]);
    let ecn = replayed("reno", "ecn", RENO);
    assert!(ecn.first[0].cause.starts_with("ours reduces the packets in flight"), "{:?}", ecn.first);
}

#[test]
fn reno_linux_has_the_window_of_linux_to_the_packet() {
    hold("reno", RENO_LINUX, WINDOWS, [[0, 0]; 6]);
    for situation in SITUATIONS {
        let replayed = replayed("reno", situation, RENO_LINUX);
        assert!(
            replayed.compared.iter().all(|each| each.largest == 0.0),
            "{situation}: {:?}",
            replayed.compared
        );
    }
}

/// But for the time that passed while nothing was sent.
#[test]
fn cubic_linux_has_the_window_of_linux_within_a_packet() {
    hold("cubic", CUBIC_LINUX, WINDOWS, [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [6, 0]]);
}

/// What RFC 9438 says otherwise than Linux does: docs/kernel_recordings.md.
#[test]
fn cubic_of_the_rfc_differs_where_linux_does() {
    hold("cubic", CUBIC, WINDOWS, [[30, 1], [2, 3], [148, 4], [243, 3], [0, 0], [2, 2]]);
}

#[test]
fn bbr_finds_the_bandwidth_of_linux() {
    let all = [Quantity::Bandwidth, Quantity::State, Quantity::Cwnd];
    let expected = [[0, 1550, 1804], [0, 17, 612], [0, 305, 600], [0, 17, 701], [0, 0, 9], [0, 0, 259]];
    hold("bbr", BBR, all, expected);
}

/// But for when pacing lets the next packet go, which is not recorded.
#[test]
fn bbr_linux_is_the_bbr_of_linux() {
    let all = [Quantity::Bandwidth, Quantity::State, Quantity::Cwnd];
    hold("bbr", BBR_LINUX, all, [[0, 3, 72], [0, 3, 23], [0, 4, 33], [0, 5, 23], [0, 0, 0], [0, 0, 4]]);
}

/// All slopes are the same; once with marks a reduction differs, as that of Reno does.
#[test]
fn multiple_time_scale_by_bpf_is_that_of_the_simulator() {
    let all = [Quantity::Slope, Quantity::Cwnd, Quantity::Ssthresh];
    let expected = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]];
    hold("multiple_time_scale", MULTIPLE_TIME_SCALE, all, expected);
}

/// A control that is not the recorded one differs: the comparison can fail.
#[test]
fn another_control_differs() {
    let scalable = r#"{"name":"scalable","increase":0.01,"decrease":0.875,"legacy_window":16}"#;
    let replayed = replayed("reno", "overflow", scalable);
    assert_eq!(differ(&replayed, Quantity::Ssthresh).1, 4, "its four reductions: {:?}", replayed.causes);
}
