//! The findings: of each check the first violation, and the properties that hold at any event.

use super::{Check, Happening, Which, CHECKS};
use crate::{CongestionControl, Control, ControlConfig};
use serde::Serialize;
use std::fmt::Display;

/// Where a check was violated first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Number of the series of random events, from 0; `None`: a scripted course.
    pub series: Option<u32>,
    /// Number of the event in its series, from 0.
    pub event: usize,
    /// The event.
    pub happened: String,
    /// The control's reaction to it.
    pub found: String,
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It held.
    Passed,
    /// It did not.
    Violated(Violation),
    /// The control failed before that could be seen.
    NotReached,
    /// It does not concern a control of this kind.
    NotAsked,
}

/// A check, and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Which.
    #[serde(flatten)]
    pub check: &'static Check,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Checked {
    /// True if the control fails by it.
    pub fn fails(&self) -> bool {
        self.check.required && matches!(self.outcome, Outcome::Violated(_) | Outcome::NotReached)
    }
}

/// The first violation of each check.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    first: [Option<Outcome>; CHECKS.len()],
    /// True if a check had something to look at.
    seen: [bool; CHECKS.len()],
    /// Of the series that is being tried.
    pub(super) series: Option<u32>,
}

impl Findings {
    /// Returns the outcomes of all checks; one that had nothing to look at was not reached.
    pub fn answers(self) -> Vec<Checked> {
        let unharmed = |seen| if seen { Outcome::Passed } else { Outcome::NotReached };
        let outcomes =
            self.first.into_iter().zip(self.seen).map(|(found, seen)| found.unwrap_or(unharmed(seen)));
        CHECKS.iter().zip(outcomes).map(|(check, outcome)| Checked { check, outcome }).collect()
    }

    pub(super) fn add(
        &mut self,
        which: Which,
        event: usize,
        happened: &dyn Display,
        found: impl FnOnce() -> String,
    ) {
        let series = self.series;
        let place = &mut self.first[which as usize];
        if !matches!(place, Some(Outcome::Violated(_))) {
            let (happened, found) = (happened.to_string(), found());
            *place = Some(Outcome::Violated(Violation { series, event, happened, found }));
        }
    }

    pub(super) fn saw(&mut self, which: Which) {
        self.seen[which as usize] = true;
    }

    pub(super) fn set(&mut self, which: Which, outcome: Outcome) {
        self.first[which as usize].get_or_insert(outcome);
    }

    /// A control from outside failed: whether it did, and there is nothing more to see.
    pub(super) fn failed(&mut self, config: &ControlConfig, event: usize, happened: &dyn Display) -> bool {
        let Some(fault) = config.fault() else { return false };
        let which = if fault.in_call { Which::calls } else { Which::values };
        self.add(which, event, happened, || fault.what);
        true
    }

    /// Checks what holds after every event; returns whether the control can get more.
    pub(super) fn at_any_event(
        &mut self,
        config: &ControlConfig,
        control: &Control,
        before: f64,
        event: Happening,
        number: usize,
    ) -> bool {
        if self.failed(config, number, &event) {
            return false;
        }
        self.saw(Which::calls);
        self.saw(Which::values);
        match event {
            Happening::Congestion { .. } => self.saw(Which::congestion),
            Happening::Timeout { .. } => self.saw(Which::timeout),
            _ => {}
        }
        let (window, ssthresh) = (control.window(), control.ssthresh());
        let rate = control.pacing_rate().unwrap_or(1.0);
        let mut expect = |held: bool, which, found: &dyn Fn() -> String| {
            if !held {
                self.add(which, number, &event, found);
            }
        };
        expect(window.is_finite() && window >= 1.0, Which::values, &|| {
            format!("the window is {window} packets")
        });
        expect(ssthresh >= 2.0, Which::values, &|| format!("ssthresh is {ssthresh} packets"));
        expect(rate.is_finite() && rate > 0.0, Which::values, &|| {
            format!("the pacing rate is {rate} packets/s")
        });
        match event {
            Happening::Congestion { .. } => {
                let grown = || format!("the window grew from {before} to {window} packets");
                expect(window <= before.max(2.0), Which::congestion, &grown);
            }
            Happening::Timeout { .. } => {
                expect(window == 1.0, Which::timeout, &|| format!("the window is {window} packets"));
            }
            _ => {}
        }
        true
    }
}
