//! The clock of the real world: `CLOCK_MONOTONIC`.

use parshall_units::Instant;
use rustix::event::{poll, PollFd};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{clock_gettime, ClockId, Timespec};

const NS_PER_S: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC`, ns.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * NS_PER_S + now.tv_nsec.cast_unsigned()
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NS_PER_S).cast_signed(), tv_nsec: (ns % NS_PER_S).cast_signed() }
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

    /// Sleeps until the network's time is this, or one of these can be read; whether that is so.
    pub(crate) fn sleep_until_readable(self, at: Instant, devices: &mut [PollFd<'_>]) -> bool {
        let now = self.now();
        let left = at.max(now).since(now);
        poll(devices, Some(&timespec(left.as_ps().div_ceil(1000)))).is_ok_and(|readable| readable > 0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_units::Duration;
    use rustix::event::PollFlags;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn a_sleep_ends_at_its_time_or_later() {
        let clock = Clock::beginning_at(monotonic_ns());
        let until = clock.now() + Duration::from_millis(3);
        clock.sleep_until(until);
        assert!(clock.now() >= until);
        clock.sleep_until(Instant::ZERO);
    }

    #[test]
    fn what_comes_ends_a_sleep() {
        let clock = Clock::beginning_at(monotonic_ns());
        let ((quiet, _kept), (busy, other)) = (UnixDatagram::pair().unwrap(), UnixDatagram::pair().unwrap());
        let until = clock.now() + Duration::from_millis(3);
        let mut devices =
            [&quiet, &busy].map(|device| PollFd::from_borrowed_fd(device.as_fd(), PollFlags::IN));
        assert!(!clock.sleep_until_readable(until, &mut devices));
        assert!(clock.now() >= until);
        other.send(b"here").unwrap();
        assert!(clock.sleep_until_readable(until + Duration::from_secs(60), &mut devices));
        assert!(clock.now() < until + Duration::from_secs(30));
    }
}
