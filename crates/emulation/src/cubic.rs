//! Groups with `cubic_linux` and `cubic_2005`: the parameters of the kernel's programs of these names, `struct
//! parameters` of bpf/cubic_linux.bpf.c and bpf/cubic_2005.bpf.c.
//!
//! `cubic_linux` is the kernel's own CUBIC, whose module has its parameters for all connections of the machine at once;
//! the program can leave out HyStart for its own connections, and nothing else. `cubic_2005` has two constants in whole
//! numbers. What they cannot do is refused.

use crate::refusal::Refusal;
use parshall_congestion::{Cubic2005Config, CubicLinuxConfig};

/// Of `cubic_linux`.
pub(crate) fn of_linux(config: &CubicLinuxConfig) -> Result<Vec<u8>, Refusal> {
    for (key, given) in
        [("fast_convergence", config.fast_convergence), ("reno_friendly", config.reno_friendly)]
    {
        if !given {
            return Err((key, "false".into(), "is the kernel's CUBIC as its module is set: true"));
        }
    }
    Ok(words([config.hystart]))
}

/// Of `cubic_2005`.
pub(crate) fn of_2005(config: &Cubic2005Config) -> Result<Vec<u8>, Refusal> {
    for (key, given, only, accepted) in [
        ("c", config.c, 0.4, "has C = 0.4"),
        ("decrease", config.decrease, 0.8, "keeps 0.8 of the window"),
        ("s_max", config.s_max, 160.0, "grows by 160 packets a second at most"),
        ("initial_growth", config.initial_growth, 0.0, "adds no part of the window: 0"),
    ] {
        if given != only {
            return Err((key, given.to_string(), accepted));
        }
    }
    Ok(words([config.scaling_error, config.fast_convergence, config.reno_friendly]))
}

fn words<const N: usize>(flags: [bool; N]) -> Vec<u8> {
    flags.iter().flat_map(|&flag| u32::from(flag).to_ne_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linux(changes: &str) -> Result<Vec<u8>, Refusal> {
        let all = r#"{"tick": 4000000000, "fast_convergence": true, "reno_friendly": true, "hystart": true}"#;
        of_linux(&changed(all, changes))
    }

    fn of_the_year_2005(changes: &str) -> Result<Vec<u8>, Refusal> {
        let all = r#"{"c": 0.4, "decrease": 0.8, "s_max": 160.0, "initial_growth": 0.0, "fast_convergence": true,
            "reno_friendly": true, "scaling_error": false}"#;
        of_2005(&changed(all, changes))
    }

    fn changed<T: serde::de::DeserializeOwned>(all: &str, changes: &str) -> T {
        let mut all: serde_json::Map<String, serde_json::Value> = serde_json::from_str(all).unwrap();
        all.extend(serde_json::from_str::<serde_json::Map<_, _>>(changes).unwrap());
        serde_json::from_value(all.into()).unwrap()
    }

    #[test]
    fn parameters_are_those_of_the_programs_in_their_order() {
        assert_eq!(linux("{}").unwrap(), words([true]));
        assert_eq!(linux(r#"{"hystart": false}"#).unwrap(), words([false]));
        assert_eq!(of_the_year_2005("{}").unwrap(), words([false, true, true]));
        assert_eq!(
            of_the_year_2005(r#"{"scaling_error": true, "fast_convergence": false}"#).unwrap(),
            words([true, false, true])
        );
        assert_eq!(words([true, false]), [1_u32.to_ne_bytes(), 0_u32.to_ne_bytes()].concat());
    }

    #[test]
    fn what_the_programs_cannot_do_is_refused() {
        for (key, value) in [("fast_convergence", "false"), ("reno_friendly", "false")] {
            assert_eq!(linux(&format!(r#"{{"{key}": {value}}}"#)).unwrap_err().0, key);
        }
        for (key, value) in
            [("c", "0.3"), ("decrease", "0.7"), ("s_max", "100.0"), ("initial_growth", "0.02")]
        {
            let (refused, found, _) = of_the_year_2005(&format!(r#"{{"{key}": {value}}}"#)).unwrap_err();
            assert_eq!((refused, found.parse::<f64>()), (key, value.parse()));
        }
    }
}
