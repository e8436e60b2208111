//! Samples of a marker, whose time is that at which packets enter the network: ahead of the flow's samples, or behind them.

use super::write_internals;
use crate::recorder::Recorder;
use crate::series::{Interval, Sampled};
use parshall_net::markers::Marker;
use parshall_units::Instant;
use std::sync::Arc;

/// Samples the marker of one flow.
#[derive(Debug)]
pub(crate) struct MarkerProbe {
    group: Arc<str>,
    flow: u32,
    series: Sampled<Sample>,
    /// Samples that can be written.
    due: Vec<Sample>,
}

#[derive(Debug)]
struct Sample {
    at: Instant,
    variables: Vec<(&'static str, f64)>,
}

impl MarkerProbe {
    pub(crate) fn new(interval: Interval, group: Arc<str>, flow: u32) -> Self {
        Self { group, flow, series: Sampled::new(interval), due: Vec::new() }
    }

    /// Takes the samples due before `until`, when the next packet passes the marker.
    pub(crate) fn sample_until(&mut self, until: Instant, marker: &Marker) {
        while self.series.next < until {
            let at = self.series.next;
            let mut variables = Vec::new();
            marker.read_variables(at, &mut |name, value| variables.push((name, value)));
            self.due.extend(self.series.take(Sample { at, variables }));
        }
    }

    /// Writes what can be written. (A packet may enter when the simulation is over.)
    pub(crate) fn write(&mut self, recorder: &mut Recorder, end: Instant) {
        for Sample { at, variables } in self.due.drain(..).filter(|sample| sample.at < end) {
            write_internals(recorder, &self.group, Some(self.flow), at.as_secs_f64(), &variables);
        }
    }

    /// The simulation ended: writes what was kept.
    pub(crate) fn end(&mut self, recorder: &mut Recorder, end: Instant, marker: &Marker) {
        self.sample_until(end, marker);
        self.due.extend(self.series.end(|sample| sample.at < end));
        self.write(recorder, end);
    }
}
