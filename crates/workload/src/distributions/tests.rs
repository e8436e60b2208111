//! Every distribution against what is known of it apart from its own code.

use super::catalog::CATALOG;
use super::*;
use parshall_units::parameters::{Entry, Kind, Parameter};
use parshall_units::testing::any_object;
use proptest::prelude::*;
use rand_xoshiro::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{json, Value};

/// A law, and its distribution function in closed form.
struct Case {
    json: &'static str,
    cdf: fn(f64) -> f64,
}

const CASES: &[Case] = &[
    Case { json: r#"{"name": "uniform", "low": 2, "high": 6}"#, cdf: |x| (x - 2.0) / 4.0 },
    Case { json: r#"{"name": "exponential", "mean": 0.2}"#, cdf: |x| 1.0 - (-x / 0.2).exp() },
    Case {
        json: r#"{"name": "pareto", "mean": 3, "tail_index": 1.5}"#,
        cdf: |x| 1.0 - (1.0 / x).powf(1.5), // smallest value 3 (1.5 - 1) / 1.5
    },
    Case {
        json: r#"{"name": "pareto", "mean": 1.5e6, "tail_index": 1.1}"#,
        cdf: |x| 1.0 - (1.5e6 / 11.0 / x).powf(1.1),
    },
    Case {
        json: r#"{"name": "bounded_pareto", "minimum": 10, "maximum": 1e6, "tail_index": 1}"#,
        cdf: |x| (1.0 - 10.0 / x) / (1.0 - 1e-5),
    },
    Case {
        json: r#"{"name": "bounded_pareto", "minimum": 1, "maximum": 100, "tail_index": 0.5}"#,
        cdf: |x| (1.0 - 1.0 / x.sqrt()) / 0.9,
    },
    Case {
        json: r#"{"name": "lognormal", "mean": 1.6487212707001282, "sigma": 1}"#,
        cdf: |x| 0.5 * libm::erfc(-x.ln() / 2f64.sqrt()), // mu is 0
    },
    Case {
        json: r#"{"name": "weibull", "mean": 2, "shape": 0.5}"#,
        cdf: |x| 1.0 - (-x.sqrt()).exp(), // Γ(3) = 2, so the scale is 1
    },
    Case {
        json: r#"{"name": "hyperexponential", "mean": 1, "cv2": 4}"#,
        cdf: |x| {
            let p = 0.5 * (1.0 + 0.6f64.sqrt());
            1.0 - p * (-2.0 * p * x).exp() - (1.0 - p) * (-2.0 * (1.0 - p) * x).exp()
        },
    },
    Case {
        json: r#"{"name": "empirical", "points": [[0, 0], [10, 0.5], [30, 0.5], [40, 1]]}"#,
        cdf: |x| (0.05 * x).min(0.5).max(0.05 * x - 1.0),
    },
];

fn parse(json: &str) -> DistributionConfig {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn build(json: &str) -> Distribution {
    parse(json).build().unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

#[test]
fn every_entry_of_the_catalog_is_tested_here() {
    for entry in CATALOG {
        let tested = CASES.iter().any(|case| parse(case.json).name() == entry.name);
        assert!(tested || entry.name == "constant", "{} has no case", entry.name);
    }
}

#[test]
fn samples_follow_the_distribution_function() {
    // Kolmogorov and Smirnov: the distance exceeds 1.95 / sqrt(n) with probability 0.001.
    const N: usize = 100_000;
    for case in CASES {
        let law = build(case.json);
        let mut rng = rng(7);
        let mut levels: Vec<f64> = (0..N).map(|_| (case.cdf)(law.sample(&mut rng))).collect();
        levels.sort_by(f64::total_cmp);
        let distance = levels.iter().enumerate().fold(0.0f64, |distance, (i, level)| {
            distance.max((level - i as f64 / N as f64).abs()).max((level - (i + 1) as f64 / N as f64).abs())
        });
        assert!(distance < 1.95 / (N as f64).sqrt(), "{}: {distance}", case.json);
    }
}

#[test]
fn quantiles_invert_the_distribution_function() {
    for case in CASES {
        let law = build(case.json);
        for i in 1..1000 {
            let u = f64::from(i) / 1000.0;
            let back = (case.cdf)(law.quantile(u));
            assert!((back - u).abs() < 1e-12, "{} at {u}: {back}", case.json);
        }
    }
}

/// The integral of the quantiles, with u = 1 - exp(-t) to reach far into the tail, by the
/// midpoint rule; beyond t = 36 there are no more doubles below 1.
fn integral_of_quantiles(law: &Distribution) -> f64 {
    const STEP: f64 = 1e-4;
    (0..360_000)
        .map(|i| (f64::from(i) + 0.5) * STEP)
        .map(|t| law.quantile(-libm::expm1(-t)) * libm::exp(-t) * STEP)
        .sum()
}

#[test]
fn the_mean_is_the_integral_of_the_quantiles() {
    for case in CASES {
        let law = build(case.json);
        let (mean, integral) = (law.mean(), integral_of_quantiles(&law));
        // A tail index of 1.1 has exp(-36 / 11) = 4 % of its mean beyond the last quantile.
        let tolerance = if case.json.contains("1.1") { 0.05 } else { 2e-4 };
        assert!((integral / mean - 1.0).abs() < tolerance, "{}: {mean} and {integral}", case.json);
    }
}

#[test]
fn the_variance_is_that_of_the_quantiles() {
    for case in CASES {
        let law = build(case.json);
        if !law.cv2().is_finite() {
            continue;
        }
        let mean = law.mean();
        let square = |t: f64| libm::pow(law.quantile(-libm::expm1(-t)) / mean - 1.0, 2.0) * libm::exp(-t);
        let integral: f64 = (0..36_000).map(|i| square((f64::from(i) + 0.5) * 1e-3) * 1e-3).sum();
        assert!((integral / law.cv2() - 1.0).abs() < 1e-3, "{}: {integral} and {}", case.json, law.cv2());
    }
    let atoms = build(r#"{"name": "empirical", "points": [[1, 0.25], [3, 0.25], [3, 1]]}"#);
    assert_eq!((atoms.mean(), atoms.cv2()), (2.5, 0.12)); // variance 0.75 (1 - 0.75) 2^2
}

#[test]
fn a_tail_may_be_too_heavy_for_a_variance() {
    let cv2 = |tail_index: f64| {
        build(&format!(r#"{{"name": "pareto", "mean": 3, "tail_index": {tail_index}}}"#)).cv2()
    };
    assert_eq!((cv2(1.5), cv2(2.0)), (f64::INFINITY, f64::INFINITY));
    assert!((cv2(3.0) - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn what_is_always_zero_does_not_vary() {
    for json in [
        r#"{"name": "constant", "value": 0}"#,
        r#"{"name": "uniform", "low": 0, "high": 0}"#,
        r#"{"name": "empirical", "points": [[0, 1]]}"#,
    ] {
        assert_eq!(build(json).cv2(), 0.0, "{json}");
    }
}

#[test]
fn sample_means_are_near_where_the_variance_is_finite() {
    const N: usize = 400_000;
    for (json, sd) in [
        (r#"{"name": "exponential", "mean": 5}"#, 5.0),
        (r#"{"name": "uniform", "low": 0, "high": 12}"#, 12f64.sqrt()),
        (r#"{"name": "hyperexponential", "mean": 2, "cv2": 9}"#, 6.0),
        (r#"{"name": "pareto", "mean": 3, "tail_index": 3}"#, 3f64.sqrt()), // α L² / ((α-1)² (α-2))
        (r#"{"name": "weibull", "mean": 2, "shape": 0.5}"#, 20f64.sqrt()),  // Γ(5) - Γ(3)²
        (r#"{"name": "lognormal", "mean": 1, "sigma": 1}"#, 1.31),          // sqrt(e - 1)
    ] {
        let law = build(json);
        let mut rng = rng(11);
        let sum: f64 = (0..N).map(|_| law.sample(&mut rng)).sum();
        let error = (sum / N as f64 - law.mean()).abs();
        assert!(error < 3.5 * sd / (N as f64).sqrt(), "{json}: off by {error}");
    }
}

#[test]
fn empirical_points_may_jump() {
    let law = build(r#"{"name": "empirical", "points": [[5, 0.25], [5, 0.5], [10, 0.5], [10, 1]]}"#);
    assert_eq!(law.mean(), 7.5);
    let mut rng = rng(3);
    let fives = (0..10_000).filter(|_| law.sample(&mut rng) == 5.0).count();
    assert!((4800..5200).contains(&fives), "{fives}");
    assert_eq!([0.0, 0.5, 0.500_001, 1.0].map(|u| law.quantile(u)), [5.0, 5.0, 10.0, 10.0]);
}

#[test]
fn refusals_name_the_key() {
    for (json, wanted) in [
        (r#"{"name": "constant", "value": -1}"#, "value: found -1; write a number from 0"),
        (r#"{"name": "uniform", "low": 3, "high": 2}"#, "high: found 2; write a value not below low, 3"),
        (r#"{"name": "exponential", "mean": 0}"#, "mean: found 0"),
        (
            r#"{"name": "pareto", "mean": 1, "tail_index": 1}"#,
            "tail_index: found 1; write a number from 1.001",
        ),
        (r#"{"name": "bounded_pareto", "minimum": 3, "maximum": 3, "tail_index": 1}"#, "maximum: found 3"),
        (r#"{"name": "lognormal", "mean": 1, "sigma": -1}"#, "sigma: found -1"),
        (r#"{"name": "weibull", "mean": 1, "shape": 0}"#, "shape: found 0"),
        (r#"{"name": "hyperexponential", "mean": 1, "cv2": 0.5}"#, "cv2: found 0.5"),
        (r#"{"name": "empirical", "points": []}"#, "points: found an empty list"),
        (r#"{"name": "empirical", "points": [[0, 0], [1, 0.5]]}"#, "points: found a last probability of 0.5"),
        (r#"{"name": "empirical", "points": [[2, 0], [1, 1]]}"#, "points[1]: found 1; write a value from 2"),
        (
            r#"{"name": "empirical", "points": [[1, 0.5], [2, 0.4]]}"#,
            "points[1]: found 0.4; write a probability",
        ),
        (r#"{"name": "empirical", "points": [[1, 0.5], [2, 1.5]]}"#, "points[1]: found 1.5"),
    ] {
        let message = parse(json).validate().unwrap_err().to_string();
        assert!(message.starts_with(wanted), "{json}: {message}");
    }
}

#[test]
fn unknown_names_and_keys_are_refused() {
    for (json, wanted) in [
        (r#"{"name": "paretto", "mean": 1}"#, "unknown variant `paretto`"),
        (r#"{"name": "exponential", "mean": 1, "rate": 1}"#, "unknown field `rate`"),
        (r#"{"name": "exponential"}"#, "missing field `mean`"),
        (r#"{"mean": 1}"#, "missing field `name`"),
    ] {
        let message = serde_json::from_str::<DistributionConfig>(json).unwrap_err().to_string();
        assert!(message.contains(wanted), "{json}: {message}");
    }
}

/// A law from all that its parameters accept, as a resolved scenario has it; steps of an empirical one.
pub(crate) fn any_law() -> BoxedStrategy<Value> {
    let entries: Vec<&'static Entry> = CATALOG.iter().collect();
    prop::sample::select(entries)
        .prop_flat_map(|entry| any_object(entry, points))
        .prop_filter("ends in the wrong order", |law| config_of(law).validate().is_ok())
        .boxed()
}

fn config_of(law: &Value) -> DistributionConfig {
    serde_json::from_value(law.clone()).unwrap()
}

fn any_config() -> impl Strategy<Value = DistributionConfig> {
    any_law().prop_map(|law| config_of(&law))
}

fn points(parameter: &Parameter) -> Option<BoxedStrategy<Value>> {
    let steps = || prop::collection::vec((0u32..9, 0u32..9), 1..9);
    (parameter.kind == Kind::CdfPoints).then(|| steps().prop_map(|steps| json!(cumulated(&steps))).boxed())
}

/// The points of a cumulative distribution, from what each adds to the value and to the weight.
fn cumulated(steps: &[(u32, u32)]) -> Vec<[f64; 2]> {
    let total: u32 = steps.iter().map(|(_, weight)| weight).sum::<u32>().max(1);
    let (mut value, mut weight) = (0, 0);
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (more, heavier) in steps {
        (value, weight) = (value + more, weight + heavier);
        points.push([f64::from(value), f64::from(weight) / f64::from(total)]);
    }
    points.last_mut().unwrap()[1] = 1.0;
    points
}

proptest! {
    #[test]
    fn draws_are_finite_and_not_negative(config in any_config(), bits: u64) {
        let law = config.build().unwrap();
        prop_assert!(law.mean().is_finite() && law.mean() >= 0.0);
        prop_assert!(law.cv2() >= 0.0, "{config:?}: {}", law.cv2());
        for bits in [bits, 0, u64::MAX] {
            let x = law.0.draw(unit_interval(bits));
            prop_assert!(x.is_finite() && x >= 0.0, "{config:?} at {bits}: {x}");
        }
    }

    #[test]
    fn quantiles_never_fall(config in any_config(), u in 0.0..=1.0f64, v in 0.0..=1.0f64) {
        let law = config.build().unwrap();
        let (low, high) = (law.quantile(u.min(v)), law.quantile(u.max(v)));
        prop_assert!(low <= high * (1.0 + 1e-12) + 1e-15 * law.mean(), "{config:?}: {low} > {high}");
        prop_assert!(law.quantile(0.0) <= low && high <= law.quantile(1.0), "{config:?}");
    }

    #[test]
    fn draws_follow_the_quantiles(config in any_config(), seed: u64) {
        const N: usize = 4000;
        let law = config.build().unwrap();
        let mut rng = rng(seed);
        let draws: Vec<f64> = (0..N).map(|_| law.sample(&mut rng)).collect();
        for p in [0.02, 0.3, 0.5, 0.8, 0.99] {
            let quantile = law.quantile(p);
            let share = |holds: &dyn Fn(f64) -> bool| draws.iter().filter(|&&x| holds(x)).count() as f64 / N as f64;
            let below = share(&|x| x < quantile * (1.0 - 1e-12));
            let up_to = share(&|x| x <= quantile * (1.0 + 1e-12));
            let error = 6.0 * (p * (1.0 - p) / N as f64).sqrt();
            prop_assert!(below <= p + error && up_to >= p - error, "{config:?} at {p}: {below}, {up_to}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused(
        mean in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), -1e9..0.0f64],
    ) {
        let points = vec![[mean, 1.0]];
        for config in [
            DistributionConfig::Exponential(ExponentialConfig { mean }),
            DistributionConfig::Constant(ConstantConfig { value: mean }),
            DistributionConfig::Empirical(EmpiricalConfig { points }),
        ] {
            prop_assert!(config.validate().is_err(), "{config:?}");
        }
    }
}
