//! Every workload, from its configuration to the times and sizes it gives.

use super::catalog::CATALOG;
use super::WorkloadConfig;
use crate::distributions::tests::any_law;
use crate::sources::{Source, Transfer, MAX_TRANSFER_BYTES};
use parshall_units::parameters::{Kind, Parameter};
use parshall_units::testing::any_object;
use parshall_units::Duration;
use proptest::prelude::*;
use rand_xoshiro::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{json, Value};
use std::num::NonZeroU32;

const EXAMPLES: &[&str] = &[
    r#"{"name": "bulk"}"#,
    r#"{"name": "transfer", "sizes": [0, 1, 30000000000]}"#,
    r#"{"name": "on_off", "size": {"name": "pareto", "mean": 1460000, "tail_index": 1.5},
        "size_granularity": 1, "off": {"name": "exponential", "mean": 0.2}, "begins": "on"}"#,
    r#"{"name": "on_off_bulk", "on": {"name": "pareto", "mean": 0.5, "tail_index": 3},
        "off": {"name": "exponential", "mean": 0.2}, "begins": "on"}"#,
    r#"{"name": "request_response", "request": 300, "response": {"name": "pareto", "mean": 30000, "tail_index": 1.5},
        "size_granularity": 1, "think": {"name": "exponential", "mean": 0.5}}"#,
    r#"{"name": "open_loop", "size": {"name": "exponential", "mean": 10000}, "size_granularity": 1, "arrivals_per_s": 50}"#,
    r#"{"name": "cbr", "rate": 1000003}"#,
    r#"{"name": "on_off_cbr", "rate": 10000000, "on": {"name": "exponential", "mean": 0.01},
        "off": {"name": "pareto", "mean": 0.03, "tail_index": 3}, "begins": "on"}"#,
    r#"{"name": "poisson", "rate": 10000000, "size": {"name": "exponential", "mean": 500}}"#,
    r#"{"name": "rate_controlled"}"#,
];

fn parse(json: &str) -> WorkloadConfig {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn source(json: &str) -> Source {
    parse(json).source(NonZeroU32::new(1500).unwrap()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(5)
}

/// Gaps in picoseconds, and sizes, of the first `n` events.
fn events(source: &mut Source, n: usize) -> Vec<(u64, u64)> {
    let mut rng = rng();
    let mut event = || match source {
        Source::Transfers(s) | Source::Exchanges(_, s) => {
            s.next(&mut rng).map(|t| (t.wait.as_ps(), t.bytes.unwrap_or(u64::MAX)))
        }
        Source::Arrivals(s) => Some(s.next(&mut rng)).map(|a| (a.gap.as_ps(), a.bytes)),
        Source::Datagrams(s) => Some(s.next(&mut rng)).map(|d| (d.gap.as_ps(), u64::from(d.bytes))),
        Source::Controlled => None, // its times are the control's
    };
    std::iter::from_fn(&mut event).take(n).collect()
}

fn transfers(json: &str, n: usize) -> Vec<Transfer> {
    let Source::Transfers(mut source) = source(json) else { panic!("{json}") };
    let mut rng = rng();
    std::iter::from_fn(|| source.next(&mut rng)).take(n).collect()
}

#[test]
fn every_entry_of_the_catalog_has_an_example_here() {
    let names: Vec<_> = EXAMPLES.iter().map(|json| parse(json).name()).collect();
    let catalog: Vec<_> = CATALOG.iter().map(|entry| entry.name).collect();
    assert_eq!(names, catalog);
}

#[test]
fn the_flag_says_what_the_source_is() {
    for json in EXAMPLES {
        let (workload, source) = (parse(json), source(json));
        let datagrams = matches!(source, Source::Datagrams(_) | Source::Controlled);
        assert_eq!(workload.is_datagram(), datagrams, "{json}");
        assert_eq!(workload.is_controlled(), matches!(source, Source::Controlled), "{json}");
    }
}

#[test]
fn clones_give_the_same_events_from_the_same_randomness() {
    for json in EXAMPLES {
        let mut first = source(json);
        let mut second = first.clone();
        assert_eq!(events(&mut first, 1000), events(&mut second, 1000), "{json}");
    }
}

#[test]
fn bulk_is_one_endless_transfer() {
    assert_eq!(transfers(EXAMPLES[0], 10), [Transfer { wait: Duration::ZERO, bytes: None, lasts: None }]);
}

#[test]
fn a_list_of_transfers_is_sent_once_in_order_without_waiting() {
    let sent = transfers(EXAMPLES[1], 10);
    assert_eq!(sent.iter().map(|t| t.bytes).collect::<Vec<_>>(), [Some(0), Some(1), Some(30_000_000_000)]);
    assert!(sent.iter().all(|t| t.wait == Duration::ZERO));
}

#[test]
fn on_off_begins_with_a_transfer_and_then_waits_before_each() {
    let sent = transfers(EXAMPLES[2], 20_000);
    assert_eq!(sent[0].wait, Duration::ZERO);
    assert!(sent[1..].iter().all(|t| t.wait > Duration::ZERO));
    let mean = sent.iter().map(|t| t.wait.as_secs_f64()).sum::<f64>() / 19_999.0;
    assert!((mean / 0.2 - 1.0).abs() < 0.03, "{mean}");
    // The smallest value of the Pareto law, and its median.
    let mut sizes: Vec<_> = sent.iter().map(|t| t.bytes.unwrap()).collect();
    sizes.sort_unstable();
    assert!((sizes[0] as f64 / (1_460_000.0 / 3.0) - 1.0).abs() < 1e-3, "{}", sizes[0]);
    let median = 1_460_000.0 / 3.0 * 2f64.powf(1.0 / 1.5);
    assert!((sizes[10_000] as f64 / median - 1.0).abs() < 0.03, "{}", sizes[10_000]);
}

#[test]
fn on_off_can_begin_with_its_idle_time() {
    let sent = transfers(&EXAMPLES[2].replace(r#""begins": "on""#, r#""begins": "off""#), 20_000);
    assert!(sent.iter().all(|t| t.wait > Duration::ZERO));
    let mean = sent.iter().map(|t| t.wait.as_secs_f64()).sum::<f64>() / 20_000.0;
    assert!((mean / 0.2 - 1.0).abs() < 0.03, "{mean}");
    // The first time is one of the idle times: over many sources it has their distribution.
    let source = source(&EXAMPLES[2].replace(r#""begins": "on""#, r#""begins": "off""#));
    let mut rng = rng();
    let first = std::iter::repeat_with(|| {
        let Source::Transfers(mut each) = source.clone() else { unreachable!() };
        each.next(&mut rng).unwrap().wait.as_secs_f64()
    });
    let mean = first.take(20_000).sum::<f64>() / 20_000.0;
    assert!((mean / 0.2 - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn on_off_bulk_draws_times_and_no_sizes() {
    let sent = transfers(EXAMPLES[3], 20_000);
    assert!(sent.iter().all(|t| t.bytes.is_none()));
    assert_eq!(sent[0].wait, Duration::ZERO);
    let mean =
        |times: &mut dyn Iterator<Item = Duration>| times.map(Duration::as_secs_f64).sum::<f64>() / 20_000.0;
    let (on, off) =
        (mean(&mut sent.iter().map(|t| t.lasts.unwrap())), mean(&mut sent.iter().map(|t| t.wait)));
    assert!((on / 0.5 - 1.0).abs() < 0.03 && (off / 0.2 - 1.0).abs() < 0.03, "{on}, {off}");
    // The smallest value of the Pareto law.
    let least = sent.iter().map(|t| t.lasts.unwrap()).min().unwrap();
    assert!((least.as_secs_f64() / (0.5 * 2.0 / 3.0) - 1.0).abs() < 1e-3, "{least}");
    let idle = transfers(&EXAMPLES[3].replace(r#""begins": "on""#, r#""begins": "off""#), 1);
    assert!(idle[0].wait > Duration::ZERO);
}

#[test]
fn a_client_thinks_after_each_response_and_a_response_has_a_byte_at_least() {
    let Source::Exchanges(request, _) = source(EXAMPLES[4]) else { panic!("no exchanges") };
    assert_eq!(request.get(), 300);
    let found = events(&mut source(EXAMPLES[4]), 20_000);
    assert_eq!(found[0].0, 0);
    let mean = found.iter().map(|(wait, _)| *wait as f64 * 1e-12).sum::<f64>() / 19_999.0;
    assert!((mean / 0.5 - 1.0).abs() < 0.03, "{mean}");
    let nothing = r#"{"name": "request_response", "request": 1, "response": {"name": "constant", "value": 0},
        "size_granularity": 1, "think": {"name": "constant", "value": 0}}"#;
    assert_eq!(events(&mut source(nothing), 2), [(0, 1), (0, 1)]);
}

#[test]
fn open_loop_has_the_load_asked_for() {
    let arrivals = events(&mut source(EXAMPLES[5]), 100_000);
    let seconds = arrivals.iter().map(|(gap, _)| *gap as f64).sum::<f64>() * 1e-12;
    let bytes = arrivals.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>();
    assert!((100_000.0 / seconds / 50.0 - 1.0).abs() < 0.01);
    assert!((bytes / seconds / 500_000.0 - 1.0).abs() < 0.015);
}

#[test]
fn poisson_gaps_are_exponential_and_the_rate_is_kept() {
    const N: usize = 200_000;
    let datagrams = events(&mut source(EXAMPLES[8]), N);
    let gaps: Vec<f64> = datagrams.iter().map(|(gap, _)| *gap as f64 * 1e-12).collect();
    let seconds: f64 = gaps.iter().sum();
    let bits = 8.0 * datagrams.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>();
    assert!((bits / seconds / 1e7 - 1.0).abs() < 0.01, "{}", bits / seconds);
    // Mean gap 400 us; an exponential law's second moment is twice its squared mean.
    let second = gaps.iter().map(|gap| gap * gap).sum::<f64>() / N as f64;
    assert!((second / (2.0 * 4e-4 * 4e-4) - 1.0).abs() < 0.03, "{second}");
}

#[test]
fn cbr_keeps_time_to_the_picosecond() {
    const N: usize = 1_000_000;
    let gaps = events(&mut source(EXAMPLES[6]), N);
    assert_eq!(gaps[0], (0, 1500));
    let total: u64 = gaps.iter().map(|(gap, _)| gap).sum();
    let exact = (N as u128 - 1) * 12_000 * 1_000_000_000_000 / 1_000_003;
    assert_eq!(u128::from(total), exact);
    let (least, most) = (gaps[1..].iter().min().unwrap().0, gaps[1..].iter().max().unwrap().0);
    assert_eq!(most - least, 1);
}

#[test]
fn bursts_begin_with_their_time_and_hold_what_fits() {
    // 1500 B at 12 Mbit/s take 1 ms: an ON time of 3 ms has three packets.
    let bursts = r#"{"name": "on_off_cbr", "rate": 12000000,
        "on": {"name": "constant", "value": 0.003}, "off": {"name": "constant", "value": 0.005}, "begins": "on"}"#;
    let gaps: Vec<u64> = events(&mut source(bursts), 7).iter().map(|(gap, _)| gap / 1_000_000_000).collect();
    assert_eq!(gaps, [0, 1, 1, 6, 1, 1, 6]);
    // Of an ON time of 2.5 ms, 0.5 ms are left and count towards the next burst's first packet.
    let uneven = bursts.replace("0.003", "0.0025");
    let gaps: Vec<u64> = events(&mut source(&uneven), 6).iter().map(|(gap, _)| gap / 100_000_000).collect();
    assert_eq!(gaps, [0, 10, 10, 60, 10, 60]);
    // An ON time shorter than a packet's: one packet in every fourth.
    let short = bursts.replace("0.003", "0.00025");
    let gaps: Vec<u64> = events(&mut source(&short), 4).iter().map(|(gap, _)| gap / 1_000_000_000).collect();
    assert_eq!(gaps, [0, 21, 21, 21]);
    // Idle first: the first packet is after an OFF time, and all else is as it was.
    let idle = bursts.replace(r#""begins": "on""#, r#""begins": "off""#);
    let gaps: Vec<u64> = events(&mut source(&idle), 7).iter().map(|(gap, _)| gap / 1_000_000_000).collect();
    assert_eq!(gaps, [5, 1, 1, 6, 1, 1, 6]);
}

#[test]
fn on_off_cbr_has_its_long_run_rate() {
    const N: usize = 400_000;
    let seconds = events(&mut source(EXAMPLES[7]), N).iter().map(|(gap, _)| *gap as f64).sum::<f64>() * 1e-12;
    let rate = N as f64 * 12_000.0 / seconds;
    assert!((rate / 2.5e6 - 1.0).abs() < 0.03, "{rate}");
}

#[test]
fn refusals_name_the_key() {
    let law = |mean: &str| format!(r#"{{"name": "exponential", "mean": {mean}}}"#);
    let zero = r#"{"name": "constant", "value": 0}"#;
    for (json, wanted) in [
        (r#"{"name": "transfer", "sizes": []}"#.to_owned(), "sizes: found an empty list"),
        (r#"{"name": "transfer", "sizes": [1, 18446744073709551615]}"#.to_owned(), "sizes[1]: found"),
        (
            format!(
                r#"{{"name": "on_off", "size": {}, "size_granularity": 1, "off": {}, "begins": "on"}}"#,
                law("1"),
                law("-1")
            ),
            "off.mean: found -1",
        ),
        (
            format!(
                r#"{{"name": "on_off", "size": {zero}, "size_granularity": 1, "off": {zero}, "begins": "on"}}"#
            ),
            "off: found 0 s",
        ),
        (
            format!(r#"{{"name": "on_off_bulk", "on": {zero}, "off": {}, "begins": "on"}}"#, law("1")),
            "on: found 0 s",
        ),
        (
            format!(
                r#"{{"name": "open_loop", "size": {}, "size_granularity": 1, "arrivals_per_s": 0}}"#,
                law("1")
            ),
            "arrivals_per_s: found 0",
        ),
        (format!(r#"{{"name": "poisson", "rate": 1, "size": {zero}}}"#), "size: found a mean of 0"),
        (
            format!(
                r#"{{"name": "on_off_cbr", "rate": 1000, "on": {}, "off": {zero}, "begins": "on"}}"#,
                law("0.001")
            ),
            "on: found a mean of 0.001 s; write a mean of at least 12 ms",
        ),
        (
            r#"{"name": "on_off_cbr", "rate": 1000000, "on": {"name": "bounded_pareto",
                "tail_index": 0.5, "minimum": 1e-12, "maximum": 1e6}, "off": {"name": "constant", "value": 0}, "begins": "on"}"#
                .to_owned(),
            "on: found times that are in the mean",
        ),
        (
            format!(
                r#"{{"name": "on_off_cbr", "rate": 1000, "on": {zero}, "off": {}, "begins": "off"}}"#,
                law("0.001")
            ),
            "on: found a mean of 0 s",
        ),
    ] {
        let error = parse(&json).source(NonZeroU32::MIN.saturating_add(1499)).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{json}: {error}");
    }
}

/// What a refusal asks for is accepted: a mean of a thousandth of a packet's time, which is 12 ms at 1 Mbit/s: 12 us.
#[test]
fn on_times_of_the_least_mean_are_accepted() {
    for distribution in [r#""constant", "value": 1.2e-5"#, r#""exponential", "mean": 1.2e-5"#] {
        let json = format!(
            r#"{{"name": "on_off_cbr", "rate": 1000000, "on": {{"name": {distribution}}},
                "off": {{"name": "constant", "value": 0}}, "begins": "on"}}"#
        );
        assert!(parse(&json).source(NonZeroU32::MIN.saturating_add(1499)).is_ok(), "{distribution}");
    }
}

/// What distributions and sizes a parameter accepts; of the rest the catalog knows the range.
fn any_of_kind(parameter: &Parameter) -> Option<BoxedStrategy<Value>> {
    match parameter.kind {
        Kind::SizeDistribution | Kind::TimeDistribution => Some(any_law()),
        Kind::Sizes => {
            Some(prop::collection::vec(0..=MAX_TRANSFER_BYTES, 1..9).prop_map(|sizes| json!(sizes)).boxed())
        }
        _ => None,
    }
}

proptest! {
    /// With every value that the parameters accept, unless they contradict each other.
    #[test]
    fn every_workload_goes_on(
        objects in CATALOG.iter().map(|entry| any_object(entry, any_of_kind)).collect::<Vec<_>>(),
        packet_bytes in 1u32..70_000,
    ) {
        for object in objects {
            let config: WorkloadConfig = serde_json::from_value(object.clone()).unwrap();
            let Ok(mut source) = config.source(NonZeroU32::new(packet_bytes).unwrap()) else { continue };
            let mut again = source.clone();
            let found = events(&mut source, 50);
            prop_assert_eq!(&found, &events(&mut again, 50), "{}", object);
            for (_, bytes) in found {
                if config.is_datagram() {
                    prop_assert!((1..=u64::from(u32::MAX)).contains(&bytes), "{}: {}", object, bytes);
                } else {
                    prop_assert!(bytes <= MAX_TRANSFER_BYTES || bytes == u64::MAX, "{}: {}", object, bytes);
                }
            }
        }
    }

    #[test]
    fn cbr_is_exact_at_any_rate_and_size(rate in 1u64..1_000_000_000_000_000, bytes in 1u32..70_000) {
        let config: WorkloadConfig = parse(&format!(r#"{{"name": "cbr", "rate": {rate}}}"#));
        let mut source = config.source(NonZeroU32::new(bytes).unwrap()).unwrap();
        let gaps = events(&mut source, 50);
        let total: u128 = gaps.iter().map(|(gap, _)| u128::from(*gap)).sum();
        prop_assert_eq!(total, 49 * 8 * u128::from(bytes) * 1_000_000_000_000 / u128::from(rate));
    }

    #[test]
    fn bursts_do_not_change_how_much_is_sent_while_on(
        on_us in 1u64..10_000, off_us in 0u64..10_000, rate in 10_000_000u64..1_000_000_000,
    ) {
        let json = format!(
            r#"{{"name": "on_off_cbr", "rate": {rate}, "on": {{"name": "constant", "value": {}}},
                "off": {{"name": "constant", "value": {}}}, "begins": "on"}}"#,
            on_us as f64 * 1e-6, off_us as f64 * 1e-6,
        );
        let total: u128 = events(&mut source(&json), 200).iter().map(|(gap, _)| u128::from(*gap)).sum();
        // The ON clock shows 199 packets' time; whole periods before that add their OFF times.
        let clock = 199 * 12_000 * 1_000_000_000_000 / u128::from(rate);
        let (on, off) = (u128::from(on_us) * 1_000_000, u128::from(off_us) * 1_000_000);
        prop_assert_eq!(total, clock + clock / on * off);
    }
}
