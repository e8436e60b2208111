//! One control of a library.

use super::abi::{Ack, Congestion, Parameter, Says as AbiSays, Start as AbiStart};
use super::loaded::Loaded;
use parshall_congestion::external::{kept, Answer, External, Response};
use parshall_congestion::{AckEvent, CongestionEvent, Phase, Signal, Start};
use parshall_units::parameters::Reader;
use parshall_units::Duration;
use serde_json::{Map, Value};
use std::ffi::{c_char, c_void, CString};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A control of a library, and its last answer.
#[derive(Debug)]
pub(crate) struct LibraryControl {
    library: Arc<Loaded>,
    state: NonNull<c_void>,
    answer: Answer,
}

// SAFETY: by the header a control is used by one thread at a time, whichever that is.
#[allow(unsafe_code)]
unsafe impl Send for LibraryControl {}

/// Before the first answer.
const UNKNOWN: Answer = Answer { window: 1.0, ssthresh: f64::INFINITY, pacing_rate: None };

impl LibraryControl {
    #[allow(unsafe_code)]
    pub(crate) fn new(
        library: &Arc<Loaded>,
        parameters: &str,
        start: Start,
    ) -> Result<(Self, Answer), String> {
        let named = numbers(parameters)?;
        let parameters: Vec<_> =
            named.iter().map(|(name, value)| Parameter { name: name.as_ptr(), value: *value }).collect();
        let begins = AbiStart {
            now_s: start.at.as_secs_f64(),
            cwnd: start.window,
            ssthresh: start.ssthresh,
            random: start.random,
            flow: start.flow,
            reserved: 0,
        };
        let mut says = AbiSays::preset(start.window);
        let Some(create) = library.table().create else { return Err("has no create".into()) };
        // SAFETY: the arguments live until it returns, as the header has it.
        let state =
            unsafe { create(&raw const begins, parameters.as_ptr(), parameters.len() as u64, &raw mut says) };
        let response = says.response();
        let Some(state) = NonNull::new(state) else {
            return Err(response.err().unwrap_or_else(|| "create returned NULL".into()));
        };
        let mut control = Self { library: Arc::clone(library), state, answer: UNKNOWN };
        let answer = response?; // an error drops the control, and so destroys its state
        control.answer = answer;
        Ok((control, answer))
    }

    /// Calls one of its functions, if it has that, and returns its answer.
    fn call<F>(
        &mut self,
        function: Option<F>,
        call: impl FnOnce(F, *mut c_void, *mut AbiSays),
    ) -> Option<Response> {
        let mut says = AbiSays::preset(self.answer.window);
        call(function?, self.state.as_ptr(), &raw mut says);
        let response = says.response();
        if let Ok(answer) = &response {
            self.answer = *answer;
        }
        Some(response)
    }
}

impl AbiSays {
    fn preset(cwnd: f64) -> Self {
        Self { cwnd, ssthresh: f64::INFINITY, pacing_rate: f64::NAN, error: ptr::null() }
    }

    #[allow(unsafe_code)]
    fn response(&self) -> Response {
        if !self.error.is_null() {
            // SAFETY: a text that the library wrote, as the header has it.
            return Err(unsafe { text(self.error) });
        }
        let pacing_rate = (!self.pacing_rate.is_nan()).then_some(self.pacing_rate);
        Ok(Answer { window: self.cwnd, ssthresh: self.ssthresh, pacing_rate })
    }
}

/// Bytes of a library's text that are read: enough for any message that somebody wrote for people.
const LONGEST_TEXT: usize = 500;

/// A text of a library; of a long one its beginning.
///
/// # Safety
/// It points to a text that ends with a zero.
#[allow(unsafe_code)]
unsafe fn text(of: *const c_char) -> String {
    // SAFETY: bytes are read up to the zero at the latest, which the caller guarantees.
    let read = (0..LONGEST_TEXT).map(|at| unsafe { of.cast::<u8>().add(at).read() });
    let bytes: Vec<u8> = read.take_while(|&byte| byte != 0).collect();
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if bytes.len() == LONGEST_TEXT {
        text.push_str(" ... (cut)");
    }
    text
}

/// The parameters of a scenario, which a library takes as numbers.
fn numbers(parameters: &str) -> Result<Vec<(CString, f64)>, String> {
    let read: Map<String, Value> = serde_json::from_str(parameters).map_err(|error| error.to_string())?;
    let number = |(name, value): (String, Value)| {
        let number = match &value {
            Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
            value => value.as_f64(),
        };
        let number =
            number.ok_or_else(|| format!("{name} is {value}; a library takes numbers, true and false"))?;
        CString::new(name).map(|name| (name, number)).map_err(|error| error.to_string())
    };
    read.into_iter().map(number).collect()
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

impl From<&AckEvent> for Ack {
    fn from(ack: &AckEvent) -> Self {
        let sample = ack.sample.as_ref();
        Self {
            now_s: ack.now.as_secs_f64(),
            credit: ack.credit,
            rtt_s: ack.rtt.map_or(f64::NAN, seconds),
            srtt_s: if ack.srtt > Duration::ZERO { seconds(ack.srtt) } else { f64::NAN },
            min_rtt_s: if ack.min_rtt < Duration::MAX { seconds(ack.min_rtt) } else { f64::NAN },
            acked: ack.acked,
            in_flight: ack.in_flight,
            delivery_rate: sample.and_then(|sample| sample.rate).unwrap_or(f64::NAN),
            delivered: sample.map_or(0, |sample| sample.delivered),
            prior_delivered: sample.map_or(0, |sample| sample.prior_delivered),
            newly_delivered: sample.map_or(0, |sample| sample.newly_delivered),
            newly_lost: sample.map_or(0, |sample| sample.newly_lost),
            phase: match ack.phase {
                Phase::Open => 0,
                Phase::Recovery => 1,
                Phase::Loss => 2,
            },
            may_grow: ack.may_grow.into(),
            round_ended: ack.round_ended.into(),
            ecn_echo: ack.ecn_echo.into(),
            app_limited: sample.is_some_and(|sample| sample.app_limited).into(),
            reserved: [0; 3],
            one_way_delay_s: ack.one_way_delay.map_or(f64::NAN, seconds),
        }
    }
}

impl From<&CongestionEvent> for Congestion {
    fn from(event: &CongestionEvent) -> Self {
        let signal = u32::from(event.signal == Signal::Ecn);
        Self { now_s: event.now.as_secs_f64(), in_flight: event.in_flight, signal, reserved: 0 }
    }
}

// SAFETY of the calls below: the state is what `create` gave, the arguments live until they return, and `&mut self`
// keeps others out.
#[allow(unsafe_code)]
impl External for LibraryControl {
    fn on_ack(&mut self, ack: &AckEvent) -> Response {
        let event = Ack::from(ack);
        let function = self.library.table().on_ack;
        self.call(function, |function, state, says| unsafe { function(state, &raw const event, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> Response {
        let event = Congestion::from(event);
        let function = self.library.table().on_congestion;
        self.call(function, |function, state, says| unsafe { function(state, &raw const event, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn on_timeout(&mut self, event: &CongestionEvent) -> Response {
        let event = Congestion::from(event);
        let function = self.library.table().on_timeout;
        self.call(function, |function, state, says| unsafe { function(state, &raw const event, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn on_idle_restart(&mut self, restart_window: f64) -> Response {
        let function = self.library.table().on_idle_restart;
        self.call(function, |function, state, says| unsafe { function(state, restart_window, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn on_recovered(&mut self) -> Response {
        let function = self.library.table().on_recovered;
        self.call(function, |function, state, says| unsafe { function(state, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn on_undo(&mut self, window: f64, ssthresh: f64) -> Response {
        let function = self.library.table().on_undo;
        self.call(function, |function, state, says| unsafe { function(state, window, ssthresh, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn end_slow_start(&mut self) -> Option<Response> {
        let function = self.library.table().end_slow_start;
        self.call(function, |function, state, says| unsafe { function(state, says) })
    }

    fn set_slope(&mut self, slope: f64) -> Response {
        let function = self.library.table().set_slope;
        self.call(function, |function, state, says| unsafe { function(state, slope, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn set_ssthresh(&mut self, ssthresh: f64) -> Response {
        let function = self.library.table().set_ssthresh;
        self.call(function, |function, state, says| unsafe { function(state, ssthresh, says) })
            .unwrap_or(Ok(self.answer))
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let Some(variables) = self.library.table().variables else { return };
        let mut values: Vec<(String, f64)> = Vec::new();
        unsafe { variables(self.state.as_ptr(), note, ptr::from_mut(&mut values).cast()) };
        for (name, value) in values {
            reader(kept(name), value);
        }
    }
}

/// Notes an inner variable; `context` is the list of them.
#[allow(unsafe_code)]
extern "C" fn note(context: *mut c_void, name: *const c_char, value: f64) {
    // SAFETY: `read_variables` hands both over, and waits.
    unsafe { (*context.cast::<Vec<(String, f64)>>()).push((text(name), value)) };
}

impl Drop for LibraryControl {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        if let Some(destroy) = self.library.table().destroy {
            // SAFETY: the state is what `create` gave, and nobody uses it again.
            unsafe { destroy(self.state.as_ptr()) };
        }
    }
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::super::abi::{Table, ABI};
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    static STATE: u8 = 0;
    static DESTROYED: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C" fn create(
        _: *const AbiStart,
        parameters: *const Parameter,
        count: u64,
        says: *mut AbiSays,
    ) -> *mut c_void {
        unsafe {
            if count > 0 && (*parameters).value != 0.0 {
                (*says).error = c"half made".as_ptr();
            }
        }
        (&raw const STATE).cast_mut().cast()
    }

    unsafe extern "C" fn destroy(_: *mut c_void) {
        DESTROYED.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn a_state_that_comes_with_an_error_is_destroyed() {
        // SAFETY: a table of zeros is one without functions.
        let mut table = unsafe { std::mem::zeroed::<Table>() };
        table.abi = ABI;
        table.create = Some(create);
        table.destroy = Some(destroy);
        let library = Arc::new(Loaded { table, _library: libloading::os::unix::Library::this().into() });
        let made = LibraryControl::new(&library, r#"{"fails": 1}"#, Start::NEW);
        assert_eq!(made.err().as_deref(), Some("half made"));
        assert_eq!(DESTROYED.load(Ordering::Relaxed), 1);
        drop(LibraryControl::new(&library, r#"{"fails": 0}"#, Start::NEW).unwrap());
        assert_eq!(DESTROYED.load(Ordering::Relaxed), 2);
    }
}
