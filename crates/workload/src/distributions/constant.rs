//! Always the same value.

use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// Always the same value.
    pub struct ConstantConfig {
        /// The value.
        value: f64 => Value, min 0.0, max 1e18;
    }
}

/// The value itself.
#[derive(Clone, Copy, Debug)]
pub struct Constant(f64);

impl LawConfig for ConstantConfig {
    type Law = Constant;
    const SUMMARY: &'static str = "always the same value";
    const REFERENCE: &'static str = "degenerate distribution";

    fn build(&self) -> Result<Constant, ConfigError> {
        Ok(Constant(self.value))
    }
}

impl Law for Constant {
    #[inline]
    fn quantile(&self, _: f64) -> f64 {
        self.0
    }

    fn mean(&self) -> f64 {
        self.0
    }

    fn cv2(&self) -> f64 {
        0.0
    }
}
