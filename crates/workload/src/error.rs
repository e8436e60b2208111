//! Why a configuration is refused: the checks of the crate `units`, held against our distributions.

pub use parshall_units::ConfigError;

pub(crate) use parshall_units::in_range;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::ParetoConfig;

    #[test]
    fn the_message_says_where_what_and_what_is_accepted() {
        let error = in_range(ParetoConfig::PARAMETERS, "tail_index", 0.9).unwrap_err().within("size");
        let message = error.to_string();
        assert!(
            message.starts_with("size.tail_index: found 0.9; write a number from 1.001 to 100"),
            "{message}"
        );
        assert!(message.contains("infinite"), "{message}");
    }

    #[test]
    fn ends_of_a_range_are_short() {
        let error = in_range(ParetoConfig::PARAMETERS, "mean", 0.0).unwrap_err();
        assert_eq!(error.accepted, "a number from 1e-12 to 1e18 (Mean)");
    }

    #[test]
    fn nan_and_infinity_are_outside_every_range() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(in_range(ParetoConfig::PARAMETERS, "mean", value).is_err());
        }
    }
}
