//! Bounded Pareto: a power law between a smallest and a largest value.
//!
//! | symbol | field |
//! | --- | --- |
//! | L | `minimum` |
//! | H | `maximum` |
//! | α | `tail_index` |
//!
//! P(X > x) = ((L/x)^α - (L/H)^α) / (1 - (L/H)^α) for L <= x <= H. All moments exist, so any α > 0 will do.

use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// A power law cut at both ends.
    pub struct BoundedParetoConfig {
        /// Smallest value.
        minimum: f64 => Value, min 1e-12, max 1e18;
        /// Largest value, above `minimum`.
        maximum: f64 => Value, min 1e-12, max 1e18;
        /// Tail index α: between the ends P(X > x) falls as x^-α.
        tail_index: f64, min 0.01, max 100.0;
    }
}

/// The two ends, the exponent, and 1 - (L/H)^α.
#[derive(Clone, Copy, Debug)]
pub struct BoundedPareto {
    minimum: f64,
    maximum: f64,
    tail_index: f64,
    span: f64,
}

impl LawConfig for BoundedParetoConfig {
    type Law = BoundedPareto;
    const SUMMARY: &'static str = "power law between a smallest and a largest value";
    const REFERENCE: &'static str =
        "Harchol-Balter, Performance Modeling and Design of Computer Systems (2013), ch. 20";

    fn build(&self) -> Result<BoundedPareto, ConfigError> {
        if self.maximum <= self.minimum {
            let accepted = format!("a value above minimum, {}", self.minimum);
            return Err(ConfigError::new("maximum", self.maximum, accepted));
        }
        Ok(BoundedPareto {
            minimum: self.minimum,
            maximum: self.maximum,
            tail_index: self.tail_index,
            span: -libm::expm1(self.tail_index * libm::log(self.minimum / self.maximum)),
        })
    }
}

impl Law for BoundedPareto {
    #[inline]
    fn quantile(&self, u: f64) -> f64 {
        let x = self.minimum * libm::pow(1.0 - u * self.span, -1.0 / self.tail_index);
        x.clamp(self.minimum, self.maximum)
    }

    fn mean(&self) -> f64 {
        self.tail_index * self.minimum * self.integral(1.0) / self.span
    }

    fn cv2(&self) -> f64 {
        let first = self.integral(1.0);
        (self.integral(2.0) * self.span / (self.tail_index * first * first) - 1.0).max(0.0)
    }
}

impl BoundedPareto {
    /// The integral of r^(α-k) dln r from L/H to 1, which is -ln r at α = k: the k-th moment over α L^k / (1 - (L/H)^α).
    fn integral(&self, k: f64) -> f64 {
        let log_ratio = libm::log(self.minimum / self.maximum);
        let excess = self.tail_index - k;
        if excess == 0.0 {
            -log_ratio
        } else {
            -libm::expm1(excess * log_ratio) / excess
        }
    }
}
