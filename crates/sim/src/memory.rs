//! The memory of many flows: hints to the processor and to the kernel, which change no value.
//!
//! A hundred thousand flows do not fit in any cache, and a packet would wait for memory five times in a row: for its flow, for what
//! the flow points to, for the levels of the event queue; and as often for the tables that say where memory is. What is asked for
//! some events ahead is there in time, and large pages need few tables. The same is true of few flows of a high
//! bandwidth-delay product, by their lines.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ops::Range;

const LINE_BYTES: usize = 64;

/// Asks for all cache lines of `place`; where the processor has no word for it, nothing happens.
#[inline]
pub(crate) fn prefetch<T>(place: &T) {
    prefetch_bytes(place, 0..size_of::<T>());
}

/// Asks for the cache lines of these bytes of `place`, which begins a cache line.
#[inline]
pub(crate) fn prefetch_bytes<T>(place: &T, bytes: Range<usize>) {
    let start = std::ptr::from_ref(place).cast::<u8>();
    for offset in (bytes.start / LINE_BYTES * LINE_BYTES..bytes.end).step_by(LINE_BYTES) {
        prefetch_line(start.wrapping_add(offset));
    }
}

/// Asks for what comes a cache line after the first in a queue. Lines are served in turn, in which no processor sees a sequence.
#[inline]
pub(crate) fn prefetch_ahead<T>(queue: &VecDeque<T>) {
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

/// Asks for large pages behind memory that is not used yet; where the kernel has none, nothing happens.
#[allow(unsafe_code)]
pub(crate) fn in_large_pages<T>(unused: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        /// Bytes from which on large pages are worth asking for: some of them.
        const LARGE: usize = 8 << 20;
        let bytes = size_of_val(unused);
        let start = unused.as_mut_ptr().cast::<u8>();
        let before = start.align_offset(PAGE);
        if bytes >= LARGE && before < bytes {
            let whole = (bytes - before) / PAGE * PAGE;
            // SAFETY: the pages lie within `unused`, which is ours alone; the advice leaves their content as it is.
            let _ = unsafe {
                rustix::mm::madvise(
                    start.wrapping_add(before).cast(),
                    whole,
                    rustix::mm::Advice::LinuxHugepage,
                )
            };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = unused;
}
