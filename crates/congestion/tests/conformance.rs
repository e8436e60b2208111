//! What every congestion control in the catalog must keep, whatever happens to it.

#[path = "common/any_config.rs"]
mod any_config;
mod common;

use any_config::any_config;
use common::{default_config, default_object};
use parshall_congestion::catalog::CATALOG;
use parshall_congestion::{
    AckEvent, CongestionControl, CongestionEvent, Control, ControlConfig, Phase, RateSample, Signal,
    SlowStart, Start,
};
use parshall_units::parameters::Entry;
use parshall_units::{Duration, Instant};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Happening {
    Ack { gap_us: u32, acked: u8, rtt_us: u32, in_flight: u32, limited: bool, round: bool },
    Congestion { in_flight: u32, ecn: bool },
    Timeout { in_flight: u32 },
    Recovered,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        20 => (0u32..5_000_000, 1u8..64, 1u32..3_000_000, 0u32..100_000, any::<bool>(), any::<bool>()).prop_map(
            |(gap_us, acked, rtt_us, in_flight, limited, round)| Happening::Ack {
                gap_us, acked, rtt_us, in_flight, limited, round
            }
        ),
        2 => (0u32..100_000, any::<bool>())
            .prop_map(|(in_flight, ecn)| Happening::Congestion { in_flight, ecn }),
        1 => (0u32..100_000).prop_map(|in_flight| Happening::Timeout { in_flight }),
        1 => Just(Happening::Recovered),
    ]
}

struct Clock {
    now: Instant,
    min_rtt: Duration,
    delivered: u64,
}

impl Clock {
    fn new() -> Self {
        Self { now: Instant::ZERO, min_rtt: Duration::MAX, delivered: 0 }
    }
}

fn apply(control: &mut Control, clock: &mut Clock, what: Happening) {
    match what {
        Happening::Ack { gap_us, acked, rtt_us, in_flight, limited, round } => {
            clock.now += Duration::from_ps(u64::from(gap_us) * 1_000_000);
            let rtt = Duration::from_ps(u64::from(rtt_us) * 1_000_000);
            clock.min_rtt = clock.min_rtt.min(rtt);
            clock.delivered += u64::from(acked);
            let prior_delivered = clock.delivered.saturating_sub(u64::from(in_flight).max(u64::from(acked)));
            let lost = u64::from(gap_us % 5 == 0);
            let phase =
                [Phase::Recovery, Phase::Loss].get(gap_us as usize % 11).map_or(Phase::Open, |&phase| phase);
            control.on_ack(&AckEvent {
                now: clock.now,
                phase,
                acked: u64::from(acked),
                credit: f64::from(acked),
                rtt: Some(rtt),
                srtt: rtt,
                min_rtt: clock.min_rtt,
                in_flight: u64::from(in_flight),
                may_grow: limited && phase != Phase::Recovery,
                round_ended: round,
                ecn_echo: gap_us % 3 == 0,
                sample: Some(RateSample {
                    delivered: clock.delivered,
                    prior_delivered,
                    rate: (rtt_us > 10).then(|| f64::from(acked) / rtt.as_secs_f64()),
                    newly_delivered: u64::from(acked),
                    newly_lost: lost,
                    lost: 3 * lost,
                    in_flight: u64::from(in_flight),
                    sent_in_flight: u64::from(in_flight) / 2 + 1,
                    app_limited: !limited,
                }),
            });
        }
        Happening::Congestion { in_flight, ecn } => control.on_congestion(&CongestionEvent {
            now: clock.now,
            signal: if ecn { Signal::Ecn } else { Signal::Loss },
            in_flight: u64::from(in_flight),
        }),
        Happening::Timeout { in_flight } => control.on_timeout(&CongestionEvent {
            now: clock.now,
            signal: Signal::Loss,
            in_flight: u64::from(in_flight),
        }),
        Happening::Recovered => control.on_recovered(),
    }
}

proptest! {
    #[test]
    fn window_stays_sane_under_any_order_of_events(
        events in prop::collection::vec(happening(), 1..400),
        start in 1.0f64..100.0,
    ) {
        for entry in CATALOG {
            stays_sane(entry.name, &default_config(entry), &events, start)?;
        }
    }

    /// The same with every value that the parameters accept.
    #[test]
    fn window_stays_sane_whatever_the_parameters(
        configs in CATALOG.iter().map(any_config).collect::<Vec<_>>(),
        events in prop::collection::vec(happening(), 1..100),
        start in 1.0f64..100.0,
    ) {
        for (entry, config) in CATALOG.iter().zip(&configs) {
            stays_sane(entry.name, config, &events, start)?;
        }
    }
}

/// Finite windows of a packet or more, that do not grow at congestion events; the same for the same events.
fn stays_sane(
    name: &str,
    config: &ControlConfig,
    events: &[Happening],
    start: f64,
) -> Result<(), TestCaseError> {
    let begin = Start { window: start, ssthresh: f64::INFINITY, ..Start::NEW };
    let (mut one, mut two) = (config.build(begin), config.build(begin));
    let mut clock = Clock::new();
    let mut again = Clock::new();
    for &event in events {
        let before = one.window();
        apply(&mut one, &mut clock, event);
        apply(&mut two, &mut again, event);
        let window = one.window();
        prop_assert!(window.is_finite() && window >= 1.0, "{name}: {window} after {event:?}, {config:?}");
        let rate = one.pacing_rate().unwrap_or(1.0);
        prop_assert!(rate.is_finite() && rate > 0.0, "{name}: paces at {rate}, {config:?}");
        prop_assert!(one.ssthresh() >= 2.0 || one.ssthresh() == f64::INFINITY, "{name}, {config:?}");
        prop_assert_eq!(window.to_bits(), two.window().to_bits(), "{} is not deterministic", name);
        match event {
            Happening::Congestion { .. } => prop_assert!(window <= before.max(2.0), "{name}, {config:?}"),
            Happening::Timeout { .. } => prop_assert_eq!(window, 1.0, "{}, {:?}", name, config),
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    /// HyStart++ before every control whose slow start it can replace: the same rules, and never a larger window in slow start.
    #[test]
    fn with_hystart_a_control_stays_sane(
        events in prop::collection::vec(happening(), 1..400),
        start in 1.0f64..100.0,
        paced: bool,
    ) {
        let configs = CATALOG.iter().map(|entry| (entry, default_config(entry)));
        for (entry, config) in configs.filter(|(_, config)| config.has_standard_slow_start()) {
            let begin = Start { window: start, ssthresh: f64::INFINITY, ..Start::NEW };
            let (mut plain, mut clock) = (config.build(begin), Clock::new());
            let (mut wrapped, mut again) = (config.build_with(begin, SlowStart::HyStart, paced), Clock::new());
            for &event in &events {
                apply(&mut plain, &mut clock, event);
                apply(&mut wrapped, &mut again, event);
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
    fn inner_variables_are_those_of_the_catalog(events in prop::collection::vec(happening(), 50..200)) {
        for entry in CATALOG {
            let mut control = default_config(entry).build(Start { window: 4.0, ssthresh: f64::INFINITY, ..Start::NEW });
            let mut clock = Clock::new();
            let listed: BTreeSet<&str> = entry.variables.iter().map(|variable| variable.name).collect();
            for &event in &events {
                apply(&mut control, &mut clock, event);
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
fn hystart_can_stand_before_the_window_based_controls() {
    let standard = CATALOG.iter().filter(|entry| default_config(entry).has_standard_slow_start());
    let names: Vec<&str> = standard.map(|entry| entry.name).collect();
    for name in ["reno", "cubic", "cubic_2005", "bic", "highspeed", "scalable", "htcp", "dctcp"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    for name in ["vegas", "fast", "bbr", "bbr3"] {
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
        events in prop::collection::vec(happening(), 1..400),
        quantiser in prop_oneof![Just("quantile"), Just("running_range"), Just("fixed_range")],
        schedule in prop_oneof![Just("inverse_linear"), Just("threshold")],
    ) {
        let begin = Start { window: 4.0, ssthresh: f64::INFINITY, ..Start::NEW };
        let none = json!({"aggressiveness": 1.0, "quantiser": quantiser, "schedule": schedule, "peak": 100.0});
        let never = json!({"aggressiveness": 9.0, "quantiser": quantiser, "interval": 1_000_000_000_000_000_000_u64});
        for entry in steerable() {
            let plain = default_config(entry).build(begin);
            let all = [plain, steered(entry, &none).build(begin), steered(entry, &never).build(begin)];
            let [mut plain, mut none, mut never] = all;
            let mut clocks = [Clock::new(), Clock::new(), Clock::new()];
            for &event in &events {
                apply(&mut plain, &mut clocks[0], event);
                for (control, clock) in [(&mut none, 1), (&mut never, 2)] {
                    apply(control, &mut clocks[clock], event);
                    prop_assert_eq!(control.window().to_bits(), plain.window().to_bits(), "{}", entry.name);
                    prop_assert_eq!(control.ssthresh().to_bits(), plain.ssthresh().to_bits(), "{}", entry.name);
                }
            }
        }
    }

    /// The conformance of `window_stays_sane`, for every control that can be steered and every kind of steering.
    #[test]
    fn steered_a_control_stays_sane(
        events in prop::collection::vec(happening(), 1..300),
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
        let sets_a_rate = |entry: &&Entry| {
            default_config(entry).build(Start { window: 4.0, ssthresh: f64::INFINITY, ..Start::NEW }).pacing_rate().is_some()
        };
        for entry in steerable().filter(|entry| !level || sets_a_rate(entry)) {
            let config = steered(entry, &parameters);
            prop_assert_eq!(config.check(Duration::ZERO), Ok(()));
            let mut control = config.build(Start { window: 4.0, ssthresh: f64::INFINITY, ..Start::NEW });
            let mut clock = Clock::new();
            for &event in &events {
                let before = control.window();
                apply(&mut control, &mut clock, event);
                let window = control.window();
                prop_assert!(window.is_finite() && window >= 1.0, "{}: {window} after {event:?}", entry.name);
                prop_assert!(control.ssthresh() >= 2.0, "{}", entry.name);
                let rate = control.pacing_rate().unwrap_or(1.0);
                prop_assert!(rate.is_finite() && rate > 0.0, "{}: paces at {rate}", entry.name);
                match event {
                    Happening::Congestion { .. } => prop_assert!(window <= before.max(2.0), "{}", entry.name),
                    Happening::Timeout { .. } => prop_assert_eq!(window, 1.0, "{}", entry.name),
                    _ => {}
                }
            }
        }
    }
}

/// ACKs a whole window, a round trip at a time, on a path that takes 1000 packets a round trip.
fn round_trips(control: &mut Control, clock: &mut Clock, rounds: u32) {
    let rtt = Duration::from_millis(50);
    for _ in 0..rounds {
        clock.now += rtt;
        let packets = (control.window() as u64).min(1000);
        let before = clock.delivered;
        for i in 0..packets {
            clock.delivered += 1;
            control.on_ack(&AckEvent {
                now: clock.now,
                phase: Phase::Open,
                acked: 1,
                credit: 1.0,
                rtt: Some(rtt),
                srtt: rtt,
                min_rtt: rtt,
                in_flight: packets,
                may_grow: true,
                round_ended: i == 0,
                ecn_echo: false,
                sample: Some(RateSample {
                    delivered: clock.delivered,
                    prior_delivered: before,
                    rate: Some(packets as f64 / rtt.as_secs_f64()),
                    newly_delivered: 1,
                    newly_lost: 0,
                    lost: 0,
                    in_flight: packets - i - 1,
                    sent_in_flight: packets,
                    app_limited: false,
                }),
            });
        }
    }
}

#[test]
fn every_control_recovers_after_a_timeout() {
    for entry in CATALOG {
        let mut control =
            default_config(entry).build(Start { window: 10.0, ssthresh: f64::INFINITY, ..Start::NEW });
        let mut clock = Clock::new();
        round_trips(&mut control, &mut clock, 8);
        let in_flight = control.window() as u64;
        control.on_timeout(&CongestionEvent { now: clock.now, signal: Signal::Loss, in_flight });
        assert_eq!(control.window(), 1.0, "{}", entry.name);
        round_trips(&mut control, &mut clock, 100);
        assert!(control.window() > 10.0, "{}: {}", entry.name, control.window());
    }
}

#[test]
fn an_idle_restart_takes_the_window_and_nothing_else() {
    for entry in CATALOG {
        let begin = Start { window: 10.0, ssthresh: f64::INFINITY, ..Start::NEW };
        let mut control = default_config(entry).build(begin);
        let mut clock = Clock::new();
        round_trips(&mut control, &mut clock, 12);
        let (before, ssthresh) = (control.window(), control.ssthresh());
        control.on_idle_restart(5.0);
        let models_the_path = ["bbr", "bbr3", "rate_based", "tfrc"].contains(&entry.name);
        let expected = if models_the_path { before } else { before.min(5.0) };
        assert_eq!(control.window(), expected, "{}", entry.name);
        assert_eq!(control.ssthresh(), ssthresh, "{}", entry.name);
    }
}

#[test]
fn random_choices_are_those_of_the_connection() {
    for name in ["bbr", "bbr3"] {
        let entry = CATALOG.iter().find(|entry| entry.name == name).unwrap();
        let rates = |random| {
            let begin = Start { random, ..Start::NEW };
            let (mut control, mut clock) = (default_config(entry).build(begin), Clock::new());
            let mut rates = Vec::new();
            for _ in 0..200 {
                round_trips(&mut control, &mut clock, 1);
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
fn an_unused_window_does_not_grow() {
    for entry in CATALOG {
        let mut control =
            default_config(entry).build(Start { window: 10.0, ssthresh: f64::INFINITY, ..Start::NEW });
        let mut clock = Clock::new();
        for i in 0..1000 {
            let (gap_us, rtt_us) = (1001, 10_000);
            let round = i % 10 == 0;
            let ack = Happening::Ack { gap_us, acked: 1, rtt_us, in_flight: 1, limited: false, round };
            apply(&mut control, &mut clock, ack);
        }
        assert_eq!(control.window(), 10.0, "{}", entry.name);
    }
}

#[test]
fn names_and_configurations_agree() {
    for entry in CATALOG {
        assert_eq!(default_config(entry).name(), entry.name);
        assert!(!entry.summary.is_empty() && !entry.reference.is_empty());
    }
}
