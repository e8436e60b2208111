//! The conformance kit: what every congestion control must keep, whatever happens to it.
//!
//! [`check`] applies to a control random [`events`](random_events) and of a few scripted courses (`courses.rs`), and
//! finds for each of [`CHECKS`] whether it held, or where it was violated first. All follows from the seed. Controls of
//! the catalog are held to it by `tests/conformance.rs`, those from outside by who asks: `parshall check-control`.

mod courses;
mod events;
mod findings;

use crate::{CongestionControl, Control, ControlConfig, Start};
use courses::COURSES;
use events::Draws;
pub use events::{random_events, Flight, Happening, Path};
pub use findings::{Checked, Findings, Outcome, Violation};
use serde::Serialize;

/// Something that a control must keep.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// A short name.
    pub name: &'static str,
    /// The rule that must hold.
    pub sentence: &'static str,
    /// Who asks for it.
    pub source: &'static str,
    /// True if a control that violates it fails; otherwise it is advice.
    pub required: bool,
}

macro_rules! checks {
    ($($name:ident $required:literal $sentence:literal $source:literal;)*) => {
        /// Which check: its place in [`CHECKS`].
        #[allow(non_camel_case_types)] // the names are those that users read
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Which {
            $(#[doc = $sentence] $name,)*
        }

        /// All checks.
        pub const CHECKS: &[Check] = &[
            $(Check { name: stringify!($name), sentence: $sentence, source: $source, required: $required },)*
        ];
    };
}

checks! {
    calls true "every call succeeds, in any order of events" "docs/own_control.md";
    values true "the window is a number of packets, ssthresh 2 packets or more, and a pacing rate above 0"
        "RFC 5681 §3.1";
    congestion true "the window does not grow at a congestion event" "RFC 5681 §3.2, RFC 3168 §6.1.2";
    timeout true "a timeout leaves a window of one packet" "RFC 5681 §3.1";
    deterministic true "two controls that are told the same do the same" "docs/simulator.md";
    unused true "a window that is not used does not grow" "RFC 7661 §4.3";
    answers_losses true "a loss in each of 20 round trips halves the window at least" "RFC 9743 §5.1.1";
    recovers true "after a timeout, 100 round trips without loss give a window above 10 packets" "RFC 5681 §3.1";
    slope true "twice the slope adds more to the window in 20 round trips of congestion avoidance" "docs/multiple_time_scale.md";
    ssthresh true "a larger ssthresh, set after a timeout, lets slow start go further" "docs/multiple_time_scale.md";
    undo true "undoing a reduction leaves a window between the reduced one and the one before" "docs/own_control.md";
    idle_restart false "after a pause the window is the restart window at most, and ssthresh what it was"
        "RFC 5681 §4.1";
}

/// The number of trials.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The seed of all random events.
    pub seed: u64,
    /// Random series of events.
    pub series: u32,
    /// Events of each.
    pub events: u32,
    /// The range of packets in flight at an event.
    pub flight: Flight,
}

/// Tries a control; returns the outcome of each of [`CHECKS`], in that order.
pub fn check(config: &ControlConfig, extent: Extent) -> Vec<Checked> {
    let mut found = Findings::default();
    let mut draws = Draws::new(extent.seed);
    for series in 0..extent.series {
        let (seed, window) = (draws.any(), 1.0 + draws.share() * 99.0);
        let random = draws.any();
        let start = Start { window, random, ..Start::NEW };
        found.series = Some(series);
        under_events(config, start, &random_events(seed, extent.events), extent.flight, &mut found);
    }
    found.series = None;
    for course in COURSES {
        course(config, &mut found);
    }
    found.answers()
}

/// Tells a control these events, and finds what it violates of what holds at every event.
pub fn under_events(
    config: &ControlConfig,
    start: Start,
    events: &[Happening],
    flight: Flight,
    found: &mut Findings,
) {
    let mut one = Watched::new(config, start, flight);
    let mut two = Watched::new(config, start, flight);
    if found.failed(&one.config, 0, &STARTING) {
        return;
    }
    for (number, &event) in events.iter().enumerate() {
        let (held, same) = (one.apply(event, number, found), two.apply(event, number, found));
        if !(held && same) {
            return;
        }
        found.saw(Which::deterministic);
        let (window, other) = (one.window(), two.window());
        if window.to_bits() != other.to_bits() {
            found.add(Which::deterministic, number, &event, || {
                format!("windows of {window} and {other} packets")
            });
            return;
        }
    }
}

const STARTING: &str = "the start of a connection";

/// A control, the path that it believes to be on, and what made it.
struct Watched {
    config: ControlConfig,
    control: Control,
    path: Path,
}

impl Watched {
    fn new(config: &ControlConfig, start: Start, flight: Flight) -> Self {
        let config = config.with_faults_of_its_own();
        let control = config.build(start);
        let path = Path::new(config.needs(), flight);
        Self { config, control, path }
    }

    fn window(&self) -> f64 {
        self.control.window()
    }

    /// Applies an event, and checks what holds at every event; returns whether the control can get more.
    fn apply(&mut self, event: Happening, number: usize, found: &mut Findings) -> bool {
        let before = self.window();
        self.path.apply(&mut self.control, event);
        found.at_any_event(&self.config, &self.control, before, event, number)
    }
}
