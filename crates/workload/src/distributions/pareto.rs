//! Pareto: a power-law tail, given by its mean and tail index.
//!
//! | symbol | field |
//! | --- | --- |
//! | α | `tail_index` |
//! | L, smallest value | `mean` (α - 1) / α |
//!
//! P(X > x) = (L / x)^α for x >= L. The mean exists for α > 1 only, the variance for α > 2. Draws
//! reach the tail down to P(X > x) = 2^-53. As α approaches 1 the mean is carried by values that hardly any
//! simulation draws, which is why the range starts a little above 1.

use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// P(X > x) = (L / x)^tail_index with L = mean (tail_index - 1) / tail_index.
    pub struct ParetoConfig {
        /// Mean.
        mean: f64 => Value, min 1e-12, max 1e18;
        /// Tail index α: P(X > x) falls as x^-α; with 1 or less the mean is infinite.
        tail_index: f64, min 1.001, max 100.0;
    }
}

/// Smallest value and tail index.
#[derive(Clone, Copy, Debug)]
pub struct Pareto {
    minimum: f64,
    exponent: f64,
    mean: f64,
}

impl LawConfig for ParetoConfig {
    type Law = Pareto;
    const SUMMARY: &'static str = "power-law tail, by mean and tail index";
    const REFERENCE: &'static str = "Goga, Loiseau & Gonçalves 2011, §2";

    fn build(&self) -> Result<Pareto, ConfigError> {
        Ok(Pareto {
            minimum: self.mean * (self.tail_index - 1.0) / self.tail_index,
            exponent: -1.0 / self.tail_index,
            mean: self.mean,
        })
    }
}

impl Law for Pareto {
    #[inline]
    fn quantile(&self, u: f64) -> f64 {
        self.minimum * libm::pow(1.0 - u, self.exponent)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv2(&self) -> f64 {
        let tail_index = -1.0 / self.exponent;
        if tail_index > 2.0 {
            1.0 / (tail_index * (tail_index - 2.0))
        } else {
            f64::INFINITY
        }
    }
}
