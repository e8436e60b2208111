//! Why a configuration is refused: the crate `units` says it, held against our distributions.

pub use parshall_units::ConfigError;

#[cfg(test)]
mod tests {
    use crate::distributions::ParetoConfig;

    fn pareto(mean: f64, tail_index: f64) -> ParetoConfig {
        ParetoConfig { mean, tail_index }
    }

    #[test]
    fn the_message_says_where_what_and_what_is_accepted() {
        let error = pareto(1.0, 0.9).check_ranges().unwrap_err().within("size");
        let message = error.to_string();
        assert!(
            message.starts_with("size.tail_index: found 0.9; write a number from 1.001 to 100"),
            "{message}"
        );
        assert!(message.contains("infinite"), "{message}");
    }

    #[test]
    fn ends_of_a_range_are_short() {
        let error = pareto(0.0, 1.5).check_ranges().unwrap_err();
        assert_eq!(error.accepted, "a number from 1e-12 to 1e18 (Mean)");
    }

    #[test]
    fn nan_and_infinity_are_outside_every_range() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(pareto(value, 1.5).check_ranges().is_err());
        }
    }
}
