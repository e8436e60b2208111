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

use crate::path_times::{Nanos, Waits};

/// A window that grows less than this from one round trip to the next is not in slow start, whose least factor is 1.5: delayed
/// acknowledgements that count packets and not bytes.
const GROWS: f64 = 1.2;

/// An answer that takes longer than this share of the round trip, and than [`PROMPT`], did not wait for an acknowledgement.
const PROMPT_SHARE: u64 = 8;
const PROMPT: Nanos = 300_000;

/// Clock of timestamps.
pub(crate) const TICK: Nanos = 1_000_000;

/// After a pause longer than the least timeout of usual systems, senders may begin with slow start again (RFC 5681 §4.1).
const IDLE: Nanos = 200_000_000;

/// Round trips for which a full window is remembered.
const FULL_LATELY: u8 = 32;

/// A slot whose packets take the bottleneck this share of its time, in percent, has filled it.
const BUSY: u64 = 97;

/// After a silence of so many packets' time a queue before the capture point is empty: delayed acknowledgements make pairs.
const EMPTIED: u64 = 6;

/// Waits at losses are alike if they differ by less than this part.
const LIKE: u64 = 6;

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

/// The path as far as it is known: the least round trip, and the time that a packet takes at its bottleneck, at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) least: Option<Nanos>,
    pub(crate) packet: Option<Nanos>,
}

/// The evidence of a slot that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// When it began, when the sender could go on, and when it did.
    pub(crate) start: Nanos,
    pub(crate) ended: Nanos,
    pub(crate) now: Nanos,
    pub(crate) packets: u64,
    /// Until when the sender had something to send, and how long it knew already that all was acknowledged.
    pub(crate) busy_until: Nanos,
    pub(crate) idle: Option<Nanos>,
    /// True if new data follow, and whether they were waiting when the last segment was sent.
    pub(crate) new: bool,
    /// True if they were waiting when the last segment was sent.
    pub(crate) waited: bool,
    /// True if what was lost is being sent again.
    pub(crate) recovers: bool,
    /// Room that the receiver's window left, the window, and the payload of a packet, bytes.
    pub(crate) room: Option<u64>,
    pub(crate) window: u64,
    pub(crate) segment: u64,
    /// The least wait in the slot above the path's own time, and the smoothed round trip.
    pub(crate) above: Option<Nanos>,
    pub(crate) smoothed: Option<Nanos>,
    pub(crate) path: Path,
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

/// A side of the capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    Beyond,
}

/// The losses on one side of the capture point.
#[derive(Clone, Copy, Debug, Default)]
struct Overflows {
    /// How long packets waited at most; less and less of what was before the last losses.
    peak: Nanos,
    /// Losses, and the share of them, the last ones counting most, at which packets waited about as long as ever.
    losses: u32,
    near_peak: f32,
    /// How long the packet before the last loss had waited, and whether that loss fell into a queue.
    level: Nanos,
    in_queue: bool,
}

/// The queue that a path's round trips show.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    sides: [Overflows; 2],
    /// Packets of a slot, at most.
    packets: u64,
    /// True if it stood in the last two slots.
    stands: bool,
    stood: bool,
}

impl Queue {
    /// A slot ended whose least round trip was `above` the path's, or whose packets take the bottleneck as long as it lasted.
    fn slot(&mut self, above: Nanos, least: Nanos, slot: &Slot) {
        self.packets = self.packets.max(slot.packets);
        let packet = slot.path.packet.unwrap_or(least / self.packets.max(1));
        let noise = (least / 20).max(500_000).max(QUEUED * packet);
        let lasted = slot.ended.saturating_sub(slot.start);
        let busy =
            slot.path.packet.is_some_and(|packet| packet.saturating_mul(slot.packets) >= lasted / 100 * BUSY);
        self.stood = std::mem::replace(&mut self.stands, above > noise || busy && !slot.recovers);
    }

    /// True if a packet that was lost on this side fell into a queue. No queue drops packets while it holds next to nothing; otherwise most of
    /// the losses come where packets wait about as long as they ever do there, or as at the loss before. `above`: how long the last one
    /// waited.
    fn overflowed(&mut self, side: Side, above: Nanos, least: Nanos, path: &Path) -> bool {
        let burst = QUEUED * path.packet.unwrap_or(least / self.packets.max(1));
        let enough = (least / 128).max(150_000).max(burst);
        let standing = self.stands && self.stood;
        let side = &mut self.sides[side as usize];
        let peak = side.peak.max(above);
        // Waits of the sender's own bursts are alike too.
        let like = above.abs_diff(side.level) <= side.level / LIKE;
        let again = side.losses > 0 && above > 2 * enough && like;
        let near = above > enough && (above >= peak / 10 * 7 || again);
        side.level = above;
        side.peak = above.max(peak / 10 * if standing { 8 } else { 10 });
        side.losses = side.losses.saturating_add(1);
        let weight = (1.0 / side.losses as f32).max(RECENT);
        side.near_peak += weight * (f32::from(u8::from(near)) - side.near_peak);
        (near || above > enough.max(peak / 3)) && side.near_peak >= 0.5
    }

    /// Returns the longest wait of packets on both sides.
    fn peak(&self) -> Nanos {
        self.sides[0].peak.saturating_add(self.sides[1].peak)
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
    /// True if the receiver's window was known in the last slot.
    window_known: bool,
    reduction: Option<Reduction>,
    /// For so many slots more the receiver's window counts as full if a third of it is free.
    full_lately: u8,
    queue: Queue,
    /// Last progress before what the retransmission timer sent, and when it did.
    stalled: Option<(Nanos, Nanos)>,
    /// When the window was first reduced in this slot, and what limited it before.
    turned: Option<(Nanos, Limit)>,
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
            window_known: false,
            reduction: None,
            full_lately: 0,
            queue: Queue::default(),
            stalled: None,
            turned: None,
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
    pub(crate) fn waited(&mut self, waits: Waits) {
        let [before, beyond] = &mut self.queue.sides;
        before.peak = before.peak.max(waits.before);
        beyond.peak = beyond.peak.max(waits.beyond);
    }

    /// A loss event begins on a side of the capture point; `above`: how long the packet before waited there, if one was measured since the
    /// loss event before.
    pub(crate) fn lost(&mut self, now: Nanos, side: Side, above: Option<Nanos>, path: &Path) {
        let Some(least) = path.least else { return };
        let queue = match above {
            Some(above) => self.queue.overflowed(side, above, least, path),
            None => self.queue.sides[side as usize].in_queue,
        };
        self.queue.sides[side as usize].in_queue = queue;
        if queue {
            self.queue_losses += 1;
            let waited = above.unwrap_or(self.queue.sides[side as usize].level);
            self.wait_at_losses = self.wait_at_losses.saturating_add(waited);
            self.reduced(now, Reduction::Queue);
        } else {
            self.random_losses += 1;
            self.reduced(now, Reduction::Random);
        }
    }

    /// The sender reduces its window because a queue marked its packets (RFC 3168).
    pub(crate) fn marked(&mut self, now: Nanos) {
        self.reduced(now, Reduction::Queue);
    }

    fn reduced(&mut self, now: Nanos, reduction: Reduction) {
        let before = self.state();
        self.turned.get_or_insert((now, before));
        self.reduction = Some(reduction);
        self.full_lately = 0;
        self.leave_slow_start();
    }

    fn leave_slow_start(&mut self) {
        self.slow_start = false;
    }

    /// The retransmission timer expired after the last `progress`.
    pub(crate) fn timed_out(&mut self, now: Nanos, progress: Nanos) {
        self.stalled = Some((self.stalled.map_or(progress, |(first, _)| first), now));
        self.slow_start = true;
        self.packets_before = 0;
    }

    /// A slot ended.
    pub(crate) fn slot(&mut self, slot: &Slot) {
        let Some(until) = self.until else { return };
        let pause = slot.now.saturating_sub(slot.ended);
        // Between a capture elsewhere and the sender, answers wait in queues too; but a queue that had room for so long a silence was empty.
        let silence = slot.now.saturating_sub(slot.busy_until);
        let emptied = slot.path.packet.is_some_and(|packet| silence > EMPTIED * packet);
        let waits = match (slot.at_sender, emptied) {
            (true, _) => 0,
            (false, true) => TICK,
            (false, false) => self.queue.peak().saturating_add(TICK),
        };
        let paused = slot.idle.is_some_and(|idle| idle > prompt(slot.path.least).saturating_add(waits));
        let ran_dry = slot.new && paused && !slot.waited && self.stalled.is_none();
        if let (Some(above), Some(least), false) = (slot.above, slot.path.least, ran_dry) {
            self.queue.slot(above, least, slot);
        }
        let limit = self.limit(slot, ran_dry);
        self.count(slot, limit, slot.now.saturating_sub(until));
        if let Some((at, before)) = self.turned.take().filter(|_| limit != Limit::Receiver) {
            self.go_to(self.stalled.map_or(at, |(progress, _)| at.min(progress)), before);
        }
        if let Some((progress, expired)) = self.stalled.take() {
            self.go_to(progress, limit);
            self.go_to(expired, Limit::Outage);
            self.go_to(slot.now, limit);
        } else if limit == Limit::Application && ran_dry {
            // Until it sent what is last, something else limited it.
            let before = self.last_limit.filter(|last| *last != Limit::Application).map(|_| self.state());
            self.go_to(slot.busy_until.min(slot.now), before.unwrap_or(limit));
            self.go_to(slot.now, limit);
        } else if self.shut > pause / 2 {
            self.go_to(slot.ended, limit);
            self.go_to(slot.now, Limit::Receiver);
        } else {
            self.go_to(slot.now, limit);
        }
        self.idle = limit == Limit::Application && silence > IDLE.saturating_add(slot.smoothed.unwrap_or(0));
        self.last_limit = Some(limit);
        self.una_before = slot.una;
        (self.pauses, self.answers, self.shut) = (0, 0, 0);
    }

    fn limit(&mut self, slot: &Slot, ran_dry: bool) -> Limit {
        if slot.path.least.is_none() {
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
        self.window_known = slot.room.is_some();
        self.state()
    }

    /// The limit of a sender that has data, while the receiver's window does not.
    fn state(&self) -> Limit {
        match self.reduction {
            _ if self.slow_start => Limit::SlowStart,
            _ if self.queue.stands => Limit::FullQueue,
            Some(Reduction::Queue) => Limit::FullQueue,
            Some(Reduction::Random) => Limit::RandomLoss,
            None if !self.window_known => Limit::Unknown,
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

    /// The flow ended, and had something to send until `busy_until`. `empty`: the sender had sent all that it was given. `known`: round trips
    /// were seen.
    pub(crate) fn finish(&mut self, busy_until: Nanos, ended: Nanos, empty: bool, known: bool) {
        if let Some((at, before)) = self.turned.take() {
            self.go_to(at, before);
        }
        if known && empty && self.last_limit.is_some_and(|limit| limit != Limit::Application) {
            self.go_to(busy_until.min(ended), self.state());
        }
        let limit = match (known, empty, self.last_limit) {
            (false, ..) => Limit::Unknown,
            (_, true, _) => Limit::Application,
            (_, _, Some(limit)) => limit,
            (_, _, None) => Limit::Unknown,
        };
        if let Some((progress, expired)) = self.stalled.take() {
            self.go_to(progress, limit);
            self.go_to(expired, Limit::Outage);
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;
    const PATH: Path = Path { least: Some(40 * MS), packet: Some(MS) };

    /// A flow with losses beyond the capture point after these waits, in a queue that once held 50 ms.
    fn after(waits: &[Nanos]) -> Limits {
        let mut limits = Limits::default();
        limits.waited(Waits { before: 0, beyond: 50 * MS });
        for (at, wait) in waits.iter().enumerate() {
            limits.lost(at as u64, Side::Beyond, Some(*wait), &PATH);
        }
        limits
    }

    fn counted(waits: &[Nanos]) -> (u32, u32) {
        let limits = after(waits);
        (limits.queue_losses, limits.random_losses)
    }

    #[test]
    fn losses_where_packets_wait_longest_are_of_a_queue() {
        assert_eq!(counted(&[48 * MS, 45 * MS, 50 * MS]), (3, 0));
    }

    #[test]
    fn a_queue_that_holds_nothing_drops_nothing_whatever_came_before() {
        assert_eq!(counted(&[48 * MS, 0, MS]), (1, 2));
        assert_eq!(counted(&[2 * MS; 8]), (0, 8), "waits of the sender's own bursts");
    }

    #[test]
    fn losses_after_like_waits_are_of_a_queue_that_held_more_before() {
        assert_eq!(counted(&[20 * MS, 21 * MS, 20 * MS, 21 * MS]), (3, 1));
        let (_, random) = counted(&[20 * MS, 8 * MS, 16 * MS, 5 * MS]);
        assert_eq!(random, 4, "waits that are not alike are chance");
    }

    #[test]
    fn a_loss_without_a_new_wait_has_the_cause_of_the_last() {
        let mut limits = after(&[48 * MS]);
        limits.lost(1, Side::Beyond, None, &PATH);
        assert_eq!((limits.queue_losses, limits.random_losses), (2, 0));
    }

    #[test]
    fn a_queue_on_one_side_takes_no_losses_on_the_other() {
        let mut limits = after(&[]);
        limits.lost(0, Side::Before, Some(2 * MS), &PATH);
        assert_eq!((limits.queue_losses, limits.random_losses), (0, 1));
    }

    #[test]
    fn time_before_a_loss_is_of_what_limited_before() {
        let mut limits = Limits::default();
        limits.begin(10 * MS, Some((0, 10 * MS)));
        limits.waited(Waits { before: 0, beyond: 50 * MS });
        limits.lost(40 * MS, Side::Beyond, Some(49 * MS), &PATH);
        limits.finish(60 * MS, 60 * MS, false, true);
        let total = |limit| limits.total(limit) / MS;
        assert_eq!((total(Limit::Handshake), total(Limit::SlowStart)), (10, 30));
        let all: Nanos = limits.totals.iter().sum();
        assert_eq!(all, 60 * MS, "all time has a cause");
    }
}
