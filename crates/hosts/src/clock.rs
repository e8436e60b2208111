//! The time of a run: nanoseconds of CLOCK_MONOTONIC since an epoch that both hosts and the emulator share.

use parshall_units::{Duration, Instant};
use rustix::time::{clock_gettime, ClockId};

/// Nanoseconds since the epoch; negative before it.
pub(crate) type Nanos = i64;

/// A time that never comes.
pub(crate) const NEVER: Nanos = Nanos::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Nanos,
}

impl Clock {
    /// `epoch`: nanoseconds of CLOCK_MONOTONIC.
    pub(crate) fn new(epoch: u64) -> Self {
        Self { epoch: epoch.cast_signed() }
    }

    pub(crate) fn now(self) -> Nanos {
        let time = clock_gettime(ClockId::Monotonic);
        time.tv_sec * 1_000_000_000 + time.tv_nsec - self.epoch
    }

    /// Sleeps until then, if that is not past.
    pub(crate) fn sleep_until(self, at: Nanos) {
        let left = (at - self.now()).max(0).cast_unsigned();
        if left > 0 {
            std::thread::sleep(std::time::Duration::from_nanos(left));
        }
    }
}

/// The nanosecond in which a moment lies.
pub(crate) fn nanos(at: Instant) -> Nanos {
    (at.as_ps() / 1000).cast_signed()
}

/// A span in whole nanoseconds.
pub(crate) fn span(duration: Duration) -> Nanos {
    (duration.as_ps() / 1000).cast_signed()
}

/// As the records write it.
pub(crate) fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / 1e9
}
