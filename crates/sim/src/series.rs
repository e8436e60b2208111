//! Series that fit a run whose end is not known before: recorded finely, and thinned whenever they grow long.
//!
//! A run that ends with its transfers may take a thousandth of the time it was given. Its series begin at the finest
//! width; whenever they are [`FULL`], neighbours become one and the width grows, by 2 and by 5 in turn. A series that is longer
//! than [`LONGEST`] at the end is halved once more. So 400 to [`LONGEST`] values are written (fewer of a run that is
//! shorter than 400 of the finest widths), of a width that is 1, 2 or 4 times a power of ten. Memory and work are
//! bounded: at most [`FULL`] values are kept, and 2600 are recorded for each factor of ten in time.

use parshall_units::{Duration, Instant};

/// Values at which a series is thinned.
pub(crate) const FULL: usize = 2 * LONGEST;

/// The most values that are written.
pub(crate) const LONGEST: usize = 1000;

/// The factors by which the values of a series get wider when it is full, and when it ends.
///
/// Widths are the finest width, a power of ten, times 1, 2, 10, 20, 100, ... while it is recorded; the last step, by 2,
/// may make 4 of 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widths {
    width: Duration,
    /// True if the next step is by five, not by two.
    by_five: bool,
}

impl Widths {
    /// From the finest on.
    pub(crate) fn new(finest: Duration) -> Self {
        Self { width: finest, by_five: false }
    }

    /// The width now.
    pub(crate) fn width(self) -> Duration {
        self.width
    }

    /// The series is full: so many neighbours become one.
    pub(crate) fn widen(&mut self) -> usize {
        let factor = if self.by_five { 5 } else { 2 };
        self.by_five = !self.by_five;
        self.width = self.width.times(factor as u64);
        factor
    }
}

/// Time between samples, or the width of bins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) width: Duration,
    /// True if that is only the finest, and grows with the run.
    pub(crate) fitted: bool,
}

impl Interval {
    /// For a run whose length is known: no more than a thousand samples where it is to fit the run.
    pub(crate) fn of_run(self, duration: Duration) -> Duration {
        if self.fitted {
            self.width.max(duration.over(1000))
        } else {
            self.width
        }
    }
}

/// Samples at a fixed interval, each written at once; or at one that fits the run, kept until it is known.
#[derive(Debug)]
pub(crate) struct Sampled<T> {
    pub(crate) interval: Duration,
    /// When the next one is due.
    pub(crate) next: Instant,
    kept: Option<(Widths, Vec<T>)>,
}

impl<T> Sampled<T> {
    pub(crate) fn new(Interval { width, fitted }: Interval) -> Self {
        let kept = fitted.then(|| (Widths::new(width), Vec::new()));
        Self { interval: width, next: Instant::ZERO, kept }
    }

    /// Takes the sample that was due; gives it back if it is to be written at once.
    pub(crate) fn take(&mut self, sample: T) -> Option<T> {
        self.next += self.interval;
        let Some((widths, samples)) = &mut self.kept else { return Some(sample) };
        samples.push(sample);
        if samples.len() == FULL {
            let factor = widths.widen();
            keep_every(samples, factor);
            self.interval = widths.width();
        }
        None
    }

    /// The series ended: what was kept is to be written, of those samples that `belong` to it.
    pub(crate) fn end(&mut self, belong: impl FnMut(&T) -> bool) -> impl Iterator<Item = T> {
        let mut samples = self.kept.take().map_or_else(Vec::new, |(_, samples)| samples);
        samples.retain(belong);
        let factor = last_factor(samples.len());
        samples.into_iter().step_by(factor)
    }
}

/// Returns the number of neighbours that become one when a series of `length` has ended.
pub(crate) fn last_factor(length: usize) -> usize {
    if length > LONGEST {
        2
    } else {
        1
    }
}

/// Keeps the first of every `factor` values, which stand at multiples of a time.
pub(crate) fn keep_every<T>(values: &mut Vec<T>, factor: usize) {
    let mut index = 0;
    values.retain(|_| {
        index += 1;
        (index - 1) % factor == 0
    });
}

/// Joins every `factor` neighbours.
pub(crate) fn join_neighbours<T>(values: &mut Vec<T>, factor: usize, join: impl Fn(&mut T, &T)) {
    for chunk in values.chunks_mut(factor) {
        if let [first, rest @ ..] = chunk {
            for next in rest {
                join(first, next);
            }
        }
    }
    keep_every(values, factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records `length` ones at the finest width; the values in the end, and their width.
    fn recorded(length: u64) -> (Vec<u64>, u64) {
        let (mut values, mut widths) = (Vec::new(), Widths::new(Duration::from_ps(1)));
        let mut time = 0;
        while time < length {
            let width = widths.width().as_ps().min(length - time);
            time += width;
            values.push(width);
            if values.len() == FULL {
                let factor = widths.widen();
                join_neighbours(&mut values, factor, |sum, next| *sum += next);
            }
        }
        let factor = last_factor(values.len());
        join_neighbours(&mut values, factor, |sum, next| *sum += next);
        (values, widths.width().as_ps() * factor as u64)
    }

    proptest! {
        #[test]
        fn sums_are_conserved_and_widths_are_round(length in prop_oneof![1u64..10_000, 1u64..20_000_000]) {
            let (values, width) = recorded(length);
            prop_assert_eq!(values.iter().sum::<u64>(), length);
            prop_assert!(values.len() <= LONGEST, "{}", values.len());
            prop_assert!(values.len() >= 400 || width == 1, "{} of {width}", values.len());
            let (last, whole) = values.split_last().unwrap();
            prop_assert!(whole.iter().all(|value| *value == width) && *last <= width);
            let mantissa = width / 10_u64.pow(width.ilog10());
            prop_assert!([1, 2, 4].contains(&mantissa) && width % 10_u64.pow(width.ilog10()) == 0, "{width}");
        }

        #[test]
        fn what_is_kept_stands_at_multiples(length in 0usize..100, factor in prop::sample::select(vec![1, 2, 5])) {
            let mut values: Vec<usize> = (0..length).collect();
            keep_every(&mut values, factor);
            prop_assert_eq!(values, (0..length).step_by(factor).collect::<Vec<_>>());
        }
    }
}
