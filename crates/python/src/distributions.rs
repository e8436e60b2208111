//! Quantiles: of Student's t, of the beta and of the binomial distribution.
//!
//! The distribution functions are statrs's. Its quantiles stop at an absolute error; those here are found by bisection, to the last
//! bit of the argument.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | I_x(a, b) | regularised incomplete beta function |
//! | nu | degrees of freedom |
//!
//! References: Abramowitz & Stegun, Handbook of Mathematical Functions, 1964, 26.5 and 26.7.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use statrs::function::beta::checked_beta_reg;

/// The value below which a variable of Student's t distribution is with this probability, for `freedom` degrees of freedom, not
/// necessarily whole.
#[pyfunction]
pub fn student_quantile(probability: f64, freedom: f64) -> PyResult<f64> {
    check(probability)?;
    if !(freedom > 0.0 && freedom.is_finite()) {
        return Err(PyValueError::new_err(format!("freedom: found {freedom}, accepted are numbers above 0")));
    }
    if probability < 0.5 {
        return student_quantile(1.0 - probability, freedom).map(|value| -value);
    }
    // P(|T| > t) = I_x(nu/2, 1/2) with x = nu / (nu + t^2), eq. 26.7.1; with 1 - x where x is near 1.
    let outside = |t: f64| {
        let (square, half) = (t * t, freedom / 2.0);
        if square < freedom {
            checked_beta_reg(0.5, half, square / (freedom + square)).map(|inside| 1.0 - inside)
        } else {
            checked_beta_reg(half, 0.5, freedom / (freedom + square))
        }
    };
    let wanted = 2.0 * (1.0 - probability);
    let mut high = 1.0;
    while outside(high).map_err(refused)? > wanted {
        high *= 2.0;
    }
    bisected(0.0, high, |t| outside(t).map(|share| share <= wanted).map_err(refused))
}

/// The value below which a variable of the beta distribution is with this probability.
#[pyfunction]
pub fn beta_quantile(probability: f64, a: f64, b: f64) -> PyResult<f64> {
    check(probability)?;
    bisected(0.0, 1.0, |x| checked_beta_reg(a, b, x).map(|share| share >= probability).map_err(refused))
}

/// The least number of successes in `trials` of probability `success` that is not exceeded with this probability.
#[pyfunction]
pub fn binomial_quantile(probability: f64, trials: u64, success: f64) -> PyResult<u64> {
    check(probability)?;
    let distribution =
        Binomial::new(success, trials).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (mut least, mut reached) = (0, trials);
    while least < reached {
        let middle = least + (reached - least) / 2;
        if distribution.cdf(middle) >= probability {
            reached = middle;
        } else {
            least = middle + 1;
        }
    }
    Ok(reached)
}

/// The least argument at which the condition holds, from `low`, where it does not, to `high`, where it does.
fn bisected(mut low: f64, mut high: f64, holds: impl Fn(f64) -> PyResult<bool>) -> PyResult<f64> {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return Ok(high);
        }
        if holds(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
}

fn check(probability: f64) -> PyResult<()> {
    if probability > 0.0 && probability < 1.0 {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "probability: found {probability}, accepted are numbers between 0 and 1"
    )))
}

fn refused(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
