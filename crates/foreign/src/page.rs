//! The page of memory that the process of foreign code shares with its parent.
//!
//! | word | what | unit |
//! | --- | --- | --- |
//! | 0 | calls of foreign code begun and ended; odd: one is under way | |
//! | 1 | simulated time of the last call | ps |
//! | 2 | the last call's group of flows, from 0; [`NO_GROUP`]: the call is not of a simulation | |
//! | 3 | simulated time that the simulation has come to | ps |
//! | 4 | packets that its links have handled | |
//! | 5 | memory of the process at the last look | bytes |
//! | 6 | 1: the process ended itself, as it took more memory than it may | |
//!
//! `python/parshall/scenario/foreign/page.py` reads the same table.

use rustix::mm::{mmap, MapFlags, ProtFlags};
use rustix::process::{getpid, kill_process, Signal};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::ptr;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Words of the page.
const WORDS: usize = 8;
/// Bytes of the page.
pub const BYTES: usize = WORDS * size_of::<u64>();
/// In place of a group's number.
pub const NO_GROUP: u64 = u64::MAX;

const CALLS: usize = 0;
const AT: usize = 1;
const GROUP: usize = 2;
const SIMULATED: usize = 3;
const PACKETS: usize = 4;
const MEMORY: usize = 5;
const TOO_MUCH_MEMORY: usize = 6;

/// Whether this process is a copy that foreign code made by `fork`.
static COPY: AtomicBool = AtomicBool::new(false);

extern "C" fn is_copy() {
    COPY.store(true, Relaxed);
}

/// Ends the process at once, without what foreign code may have left for its end.
pub(crate) fn end() {
    let _ = kill_process(getpid(), Signal::KILL);
}

/// The shared page. It stays mapped as long as the process lives.
#[derive(Clone, Copy, Debug)]
pub struct Page(&'static [AtomicU64; WORDS]);

impl Page {
    /// Maps the file of a page.
    ///
    /// # Errors
    /// The file cannot be opened or mapped, or is too short for a page.
    #[allow(unsafe_code)]
    #[expect(
        clippy::disallowed_methods,
        reason = "memory that this process shares with its parent, and no file to be read"
    )]
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < BYTES as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the file is shorter than a page"));
        }
        // SAFETY: a new mapping at an address that the system chooses aliases nothing of this process.
        let start = unsafe {
            mmap(ptr::null_mut(), BYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)
        }?;
        // SAFETY: the function that is handed over does one store to an atomic.
        unsafe { libc::pthread_atfork(None, None, Some(is_copy)) };
        // SAFETY: the mapping is never undone, begins at a multiple of the page size, has `BYTES` bytes, and is reached by atomic
        // words alone, in this process and in the other. Any bits are a valid word.
        Ok(Self(unsafe { &*start.cast::<[AtomicU64; WORDS]>() }))
    }

    /// Notes that foreign code is entered, at a simulated time in ps, for a flow of a group.
    #[inline]
    pub(crate) fn enter(self, at_ps: u64, group: u64) {
        self.0[AT].store(at_ps, Relaxed);
        self.0[GROUP].store(group, Relaxed);
        self.count();
    }

    /// Notes that it was left. A copy of the process that foreign code made by `fork` ends here: it would write the same tables.
    #[inline]
    pub(crate) fn leave(self) {
        if COPY.load(Relaxed) {
            end();
        }
        self.count();
    }

    /// One more call was begun or ended. One thread at a time calls foreign code, so that no count is lost.
    #[inline]
    fn count(self) {
        self.0[CALLS].store(self.0[CALLS].load(Relaxed).wrapping_add(1), Release);
    }

    /// Notes that no foreign code is under way, whatever was entered before.
    pub fn restart(self) {
        self.0[CALLS].store(0, Relaxed);
        self.0[GROUP].store(NO_GROUP, Relaxed);
        self.progress(0, 0);
    }

    pub(crate) fn progress(self, simulated_ps: u64, packets: u64) {
        self.0[SIMULATED].store(simulated_ps, Relaxed);
        self.0[PACKETS].store(packets, Relaxed);
    }

    pub(crate) fn memory(self, bytes: u64) {
        self.0[MEMORY].store(bytes, Relaxed);
    }

    pub(crate) fn too_much_memory(self) {
        self.0[TOO_MUCH_MEMORY].store(1, Relaxed);
    }

    /// Its words, as the other process reads them.
    #[cfg(test)]
    pub(crate) fn words(self) -> [u64; WORDS] {
        self.0.each_ref().map(|word| word.load(Relaxed))
    }
}

#[cfg(test)]
pub(crate) fn of_zeros() -> (tempfile::NamedTempFile, Page) {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(BYTES as u64).unwrap();
    let page = Page::open(file.path()).unwrap();
    (file, page)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a file of the tests' own")]
mod tests {
    use super::*;
    use std::fs::read;

    #[test]
    fn another_reader_of_the_file_sees_what_was_noted() {
        let (file, page) = of_zeros();
        page.enter(320_000_000_000, 2);
        page.progress(310_000_000_000, 17);
        let words: Vec<u64> = read(file.path())
            .unwrap()
            .chunks_exact(8)
            .map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap()))
            .collect();
        assert_eq!(words[..5], [1, 320_000_000_000, 2, 310_000_000_000, 17]);
        page.leave();
        assert_eq!(page.words()[CALLS], 2);
        page.restart();
        assert_eq!((page.words()[CALLS], page.words()[GROUP]), (0, NO_GROUP));
    }

    #[test]
    fn a_file_that_is_too_short_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(BYTES as u64 - 1).unwrap();
        assert!(Page::open(file.path()).is_err());
    }
}
