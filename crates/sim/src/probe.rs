//! The samples that are taken while a simulation runs. Entities without a probe pay one test for a null
//! pointer.
//!
//! What is sampled of a flow is its kind's business (`endpoints/*/probe.rs`); how samples are kept and written is here.

mod link;
mod marker;
#[cfg(test)]
mod tests;

pub(crate) use link::LinkProbe;
pub(crate) use marker::MarkerProbe;

use crate::recorder::Recorder;
use crate::series::{Interval, Sampled};
use parshall_congestion::{CongestionControl, Control};
use parshall_records::{FlowSampleRow, InternalRow};
use parshall_units::{Duration, Instant};
use std::sync::Arc;

/// The samples of a flow, and where they go.
#[derive(Debug)]
pub(crate) struct Samples {
    series: Sampled<FlowSample>,
    /// The flow's group, if the inner variables of its control are recorded too.
    internals: Option<Arc<str>>,
}

/// A sample, and the inner variables of the control then.
#[derive(Debug)]
struct FlowSample {
    row: FlowSampleRow,
    variables: Vec<(&'static str, f64)>,
}

impl Samples {
    pub(crate) fn new(interval: Interval, internals: Option<Arc<str>>) -> Self {
        Self { series: Sampled::new(interval), internals }
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Instant {
        self.series.next
    }

    /// The time between them, as it is now.
    pub(crate) fn interval(&self) -> Duration {
        self.series.interval
    }

    /// Takes the sample that was due.
    pub(crate) fn take(&mut self, recorder: &mut Recorder, row: FlowSampleRow, control: &Control) {
        let variables = self.internals.as_ref().map_or_else(Vec::new, |_| variables_of(control));
        if let Some(sample) = self.series.take(FlowSample { row, variables }) {
            sample.write(recorder, self.internals.as_ref());
        }
    }

    /// Writes what was kept.
    pub(crate) fn end(&mut self, recorder: &mut Recorder) {
        for sample in self.series.end(|_| true) {
            sample.write(recorder, self.internals.as_ref());
        }
    }
}

impl FlowSample {
    fn write(self, recorder: &mut Recorder, group: Option<&Arc<str>>) {
        let Self { row, variables } = self;
        let (flow, time_s) = (row.flow, row.time_s);
        recorder.record(|tables| tables.flow_samples.push(row));
        if let Some(group) = group {
            write_internals(recorder, group, Some(flow), time_s, &variables);
        }
    }
}

fn variables_of(control: &Control) -> Vec<(&'static str, f64)> {
    let mut variables = Vec::new();
    control.read_variables(&mut |name, value| variables.push((name, value)));
    variables
}

fn write_internals(
    recorder: &mut Recorder,
    owner: &Arc<str>,
    flow: Option<u32>,
    time_s: f64,
    variables: &[(&'static str, f64)],
) {
    for &(variable, value) in variables.iter().filter(|(_, value)| value.is_finite()) {
        let row = InternalRow { owner: owner.clone(), flow, time_s, variable: variable.into(), value };
        recorder.record(|tables| tables.internals.push(row));
    }
}

/// A of the large time scale, if the control has one.
pub(crate) fn largest_slope(control: &Control) -> Option<f64> {
    let mut found = None;
    control.read_variables(&mut |name, value| {
        if name == "largest_slope" {
            found = Some(value);
        }
    });
    found
}
