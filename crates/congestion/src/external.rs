//! Controls from outside: a Python class or a shared library, of which this crate knows only the contract.
//!
//! A scenario has the name of such a control, its parameters and its needs, but not what makes it: who runs the
//! scenario hands that over ([`ControlConfig::bind`]), so that a scenario file alone runs no code. Its answer is
//! checked at every call; the first window that is no window, or the first error, is the [`Fault`] that ends the run.

use crate::catalog::STEERABLE;
use crate::{AckEvent, CongestionControl, CongestionEvent, ControlConfig, Needs, Start, TransmissionStart};
use parshall_units::parameters::Reader;
use parshall_units::{ConfigError, Instant};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

/// The state of a control after a call.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// [`CongestionControl::window`]
    pub window: f64,
    /// [`CongestionControl::ssthresh`]
    pub ssthresh: f64,
    /// [`CongestionControl::pacing_rate`]
    pub pacing_rate: Option<f64>,
}

/// The result of a call: an answer, or what went wrong.
pub type Response = Result<Answer, String>;

/// A control that is made elsewhere: it has the hooks of a [`CongestionControl`], and each returns an answer.
#[allow(missing_docs, clippy::missing_errors_doc)] // as there; errors: what went wrong
pub trait External: Debug + Send {
    fn on_ack(&mut self, ack: &AckEvent) -> Response;
    fn on_congestion(&mut self, event: &CongestionEvent) -> Response;
    fn on_timeout(&mut self, event: &CongestionEvent) -> Response;
    fn on_idle_restart(&mut self, restart_window: f64) -> Response;
    fn on_recovered(&mut self) -> Response;
    fn on_undo(&mut self, window: f64, ssthresh: f64) -> Response;
    /// `None`: its slow start is one of its own.
    fn end_slow_start(&mut self) -> Option<Response>;
    /// Only called where [`Steering::slope`] is true.
    fn set_slope(&mut self, slope: f64) -> Response;
    /// Only called where [`Steering::ssthresh`] is true.
    fn set_ssthresh(&mut self, ssthresh: f64) -> Response;
    fn read_variables(&self, reader: &mut Reader<'_>);
}

/// The calls to which a control answers if [`MultipleTimeScale`](crate::MultipleTimeScale) steers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steering {
    /// [`CongestionControl::set_slope`]
    pub slope: bool,
    /// [`CongestionControl::set_ssthresh`]
    pub ssthresh: bool,
}

/// Makes the controls of one name.
pub trait Maker: Debug + Send + Sync {
    /// A control at the start of a connection, and its first answer; `parameters` are those of the scenario, as JSON.
    ///
    /// # Errors
    /// What went wrong.
    fn make(&self, parameters: &str, start: Start) -> Result<(Box<dyn External>, Answer), String>;

    /// The largest window, in packets, that its controls may answer. Who runs them knows how many packets in flight fit
    /// into memory.
    fn largest_window(&self) -> f64 {
        LARGEST_WINDOW
    }
}

/// Who makes the controls from outside, by the names that scenarios use.
pub type Makers = BTreeMap<String, Arc<dyn Maker>>;

/// A control from outside, as a resolved scenario has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalConfig {
    control: String,
    /// As JSON.
    parameters: String,
    /// A digest of what makes it, which tells runs apart.
    #[allow(dead_code)] // the schema is exact
    code: String,
    needs: Needs,
    standard_slow_start: bool,
    steering: Steering,
    #[serde(skip)]
    bound: Option<Bound>,
}

/// What makes the controls of a run, and what went wrong first in any of them.
#[derive(Clone, Debug)]
struct Bound {
    maker: Arc<dyn Maker>,
    fault: Arc<Mutex<Option<Fault>>>,
}

/// A control from outside did what no control may do.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The control's name.
    pub control: String,
    /// Number of its flow in the records.
    pub flow: u32,
    /// When, in simulated time.
    pub at: Instant,
    /// Its wrong action.
    pub what: String,
    /// True if a call failed; else its answer was one that no control may give.
    pub in_call: bool,
}

impl PartialEq for ExternalConfig {
    fn eq(&self, other: &Self) -> bool {
        (&self.control, &self.parameters) == (&other.control, &other.parameters)
    }
}

impl ControlConfig {
    /// Sets the makers of the controls from outside. Faults of a run before are forgotten.
    pub fn bind(&mut self, makers: &Makers) {
        if let Self::External(config) = self.innermost_mut() {
            let bound = |maker| Bound { maker: Arc::clone(maker), fault: Arc::default() };
            config.bound = makers.get(&config.control).map(bound);
        }
    }

    /// Refuses a control from outside that nobody makes.
    ///
    /// # Errors
    /// [`ConfigError`]: what is accepted.
    pub fn check_bound(&self) -> Result<(), ConfigError> {
        match self.innermost() {
            Self::External(config) if config.bound.is_none() => Err(config.unbound()),
            _ => Ok(()),
        }
    }

    /// The same, but faults of what it makes are not those of what this one makes.
    pub(crate) fn with_faults_of_its_own(&self) -> Self {
        let mut config = self.clone();
        if let Self::External(ExternalConfig { bound: Some(bound), .. }) = config.innermost_mut() {
            bound.fault = Arc::default();
        }
        config
    }

    /// Returns the calls to which its controls answer if another steers them.
    pub(crate) fn steering(&self) -> Steering {
        if let Self::External(config) = self {
            return config.steering;
        }
        let slope = STEERABLE.contains(&self.name());
        Steering { slope, ssthresh: slope && self.has_standard_slow_start() }
    }

    /// Returns the first fault of a control from outside, if there was one.
    pub fn fault(&self) -> Option<Fault> {
        let Self::External(ExternalConfig { bound: Some(bound), .. }) = self.innermost() else { return None };
        bound.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ExternalConfig {
    pub(crate) fn name(&self) -> &str {
        &self.control
    }

    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }

    pub(crate) fn has_standard_slow_start(&self) -> bool {
        self.standard_slow_start
    }

    fn unbound(&self) -> ConfigError {
        let accepted = "a control of the catalog, or say what makes this one: --control NAME=FILE:CLASS, \
                        or controls={...} in Python";
        ConfigError::new("name", &self.control, accepted)
    }
}

/// A control from outside, and its last answer.
#[derive(Debug)]
pub struct ExternalControl {
    name: String,
    flow: u32,
    /// Of the last event.
    now: Instant,
    needs: Needs,
    steering: Steering,
    largest_window: f64,
    fault: Arc<Mutex<Option<Fault>>>,
    /// `None` from its fault on.
    control: Option<Box<dyn External>>,
    answer: Answer,
}

impl ExternalControl {
    /// A control at the start of a connection. Without a maker, or if that fails, its window stays the initial one: see
    /// [`ControlConfig::fault`].
    pub fn new(config: &ExternalConfig, start: Start) -> Self {
        let mut made = Self {
            name: config.control.clone(),
            flow: start.flow,
            now: start.at,
            needs: config.needs,
            steering: config.steering,
            largest_window: config
                .bound
                .as_ref()
                .map_or(LARGEST_WINDOW, |bound| bound.maker.largest_window()),
            fault: config.bound.as_ref().map(|bound| Arc::clone(&bound.fault)).unwrap_or_default(),
            control: None,
            answer: Answer { window: start.window, ssthresh: start.ssthresh, pacing_rate: None },
        };
        if let Some(bound) = &config.bound {
            let response = bound.maker.make(&config.parameters, start).map(|(control, answer)| {
                made.control = Some(control);
                answer
            });
            made.take(response);
        }
        made
    }

    fn fail(&mut self, mut what: String, in_call: bool) {
        self.control = None;
        if let Some((end, _)) = what.char_indices().nth(LONGEST_TEXT) {
            what.truncate(end);
            what.push_str(" ... (cut)");
        }
        let fault = Fault { control: self.name.clone(), flow: self.flow, at: self.now, what, in_call };
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
    }

    /// Calls the control, and takes its answer.
    #[inline]
    fn call(&mut self, call: impl FnOnce(&mut dyn External) -> Response) {
        if let Some(control) = &mut self.control {
            let response = call(&mut **control);
            self.take(response);
        }
    }

    fn take(&mut self, response: Response) {
        match response {
            Err(error) => self.fail(error, true),
            Ok(answer) => match problem(&answer, self.largest_window) {
                Some(what) => self.fail(what, false),
                None => self.answer = Answer { window: answer.window.max(1.0), ..answer },
            },
        }
    }
}

/// Returns the fault of an answer; `None` of a good one.
fn problem(&Answer { window, ssthresh, pacing_rate }: &Answer, largest_window: f64) -> Option<String> {
    if !(0.0..=largest_window).contains(&window) {
        let fits = window > largest_window && largest_window < LARGEST_WINDOW;
        let why = if fits { ", as many as fit into the memory of its process" } else { "" };
        Some(format!(
            "its window (cwnd) is {window}; it must be a number of packets from 0 to {largest_window:e}{why}"
        ))
    } else if ssthresh.is_nan() || ssthresh < 0.0 {
        Some(format!("its ssthresh is {ssthresh}; it must be a number of packets, or infinite"))
    } else {
        let rate = pacing_rate.filter(|rate| !(rate.is_finite() && *rate >= SLOWEST_PACE))?;
        Some(format!(
            "its pacing_rate is {rate}; it must be a number of packets/s from {SLOWEST_PACE:e}, or None"
        ))
    }
}

/// Characters of the text of a fault.
const LONGEST_TEXT: usize = 1000;
/// Packets: more than any path holds, and few enough to be counted.
const LARGEST_WINDOW: f64 = 1e12;
/// Packets/s: one in eleven days, so that the time of the next packet can be counted.
const SLOWEST_PACE: f64 = 1e-6;

#[deny(clippy::missing_trait_methods)] // a new hook is offered to foreign code, or declined here
impl CongestionControl for ExternalControl {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn window(&self) -> f64 {
        self.answer.window
    }

    fn ssthresh(&self) -> f64 {
        self.answer.ssthresh
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.now = ack.now;
        self.call(|control| control.on_ack(ack));
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.now = event.now;
        self.call(|control| control.on_congestion(event));
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.now = event.now;
        self.call(|control| control.on_timeout(event));
    }

    fn on_idle_restart(&mut self, restart_window: f64) {
        self.call(|control| control.on_idle_restart(restart_window));
    }

    fn on_recovered(&mut self) {
        self.call(|control| control.on_recovered());
    }

    /// Not offered: foreign code cannot need arrival times.
    fn on_arrival(&mut self, _: Instant, _: Instant) {}

    /// Not offered: a pause that matters is an idle restart.
    fn on_transmission_start(&mut self, _: &TransmissionStart) {}

    /// Not offered: the window is a state of the foreign code.
    fn set_window(&mut self, _: f64) {}

    /// Not offered: foreign code is not replayed with a kernel's draws.
    fn set_phase(&mut self, _: usize) {}

    /// What it does not undo itself stays: [`Self::set_ssthresh`] is for another control that steers it.
    fn on_undo(&mut self, window: f64, ssthresh: f64) {
        self.call(|control| control.on_undo(window, ssthresh));
    }

    fn end_slow_start(&mut self) -> bool {
        let response = self.control.as_mut().and_then(|control| control.end_slow_start());
        let ended = response.is_some();
        if let Some(response) = response {
            self.take(response);
        }
        ended
    }

    fn set_slope(&mut self, slope: f64) {
        if self.steering.slope {
            self.call(|control| control.set_slope(slope));
        }
    }

    fn set_ssthresh(&mut self, ssthresh: f64) {
        if self.steering.ssthresh {
            self.call(|control| control.set_ssthresh(ssthresh));
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.answer.pacing_rate
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(control) = &self.control {
            control.read_variables(reader);
        }
    }
}

/// The name of an inner variable, for the rest of the process: a control has a few.
pub fn kept(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let kept: &'static str = name.leak();
    names.insert(kept);
    kept
}
