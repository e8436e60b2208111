//! Hyperexponential: a mix of two exponentials, more variable than one.
//!
//! | symbol | field |
//! | --- | --- |
//! | c² | `cv2`, variance over squared mean; 1 is the exponential itself |
//! | p | probability of the short branch |
//! | m, M | mean of the short and of the long branch |
//!
//! Two parameters leave one free choice: means are balanced, each branch contributes half of the mean
//! (p m = (1 - p) M).
//!
//! A draw uses its one uniform number twice: whether it is below p picks the branch, and where it is
//! within that part, again uniform, is inverted there. That is not the inverse of the mixture's
//! distribution function, which has no closed form ([`quantile`](super::Distribution::quantile) finds it
//! by Newton's method).

use super::{Exponential, Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// A mix of a short and a long exponential that each contribute half of the mean.
    pub struct HyperexponentialConfig {
        /// Mean.
        mean: f64 => Value, min 1e-12, max 1e18;
        /// Squared coefficient of variation: variance over squared mean.
        cv2: f64, min 1.0, max 1e6;
    }
}

/// The two branches.
#[derive(Clone, Copy, Debug)]
pub struct Hyperexponential {
    short_probability: f64,
    long_probability: f64,
    short_mean: f64,
    long_mean: f64,
    mean: f64,
}

impl LawConfig for HyperexponentialConfig {
    type Law = Hyperexponential;
    const SUMMARY: &'static str = "two exponentials mixed with balanced means, by mean and variability";
    const REFERENCE: &'static str = "Whitt, Operations Research 30(1), 1982: balanced means";

    fn build(&self) -> Result<Hyperexponential, ConfigError> {
        let imbalance = libm::sqrt((self.cv2 - 1.0) / (self.cv2 + 1.0));
        let short = 0.5 * (1.0 + imbalance);
        let long = 1.0 / ((self.cv2 + 1.0) * (1.0 + imbalance)); // 1 - short, without cancellation
        Ok(Hyperexponential {
            short_probability: short,
            long_probability: long,
            short_mean: 0.5 * self.mean / short,
            long_mean: 0.5 * self.mean / long,
            mean: self.mean,
        })
    }
}

impl Law for Hyperexponential {
    #[inline]
    fn draw(&self, u: f64) -> f64 {
        let p = self.short_probability;
        let (mean, rest) =
            if u < p { (self.short_mean, u / p) } else { (self.long_mean, (u - p) / self.long_probability) };
        Exponential::with_mean(mean).at(rest.min(LARGEST))
    }

    /// The root of ln P(X > x) = ln(1 - u). The left side is convex and falls, so Newton's method from 0
    /// climbs to the root without passing it.
    fn quantile(&self, u: f64) -> f64 {
        if u == 1.0 {
            return f64::INFINITY;
        }
        let target = libm::log1p(-u);
        let mut x = 0.0;
        loop {
            // With the long branch's exponential taken out, nothing underflows.
            let short =
                self.short_probability * libm::exp(-x * (1.0 / self.short_mean - 1.0 / self.long_mean));
            let survival = short + self.long_probability;
            let log_survival = libm::log(survival) - x / self.long_mean;
            let slope = (short / self.short_mean + self.long_probability / self.long_mean) / survival;
            let next = x + (log_survival - target) / slope;
            if next - x <= 1e-15 * next {
                return x.max(next);
            }
            x = next;
        }
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv2(&self) -> f64 {
        let Self { short_probability: p, long_probability: q, .. } = *self;
        // The second moment is 2 (p m^2 + q M^2), and p m = q M is half of the mean.
        0.5 * (1.0 / p + 1.0 / q) - 1.0
    }
}

/// The largest number below 1.
const LARGEST: f64 = 1.0 - f64::EPSILON / 2.0;
