//! The means by which another thread watches a simulation, and stops it.

use std::sync::atomic::{AtomicBool, AtomicU64};

/// Watches, and stops, a running simulation from another thread.
#[derive(Debug)]
pub struct Monitor {
    /// So many flows may be there at a time; open loops that need more are refused.
    pub most_flows: AtomicU64,
    /// Set it to stop the simulation.
    pub cancel: AtomicBool,
    /// Simulated time so far, ps.
    pub simulated_ps: AtomicU64,
    /// Packets that links have handled so far.
    pub packets: AtomicU64,
    /// Interrupts the simulation after about so many events, as `cancel` does.
    pub most_events: Option<u64>,
}

impl Default for Monitor {
    fn default() -> Self {
        Self {
            most_flows: AtomicU64::new(u64::MAX),
            cancel: AtomicBool::new(false),
            simulated_ps: AtomicU64::new(0),
            packets: AtomicU64::new(0),
            most_events: None,
        }
    }
}
