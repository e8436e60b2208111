//! Congestion controls from outside: Python classes, and shared libraries that Python names.
//!
//! Each event calls a method of the class's object, and then reads what the object says: `cwnd`, and `ssthresh` and `pacing_rate`
//! if it has them. The simulation runs without the GIL, which is taken for each call.
//! `python/parshall/scenario/controls.py` says what such a class looks like.

use crate::foreign::PyPage;
use crate::inputs::{read, refused};
use parshall_congestion::conformance::{check, Extent, Flight};
use parshall_congestion::external::{kept, Answer, External, Maker, Makers, Response};
use parshall_congestion::{AckEvent, CongestionEvent, ControlConfig, Phase, Signal, Start};
use parshall_foreign::Library;
use parshall_units::parameters::Reader;
use parshall_units::Duration;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The beginning of a connection.
#[pyclass(name = "Start", frozen, get_all, module = "parshall.scenario.controls")]
pub struct PyStart {
    cwnd: f64,
    ssthresh: f64,
    flow: u32,
    now_s: f64,
    random: u64,
}

/// An ACK arrived. Times are in seconds, windows in packets, rates in packets/s; what is not known is None.
#[pyclass(name = "Ack", frozen, get_all, module = "parshall.scenario.controls")]
pub struct PyAck {
    now_s: f64,
    phase: &'static str,
    acked: u64,
    credit: f64,
    rtt_s: Option<f64>,
    one_way_delay_s: Option<f64>,
    srtt_s: Option<f64>,
    min_rtt_s: Option<f64>,
    in_flight: u64,
    may_grow: bool,
    round_ended: bool,
    ecn_echo: bool,
    /// Of the rate sample.
    delivered: Option<u64>,
    prior_delivered: Option<u64>,
    delivery_rate: Option<f64>,
    newly_delivered: Option<u64>,
    newly_lost: Option<u64>,
    app_limited: Option<bool>,
}

/// The network is congested.
#[pyclass(name = "Congestion", frozen, get_all, module = "parshall.scenario.controls")]
pub struct PyCongestion {
    now_s: f64,
    signal: &'static str,
    in_flight: u64,
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

impl From<&AckEvent> for PyAck {
    fn from(ack: &AckEvent) -> Self {
        let sample = ack.sample.as_ref();
        Self {
            now_s: ack.now.as_secs_f64(),
            phase: match ack.phase {
                Phase::Open => "open",
                Phase::Recovery => "recovery",
                Phase::Loss => "loss",
            },
            acked: ack.acked,
            credit: ack.credit,
            rtt_s: ack.rtt.map(seconds),
            one_way_delay_s: ack.one_way_delay.map(seconds),
            srtt_s: (ack.srtt > Duration::ZERO).then(|| seconds(ack.srtt)),
            min_rtt_s: (ack.min_rtt < Duration::MAX).then(|| seconds(ack.min_rtt)),
            in_flight: ack.in_flight,
            may_grow: ack.may_grow,
            round_ended: ack.round_ended,
            ecn_echo: ack.ecn_echo,
            delivered: sample.map(|sample| sample.delivered),
            prior_delivered: sample.map(|sample| sample.prior_delivered),
            delivery_rate: sample.and_then(|sample| sample.rate),
            newly_delivered: sample.map(|sample| sample.newly_delivered),
            newly_lost: sample.map(|sample| sample.newly_lost),
            app_limited: sample.map(|sample| sample.app_limited),
        }
    }
}

impl From<&CongestionEvent> for PyCongestion {
    fn from(event: &CongestionEvent) -> Self {
        let signal = if event.signal == Signal::Loss { "loss" } else { "ecn" };
        Self { now_s: event.now.as_secs_f64(), signal, in_flight: event.in_flight }
    }
}

/// Returns the makers of the controls that Python names.
pub(crate) fn makers(controls: Option<&Bound<'_, PyDict>>) -> PyResult<Makers> {
    let mut makers = Makers::new();
    for (name, made_by) in controls.into_iter().flatten() {
        let maker: Arc<dyn Maker> = match made_by.cast::<PyControlLibrary>() {
            Ok(library) => Arc::new(library.get().0.clone()),
            Err(_) => Arc::new(PyMaker { class: made_by.unbind() }),
        };
        makers.insert(name.extract()?, maker);
    }
    Ok(makers)
}

/// The same makers, whose controls note in the page when they are called, if there is one.
pub(crate) fn watched(makers: &Makers, page: Option<&PyPage>, group: Option<u32>) -> Makers {
    page.map_or_else(|| makers.clone(), |page| page.watched(makers, group))
}

/// Returns the rules of the conformance kit that a resolved congestion control keeps, as JSON: so many random series of events, so many
/// events each. `controls` and `page` as in [`simulate`](crate::simulation::simulate).
#[pyfunction]
#[pyo3(signature = (config, seed, series, events, controls = None, page = None))]
#[allow(clippy::too_many_arguments)] // named ones, in Python
pub fn check_conformance(
    py: Python<'_>,
    config: &str,
    seed: u64,
    series: u32,
    events: u32,
    controls: Option<&Bound<'_, PyDict>>,
    page: Option<&PyPage>,
) -> PyResult<String> {
    let mut config: ControlConfig = read(config)?;
    config.bind(&watched(&makers(controls)?, page, None));
    config.check_bound().map_err(|error| refused(&error))?;
    let extent = Extent { seed, series, events, flight: Flight::Sent };
    let checked = py.detach(|| check(&config, extent));
    serde_json::to_string(&checked).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// A shared library with a control.
#[pyclass(name = "ControlLibrary", frozen)]
pub struct PyControlLibrary(Library);

#[pymethods]
impl PyControlLibrary {
    /// A `ValueError` says why the library cannot be used.
    #[new]
    #[allow(clippy::needless_pass_by_value)] // what Python hands over
    fn new(path: PathBuf) -> PyResult<Self> {
        Library::load(&path).map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What its control needs of the endpoint.
    #[getter]
    fn needs(&self) -> Vec<&'static str> {
        let needs = self.0.needs();
        let named = [
            ("rate_samples", needs.rate_samples),
            ("pacing", needs.pacing),
            ("recovery_window", needs.recovery_window),
            ("timestamps", needs.timestamps),
            ("one_way_delay", needs.one_way_delay),
            ("accurate_ecn", needs.accurate_ecn),
            ("growth_in_cwr", needs.growth_in_cwr),
            ("l4s", needs.l4s),
        ];
        named.into_iter().filter_map(|(name, needed)| needed.then_some(name)).collect()
    }

    /// True if its slow start is the standard one, which another can replace.
    #[getter]
    fn standard_slow_start(&self) -> bool {
        self.0.has_standard_slow_start()
    }

    /// What it can be steered by.
    #[getter]
    fn steering(&self) -> Vec<&'static str> {
        let steering = self.0.steering();
        let named = [("slope", steering.slope), ("ssthresh", steering.ssthresh)];
        named.into_iter().filter_map(|(name, steered)| steered.then_some(name)).collect()
    }
}

/// A class whose objects are controls.
#[derive(Debug)]
struct PyMaker {
    class: Py<PyAny>,
}

impl Maker for PyMaker {
    fn make(&self, parameters: &str, start: Start) -> Result<(Box<dyn External>, Answer), String> {
        Python::attach(|py| {
            PyControl::new(py, self.class.bind(py), parameters, start)
                .and_then(|control| {
                    control.says(py).map(|says| (Box::new(control) as Box<dyn External>, says))
                })
                .map_err(|error| described(py, &error))
        })
    }
}

/// An object that is a control.
#[derive(Debug)]
struct PyControl {
    object: Py<PyAny>,
    on_ack: Py<PyAny>,
}

impl PyControl {
    fn new(py: Python<'_>, class: &Bound<'_, PyAny>, parameters: &str, start: Start) -> PyResult<Self> {
        let begins = PyStart {
            cwnd: start.window,
            ssthresh: start.ssthresh,
            flow: start.flow,
            now_s: start.at.as_secs_f64(),
            random: start.random,
        };
        let loads = py.import(intern!(py, "json"))?.getattr(intern!(py, "loads"))?;
        let parameters = loads.call1((parameters,))?.cast_into::<PyDict>()?;
        let object = class.call((begins,), Some(&parameters))?;
        Ok(Self { on_ack: object.getattr(intern!(py, "on_ack"))?.unbind(), object: object.unbind() })
    }

    fn says(&self, py: Python<'_>) -> PyResult<Answer> {
        let object = self.object.bind(py);
        let window = number(object, intern!(py, "cwnd"))?
            .ok_or_else(|| PyValueError::new_err("cwnd is None; it must be a number"))?;
        let ssthresh = optional(object, intern!(py, "ssthresh"))?.unwrap_or(f64::INFINITY);
        Ok(Answer { window, ssthresh, pacing_rate: optional(object, intern!(py, "pacing_rate"))? })
    }

    /// Calls a method, and reads what the object says then.
    fn call(&self, call: impl FnOnce(Python<'_>) -> PyResult<()>) -> Response {
        Python::attach(|py| call(py).and_then(|()| self.says(py)).map_err(|error| described(py, &error)))
    }

    /// Calls the first of these methods that the object has.
    fn call_first<A>(&self, methods: &[&str], argument: A) -> Response
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        self.call(|py| {
            for method in methods {
                if let Some(method) = self.object.bind(py).getattr_opt(*method)? {
                    return method.call1(argument).map(drop);
                }
            }
            Ok(())
        })
    }

    fn has(&self, method: &str) -> bool {
        Python::attach(|py| self.object.bind(py).hasattr(method).unwrap_or(false))
    }
}

fn number(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<Option<f64>> {
    let value = object.getattr(name)?;
    value
        .extract()
        .map_err(|_| PyValueError::new_err(format!("{name} is {}; it must be a number", text_of(&value))))
}

/// A number that need not be there.
fn optional(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<Option<f64>> {
    match number(object, name) {
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
        found => found,
    }
}

/// `ValueError: what (mine.py, line 12)`
fn described(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "error".into(), |name| shortened(&name.to_string()));
    let value = text_of(error.value(py));
    let mut place = None;
    let mut frame = error.traceback(py).map(Bound::into_any);
    while let Some(at) = frame {
        place = position(&at).ok().or(place);
        frame = at.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    match place {
        Some((file, line)) => format!("{kind}: {value} ({file}, line {line})"),
        None => format!("{kind}: {value}"),
    }
}

/// Characters of a text of foreign code: enough for any message that somebody wrote for people.
const LONGEST_TEXT: usize = 500;

/// The text of an object of foreign code, which may be of any length, or fail.
fn text_of(object: &Bound<'_, PyAny>) -> String {
    match object.str() {
        Ok(text) => shortened(&text.to_string_lossy()),
        Err(error) => {
            let kind = error
                .get_type(object.py())
                .name()
                .map_or_else(|_| "an error".into(), |name| name.to_string());
            format!("(its text cannot be had: __str__ raises {})", shortened(&kind))
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{} ... (cut)", &text[..end]),
        None => text.to_owned(),
    }
}

fn position(traceback: &Bound<'_, PyAny>) -> PyResult<(String, u32)> {
    let file: String = traceback.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
    let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
    Ok((name, traceback.getattr("tb_lineno")?.extract()?))
}

/// Its `__del__` is code of the control too: it is called here, and not when Python gets to it.
impl Drop for PyControl {
    fn drop(&mut self) {
        Python::attach(|py| {
            self.on_ack = py.None();
            self.object = py.None();
        });
    }
}

impl External for PyControl {
    fn on_ack(&mut self, ack: &AckEvent) -> Response {
        self.call(|py| self.on_ack.call1(py, (PyAck::from(ack),)).map(drop))
    }

    /// `on_ecn` for marks, if there is one.
    fn on_congestion(&mut self, event: &CongestionEvent) -> Response {
        let methods: &[&str] =
            if event.signal == Signal::Ecn { &["on_ecn", "on_loss"] } else { &["on_loss"] };
        self.call_first(methods, (PyCongestion::from(event),))
    }

    fn on_timeout(&mut self, event: &CongestionEvent) -> Response {
        self.call_first(&["on_timeout"], (PyCongestion::from(event),))
    }

    fn on_idle_restart(&mut self, restart_window: f64) -> Response {
        self.call_first(&["on_idle_restart"], (restart_window,))
    }

    fn on_recovered(&mut self) -> Response {
        self.call_first(&["on_recovered"], ())
    }

    fn on_undo(&mut self, window: f64, ssthresh: f64) -> Response {
        self.call_first(&["on_undo"], (window, ssthresh))
    }

    fn end_slow_start(&mut self) -> Option<Response> {
        self.has("end_slow_start").then(|| self.call_first(&["end_slow_start"], ()))
    }

    fn set_slope(&mut self, slope: f64) -> Response {
        self.call_first(&["set_slope"], (slope,))
    }

    fn set_ssthresh(&mut self, ssthresh: f64) -> Response {
        self.call_first(&["set_ssthresh"], (ssthresh,))
    }

    /// `variables()` gives numbers by name.
    fn read_variables(&self, reader: &mut Reader<'_>) {
        let values = Python::attach(|py| -> PyResult<BTreeMap<String, f64>> {
            match self.object.bind(py).getattr_opt(intern!(py, "variables"))? {
                Some(variables) => variables.call0()?.extract(),
                None => Ok(BTreeMap::new()),
            }
        });
        for (name, value) in values.into_iter().flatten() {
            reader(kept(name), value);
        }
    }
}
