//! The memory of many flows: hints, which change no value.
//!
//! A hundred thousand flows do not fit in any cache, and a packet would wait for memory five times in a row: for its
//! flow, for what the flow points to, for the levels of the event queue; and as often for the tables that say where
//! memory is. What is asked for some events ahead is there in time, and large pages need few tables. The same is true
//! of few flows of a high bandwidth-delay product, by their lines. The engine knows the processor; advice to a kernel
//! is a function that it is given.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ops::Range;

const LINE_BYTES: usize = 64;

/// Asks for all cache lines of `place`; where the processor has no word for it, nothing happens.
#[inline]
pub fn prefetch<T>(place: &T) {
    prefetch_bytes(place, 0..size_of::<T>());
}

/// Asks for the cache lines of these bytes of `place`, which begins a cache line.
#[inline]
pub fn prefetch_bytes<T>(place: &T, bytes: Range<usize>) {
    let start = std::ptr::from_ref(place).cast::<u8>();
    for offset in (bytes.start / LINE_BYTES * LINE_BYTES..bytes.end).step_by(LINE_BYTES) {
        prefetch_line(start.wrapping_add(offset));
    }
}

/// Asks for what comes a cache line after the first in a queue. Lines are served in turn, in which no processor sees a
/// sequence.
#[inline]
pub fn prefetch_ahead<T>(queue: &VecDeque<T>) {
    if let Some(later) = queue.get(LINE_BYTES / size_of::<T>()) {
        prefetch(later);
    }
}

#[inline]
#[allow(unsafe_code)]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that changes no memory and raises no fault, whatever the address; every x86-64 processor has it.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Advice to the kernel about memory that is not used yet, such as to have it in large pages.
pub type Advice = fn(&mut [MaybeUninit<u8>]);

/// No advice.
pub fn no_advice(_: &mut [MaybeUninit<u8>]) {}

/// The same memory as bytes.
#[allow(unsafe_code)]
pub fn bytes_of<T>(unused: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<u8>] {
    let bytes = size_of_val(unused);
    // SAFETY: the bytes are those of `unused`, which is borrowed as long, and `MaybeUninit` takes any byte.
    unsafe { std::slice::from_raw_parts_mut(unused.as_mut_ptr().cast(), bytes) }
}
