//! Exponential: the memoryless law.

use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// P(X > x) = exp(-x / mean).
    pub struct ExponentialConfig {
        /// Mean.
        mean: f64 => Value, min 1e-12, max 1e18;
    }
}

/// Its mean.
#[derive(Clone, Copy, Debug)]
pub struct Exponential(f64);

impl Exponential {
    /// With this mean, which must be positive and finite.
    pub(crate) fn with_mean(mean: f64) -> Self {
        Self(mean)
    }

    /// The value drawn with the uniform number `u` in `[0, 1)`.
    #[inline]
    pub(crate) fn at(self, u: f64) -> f64 {
        -self.0 * libm::log1p(-u)
    }
}

impl LawConfig for ExponentialConfig {
    type Law = Exponential;
    const SUMMARY: &'static str = "memoryless: the gaps of a Poisson process";
    const REFERENCE: &'static str =
        "Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 1, ch. 19";

    fn build(&self) -> Result<Exponential, ConfigError> {
        Ok(Exponential::with_mean(self.mean))
    }
}

impl Law for Exponential {
    #[inline]
    fn quantile(&self, u: f64) -> f64 {
        self.at(u)
    }

    fn mean(&self) -> f64 {
        self.0
    }

    fn cv2(&self) -> f64 {
        1.0
    }
}
