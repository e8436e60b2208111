//! What every congestion control in the catalog must keep, whatever happens to it.

#[path = "common/any_config.rs"]
mod any_config;
mod common;

use any_config::any_config;
use common::{default_config, default_object};
use parshall_congestion::catalog::CATALOG;
use parshall_congestion::conformance::{
    check, random_events, under_events, Checked, Extent, Findings, Flight, Happening, Outcome, Path,
};
use parshall_congestion::{CongestionControl, ControlConfig, SlowStart, SlowStartChoice, Start};
use parshall_units::parameters::Entry;
use parshall_units::testing::misspelt;
use parshall_units::Duration;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

const BEGIN: Start = Start { window: 4.0, ..Start::NEW };

/// Random events: of a seed, so many.
fn happenings(count: std::ops::Range<u32>) -> impl Strategy<Value = Vec<Happening>> {
    (any::<u64>(), count).prop_map(|(seed, count)| random_events(seed, count))
}

#[test]
fn every_control_passes_the_kit() {
    for entry in CATALOG {
        for flight in [Flight::Any, Flight::Sent] {
            let extent = Extent { seed: 1, series: 100, events: 400, flight };
            for Checked { check, outcome } in check(&default_config(entry), extent) {
                let media = default_config(entry).needs().arrival_times;
                let not_asked = outcome == Outcome::NotAsked
                    && match check.name {
                        "recovers" => media,
                        "slope" => !steerable().any(|steerable| steerable.name == entry.name),
                        name => ["answers_losses", "ssthresh"].contains(&name),
                    };
                // As the kernel's `bbr_set_cwnd`: until the pipe is full the window grows with each ACK, used or not.
                let as_linux = entry.name == "bbr_linux" && check.name == "unused";
                let violated = matches!(outcome, Outcome::Violated(_));
                assert!(
                    outcome == Outcome::Passed || not_asked || (as_linux && violated),
                    "{}: {}: {outcome:?}",
                    entry.name,
                    check.name
                );
            }
        }
    }
}

#[test]
fn l4s_is_the_default_with_the_controls_that_need_it() {
    let default = |entry: &&Entry| entry.defaults.contains(&("l4s", "true"));
    let (with, without): (Vec<&Entry>, Vec<&Entry>) = CATALOG.iter().partition(default);
    assert!(with.iter().all(|entry| default_config(entry).needs().l4s) && !with.is_empty());
    assert!(!without.iter().any(|entry| default_config(entry).needs().l4s));
}

#[test]
fn datagrams_are_sent_by_the_controls_that_set_a_rate_from_reports() {
    let rtt = Duration::from_millis(100);
    for entry in CATALOG {
        let config = default_config(entry);
        match config.check_for_datagrams(rtt) {
            Ok(()) => assert!(config.needs().from_reports, "{}", entry.name),
            Err(error) => {
                assert!(!config.needs().from_reports, "{}", entry.name);
                let named = ["rate_based", "tfrc", "gcc", "scream"].map(|name| error.accepted.contains(name));
                assert_eq!(named, [true; 4], "{}", error.accepted);
            }
        }
    }
}

#[test]
fn controls_of_a_window_are_asked_to_answer_losses() {
    let extent = Extent { seed: 1, series: 0, events: 0, flight: Flight::Any };
    let not_asked = |entry: &&Entry| {
        let answers = check(&default_config(entry), extent);
        let mut losses = answers.iter().filter(|checked| checked.check.name == "answers_losses");
        losses.any(|checked| checked.outcome == Outcome::NotAsked)
    };
    let (excused, asked): (Vec<&Entry>, Vec<&Entry>) = CATALOG.iter().partition(not_asked);
    assert!(["bbr", "bbr3", "tcp_rate"].iter().all(|name| excused.iter().any(|entry| entry.name == *name)));
    assert!(["vegas", "fast"].iter().all(|name| asked.iter().any(|entry| entry.name == *name)));
    assert!(!excused.iter().any(|entry| default_config(entry).has_standard_slow_start()));
}

#[test]
fn controls_of_a_window_are_asked_whether_slow_start_ends_at_ssthresh() {
    let extent = Extent { seed: 1, series: 0, events: 0, flight: Flight::Any };
    for name in ["reno", "cubic", "dctcp", "compound"] {
        let entry = CATALOG.iter().find(|entry| entry.name == name).unwrap();
        let answers = check(&default_config(entry), extent);
        let asked = answers.iter().filter(|checked| checked.outcome == Outcome::Passed);
        assert!(asked.map(|checked| checked.check.name).any(|name| name == "ssthresh"), "{name}");
    }
}

proptest! {
    /// What holds at any event, with every value that the parameters accept.
    #[test]
    fn every_control_stays_sane_whatever_the_parameters(
        configs in CATALOG.iter().map(any_config).collect::<Vec<_>>(),
        events in happenings(1..100),
        window in 1.0f64..100.0,
    ) {
        for (entry, config) in CATALOG.iter().zip(&configs) {
            stays_sane(entry.name, config, window, &events)?;
        }
    }
}

fn stays_sane(
    name: &str,
    config: &ControlConfig,
    window: f64,
    events: &[Happening],
) -> Result<(), TestCaseError> {
    let mut found = Findings::default();
    under_events(config, Start { window, ..Start::NEW }, events, Flight::Any, &mut found);
    for Checked { check, outcome } in found.answers() {
        let violated = matches!(outcome, Outcome::Violated(_));
        prop_assert!(!violated, "{name}: {}: {outcome:?}, {config:?}", check.name);
    }
    Ok(())
}

proptest! {
    /// HyStart++, or limited slow start, before every control whose slow start it can replace: the same rules, and never a larger window in slow start.
    #[test]
    fn with_another_slow_start_a_control_stays_sane(
        events in happenings(1..400),
        start in 1.0f64..100.0,
        paced: bool,
        kind in prop::sample::select(vec![SlowStart::HyStart, SlowStart::Limited]),
        max_ssthresh in 2.0f64..200.0,
    ) {
        let slow_start = SlowStartChoice { kind, max_ssthresh, paced };
        let configs = CATALOG.iter().map(|entry| (entry, default_config(entry)));
        for (entry, config) in configs.filter(|(_, config)| config.has_standard_slow_start()) {
            let begin = Start { window: start, ssthresh: f64::INFINITY, ..Start::NEW };
            let path = Path::new(config.needs(), Flight::Any);
            let (mut plain, mut one) = (config.build(begin), path.clone());
            let (mut wrapped, mut two) = (config.build_with(begin, slow_start), path);
            for &event in &events {
                one.apply(&mut plain, event);
                two.apply(&mut wrapped, event);
                let window = wrapped.window();
                prop_assert!(window.is_finite() && window >= 1.0, "{}: {window} after {event:?}", entry.name);
                prop_assert!(wrapped.ssthresh() >= 2.0, "{}", entry.name);
                if plain.ssthresh().is_infinite() {
                    prop_assert!(window <= plain.window(), "{}: {window} after {event:?}", entry.name);
                }
                if matches!(event, Happening::Timeout { .. }) {
                    prop_assert_eq!(window, 1.0, "{}", entry.name);
                }
            }
        }
    }
}

proptest! {
    /// What a control tells of itself is what the catalog lists: each name once, and every name at some time.
    #[test]
    fn inner_variables_are_those_of_the_catalog(events in happenings(50..200)) {
        for entry in CATALOG {
            let mut control = default_config(entry).build(BEGIN);
            let mut path = Path::new(control.needs(), Flight::Any);
            let listed: BTreeSet<&str> = entry.variables.iter().map(|variable| variable.name).collect();
            for &event in &events {
                path.apply(&mut control, event);
                let mut told = Vec::new();
                control.read_variables(&mut |name, _| told.push(name));
                let names: BTreeSet<&str> = told.iter().copied().collect();
                prop_assert_eq!(told.len(), names.len(), "{}: {:?}", entry.name, told);
                prop_assert!(names.is_subset(&listed), "{}: {:?}", entry.name, names);
            }
        }
    }
}

#[test]
fn what_the_catalog_gives_by_default_is_within_its_ranges() {
    for entry in CATALOG {
        assert_eq!(default_config(entry).check(Duration::ZERO), Ok(()), "{}", entry.name);
    }
}

#[test]
fn a_misspelt_choice_is_refused() {
    for entry in CATALOG {
        for object in misspelt(entry, &default_object(entry)) {
            assert!(serde_json::from_value::<ControlConfig>(object).is_err(), "{}", entry.name);
        }
    }
}

#[test]
fn hystart_can_stand_before_the_window_based_controls() {
    let standard = CATALOG.iter().filter(|entry| default_config(entry).has_standard_slow_start());
    let names: Vec<&str> = standard.map(|entry| entry.name).collect();
    for name in ["reno", "cubic", "cubic_2005", "bic", "highspeed", "scalable", "htcp", "dctcp"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    for name in ["vegas", "fast", "nv", "bbr", "bbr2", "bbr3"] {
        assert!(!names.contains(&name), "{name} has a slow start of its own");
    }
}

/// The entries that the large time scale can steer.
fn steerable() -> impl Iterator<Item = &'static Entry> {
    let module = CATALOG.iter().find(|entry| entry.name == "multiple_time_scale").unwrap();
    CATALOG.iter().filter(|entry| module.parameters[0].choices.contains(&entry.name))
}

/// `entry` steered by the large time scale, with these parameters.
fn steered(entry: &Entry, parameters: &serde_json::Value) -> ControlConfig {
    let module = CATALOG.iter().find(|entry| entry.name == "multiple_time_scale").unwrap();
    let mut object = default_object(module);
    object["control"] = default_object(entry);
    for (key, value) in parameters.as_object().unwrap() {
        object[key] = value.clone();
    }
    serde_json::from_value(object).unwrap()
}

proptest! {
    /// A = a, and T_L without end.
    #[test]
    fn steered_with_nothing_to_gain_a_control_is_itself(
        events in happenings(1..400),
        quantiser in prop_oneof![Just("quantile"), Just("running_range"), Just("fixed_range")],
        schedule in prop_oneof![Just("inverse_linear"), Just("threshold")],
    ) {
        let none = json!({"aggressiveness": 1.0, "quantiser": quantiser, "schedule": schedule, "peak": 100.0});
        let never = json!({"aggressiveness": 9.0, "quantiser": quantiser, "interval": 1_000_000_000_000_000_000_u64});
        for entry in steerable() {
            let plain = default_config(entry).build(BEGIN);
            let all = [plain, steered(entry, &none).build(BEGIN), steered(entry, &never).build(BEGIN)];
            let [mut plain, mut none, mut never] = all;
            let path = Path::new(plain.needs(), Flight::Any);
            let mut paths = [path.clone(), path.clone(), path];
            for &event in &events {
                paths[0].apply(&mut plain, event);
                for (control, number) in [(&mut none, 1), (&mut never, 2)] {
                    paths[number].apply(control, event);
                    prop_assert_eq!(control.window().to_bits(), plain.window().to_bits(), "{}", entry.name);
                    prop_assert_eq!(control.ssthresh().to_bits(), plain.ssthresh().to_bits(), "{}", entry.name);
                }
            }
        }
    }

    /// What holds at any event, for every control that can be steered and every kind of steering.
    #[test]
    fn steered_a_control_stays_sane(
        events in happenings(1..300),
        schedule in prop_oneof![Just("inverse_linear"), Just("threshold"), Just("inverse"), Just("generalised")],
        coupling in prop_oneof![Just("congestion_avoidance"), Just("slow_start"), Just("both"), Just("level")],
        metacontrol in any::<bool>(),
        shift in 1.0f64..1e6,
    ) {
        let level = coupling == "level";
        let schedule = if level { "inverse_linear" } else { schedule };
        let metacontrol = !level && (metacontrol && schedule != "inverse" || schedule == "generalised");
        let parameters = json!({"schedule": schedule, "coupling": coupling, "metacontrol": metacontrol,
            "conservativeness": 0.5, "adjustment": 5.0, "shift": if level { shift } else { 0.0 }});
        let sets_a_rate = |entry: &&Entry| default_config(entry).build(BEGIN).pacing_rate().is_some();
        for entry in steerable().filter(|entry| !level || sets_a_rate(entry)) {
            let config = steered(entry, &parameters);
            prop_assert_eq!(config.check(Duration::ZERO), Ok(()));
            stays_sane(entry.name, &config, BEGIN.window, &events)?;
        }
    }
}

#[test]
fn an_idle_restart_takes_the_window_to_the_restart_window_exactly() {
    for entry in CATALOG {
        let mut control = default_config(entry).build(Start::NEW);
        Path::new(control.needs(), Flight::Any).round_trips(&mut control, 12);
        let before = control.window();
        control.on_idle_restart(5.0);
        let models_the_path =
            ["bbr", "bbr_linux", "bbr2", "bbr3", "rate_based", "tfrc", "gcc", "scream"].contains(&entry.name);
        let expected = if models_the_path { before } else { before.min(5.0) };
        assert_eq!(control.window(), expected, "{}", entry.name);
    }
}

#[test]
fn random_choices_are_those_of_the_connection() {
    for name in ["bbr", "bbr2", "bbr3"] {
        let entry = CATALOG.iter().find(|entry| entry.name == name).unwrap();
        let rates = |random| {
            let begin = Start { random, ..Start::NEW };
            let mut control = default_config(entry).build(begin);
            let mut path = Path::new(control.needs(), Flight::Any);
            let mut rates = Vec::new();
            for _ in 0..200 {
                path.round_trips(&mut control, 1);
                rates.push(control.pacing_rate().unwrap().to_bits());
            }
            rates
        };
        let different: BTreeSet<Vec<u64>> = (0..8).map(rates).collect();
        assert!(different.len() > 1, "{name}");
        assert_eq!(rates(3), rates(3), "{name}");
    }
}

#[test]
fn names_and_configurations_agree() {
    for entry in CATALOG {
        assert_eq!(default_config(entry).name(), entry.name);
        assert!(!entry.summary.is_empty() && !entry.reference.is_empty());
    }
}
