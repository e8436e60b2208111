//! Lognormal: the logarithm is normal.
//!
//! | symbol | field |
//! | --- | --- |
//! | σ | `sigma`, standard deviation of ln X |
//! | μ | ln(`mean`) - σ²/2, mean of ln X |

use super::normal;
use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// ln X is normal.
    pub struct LognormalConfig {
        /// Mean of the values (not of their logarithm).
        mean: f64 => Value, min 1e-12, max 1e18;
        /// Standard deviation of the logarithm.
        sigma: f64, min 0.0, max 5.0;
    }
}

/// Mean, and mean and standard deviation of the logarithm.
#[derive(Clone, Copy, Debug)]
pub struct Lognormal {
    mean: f64,
    mu: f64,
    sigma: f64,
}

impl LawConfig for LognormalConfig {
    type Law = Lognormal;
    const SUMMARY: &'static str = "the logarithm is normal";
    const REFERENCE: &'static str =
        "Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 1, ch. 14";

    fn build(&self) -> Result<Lognormal, ConfigError> {
        let mu = libm::log(self.mean) - 0.5 * self.sigma * self.sigma;
        Ok(Lognormal { mean: self.mean, mu, sigma: self.sigma })
    }
}

impl Law for Lognormal {
    #[inline]
    fn quantile(&self, u: f64) -> f64 {
        if self.sigma == 0.0 {
            return self.mean; // and not 0 times infinity at the ends
        }
        libm::exp(self.mu + self.sigma * normal::quantile(u))
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv2(&self) -> f64 {
        libm::expm1(self.sigma * self.sigma)
    }
}
