//! Waiting for sockets and for a time, whichever comes first (epoll(7)).
//!
//! The wait is ppoll(2)'s, of the epoll instance itself: epoll_wait(2) counts milliseconds and would end up to one of
//! them too late, in which a sender of 120 Mbit/s has ten packets to send at once. epoll_pwait2(2) counts nanoseconds,
//! but Linux has it since 5.11 only.

use crate::clock::{Clock, Nanos};
use crate::error::{HostsError, Tried};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

/// Events that are handled before the time is looked at again.
const A_TURN: usize = 256;

pub(crate) struct Events {
    epoll: OwnedFd,
    ready: Vec<Event>,
}

impl Events {
    pub(crate) fn new() -> Result<Self, HostsError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).tried("make an epoll instance")?;
        Ok(Self { epoll, ready: Vec::with_capacity(A_TURN) })
    }

    /// Watches `fd` until it is closed; its events have that token.
    pub(crate) fn watch(&self, fd: impl AsFd, token: u64, flags: EventFlags) -> Result<(), HostsError> {
        epoll::add(&self.epoll, fd, EventData::new_u64(token), flags).tried("watch a file for events")
    }

    /// Waits until something is ready, or until `due`; tokens and flags of what is ready.
    pub(crate) fn wait(&mut self, clock: Clock, due: Nanos) -> Result<&[Event], HostsError> {
        let left = due.saturating_sub(clock.now()).max(0);
        let timeout = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
        self.ready.clear();
        let waited = poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&timeout));
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match waited.and_then(|_| epoll::wait(&self.epoll, spare_capacity(&mut self.ready), Some(&now))) {
            Ok(_) | Err(Errno::INTR) => Ok(&self.ready),
            Err(error) => Err(error).tried("wait for events"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_at_its_time_and_not_at_the_next_millisecond() {
        let mut events = Events::new().unwrap();
        let clock = Clock::new(0);
        let took = |events: &mut Events| {
            let begun = clock.now();
            assert!(events.wait(clock, begun + 200_000).unwrap().is_empty());
            clock.now() - begun
        };
        // A busy machine makes single waits longer, and none shorter.
        let shortest = (0..100).map(|_| took(&mut events)).min().unwrap();
        assert!((200_000..800_000).contains(&shortest), "{shortest} ns");
    }

    #[test]
    fn what_comes_ends_a_wait() {
        let mut events = Events::new().unwrap();
        let (one, other) = std::os::unix::net::UnixDatagram::pair().unwrap();
        events.watch(&one, 7, EventFlags::IN).unwrap();
        other.send(b"now").unwrap();
        let ready = events.wait(Clock::new(0), Nanos::MAX).unwrap();
        assert_eq!(ready.iter().map(|event| event.data.u64()).collect::<Vec<_>>(), [7]);
    }
}
