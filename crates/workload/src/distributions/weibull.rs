//! Weibull: a stretched exponential.
//!
//! P(X > x) = exp(-(x / λ)^k), with k = `shape` and the scale λ = `mean` / Γ(1 + 1/k). Below shape 1 the
//! tail is heavier than exponential, above 1 lighter; the range starts at 0.1, where the median is 10^-8
//! of the mean.

use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// A stretched exponential.
    pub struct WeibullConfig {
        /// Mean.
        mean: f64 => Value, min 1e-12, max 1e18;
        /// Shape k: below 1 a heavier tail than exponential, above 1 a lighter one.
        shape: f64, min 0.1, max 100.0;
    }
}

/// Mean, scale and one over the shape.
#[derive(Clone, Copy, Debug)]
pub struct Weibull {
    mean: f64,
    scale: f64,
    exponent: f64,
}

impl LawConfig for WeibullConfig {
    type Law = Weibull;
    const SUMMARY: &'static str = "stretched exponential, by mean and shape";
    const REFERENCE: &'static str =
        "Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 1, ch. 21";

    fn build(&self) -> Result<Weibull, ConfigError> {
        let exponent = 1.0 / self.shape;
        Ok(Weibull { mean: self.mean, scale: self.mean / libm::tgamma(1.0 + exponent), exponent })
    }
}

impl Law for Weibull {
    #[inline]
    fn quantile(&self, u: f64) -> f64 {
        self.scale * libm::pow(-libm::log1p(-u), self.exponent)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv2(&self) -> f64 {
        let first = libm::tgamma(1.0 + self.exponent);
        libm::tgamma(1.0 + 2.0 * self.exponent) / (first * first) - 1.0
    }
}
