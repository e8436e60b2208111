//! The page that the process of foreign code shares with its parent.

use crate::simulation::PyMonitor;
use parshall_congestion::external::Makers;
use parshall_foreign::{largest_window, watched, Page, Watch};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// The page, in the process of foreign code.
#[pyclass(name = "ForeignPage", frozen)]
pub struct PyPage {
    page: Page,
    parent: u32,
    most_bytes: AtomicU64,
    watch: Mutex<Option<Watch>>,
}

impl PyPage {
    pub(crate) fn watched(&self, makers: &Makers, group: Option<u32>) -> Makers {
        watched(makers, self.page, group, largest_window(self.most_bytes.load(Relaxed)))
    }

    fn replace(&self, watch: Option<Watch>) {
        let before =
            std::mem::replace(&mut *self.watch.lock().unwrap_or_else(PoisonError::into_inner), watch);
        drop(before);
    }
}

#[pymethods]
impl PyPage {
    /// `path`: the file of the page. `parent`: number of the process that reads it. An `OSError` says why there is no page.
    #[new]
    #[allow(clippy::needless_pass_by_value)] // what Python hands over
    fn new(path: PathBuf, parent: u32) -> PyResult<Self> {
        Ok(Self {
            page: Page::open(&path)?,
            parent,
            most_bytes: AtomicU64::new(u64::MAX),
            watch: Mutex::default(),
        })
    }

    /// Watches over what is done from now on: its progress is that of the monitor, and this process may take `most_bytes` of memory.
    fn begin(&self, monitor: &PyMonitor, most_bytes: u64) {
        self.page.restart();
        self.most_bytes.store(most_bytes, Relaxed);
        let monitor = monitor.shared();
        let progress = move || (monitor.simulated_ps.load(Relaxed), monitor.packets.load(Relaxed));
        self.replace(Some(Watch::begin(self.page, self.parent, most_bytes, progress)));
    }

    /// Watches no more.
    fn end(&self) {
        self.replace(None);
    }
}
