//! Files with measured distribution functions of flow sizes.
//!
//! One point a line: a value and the probability that it is not exceeded, separated by blanks or a
//! comma. That is what the flow-size files of HPCC, HKUST's `TrafficGenerator` and `HomaSimulation`
//! share; where they differ, the file itself is asked:
//!
//! | part | rule |
//! | --- | --- |
//! | probabilities | fractions if the last is 1, percent if it is 100 |
//! | unit of the values | not in any file: the scenario says bytes or packets, see [`CdfFile::points`] |
//! | a line with one number, before the points | the mean, in the unit of the values |
//! | a first line of words | column names, skipped |
//! | blank lines, and from `#` to the end of a line | skipped |
//!
//! **Between the points** a file is read as [straight](Interpolation::Linear), except if it states a
//! mean that only the [steps](Interpolation::Step) through its points have: `HomaSimulation`'s three
//! files list the values a message can have (their means, 1622.94 packets among them, are 1 % to 42 %
//! above those of the straight reading). A stated mean that neither reading has is an error.

use crate::distributions::{cdf_mean, LARGEST_VALUE};
use thiserror::Error;

/// How far a stated mean may be from the points', relatively: files round theirs.
const MEAN_TOLERANCE: f64 = 2e-3;

/// How far from 1 the last probability may be, for printed fractions and percentages.
const END_TOLERANCE: f64 = 1e-6;

/// Why a file is not a distribution function.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CdfFileError {
    /// No line has a point.
    #[error("no point found; write lines of a value and the probability that it is not exceeded")]
    Empty,
    /// A line is no point, and nothing else that is accepted there.
    #[error("line {line}: found {found:?}; write a value and the probability that it is not exceeded")]
    NotAPoint {
        /// Counted from 1.
        line: usize,
        /// The line's text, cut if long.
        found: String,
    },
    /// A number is out of range, or falls.
    #[error("line {line}: found the {what} {found}; write {accepted}")]
    Number {
        /// Counted from 1.
        line: usize,
        /// Which number.
        what: &'static str,
        /// What it is.
        found: f64,
        /// What it may be.
        accepted: String,
    },
    /// The last probability is neither 1 nor 100 %.
    #[error("line {line}: found {last} as the last probability; write 1, or 100 for percent")]
    DoesNotReachOne {
        /// The last point's, counted from 1.
        line: usize,
        /// What it is.
        last: f64,
    },
    /// The mean stated is not that of the points.
    #[error(
        "found {stated} as the mean, but the points have {linear} (straight between them) or {step} (steps)"
    )]
    Mean {
        /// As the file says.
        stated: f64,
        /// Of the points, straight between them.
        linear: f64,
        /// Of the points, as steps.
        step: f64,
    },
}

/// The course of a distribution function between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// It rises evenly: values between the points occur.
    Linear,
    /// It jumps at each point: only the points' own values occur.
    Step,
}

/// A distribution function as a file gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct CdfFile {
    /// Values in the file's unit, and probabilities as fractions of which the last is 1.
    points: Vec<[f64; 2]>,
    stated_mean: Option<f64>,
    interpolation: Interpolation,
}

impl CdfFile {
    /// Reads a file's bytes.
    ///
    /// # Errors
    /// The bytes are not a distribution function; never panics.
    pub fn parse(bytes: &[u8]) -> Result<Self, CdfFileError> {
        let (mut points, stated_mean, last_line) = read_points(bytes)?;
        let last = points.last().ok_or(CdfFileError::Empty)?[1];
        let whole = if (last - 100.0).abs() <= 100.0 * END_TOLERANCE {
            100.0
        } else if (last - 1.0).abs() <= END_TOLERANCE {
            1.0
        } else {
            return Err(CdfFileError::DoesNotReachOne { line: last_line, last });
        };
        for point in &mut points {
            point[1] = (point[1] / whole).min(1.0);
        }
        let end = points.len() - 1;
        points[end][1] = 1.0;
        let interpolation = match stated_mean {
            Some(stated) => reading_with_mean(stated, &points)?,
            None => Interpolation::Linear,
        };
        Ok(Self { points, stated_mean, interpolation })
    }

    /// Returns the interpolation between the file's points.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The mean the file states, if it does, in its own unit.
    pub fn stated_mean(&self) -> Option<f64> {
        self.stated_mean
    }

    /// The points for an [`EmpiricalConfig`](crate::distributions::EmpiricalConfig): values times
    /// `unit`, which is 1 for a file in bytes (or seconds) and the payload of a full packet for a file
    /// in packets.
    pub fn points(&self, unit: f64) -> Vec<[f64; 2]> {
        let scaled = self.points.iter().map(|&[value, probability]| [value * unit, probability]);
        match self.interpolation {
            Interpolation::Linear => scaled.collect(),
            Interpolation::Step => steps(scaled),
        }
    }
}

/// The points, the stated mean, and the number of the last point's line.
type Content = (Vec<[f64; 2]>, Option<f64>, usize);

fn read_points(bytes: &[u8]) -> Result<Content, CdfFileError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let (mut points, mut mean, mut named, mut last_line) = (Vec::new(), None, false, 0);
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        let content = content.split('#').next().unwrap_or_default();
        let mut words = content.split([' ', '\t', ',', '\r']).filter(|word| !word.is_empty());
        let (first, second, third) = (words.next(), words.next(), words.next());
        let number = |word: Option<&str>| word.and_then(|word| word.parse::<f64>().ok());
        match (number(first), number(second), third) {
            _ if first.is_none() => {}
            (Some(value), Some(probability), None) => {
                points.push(point(line, value, probability, points.last())?);
                last_line = line;
            }
            (Some(value), None, None) if second.is_none() && points.is_empty() && mean.is_none() => {
                mean = Some(checked(line, "mean", value, 0.0, LARGEST_VALUE)?);
            }
            (None, None, _) if points.is_empty() && mean.is_none() && !named => named = true,
            _ => return Err(CdfFileError::NotAPoint { line, found: excerpt(content) }),
        }
    }
    Ok((points, mean, last_line))
}

fn point(
    line: usize,
    value: f64,
    probability: f64,
    before: Option<&[f64; 2]>,
) -> Result<[f64; 2], CdfFileError> {
    let [least_value, least_probability] = before.copied().unwrap_or_default();
    Ok([
        checked(line, "value", value, least_value, LARGEST_VALUE)?,
        checked(line, "probability", probability, least_probability, 100.0 * (1.0 + END_TOLERANCE))?,
    ])
}

/// The number, if it is in its range (NaN is in none).
fn checked(line: usize, what: &'static str, found: f64, min: f64, max: f64) -> Result<f64, CdfFileError> {
    if (min..=max).contains(&found) {
        return Ok(found);
    }
    let accepted = if found < min && min > 0.0 {
        format!("{min} or more: neither column falls")
    } else {
        format!("a number from 0 to {max:e}")
    };
    Err(CdfFileError::Number { line, what, found, accepted })
}

fn excerpt(line: &str) -> String {
    const LONGEST: usize = 60;
    let line = line.trim();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// How to read the points so that they have the mean that is stated.
fn reading_with_mean(stated: f64, points: &[[f64; 2]]) -> Result<Interpolation, CdfFileError> {
    let linear = cdf_mean(points);
    let step = cdf_mean(&steps(points.iter().copied()));
    let agrees = |mean: f64| (mean - stated).abs() <= MEAN_TOLERANCE * stated;
    match (agrees(linear), agrees(step)) {
        (true, _) => Ok(Interpolation::Linear),
        (false, true) => Ok(Interpolation::Step),
        (false, false) => Err(CdfFileError::Mean { stated, linear, step }),
    }
}

/// The same points as jumps: the function stays level up to each value and rises there.
fn steps(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut below = 0.0;
    points
        .flat_map(|[value, probability]| {
            let jump = [[value, below], [value, probability]];
            below = probability;
            jump
        })
        .collect()
}

#[cfg(test)]
mod tests;
