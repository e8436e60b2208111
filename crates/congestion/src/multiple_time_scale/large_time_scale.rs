//! The module itself: throughput of an interval in, contention of the next one and its slope out (§3.2).

use super::metacontrol::Metacontrol;
use super::predictor::Predictor;
use super::quantiser::Quantiser;
use super::schedule::Schedule;
use super::MultipleTimeScaleConfig;

/// Prediction, schedule and metacontrol of one connection.
#[derive(Clone, Debug)]
pub(super) struct LargeTimeScale {
    quantiser: Quantiser,
    predictor: Predictor,
    schedule: Schedule,
    metacontrol: Option<Metacontrol>,
    /// Intervals that are only observed.
    learning: u64,
    /// L_1: the level of the interval that ended last.
    level: Option<usize>,
    /// E[L_2 given L_1].
    predicted: Option<f64>,
}

impl LargeTimeScale {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        Self {
            quantiser: Quantiser::new(config),
            predictor: Predictor::new(config.levels as usize, &config.prior),
            schedule: Schedule::new(config),
            metacontrol: config.metacontrol.then(|| Metacontrol::new(config)),
            learning: config.learning.div_ceil(config.interval),
            level: None,
            predicted: None,
        }
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

    /// An interval brought this many packets; the level that is predicted for the next one, if there is to be steered.
    pub(super) fn on_interval(&mut self, delivered: f64) -> Option<f64> {
        let level = self.quantiser.level(delivered);
        if let Some(before) = self.level {
            self.predictor.observe(before, level);
        }
        self.level = Some(level);
        let predicted = self.predictor.expected(level);
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
