//! The clock of the real world: `CLOCK_MONOTONIC`.

use parshall_units::{Duration, Instant};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{clock_gettime, ClockId, Timespec};

const NS_PER_S: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC`, ns.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * NS_PER_S + now.tv_nsec.cast_unsigned()
}

/// CPU time of this thread, s.
pub(crate) fn thread_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Time of the network, by the clock of the real world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// When the network's time is 0.
    begin_ns: u64,
}

impl Clock {
    pub(crate) fn beginning_at(begin_ns: u64) -> Self {
        Self { begin_ns }
    }

    /// The network's time now; before its beginning it is 0.
    pub(crate) fn now(self) -> Instant {
        Instant::from_ps(monotonic_ns().saturating_sub(self.begin_ns).saturating_mul(1000))
    }

    /// Sleeps until the network's time is this, or somewhat later.
    pub(crate) fn sleep_until(self, at: Instant) {
        let ns = self.begin_ns + at.as_ps().div_ceil(1000);
        let until =
            Timespec { tv_sec: (ns / NS_PER_S).cast_signed(), tv_nsec: (ns % NS_PER_S).cast_signed() };
        while clock_nanosleep_absolute(ClockId::Monotonic, &until).is_err() {
            if monotonic_ns() >= ns {
                return; // a signal may end a sleep, and nothing else does
            }
        }
    }
}

/// The first tick after `now`.
pub(crate) fn next_tick(now: Instant, tick: Duration) -> Instant {
    Instant::from_ps((now.as_ps() / tick.as_ps() + 1) * tick.as_ps())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_at_its_time_or_later() {
        let clock = Clock::beginning_at(monotonic_ns());
        let until = clock.now() + Duration::from_millis(3);
        clock.sleep_until(until);
        assert!(clock.now() >= until);
        clock.sleep_until(Instant::ZERO);
    }

    #[test]
    fn ticks_lie_at_multiples() {
        let tick = Duration::from_ps(50);
        let next = [0, 49, 50, 51].map(|now| next_tick(Instant::from_ps(now), tick).as_ps());
        assert_eq!(next, [50, 50, 100, 100]);
    }
}
