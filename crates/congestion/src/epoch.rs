//! The clock of CUBIC's growth, the same in both versions: time since the epoch began, standing still while the sender
//! does not use its window (RFC 9438 §5.8).

use parshall_units::{Duration, Instant};

/// An epoch of growth.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    /// [`Instant::MAX`] while there is none.
    start: Instant,
    /// Since when the sender has not used its window; [`Instant::MAX`] if it does.
    unused_since: Instant,
}

impl Default for Epoch {
    fn default() -> Self {
        Self { start: Instant::MAX, unused_since: Instant::MAX }
    }
}

impl Epoch {
    pub(crate) fn begin(&mut self, now: Instant) {
        self.start = now;
    }

    /// The window was reduced: the next epoch waits for its beginning.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// An ACK came while the sender did not use its window.
    pub(crate) fn pause(&mut self, now: Instant) {
        self.unused_since = self.unused_since.min(now);
    }

    /// The window is in use: a pause ends, and does not count. Whether there is an epoch.
    pub(crate) fn resume(&mut self, now: Instant) -> bool {
        let runs = self.start != Instant::MAX;
        if runs && self.unused_since != Instant::MAX {
            self.start += now.since(self.unused_since);
        }
        self.unused_since = Instant::MAX;
        runs
    }

    /// True if there is an epoch, which began less than this ago.
    pub(crate) fn is_within(&self, now: Instant, time: Duration) -> bool {
        self.start != Instant::MAX && now.since(self.start) < time
    }

    /// Seconds into the epoch.
    pub(crate) fn elapsed_s(&self, now: Instant) -> f64 {
        now.since(self.start).as_secs_f64()
    }
}
