//! The module itself: throughput of an interval in, contention of the next one and its slope out (§3.2).

use super::knowledge::Knowledge;
use super::metacontrol::Metacontrol;
use super::predictor::Predictor;
use super::quantiser::Quantiser;
use super::schedule::Schedule;
use super::MultipleTimeScaleConfig;
use parshall_units::Instant;

/// Prediction, schedule and metacontrol of one connection.
#[derive(Clone, Debug)]
pub(super) struct LargeTimeScale {
    table: Table,
    schedule: Schedule,
    metacontrol: Option<Metacontrol>,
    /// Intervals that are only observed.
    learning: u64,
    /// L_1: the level of the interval that ended last.
    level: Option<usize>,
    /// E[L_2 given L_1].
    predicted: Option<f64>,
}

/// Levels and counts.
#[derive(Clone, Debug)]
enum Table {
    Own(Quantiser, Predictor),
    /// Those of all connections to the destination.
    Shared(Knowledge),
}

impl LargeTimeScale {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        Self {
            table: Table::Own(Quantiser::new(config), Predictor::new(config.levels as usize, &config.prior)),
            schedule: Schedule::new(config),
            metacontrol: config.metacontrol.then(|| Metacontrol::new(config)),
            learning: config.learning.as_ps().div_ceil(config.interval.as_ps()),
            level: None,
            predicted: None,
        }
    }

    /// From now on levels and counts are those of all connections to the destination.
    pub(super) fn share(&mut self, knowledge: Knowledge) {
        self.table = Table::Shared(knowledge);
    }

    /// L_1, if there was an interval.
    pub(super) fn level(&self) -> Option<usize> {
        self.level
    }

    /// E[L_2 given L_1], if there was one.
    pub(super) fn predicted(&self) -> Option<f64> {
        self.predicted
    }

    /// The next interval does not continue the last one.
    pub(super) fn forget(&mut self) {
        self.level = None;
        self.predicted = None;
        if let Some(metacontrol) = &mut self.metacontrol {
            metacontrol.forget();
        }
    }

    /// An interval that ends at `now` brought this many packets; the level that is predicted for the next one, if there
    /// is to be steered.
    pub(super) fn on_interval(&mut self, now: Instant, delivered: f64) -> Option<f64> {
        let (level, predicted) = match &mut self.table {
            Table::Own(quantiser, predictor) => {
                let level = quantiser.level(delivered);
                if let Some(before) = self.level {
                    predictor.observe(before, level);
                }
                (level, predictor.expected(level))
            }
            Table::Shared(knowledge) => knowledge.on_interval(now, delivered, self.level),
        };
        self.level = Some(level);
        self.predicted = Some(predicted);
        if self.learning > 0 {
            self.learning -= 1;
            return None;
        }
        if let Some(metacontrol) = &mut self.metacontrol {
            metacontrol.on_interval(delivered, level, predicted, &mut self.schedule);
        }
        Some(predicted)
    }

    /// epsilon at a predicted level.
    pub(super) fn slope(&self, level: f64) -> f64 {
        self.schedule.slope(level)
    }

    /// A: the largest slope now.
    pub(super) fn largest_slope(&self) -> f64 {
        self.schedule.slope(1.0)
    }
}
