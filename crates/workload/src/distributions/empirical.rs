//! Empirical: a measured distribution function, straight between its points.
//!
//! Points `[value, P(X <= value)]` in order; both columns never fall, and the last probability is 1.
//!
//! | in the points | means |
//! | --- | --- |
//! | a first probability above 0 | that much weight on the first value |
//! | the same value with a larger probability | a jump: weight on that value |
//! | the same probability with a larger value | a gap: no weight between the two |

use super::{Law, LawConfig};
use crate::error::ConfigError;

parshall_units::configuration! {
    /// A measured distribution function.
    pub struct EmpiricalConfig {
        /// The points `[value, probability not to exceed it]`, neither falling, up to probability 1.
        points: Vec<[f64; 2]> => CdfPoints;
    }
}

/// Largest accepted value.
pub(crate) const LARGEST: f64 = 1e18;

/// How far below 1 the last probability may be.
const TOLERANCE: f64 = 1e-9;

/// The points.
#[derive(Clone, Debug)]
pub struct Empirical {
    points: Box<[[f64; 2]]>,
}

impl LawConfig for EmpiricalConfig {
    type Law = Empirical;
    const SUMMARY: &'static str = "a measured distribution function, straight between its points";
    const REFERENCE: &'static str =
        "inversion of the piecewise linear distribution function; file formats: cdf_file";

    fn build(&self) -> Result<Empirical, ConfigError> {
        let mut points: Box<[[f64; 2]]> = self.points.as_slice().into();
        let mut previous = [0.0, 0.0];
        for (i, &[value, probability]) in points.iter().enumerate() {
            let fail =
                |found: f64, accepted: String| Err(ConfigError::new(format!("points[{i}]"), found, accepted));
            if !(previous[0]..=LARGEST).contains(&value) {
                return fail(
                    value,
                    format!("a value from {} (values never fall) to {LARGEST:e}", previous[0]),
                );
            }
            if !(previous[1]..=1.0).contains(&probability) {
                return fail(
                    probability,
                    format!("a probability from {} (a distribution function never falls) to 1", previous[1]),
                );
            }
            previous = [value, probability];
        }
        match points.last_mut() {
            None => Err(ConfigError::new("points", "an empty list", "at least one point")),
            Some(last) if last[1] < 1.0 - TOLERANCE => {
                let accepted = "a distribution function that reaches 1 at its last point";
                Err(ConfigError::new("points", format!("a last probability of {}", last[1]), accepted))
            }
            Some(last) => {
                last[1] = 1.0;
                Ok(Empirical { points })
            }
        }
    }
}

impl Law for Empirical {
    #[inline]
    fn quantile(&self, u: f64) -> f64 {
        let above = self.points.partition_point(|point| point[1] < u);
        let [value, probability] = self.points[above]; // exists: the last probability is 1
        if above == 0 {
            return value;
        }
        let [below, below_probability] = self.points[above - 1];
        let part = (u - below_probability) / (probability - below_probability);
        (below + part * (value - below)).min(value)
    }

    fn mean(&self) -> f64 {
        mean(&self.points)
    }

    fn cv2(&self) -> f64 {
        let mean = self.mean();
        let [value, weight] = self.points[0]; // build() refuses an empty list
        let segments = self.points.windows(2).map(|pair| {
            let ([a, p], [b, q]) = (pair[0], pair[1]);
            let (a, b) = (a - mean, b - mean);
            (q - p) * (a * a + a * b + b * b) / 3.0
        });
        let variance = weight * (value - mean) * (value - mean) + segments.sum::<f64>();
        if mean > 0.0 {
            variance / (mean * mean)
        } else {
            0.0
        }
    }
}

/// The mean of the law these points describe.
pub(crate) fn mean(points: &[[f64; 2]]) -> f64 {
    let first = points.first().map_or(0.0, |[value, probability]| value * probability);
    let segments = points.windows(2).map(|pair| {
        let [[below, p], [above, q]] = [pair[0], pair[1]];
        (q - p) * 0.5 * (below + above)
    });
    first + segments.sum::<f64>()
}
