//! The common state of the flows of the senders' host: the clock, the due work, the event queue, and the destination
//! of rows.

use crate::clock::{nanos, Clock, Nanos};
use crate::error::HostsError;
use crate::events::Events;
use crate::plan::{FlowPlan, Plan};
use crate::ports::Ports;
use crate::row::Row;
use crate::shared::Shared;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{mpsc, Arc};

/// Readings of TCP_INFO in a second, of all flows together; each takes about a microsecond.
const READINGS_PER_S: f64 = 20_000.0;

/// The work that is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The end of the warm-up.
    WarmUp,
    /// A TCP flow starts.
    Start(u32),
    /// A TCP flow's next transfer begins.
    Transfer(u32),
    /// An open loop's next transfer begins.
    Arrival(u32),
    /// A flow's next datagram leaves.
    Datagram(u32),
    /// A TCP flow, which let others have their turn, goes on to write.
    Write(u32),
    /// A look at a TCP flow's socket.
    Look(u32),
    /// A look at the kernel's memory.
    Memory,
}

/// The common state that the host's flows need while they are handled.
pub(super) struct Context {
    pub(super) clock: Clock,
    pub(super) plan: Arc<Plan>,
    pub(super) ports: Ports,
    pub(super) events: Events,
    pub(super) rows: mpsc::Sender<Row>,
    pub(super) shared: Arc<Shared>,
    pub(super) due: BinaryHeap<Reverse<(Nanos, Due)>>,
    pub(super) warm_up: Nanos,
    pub(super) end: Nanos,
    /// Least time between two readings of one flow's TCP_INFO.
    pub(super) least_interval: Nanos,
}

impl Context {
    /// Before the start the clock stands at its own epoch.
    pub(super) fn new(
        plan: &Arc<Plan>,
        shared: Arc<Shared>,
        rows: mpsc::Sender<Row>,
    ) -> Result<Self, HostsError> {
        Ok(Self {
            clock: Clock::new(0),
            ports: Ports::new(plan),
            events: Events::new()?,
            rows,
            shared,
            due: BinaryHeap::new(),
            warm_up: nanos(plan.warm_up),
            end: nanos(plan.end),
            least_interval: (plan.connections() as f64 / READINGS_PER_S * 1e9) as Nanos,
            plan: plan.clone(),
        })
    }

    pub(super) fn at(&mut self, time: Nanos, due: Due) {
        if time < self.end {
            self.due.push(Reverse((time, due)));
        }
    }

    pub(super) fn record(&self, row: Row) {
        let _ = self.rows.send(row); // a caller that wants no rows has dropped its end
    }

    pub(super) fn flow(&self, plan: u32) -> &FlowPlan {
        &self.plan.flows[plan as usize]
    }
}
