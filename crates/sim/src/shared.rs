//! The common state of a simulation's flows, and the sinks that are told of events.

use crate::capture::Captures;
use crate::delivered::Delivered;
use crate::latency::Latency;
use crate::probe::LinkProbe;
use crate::qlog::Logs;
use crate::recorder::Recorder;
use crate::wire::AckSlots;
use crate::SimError;
use parshall_engine::{Entity, Packet, Sink};
use parshall_records::{RecordsError, Tables};
use parshall_tcp::Ack;
use parshall_units::{Duration, Instant};

/// The event queue, the limits of time, and what else flows share.
pub(crate) type Core = parshall_engine::Core<Shared>;

/// A contended link, and its samples.
pub(crate) type LinkState = parshall_engine::LinkState<Shared>;

/// The warm-up ends.
pub(crate) const WARM_UP: Entity = Entity::Boundary(0);
/// A bin of the link samples ends.
pub(crate) const BIN: Entity = Entity::Boundary(1);
/// The transfers that the end waits for are done.
pub(crate) const ALL_DONE: Entity = Entity::Notice(0);

/// The common state of a simulation's flows beside the event queue.
pub(crate) struct Shared {
    pub(crate) recorder: Recorder,
    /// Delays from end to end, if they are measured.
    pub(crate) latency: Option<Box<Latency>>,
    /// Payload that each group delivered over time, if that is recorded.
    pub(crate) delivered: Option<Box<Delivered>>,
    /// Captures of links, if there are any.
    pub(crate) captures: Option<Box<Captures>>,
    /// Logs of flows.
    pub(crate) logs: Option<Box<Logs>>,
    /// The options of the few ACKs with any, under way on contended links.
    pub(crate) acks: AckSlots,
    /// Connections of open loops that finished: arrival process, when, flow.
    pub(crate) freed: Vec<(u32, Instant, u32)>,
    /// Flows that the end waits for, and when the last of those that are done was.
    awaited: (u32, Instant),
    pub(crate) repetition: u32,
    /// Flows so far, and whether others come while the simulation runs.
    pub(crate) flows: u32,
    pub(crate) flows_come: bool,
    standstill: (Instant, u32),
    pub(crate) stuck: bool,
}

/// Transfers that may follow each other without time passing before a workload counts as stuck.
const MAX_STANDSTILL: u32 = 100_000;

impl Shared {
    pub(crate) fn new(repetition: u32) -> Self {
        Self {
            recorder: Recorder::new(),
            latency: None,
            delivered: None,
            captures: None,
            logs: None,
            acks: AckSlots::default(),
            freed: Vec::new(),
            awaited: (0, Instant::ZERO),
            repetition,
            flows: 0,
            flows_come: false,
            standstill: (Instant::ZERO, 0),
            stuck: false,
        }
    }

    /// The number that the next flow has in the records.
    pub(crate) fn number_flow(&mut self) -> u32 {
        self.flows += 1;
        self.flows - 1
    }

    /// Writes to the records.
    pub(crate) fn record(&mut self, write: impl FnOnce(&mut Tables) -> Result<(), RecordsError>) {
        self.recorder.record(write);
    }

    /// Keeps the SACK blocks of an ACK that a flow sends to contended links, and what goes with them; `timed`: also of
    /// one without them, when it was sent.
    pub(crate) fn store_options(&mut self, flow: u32, ack: &Ack, timed: bool) -> u32 {
        let Some(captures) = &mut self.captures else { return self.acks.store(ack, timed) };
        let slot = self.acks.store_any(ack);
        captures.ack_queued(flow, slot);
        slot
    }

    /// Refuses to go on if captures or logs cannot be continued.
    pub(crate) fn check_files(&mut self, now: Instant) -> Result<(), SimError> {
        self.captures.as_mut().map_or(Ok(()), |captures| captures.check(now))?;
        self.logs.as_mut().map_or(Ok(()), |logs| logs.check(now))
    }

    /// Completes captures and logs of a simulation that ended at `end`.
    pub(crate) fn finish_files(&mut self, end: Instant) -> Result<(), SimError> {
        self.captures.take().map_or(Ok(()), |captures| captures.finish(end))?;
        self.logs.take().map_or(Ok(()), |logs| logs.finish(end))
    }

    /// The end waits for so many more flows.
    pub(crate) fn wait_for(&mut self, flows: u32) {
        self.awaited.0 += flows;
    }

    /// Notes a transfer that took no time and is followed by another at once; whether that goes on for ever.
    pub(crate) fn is_standstill(&mut self, now: Instant) -> bool {
        let count = if self.standstill.0 == now { self.standstill.1 + 1 } else { 0 };
        self.standstill = (now, count);
        self.stuck |= count > MAX_STANDSTILL;
        self.stuck
    }
}

/// A flow that the end waits for is done at `now` of its own time. (Of two flows, the one that is done later may say so
/// first.)
pub(crate) fn awaited_is_done(core: &mut Core, now: Instant) {
    let (missing, last) = &mut core.sink.awaited;
    *missing -= 1;
    *last = now.max(*last);
    if *missing == 0 {
        core.queue.push(*last, ALL_DONE);
    }
}

impl Sink for Shared {
    type OfLink = LinkProbe;

    #[inline]
    fn forwarded(
        &mut self,
        link: &mut LinkProbe,
        _: &Packet,
        (_, waiting): (Instant, Duration),
        measured: bool,
    ) {
        link.waited(waiting, measured);
    }

    #[inline]
    fn watches_crossings(&self) -> bool {
        self.captures.is_some()
    }

    fn crossed(&mut self, now: Instant) {
        if let Some(captures) = &mut self.captures {
            captures.write_before(now);
        }
    }
}
