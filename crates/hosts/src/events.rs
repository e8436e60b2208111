//! Waiting for sockets and for a time, whichever comes first (epoll(7)).

use crate::clock::{Clock, Nanos};
use crate::error::{HostsError, Tried};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::Timespec;
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
        match epoll::wait(&self.epoll, spare_capacity(&mut self.ready), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(&self.ready),
            Err(error) => Err(error).tried("wait for events"),
        }
    }
}
