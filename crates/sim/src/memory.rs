//! Large pages for the memory of many flows: a hint to the kernel, which changes no value.
//!
//! A hundred thousand flows fit in no cache, nor do the tables that say where their memory is; large pages need few
//! tables.

use std::mem::MaybeUninit;

/// Asks for large pages behind memory that is not used yet; where the kernel has none, nothing happens.
#[allow(unsafe_code)]
pub(crate) fn in_large_pages(unused: &mut [MaybeUninit<u8>]) {
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
