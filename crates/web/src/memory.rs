//! The memory that the page and the simulator share: one scenario in, one answer out.

#![allow(unsafe_code)] // exported names

use std::cell::RefCell;

thread_local! {
    static SCENARIO: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for a scenario of so many bytes of JSON, and returns its address.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn parshall_allocate(bytes: usize) -> *mut u8 {
    SCENARIO.with_borrow_mut(|scenario| {
        scenario.clear();
        scenario.resize(bytes, 0);
        scenario.as_mut_ptr()
    })
}

/// Simulates the scenario that was written there, and returns the bytes of its [answer](crate::answer).
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn parshall_simulate(repetition: u32, most_events: f64) -> usize {
    let answer = SCENARIO.with_borrow(|scenario| crate::answer(scenario, repetition, most_events as u64));
    let bytes = answer.len();
    ANSWER.set(answer);
    bytes
}

/// Returns the address of the last answer.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn parshall_answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}
