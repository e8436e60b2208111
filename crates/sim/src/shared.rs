//! What all parts of a running network use.

use crate::capture::Captures;
use crate::delivered::Delivered;
use crate::endpoints::tcp::SackSlots;
use crate::event::Entity;
use crate::event_queue::EventQueue;
use crate::jitter::Jittered;
use crate::latency::Latency;
use crate::qlog::Logs;
use crate::SimError;
use parshall_records::{RecordsError, Tables};
use parshall_tcp::Ack;
use parshall_units::Instant;

/// What flows share: the event queue, the clock's limits, and the records.
pub(crate) struct Core {
    pub(crate) queue: EventQueue,
    pub(crate) sack_slots: SackSlots,
    pub(crate) jittered: Jittered,
    pub(crate) warm_up: Instant,
    pub(crate) end: Instant,
    /// Flows that the end waits for, and when the last of those that are done was.
    awaited: (u32, Instant),
    pub(crate) repetition: u32,
    /// Flows so far, and whether others come while the simulation runs.
    pub(crate) flows: u32,
    pub(crate) flows_come: bool,
    /// Connections of open loops that finished: arrival process, when, flow.
    pub(crate) freed: Vec<(u32, Instant, u32)>,
    pub(crate) tables: Tables,
    /// Delays from end to end, if they are measured.
    pub(crate) latency: Option<Box<Latency>>,
    /// Payload that each group delivered over time, if that is recorded.
    pub(crate) delivered: Option<Box<Delivered>>,
    /// Captures of links, if there are any.
    pub(crate) captures: Option<Box<Captures>>,
    /// Logs of flows.
    pub(crate) logs: Option<Box<Logs>>,
    error: Option<RecordsError>,
    standstill: (Instant, u32),
    pub(crate) stuck: bool,
}

/// Transfers that may follow each other without time passing before a workload counts as stuck.
const MAX_STANDSTILL: u32 = 100_000;

impl Core {
    pub(crate) fn new(warm_up: Instant, end: Instant, repetition: u32) -> Self {
        Self {
            queue: EventQueue::new(),
            sack_slots: SackSlots::default(),
            jittered: Jittered::default(),
            warm_up,
            end,
            awaited: (0, Instant::ZERO),
            repetition,
            flows: 0,
            flows_come: false,
            freed: Vec::new(),
            tables: Tables::none(),
            latency: None,
            delivered: None,
            captures: None,
            logs: None,
            error: None,
            standstill: (Instant::ZERO, 0),
            stuck: false,
        }
    }

    /// The number that the next flow has in the records.
    pub(crate) fn number_flow(&mut self) -> u32 {
        self.flows += 1;
        self.flows - 1
    }

    /// Writes to the records; the first error ends the run at the next check.
    pub(crate) fn record(&mut self, write: impl FnOnce(&mut Tables) -> Result<(), RecordsError>) {
        if let Err(error) = write(&mut self.tables) {
            self.error.get_or_insert(error);
        }
    }

    /// Keeps the SACK blocks of an ACK that a flow sends to contended links, and what goes with them; `timed`: also of one without them, when it
    /// was sent.
    pub(crate) fn store_options(&mut self, flow: u32, ack: &Ack, timed: bool) -> u32 {
        let Some(captures) = &mut self.captures else { return self.sack_slots.store(ack, timed) };
        let slot = self.sack_slots.store_any(ack);
        captures.ack_queued(flow, slot);
        slot
    }

    /// Refuses to go on if captures or logs cannot be continued.
    pub(crate) fn check_files(&mut self, now: Instant) -> Result<(), SimError> {
        self.captures.as_mut().map_or(Ok(()), |captures| captures.check(now))?;
        self.logs.as_mut().map_or(Ok(()), |logs| logs.check(now))
    }

    /// Completes captures and logs.
    pub(crate) fn finish_files(&mut self) -> Result<(), SimError> {
        self.captures.take().map_or(Ok(()), |captures| captures.finish(self.end))?;
        self.logs.take().map_or(Ok(()), |logs| logs.finish(self.end))
    }

    pub(crate) fn take_error(&mut self) -> Result<(), RecordsError> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// The end waits for so many more flows.
    pub(crate) fn wait_for(&mut self, flows: u32) {
        self.awaited.0 += flows;
    }

    /// A flow that the end waits for is done at `now` of its own time. (Of two flows, the one that is done later may
    /// say so first.)
    pub(crate) fn awaited_is_done(&mut self, now: Instant) {
        let (missing, last) = &mut self.awaited;
        *missing -= 1;
        *last = now.max(*last);
        if *missing == 0 {
            self.queue.push(*last, Entity::AllDone);
        }
    }

    /// Notes a transfer that took no time and is followed by another at once; whether that goes on for ever.
    pub(crate) fn is_standstill(&mut self, now: Instant) -> bool {
        let count = if self.standstill.0 == now { self.standstill.1 + 1 } else { 0 };
        self.standstill = (now, count);
        self.stuck |= count > MAX_STANDSTILL;
        self.stuck
    }
}
