//! The C interface around the control: a panic becomes an error that names the flow and the time.

use crate::abi::{Ack, Congestion, Parameter, Says, Start, Table, ABI};
use crate::Mine;
use std::ffi::{c_void, CStr, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// A control, and the text of its last error, which must outlive the call that tells it.
struct Held {
    control: Mine,
    error: CString,
}

impl Held {
    fn say(&self, says: &mut Says) {
        says.cwnd = self.control.cwnd();
        says.ssthresh = self.control.ssthresh();
        says.pacing_rate = self.control.pacing_rate().unwrap_or(f64::NAN);
    }

    fn call(&mut self, says: &mut Says, call: impl FnOnce(&mut Mine)) {
        match catch_unwind(AssertUnwindSafe(|| call(&mut self.control))) {
            Ok(()) => self.say(says),
            Err(panic) => {
                self.error = text(&message(&*panic));
                says.error = self.error.as_ptr();
            }
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.map_or("it panicked".into(), |text| format!("it panicked: {text}"))
}

fn text(of: &str) -> CString {
    CString::new(of.replace('\0', " ")).unwrap_or_default()
}

unsafe extern "C" fn create(
    start: *const Start,
    parameters: *const Parameter,
    count: u64,
    says: *mut Says,
) -> *mut c_void {
    let says = unsafe { &mut *says };
    let made = catch_unwind(|| {
        let read = |index| unsafe {
            let parameter = &*parameters.add(index);
            (CStr::from_ptr(parameter.name).to_string_lossy().into_owned(), parameter.value)
        };
        let given: Vec<_> = (0..count as usize).map(read).collect();
        Mine::new(unsafe { &*start }, &given)
    });
    match made.unwrap_or_else(|panic| Err(message(&*panic))) {
        Ok(control) => {
            let held = Box::new(Held { control, error: CString::default() });
            held.say(says);
            Box::into_raw(held).cast()
        }
        Err(error) => {
            says.error = text(&error).into_raw(); // told once, as the run ends
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn destroy(held: *mut c_void) {
    drop(unsafe { Box::from_raw(held.cast::<Held>()) });
}

unsafe extern "C" fn on_ack(held: *mut c_void, ack: *const Ack, says: *mut Says) {
    let (held, ack, says) = unsafe { (&mut *held.cast::<Held>(), &*ack, &mut *says) };
    held.call(says, |control| control.on_ack(ack));
}

unsafe extern "C" fn on_congestion(held: *mut c_void, event: *const Congestion, says: *mut Says) {
    let (held, event, says) = unsafe { (&mut *held.cast::<Held>(), &*event, &mut *says) };
    held.call(says, |control| control.on_congestion(event));
}

unsafe extern "C" fn on_timeout(held: *mut c_void, event: *const Congestion, says: *mut Says) {
    let (held, event, says) = unsafe { (&mut *held.cast::<Held>(), &*event, &mut *says) };
    held.call(says, |control| control.on_timeout(event));
}

unsafe extern "C" fn set_slope(held: *mut c_void, slope: f64, says: *mut Says) {
    let (held, says) = unsafe { (&mut *held.cast::<Held>(), &mut *says) };
    held.call(says, |control| control.set_slope(slope));
}

unsafe extern "C" fn set_ssthresh(held: *mut c_void, ssthresh: f64, says: *mut Says) {
    let (held, says) = unsafe { (&mut *held.cast::<Held>(), &mut *says) };
    held.call(says, |control| control.set_ssthresh(ssthresh));
}

unsafe extern "C" fn on_undo(held: *mut c_void, cwnd: f64, ssthresh: f64, says: *mut Says) {
    let (held, says) = unsafe { (&mut *held.cast::<Held>(), &mut *says) };
    held.call(says, |control| control.on_undo(cwnd, ssthresh));
}

/// What Parshall asks the library for.
#[no_mangle]
pub extern "C" fn parshall_control() -> *const Table {
    static TABLE: Table = Table {
        abi: ABI,
        needs: Mine::NEEDS,
        standard_slow_start: 0,
        reserved: 0,
        create: Some(create),
        destroy: Some(destroy),
        on_ack: Some(on_ack),
        on_congestion: Some(on_congestion),
        on_timeout: Some(on_timeout),
        on_idle_restart: None,
        on_recovered: None,
        end_slow_start: None,
        variables: None,
        set_slope: Some(set_slope),
        set_ssthresh: Some(set_ssthresh),
        on_undo: Some(on_undo),
    };
    &TABLE
}
