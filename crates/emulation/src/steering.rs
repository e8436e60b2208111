//! Groups with `multiple_time_scale`: the parameters of the kernel's program of that name, `struct parameters` of
//! bpf/multiple_time_scale.bpf.c.
//!
//! Factors and levels are whole numbers of 1/1024 there. The program steers Reno by its slope; what else the
//! simulator's control can do is refused.

use crate::refusal::Refusal;
use parshall_congestion::{
    ControlConfig, CouplingKind, MultipleTimeScaleConfig, QuantiserKind, ScheduleKind, Sharing,
};

/// Levels of contention that the program has room for.
const LEVELS: usize = 8;

/// Intervals among which it takes ranks, at most.
const MEMORY: u64 = 256;

pub(crate) fn parameters(config: &MultipleTimeScaleConfig) -> Result<Vec<u8>, Refusal> {
    check(config)?;
    let interval_s = config.interval.as_secs_f64();
    let mut slopes = [fraction(1.0); LEVELS];
    slopes.iter_mut().zip(&config.slopes).for_each(|(slope, given)| *slope = fraction(*given));
    let quantiser = match config.quantiser {
        QuantiserKind::Quantile => 0,
        QuantiserKind::RunningRange => 1,
        QuantiserKind::FixedRange => 2,
    };
    let schedule = match config.schedule {
        ScheduleKind::InverseLinear => 0,
        ScheduleKind::Threshold => 1,
        ScheduleKind::Inverse => 2,
        ScheduleKind::Generalised => 3,
    };
    // Of a destination's address, nothing tells hosts of a group apart that is one destination, and all of it those of
    // other flows.
    let (shared, destinations) = match config.shared {
        Sharing::None => (0, 0),
        Sharing::Flow => (1, u32::MAX),
        Sharing::Group => (2, 0),
    };
    let long = [config.interval.as_ps() / 1000, (1024.0 * config.peak * interval_s) as u64];
    let short = [
        config.levels as u32,
        quantiser,
        config.memory as u32,
        schedule,
        fraction(config.aggressiveness),
        fraction(config.conservativeness),
        fraction(config.threshold),
        config.learning.as_ps().div_ceil(config.interval.as_ps()) as u32,
        shared,
        destinations,
    ];
    let words = short.iter().chain(&slopes).flat_map(|word| word.to_ne_bytes());
    Ok(long.iter().flat_map(|word| word.to_ne_bytes()).chain(words).collect())
}

/// In 1/1024.
fn fraction(number: f64) -> u32 {
    (number * 1024.0).round() as u32
}

/// Refuses what the program cannot do.
fn check(config: &MultipleTimeScaleConfig) -> Result<(), Refusal> {
    let plain = matches!(
        &*config.control,
        ControlConfig::Reno(reno) if (reno.increase, reno.decrease, reno.ecn_decrease) == (1.0, 0.5, 0.0)
    );
    if !plain {
        return Err(("control", config.control.name().into(), "steers \"reno\", with its own parameters"));
    }
    if config.levels as usize > LEVELS {
        return Err(("levels", config.levels.to_string(), "has room for 8 levels"));
    }
    if config.quantiser == QuantiserKind::Quantile && config.memory > MEMORY {
        return Err(("memory", config.memory.to_string(), "has room for 256 intervals"));
    }
    if config.coupling != CouplingKind::CongestionAvoidance {
        return Err((
            "coupling",
            config.coupling.to_string(),
            "steers the slope of \"congestion_avoidance\"",
        ));
    }
    if config.metacontrol {
        return Err(("metacontrol", "true".into(), "has a fixed A: false"));
    }
    if !config.prior.is_empty() {
        return Err(("prior", format!("{} numbers", config.prior.len()), "begins with an empty table: none"));
    }
    if !config.oracle.is_empty() {
        return Err(("oracle", format!("{} numbers", config.oracle.len()), "knows no future: none"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(changes: &str) -> MultipleTimeScaleConfig {
        let mut all: serde_json::Map<String, serde_json::Value> = serde_json::from_str(
            r#"{"control": {"name": "reno", "increase": 1.0, "decrease": 0.5, "ecn_decrease": 0.0},
                "interval": 2000000000000, "levels": 8, "quantiser": "quantile", "peak": 0.0, "memory": 256,
                "schedule": "inverse_linear", "aggressiveness": 6.0, "conservativeness": 1.0, "threshold": 4.0,
                "slopes": [], "coupling": "congestion_avoidance", "shift": 0.0, "metacontrol": false,
                "adjustment": 0.05, "block": "following", "learning": 0, "prior": [], "shared": "none", "oracle": []}"#,
        )
        .unwrap();
        let changes: serde_json::Map<_, _> = serde_json::from_str(changes).unwrap();
        all.extend(changes);
        serde_json::from_value(all.into()).unwrap()
    }

    #[test]
    fn parameters_are_those_of_the_program_in_its_order() {
        let changes = r#"{"quantiser": "fixed_range", "peak": 1250.0, "schedule": "generalised", "slopes": [3.0, 0.5],
            "levels": 2, "learning": 3000000000000, "shared": "flow"}"#;
        let bytes = parameters(&config(changes)).unwrap();
        let (long, short) = bytes.split_at(16);
        let long: Vec<_> = long.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
        let short: Vec<_> =
            short.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
        assert_eq!(long, [2_000_000_000, 1250 * 2 * 1024]);
        assert_eq!(short[..10], [2, 2, 256, 3, 6144, 1024, 4096, 2, 1, u32::MAX]);
        assert_eq!(short[10..], [3072, 512, 1024, 1024, 1024, 1024, 1024, 1024]);
    }

    #[test]
    fn what_the_program_cannot_do_is_refused() {
        for (key, changes) in [
            (
                "control",
                r#"{"control": {"name": "reno", "increase": 2.0, "decrease": 0.5, "ecn_decrease": 0.0}}"#,
            ),
            ("levels", r#"{"levels": 9}"#),
            ("memory", r#"{"memory": 257}"#),
            ("coupling", r#"{"coupling": "both"}"#),
            ("metacontrol", r#"{"metacontrol": true}"#),
            (
                "prior",
                r#"{"quantiser": "fixed_range", "peak": 1.0, "levels": 2, "prior": [1.0, 0.0, 0.0, 1.0]}"#,
            ),
            ("oracle", r#"{"oracle": [1.0]}"#),
        ] {
            let (refused, _, accepted) = parameters(&config(changes)).expect_err(key);
            assert_eq!(refused, key);
            assert!(!accepted.is_empty());
        }
        assert!(
            parameters(&config(r#"{"quantiser": "running_range", "memory": 300}"#)).is_ok(),
            "it takes no ranks"
        );
    }
}
