//! Uniform over an interval.

use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// Uniform over `[low, high)`.
    pub struct UniformConfig {
        /// Smallest value.
        low: f64 => Value, min 0.0, max 1e18;
        /// End of the interval, not below `low`.
        high: f64 => Value, min 0.0, max 1e18;
    }
}

/// An interval.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    low: f64,
    high: f64,
}

impl LawConfig for UniformConfig {
    type Law = Uniform;
    const SUMMARY: &'static str = "every value of an interval is as likely";
    const REFERENCE: &'static str =
        "Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 2, ch. 26";

    fn build(&self) -> Result<Uniform, ConfigError> {
        if self.high < self.low {
            return Err(ConfigError::new("high", self.high, format!("a value not below low, {}", self.low)));
        }
        Ok(Uniform { low: self.low, high: self.high })
    }
}

impl Law for Uniform {
    #[inline]
    fn quantile(&self, u: f64) -> f64 {
        (self.low + u * (self.high - self.low)).min(self.high)
    }

    fn mean(&self) -> f64 {
        0.5 * (self.low + self.high)
    }

    fn cv2(&self) -> f64 {
        let relative = (self.high - self.low) / (self.high + self.low);
        if self.high > 0.0 {
            relative * relative / 3.0
        } else {
            0.0
        }
    }
}
