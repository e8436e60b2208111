//! The thread that watches over the process of foreign code.

use crate::page::{end, Page};
use parshall_reading::of_kernel;
use std::os::unix::process::parent_id;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two looks. Memory is touched at some 4 GB/s, so that a limit is passed by 80 MB at most.
const EVERY: Duration = Duration::from_millis(20);

/// Watches until it is dropped, and looks a last time then.
#[derive(Debug)]
pub struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch.
    ///
    /// # Parameters
    /// * `page`: it gets `progress` and the process's memory.
    /// * `parent`: number of the parent's process; the process ends when it has another parent.
    /// * `most_bytes`: memory that the process may take.
    /// * `progress`: simulated time in ps, and packets.
    pub fn begin(
        page: Page,
        parent: u32,
        most_bytes: u64,
        progress: impl Fn() -> (u64, u64) + Send + 'static,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&over);
        let thread = thread::spawn(move || loop {
            let last = watched.load(Ordering::Acquire);
            let (simulated_ps, packets) = progress();
            page.progress(simulated_ps, packets);
            if parent_id() != parent {
                end();
            }
            if let Some(bytes) = memory_of_this_process() {
                page.memory(bytes);
                if bytes > most_bytes {
                    page.too_much_memory();
                    end();
                }
            }
            if last {
                return;
            }
            thread::park_timeout(EVERY);
        });
        Self { over, thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join(); // its panic would have nothing to say
        }
    }
}

/// Bytes that the process has written to and that belong to it alone, in memory or swapped out; `None` where the system
/// does not say.
///
/// That is what the machine loses to the process. Address space (`RLIMIT_AS`) is not: NumPy's threads, PyTorch and Go
/// reserve gigabytes of it that they never touch. Nor is writable memory that was mapped (`RLIMIT_DATA`): a thread's
/// stack counts 8 MB there, and an address sanitizer terabytes.
fn memory_of_this_process() -> Option<u64> {
    let status = of_kernel("/proc/self/status").ok()?;
    let kilobytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').trim().strip_suffix(" kB")?.parse().ok()
    };
    Some(1024 * (kilobytes("RssAnon")? + kilobytes("VmSwap").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::of_zeros;
    use std::time::Instant;

    #[test]
    fn progress_and_memory_are_in_the_page_until_the_watch_is_over() {
        let (_file, page) = of_zeros();
        let watch = Watch::begin(page, parent_id(), u64::MAX, || (5, 7));
        let begun = Instant::now();
        while page.words()[5] == 0 && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(EVERY);
        }
        let words = page.words();
        assert_eq!(words[3..5], [5, 7]);
        assert!(cfg!(not(target_os = "linux")) || words[5] > 100_000, "{words:?}");
        page.progress(0, 0);
        drop(watch);
        assert_eq!(page.words()[3..5], [5, 7], "the last look");
        page.progress(0, 0);
        thread::sleep(3 * EVERY);
        assert_eq!(page.words()[3], 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_that_which_was_written_to() {
        let before = memory_of_this_process().unwrap();
        let reserved: Vec<u8> = Vec::with_capacity(1 << 30);
        assert!(memory_of_this_process().unwrap() < before + (1 << 28));
        drop(reserved);
        let written = vec![1_u8; 1 << 28];
        assert!(memory_of_this_process().unwrap() > before + (1 << 27));
        assert_eq!(written[7], 1);
    }
}
