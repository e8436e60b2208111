//! Explicit prediction: E[L_2 given L_1] from counts of consecutive levels (§3.3).
//!
//! The source's table CondProb has h rows of h + 1 columns, the last one being the row's total; an update touches two
//! of its cells. A level that was never followed by another predicts itself, which the source's §5.5 names as what the
//! estimator degenerates to.

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    levels: usize,
    counts: Box<[f64]>,
}

impl Predictor {
    /// A table of `prior` counts, h rows of h; empty: of nothing.
    pub(super) fn new(levels: usize, prior: &[f64]) -> Self {
        let mut counts = vec![0.0; levels * (levels + 1)].into_boxed_slice();
        for (row, known) in counts.chunks_exact_mut(levels + 1).zip(prior.chunks_exact(levels)) {
            row[..levels].copy_from_slice(known);
            row[levels] = known.iter().sum();
        }
        Self { levels, counts }
    }

    /// Level `before` was followed by `after`.
    pub(super) fn observe(&mut self, before: usize, after: usize) {
        let row = self.row(before);
        self.counts[row + after - 1] += 1.0;
        self.counts[row + self.levels] += 1.0;
    }

    /// The mean level that follows `level`.
    pub(super) fn expected(&self, level: usize) -> f64 {
        let row = &self.counts[self.row(level)..][..=self.levels];
        let total = row[self.levels];
        if total == 0.0 {
            return level as f64;
        }
        let sum: f64 = row[..self.levels].iter().enumerate().map(|(i, count)| (i + 1) as f64 * count).sum();
        (sum / total).clamp(1.0, self.levels as f64) // rounding
    }

    fn row(&self, level: usize) -> usize {
        (level - 1) * (self.levels + 1)
    }
}
