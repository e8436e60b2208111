//! Distributions of sizes (in bytes) and times (in seconds), on `[0, ∞)`.
//!
//! Every law is drawn from by inverting its distribution function, one uniform number a draw, so that
//! two scenarios with the same seed use the same uniforms; the one exception
//! ([`hyperexponential`](HyperexponentialConfig), whose inverse has no closed form) also takes one.
//! Transcendental functions come from `libm`: the same seed gives the same values on any machine.
//!
//! | term | meaning |
//! | --- | --- |
//! | `mean` | expectation; every law here has one |
//! | `tail_index` α | P(X > x) ~ x^-α; the variance is infinite for α <= 2 |
//! | u | a uniform number in [0, 1) |
//!
//! Parameters are at most 10^18 and shapes bounded (each file says how), so that no draw overflows: a
//! value drawn is finite and never negative.

pub mod catalog;

mod bounded_pareto;
mod constant;
mod empirical;
mod exponential;
mod hyperexponential;
mod lognormal;
mod normal;
mod pareto;
mod uniform;
mod weibull;

pub use bounded_pareto::BoundedParetoConfig;
pub use catalog::DistributionConfig;
pub use constant::ConstantConfig;
pub use empirical::EmpiricalConfig;
pub use exponential::ExponentialConfig;
pub use hyperexponential::HyperexponentialConfig;
pub use lognormal::LognormalConfig;
pub use pareto::ParetoConfig;
pub use uniform::UniformConfig;
pub use weibull::WeibullConfig;

pub(crate) use empirical::{mean as cdf_mean, LARGEST as LARGEST_VALUE};
pub(crate) use exponential::Exponential;

use crate::error::ConfigError;
use crate::random::unit_interval;
use catalog::Laws;
use rand_core::RngCore;

/// A distribution ready to draw from.
#[derive(Clone, Debug)]
pub struct Distribution(Laws);

impl Distribution {
    /// Draws a value: finite, not negative. Takes one number from `rng`.
    #[inline]
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> f64 {
        self.0.draw(unit_interval(rng.next_u64()))
    }

    /// The expectation.
    pub fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The squared coefficient of variation, variance over squared mean; infinite where the variance is, 0 where the mean is.
    pub fn cv2(&self) -> f64 {
        self.0.cv2()
    }

    /// The smallest value that is not exceeded with probability `u`; at 1 the largest value there is,
    /// infinite for an unbounded law.
    ///
    /// # Panics
    /// `u` is not in `[0, 1]`.
    pub fn quantile(&self, u: f64) -> f64 {
        assert!((0.0..=1.0).contains(&u), "a probability is in [0, 1], found {u}");
        self.0.quantile(u)
    }
}

/// What a law must tell; each is a file of this folder.
trait Law {
    /// The inverse of the distribution function at `u` in `[0, 1]`.
    fn quantile(&self, u: f64) -> f64;

    /// The expectation.
    fn mean(&self) -> f64;

    /// Variance over squared mean.
    fn cv2(&self) -> f64;

    /// The value drawn with the uniform number `u` in `[0, 1)`.
    #[inline]
    fn draw(&self, u: f64) -> f64 {
        self.quantile(u)
    }
}

/// The configuration of a law.
trait LawConfig {
    /// What it configures.
    type Law: Law;
    /// One sentence.
    const SUMMARY: &'static str;
    /// Where it is specified.
    const REFERENCE: &'static str;

    /// The law, or the first key that is wrong.
    fn build(&self) -> Result<Self::Law, ConfigError>;
}

#[cfg(test)]
pub(crate) mod tests;
