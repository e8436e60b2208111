//! The limit of a flow, one round trip after another.
//!
//! The slots of [`crate::rounds`] last what the sender waits for an acknowledgement, wherever the capture was made. When a slot ends, its
//! time, and the pause until the next data, go to one cause, the first that applies:
//!
//! | cause | evidence |
//! | --- | --- |
//! | outage | what follows was sent by the retransmission timer: from the last progress on |
//! | receiver | what was sent reaches the edge that the last acknowledgement had offered, or the window stays closed |
//! | application | the last segment has PSH, and what follows does not answer an acknowledgement at once |
//! | slow start | the window grows by a factor of [`GROWS`] a round trip, from the beginning or a timeout on |
//! | full queue | all round trips of the slot are longer than the path's ([`Queue::slot`]), or the last loss fell into a queue |
//! | random loss | the last loss did not |
//! | sender | none of these, although the offered window is known: its buffer, or its control |
//! | unknown | the rest, and all of a flow whose acknowledgements or round-trip times are not seen |
//!
//! Before the first data, the handshake takes its time, and what is left is the application's. The causes are those of T-RAT
//! (Zhang et al., SIGCOMM 2002), which had to guess the flights. Periods that are limited by the application are taken out first, and the
//! receiver's window is compared with what is under way, as by Siekkinen et al. 2005.

use crate::path_times::Nanos;

/// A window that grows less than this from one round trip to the next is not in slow start, whose least factor is 1.5: delayed
/// acknowledgements that count packets and not bytes.
const GROWS: f64 = 1.2;

/// An answer that takes longer than this share of the round trip, and than [`PROMPT`], did not wait for an acknowledgement.
const PROMPT_SHARE: u64 = 8;
const PROMPT: Nanos = 300_000;

/// Clock of timestamps.
const TICK: Nanos = 1_000_000;

/// After a pause longer than the least timeout of usual systems, senders may begin with slow start again (RFC 5681 §4.1).
const IDLE: Nanos = 200_000_000;

/// Round trips for which a full window is remembered.
const FULL_LATELY: u8 = 32;

/// Packets that are a queue, and the weight of the last loss among all.
const QUEUED: u64 = 3;
const RECENT: f32 = 0.25;

/// Rows of periods that wait to be written: the caller takes them after every packet.
const PENDING: usize = 256;

/// The limit of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Limit {
    Handshake,
    SlowStart,
    Application,
    Receiver,
    Sender,
    FullQueue,
    RandomLoss,
    Outage,
    Unknown,
}

/// The number of causes.
pub(crate) const LIMITS: usize = Limit::Unknown as usize + 1;

impl Limit {
    /// Its name in the records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::SlowStart => "slow_start",
            Self::Application => "application",
            Self::Receiver => "receiver",
            Self::Sender => "sender",
            Self::FullQueue => "full_queue",
            Self::RandomLoss => "random_loss",
            Self::Outage => "outage",
            Self::Unknown => "unknown",
        }
    }
}

/// A stretch of time with one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Period {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    pub(crate) limit: Limit,
}

/// The evidence of a slot that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// When the sender could go on, and when it did.
    pub(crate) ended: Nanos,
    pub(crate) now: Nanos,
    pub(crate) packets: u64,
    /// Since the last data.
    pub(crate) silence: Nanos,
    /// True if new data follow.
    pub(crate) new: bool,
    /// True if they were waiting when the last segment was sent.
    pub(crate) waited: bool,
    /// True if what was lost is being sent again.
    pub(crate) recovers: bool,
    /// Room that the receiver's window left, the window, and the payload of a packet, bytes.
    pub(crate) room: Option<u64>,
    pub(crate) window: u64,
    pub(crate) segment: u64,
    /// The least wait in the slot above the path's own time; the smoothed round trip, and the least of all.
    pub(crate) above: Option<Nanos>,
    pub(crate) smoothed: Option<Nanos>,
    pub(crate) least: Option<Nanos>,
    /// True if the capture was made at the sender.
    pub(crate) at_sender: bool,
    /// First byte that is not acknowledged.
    pub(crate) una: u64,
}

/// Why a window was reduced last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduction {
    Queue,
    Random,
}

/// The queue that a path's round trips show.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// How long packets waited at most; less and less of what was before the last losses.
    peak: Nanos,
    /// Packets of a slot, at most; less and less of what was before.
    packets: u64,
    /// True if it stood in the last two slots.
    stands: bool,
    stood: bool,
    /// Losses, and the share of them, the last ones counting most, at which packets waited about as long as ever.
    losses: u32,
    near_peak: f32,
}

impl Queue {
    /// A slot of `packets` ended whose least round trip was `above` the path's. A queue of less than [`QUEUED`] packets is a sender's own
    /// burst: of the path's rate it is known that it is that of the slot at least.
    fn slot(&mut self, above: Nanos, least: Nanos, packets: u64) {
        let noise = (least / 20).max(500_000).max(least.saturating_mul(QUEUED) / packets.max(1));
        self.stood = std::mem::replace(&mut self.stands, above > noise);
    }

    /// True if a packet that was lost fell into a queue: most of the losses come where packets wait about as long as they ever do. `above`:
    /// how long the last one waited.
    fn overflowed(&mut self, above: Nanos, least: Nanos) -> bool {
        let enough = (least / 128).max(150_000).max(least.saturating_mul(QUEUED) / self.packets.max(1));
        let near = self.peak > enough && above >= self.peak / 10 * 7;
        self.peak = above.max(self.peak / 10 * 9);
        self.losses = self.losses.saturating_add(1);
        let weight = (1.0 / self.losses as f32).max(RECENT);
        self.near_peak += weight * (f32::from(u8::from(near)) - self.near_peak);
        self.near_peak >= 0.5
    }
}

/// Sums over slots, for means.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) slots: u32,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Nanos,
}

/// Attributes the time of one direction of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    totals: [Nanos; LIMITS],
    /// All time before is attributed; `None` before the flow begins.
    until: Option<Nanos>,
    /// The period under way, and those to be written.
    period: Option<Period>,
    pub(crate) finished: Vec<Period>,
    slow_start: bool,
    /// True if the last pause was so long that a sender may have reduced its window.
    idle: bool,
    packets_before: u64,
    una_before: u64,
    last_limit: Option<Limit>,
    reduction: Option<Reduction>,
    /// For so many slots more the receiver's window counts as full if a third of it is free.
    full_lately: u8,
    queue: Queue,
    /// Last progress before what the retransmission timer sent.
    stalled: Option<Nanos>,
    /// Since when the window is closed, and how long it was in this slot.
    shut_since: Option<Nanos>,
    shut: Nanos,
    /// Times in this slot at which data came after a pause of the sender, and in answer to an acknowledgement.
    pauses: u32,
    answers: u32,
    /// Loss events that fell into a queue, and others; the sum of the waits at the former.
    pub(crate) queue_losses: u32,
    pub(crate) random_losses: u32,
    pub(crate) wait_at_losses: Nanos,
    /// Slots that the receiver's window limited (`bytes`: the window), and slots at the rate of the path (`bytes`: acknowledged).
    pub(crate) by_window: Sums,
    pub(crate) at_rate: Sums,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            totals: [0; LIMITS],
            until: None,
            period: None,
            finished: Vec::new(),
            slow_start: false,
            idle: false,
            packets_before: 0,
            una_before: 0,
            last_limit: None,
            reduction: None,
            full_lately: 0,
            queue: Queue::default(),
            stalled: None,
            shut_since: None,
            shut: 0,
            pauses: 0,
            answers: 0,
            queue_losses: 0,
            random_losses: 0,
            wait_at_losses: 0,
            by_window: Sums::default(),
            at_rate: Sums::default(),
        }
    }
}

/// The longest time in which an answer is at once.
fn prompt(least: Option<Nanos>) -> Nanos {
    (least.unwrap_or(0) / PROMPT_SHARE).max(PROMPT)
}

impl Limits {
    /// The first data pass. `handshake`: when it began and when it ended, if it was captured.
    pub(crate) fn begin(&mut self, now: Nanos, handshake: Option<(Nanos, Nanos)>) {
        let (from, opened) = handshake.unwrap_or((now, now));
        self.until = Some(from.min(now));
        self.slow_start = handshake.is_some();
        self.go_to(opened.min(now), Limit::Handshake);
        self.go_to(now, Limit::Application);
    }

    /// New data pass when the last segment had PSH: `since_ack` after the acknowledgement that they may answer, `since_data` after it.
    #[inline]
    pub(crate) fn written(&mut self, since_ack: Nanos, since_data: Nanos, least: Option<Nanos>) {
        let prompt = prompt(least);
        if since_data <= prompt {
            return;
        }
        if since_ack > prompt {
            self.pauses += 1;
        } else {
            self.answers += 1;
        }
    }

    /// An acknowledgement passes that leaves no room for a packet, and nothing under way, or that does.
    #[inline]
    pub(crate) fn window(&mut self, now: Nanos, shut: bool) {
        if shut {
            self.shut_since.get_or_insert(now);
        } else if let Some(since) = self.shut_since.take() {
            self.shut += now.saturating_sub(since);
        }
    }

    /// A packet waited so long.
    #[inline]
    pub(crate) fn waited(&mut self, above: Nanos) {
        self.queue.peak = self.queue.peak.max(above);
    }

    /// A loss event begins; `above`: how long the last packet waited that was measured.
    pub(crate) fn lost(&mut self, above: Nanos, least: Option<Nanos>) {
        let Some(least) = least else { return };
        if self.queue.overflowed(above, least) {
            self.queue_losses += 1;
            self.wait_at_losses = self.wait_at_losses.saturating_add(above);
            self.reduced(Reduction::Queue);
        } else {
            self.random_losses += 1;
            self.reduced(Reduction::Random);
        }
    }

    /// The sender reduces its window because a queue marked its packets (RFC 3168).
    pub(crate) fn marked(&mut self) {
        self.reduced(Reduction::Queue);
    }

    fn reduced(&mut self, reduction: Reduction) {
        self.reduction = Some(reduction);
        self.full_lately = 0;
        self.leave_slow_start();
    }

    fn leave_slow_start(&mut self) {
        self.slow_start = false;
    }

    /// The retransmission timer expired after the last `progress`.
    pub(crate) fn timed_out(&mut self, progress: Nanos) {
        self.stalled.get_or_insert(progress);
        self.slow_start = true;
        self.packets_before = 0;
    }

    /// A slot ended.
    pub(crate) fn slot(&mut self, slot: &Slot) {
        let Some(until) = self.until else { return };
        let pause = slot.now.saturating_sub(slot.ended);
        // Between a capture elsewhere and the sender, answers wait in queues too.
        let waits = if slot.at_sender { 0 } else { self.queue.peak.saturating_add(TICK) };
        let paused = pause > prompt(slot.least).saturating_add(waits);
        let ran_dry = slot.new && paused && !slot.waited && self.stalled.is_none();
        self.queue.packets = slot.packets.max(self.queue.packets / 8 * 7);
        if let (Some(above), Some(least), false) = (slot.above, slot.least, ran_dry) {
            self.queue.slot(above, least, slot.packets);
        }
        let limit = self.limit(slot, ran_dry);
        self.count(slot, limit, slot.now.saturating_sub(until));
        if let Some(progress) = self.stalled.take() {
            self.go_to(progress.max(until), limit);
            self.go_to(slot.now, Limit::Outage);
        } else if self.shut > pause / 2 {
            self.go_to(slot.ended, limit);
            self.go_to(slot.now, Limit::Receiver);
        } else {
            self.go_to(slot.now, limit);
        }
        self.idle =
            limit == Limit::Application && slot.silence > IDLE.saturating_add(slot.smoothed.unwrap_or(0));
        self.last_limit = Some(limit);
        self.una_before = slot.una;
        (self.pauses, self.answers, self.shut) = (0, 0, 0);
    }

    fn limit(&mut self, slot: &Slot, ran_dry: bool) -> Limit {
        if slot.least.is_none() {
            return Limit::Unknown;
        }
        let at_edge = self.is_at_edge(slot);
        if at_edge && !(ran_dry && slot.room.is_some_and(|room| room >= slot.segment)) {
            self.leave_slow_start();
            return Limit::Receiver;
        }
        if ran_dry || self.pauses > self.answers {
            return Limit::Application;
        }
        if self.is_slow_start(slot) {
            return Limit::SlowStart;
        }
        match self.reduction {
            _ if self.queue.stands => Limit::FullQueue,
            Some(Reduction::Queue) => Limit::FullQueue,
            Some(Reduction::Random) => Limit::RandomLoss,
            None if slot.room.is_none() => Limit::Unknown,
            None => Limit::Sender,
        }
    }

    /// True if the receiver's window was full. Once it was, and without a loss since, a third of it may be free: Linux defers a burst that
    /// is smaller than that (`tcp_tso_should_defer`).
    fn is_at_edge(&mut self, slot: &Slot) -> bool {
        let Some(room) = slot.room else { return false };
        if room < (2 * slot.segment).max(slot.window / 8) {
            self.full_lately = FULL_LATELY;
            return true;
        }
        self.full_lately = self.full_lately.saturating_sub(1);
        self.full_lately > 0 && room < slot.window / 3
    }

    /// True if the window still grows as in slow start.
    fn is_slow_start(&mut self, slot: &Slot) -> bool {
        let before = std::mem::replace(&mut self.packets_before, slot.packets);
        if self.idle {
            self.slow_start = slot.packets <= before / 2;
        } else if (slot.packets as f64) < GROWS * before as f64 && !slot.recovers {
            self.slow_start = false;
        }
        self.slow_start
    }

    fn count(&mut self, slot: &Slot, limit: Limit, time: Nanos) {
        let sums = match limit {
            Limit::Receiver => &mut self.by_window,
            Limit::FullQueue | Limit::SlowStart
                if self.una_before > 0
                    && !slot.recovers
                    && self.stalled.is_none()
                    && self.queue.stands
                    && self.queue.stood =>
            {
                &mut self.at_rate
            }
            _ => return,
        };
        sums.slots += 1;
        sums.packets = sums.packets.saturating_add(slot.packets);
        let (lasted, bytes) = if limit == Limit::Receiver {
            (slot.smoothed.unwrap_or(time), slot.window)
        } else {
            (time, slot.una.saturating_sub(self.una_before))
        };
        sums.time = sums.time.saturating_add(lasted);
        sums.bytes = sums.bytes.saturating_add(bytes);
    }

    /// All time until `now` goes to `limit`.
    fn go_to(&mut self, now: Nanos, limit: Limit) {
        let Some(until) = self.until.filter(|until| now > *until) else { return };
        self.totals[limit as usize] += now - until;
        self.until = Some(now);
        match &mut self.period {
            Some(period) if period.limit == limit => period.end = now,
            period => {
                if let Some(finished) = period.replace(Period { start: until, end: now, limit }) {
                    if self.finished.len() < PENDING {
                        self.finished.push(finished);
                    }
                }
            }
        }
    }

    /// The flow ended. `empty`: the sender had sent all that it was given. `known`: round trips were seen.
    pub(crate) fn finish(&mut self, ended: Nanos, empty: bool, known: bool) {
        let limit = match (known, empty, self.last_limit) {
            (false, ..) => Limit::Unknown,
            (_, true, _) => Limit::Application,
            (_, _, Some(limit)) => limit,
            (_, _, None) => Limit::Unknown,
        };
        if let Some(progress) = self.stalled.take() {
            self.go_to(progress, limit);
            self.go_to(ended, Limit::Outage);
        }
        self.go_to(ended, limit);
        if !known {
            let total = self.totals.iter().sum();
            self.totals = [0; LIMITS];
            self.totals[Limit::Unknown as usize] = total;
            if let Some(period) = &mut self.period {
                let start = self.finished.first().map_or(period.start, |first| first.start);
                *period = Period { start, end: period.end, limit: Limit::Unknown };
            }
            self.finished.clear();
        }
        if let Some(period) = self.period.take() {
            self.finished.push(period);
        }
    }

    /// Time that went to a cause.
    pub(crate) fn total(&self, limit: Limit) -> Nanos {
        self.totals[limit as usize]
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.finished.capacity() * size_of::<Period>()
    }
}
