//! State that all hosts and their owner share.

use crate::error::{HostsError, Tried};
use crate::memory::TcpMemory;
use crate::plan::Plan;
use rustix::event::{eventfd, EventfdFlags};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The stop of the run, and the number of flows that have sent all they had.
#[derive(Debug)]
pub(crate) struct Shared {
    stop: AtomicBool,
    /// For each flow of the plan: its parallel connections whose source has more to send.
    left: Vec<AtomicU32>,
    /// Flows without such a connection.
    done: AtomicU32,
    pub(crate) tcp_memory: Option<TcpMemory>,
    /// Wakes all hosts. Nobody reads it, so it stays readable.
    pub(crate) wake: OwnedFd,
}

impl Shared {
    pub(crate) fn new(plan: &Plan) -> Result<Self, HostsError> {
        Ok(Self {
            stop: AtomicBool::new(false),
            left: plan.flows.iter().map(|flow| AtomicU32::new(flow.transport.streams())).collect(),
            done: AtomicU32::new(0),
            tcp_memory: TcpMemory::of_this_machine(),
            wake: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).tried("make an eventfd")?,
        })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Ends the run of all hosts.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes()); // it has room for more stops than there are hosts
    }

    /// A source of that flow has nothing more to send.
    pub(crate) fn finish_source(&self, flow: u32) {
        if self.left[flow as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// True if all sources of a flow have nothing more to send.
    pub(crate) fn is_done(&self, flow: u32) -> bool {
        self.left[flow as usize].load(Ordering::Acquire) == 0
    }

    /// The number of flows that are done.
    pub(crate) fn done(&self) -> u32 {
        self.done.load(Ordering::Acquire)
    }
}
