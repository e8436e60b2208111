//! A panic is a fault of ours: it becomes one error that says where and what, and nothing else is printed.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, PoisonError};

thread_local! {
    /// The last panic of this thread.
    static OWN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The first panic of any thread since [`guarded`] began.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// Panics are remembered for [`guarded`] from now on, and are not printed.
pub(crate) fn remember_panics() {
    set_hook(Box::new(|panic| {
        let described = described(panic);
        first(|first| first.get_or_insert_with(|| described.clone()).clone());
        OWN.set(Some(described));
    }));
}

/// Does something; a panic in it, of `what`, is an error.
///
/// # Errors
/// It panicked.
pub(crate) fn guarded<T>(what: &str, work: impl FnOnce() -> T) -> Result<T, PyErr> {
    OWN.set(None);
    first(Option::take);
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| fault(what, OWN.take()))
}

/// The panic, if there was one, by which another thread of `what` has ended.
pub(crate) fn of_another_thread(what: &str) -> Option<PyErr> {
    first(Option::take).map(|panic| fault(what, Some(panic)))
}

/// Panics as a fault of ours would, in this thread or in another one, for tests of what is said of it.
#[pyfunction]
pub fn fault_for_tests(elsewhere: bool) -> PyResult<()> {
    guarded("the test", || {
        assert!(elsewhere, "on\npurpose");
        let ended = std::thread::spawn(|| panic!("elsewhere")).join();
        ended.map_err(|_| {
            of_another_thread("the test").unwrap_or_else(|| PyRuntimeError::new_err("an ended thread"))
        })
    })?
}

fn first<T>(look: impl FnOnce(&mut Option<String>) -> T) -> T {
    look(&mut FIRST.lock().unwrap_or_else(PoisonError::into_inner))
}

fn fault(what: &str, panic: Option<String>) -> PyErr {
    let panic = panic.unwrap_or_else(|| "an unknown place".into());
    PyRuntimeError::new_err(format!(
        "{what} failed at {panic}; this is a fault in Parshall, please report it"
    ))
}

/// `crates/bpf/src/object.rs:78: index out of range`, in one line.
fn described(panic: &PanicHookInfo<'_>) -> String {
    let place = panic
        .location()
        .map_or_else(|| "an unknown place".into(), |at| format!("{}:{}", at.file(), at.line()));
    let lines: Vec<_> =
        text(panic.payload()).lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    format!("{place}: {}", lines.join(" "))
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
