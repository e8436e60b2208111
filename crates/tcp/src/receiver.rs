//! The receiving end: which ACK answers which segment.
//!
//! A segment that fills or opens a hole is acknowledged at once (RFC 5681 §4.2); one in order may wait for a
//! second one, if ACKs are delayed. SACK blocks: the one that holds the segment just received first, then the
//! most recently changed others (RFC 2018 §4); for senders that use it (RACK), before them a segment that had arrived before
//! (D-SACK, RFC 2883). ECN: CE latches the echo until the sender's CWR (RFC 3168 §6.1.3), or is
//! echoed packet by packet (RFC 8257 §3.2): where CE changes, an ACK that waits goes out first, with the echo of the packets that
//! it is for ([`Receiver::ack_before`]), and the packet that differs is acknowledged at once. The timestamp that ACKs echo is TS.Recent
//! (RFC 7323 §4.3): where a hole is reported, that of the last segment before it.
//!
//! With Linux's rules, ACKs that report holes wait for others ([`held_back`]), and ACKs go at once after a pause of a timeout and while the
//! window that is offered grows ([`window`]); where segments come slowly, ACKs wait longer for a second one ([`ack_timeout`]).

mod ack_timeout;
mod held_back;
mod window;

use crate::ranges::{Range, RangeSet};
use crate::rules::Rules;
use crate::segment::{Ack, SackBlocks, Segment, NO_SACK, NO_WINDOW};
use crate::timer_wheel;
use crate::TcpConfig;
use ack_timeout::AckTimeout;
use held_back::HeldBack;
use parshall_units::{Duration, Instant};
use window::Window;

/// `TCP_MAX_QUICKACKS` of Linux.
const QUICK_ACKS: u8 = 16;

/// Blocks that an ACK may be expected to report in Linux, as some ACKs are lost (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// Packets in order that Linux acknowledges at once after a mark or a retransmission (`__tcp_ecn_check_ce`).
const QUICK_ACKS_AFTER_MARK: u8 = 2;

/// The receiver's own timeout, us: of a handshake that was not timed, and what it adds to one that was at least (`TCP_TIMEOUT_INIT`,
/// `TCP_RTO_MIN`).
const UNTIMED_TIMEOUT: u32 = 1_000_000;
const LEAST_TIMEOUT: u32 = 200_000;

/// How long a reader takes to wake and read, us: what comes within it is read together, and acknowledged then (`tcp_cleanup_rbuf`). So the last
/// packet of a burst does not wait for the timer of delayed ACKs. No constant of the kernel: hosts that were watched took some 50 us.
const READING: u32 = 50;
const READ_IN: Duration = Duration::from_ps(READING as u64 * 1_000_000);

/// What a handshake took that was not timed, as there was none.
const UNTIMED: u32 = u32::MAX;

/// The clock of timestamps ticks each ms (RFC 7323 §5.4), ps.
const TIMESTAMP_TICK: u64 = 1_000_000_000;

/// A receiver's state: the window can grow.
const GROWS: u8 = 1;
/// The timeout of its ACKs is longer than what is configured, and the store has it.
const SPACED: u8 = 2;

/// The receiving end of a connection.
///
/// What every segment in order needs comes first: see `Sender` on the order of fields.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// Next packet in order.
    next: u64,
    /// When a delayed ACK must go; [`Instant::MAX`] if none waits.
    deadline: Instant,
    congestion_echo: bool,
    /// Whether anything arrived out of order and still waits for what is missing before it.
    has_holes: bool,
    /// With Linux's rules: so many ACKs go at once still.
    quick: u8,
    /// An ECN-capable segment has come: one that is not is a retransmission.
    ecn_seen: bool,
    /// With Linux's rules: when the last segment in order came, or the SYN, us; it begins again after 71 minutes.
    last: u32,
    /// The timestamp that the next ACK echoes (TS.Recent, RFC 7323 §4.3): of the last segment that began where the last ACK ended, or before;
    /// [`Instant::MAX`] until one has come.
    recent: Instant,
    /// The packet before `next` is in no ACK yet.
    unacknowledged: bool,
    /// With Linux's rules: [`GROWS`], [`SPACED`] or both. Most receivers are in neither state.
    states: u8,
    /// With Linux's rules: when the round trip began of which the window's growth is measured, ms; it begins again after 65 s.
    round: u16,
    /// With Linux's rules: what a round trip takes, us; [`UNTIMED`] if there was no handshake, 0 until the first segment tells.
    rtt: u32,
    /// Made when the first segment arrives out of order, or at a handshake with Linux's rules.
    store: Option<Box<Store>>,
}

/// What few segments look at: what arrived out of order, the SACK blocks that tell of it, and the window that is offered.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Store {
    received: RangeSet,
    /// The blocks changed last, most recent first.
    recent: SackBlocks,
    held_back: HeldBack,
    window: Window,
    /// Where segments come slowly.
    ack_timeout: AckTimeout,
    /// What the SYN took, us, and the way back of the answer to it. No connection without a handshake has a use of them.
    syn: u32,
    back: u32,
}

impl Store {
    /// A block has changed: it comes first, and those that it has taken in are none any more. RFC 2018 §4
    fn remember(&mut self, changed: Range) {
        let others =
            self.recent.into_iter().filter(|block| !(changed.start..changed.end).contains(&block.start));
        self.recent = first_of(std::iter::once(changed).chain(others));
    }

    /// All below `next` has arrived: what begins there is no block any more.
    fn forget_below(&mut self, next: u64) {
        self.recent = first_of(self.recent.into_iter().filter(|block| block.start >= next));
    }
}

/// The first blocks of these for which an ACK has room.
fn first_of(blocks: impl Iterator<Item = Range>) -> SackBlocks {
    let mut first = NO_SACK;
    for (place, block) in first.iter_mut().zip(blocks) {
        *place = block;
    }
    first
}

/// What a segment led to.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Whether this packet had not arrived before.
    pub fresh: bool,
    /// The ACK to send now, if any.
    pub ack: Option<Ack>,
}

impl Receiver {
    /// Waits for packet `base`.
    pub fn new(base: u64) -> Self {
        Self {
            next: base,
            deadline: Instant::MAX,
            congestion_echo: false,
            has_holes: false,
            quick: QUICK_ACKS,
            ecn_seen: false,
            last: 0,
            recent: Instant::MAX,
            unacknowledged: false,
            states: 0,
            round: 0,
            rtt: UNTIMED,
            store: None,
        }
    }

    /// A new connection between the same ends, whose first packet is `base`.
    pub fn reopen(&mut self, base: u64) {
        let kept = self.store.take().map(|mut store| {
            store.received.clear();
            (store.recent, store.held_back) = (NO_SACK, HeldBack::default());
            store
        });
        *self = Self { store: kept, ..Self::new(base) };
    }

    /// Number of the next packet in order: everything below has arrived.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// What the next segment will look at beside the receiver itself, as something is missing before it.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_deref().filter(|_| self.has_holes)
    }

    /// When [`on_timer`](Self::on_timer) must be called; [`Instant::MAX`] if never.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The time of an ACK that waits has come: returns it, unless the timer expires at a later tick of the clock, which is the new deadline.
    pub fn on_timer(&mut self, config: &TcpConfig, now: Instant) -> Option<Ack> {
        if now < self.deadline {
            return None;
        }
        let reads = config.rules == Rules::Linux && in_us(now).wrapping_sub(self.last) <= READING;
        if let (Some(least), false) = (config.delayed_ack, reads | self.has_holes) {
            let tick = config.timer_tick.filter(|&tick| !timer_wheel::is_tick(now, tick));
            if let Some(tick) = tick {
                self.deadline = timer_wheel::expiry(now, self.delay(least), tick);
                return None;
            }
            if config.rules == Rules::Linux {
                self.set_ack_timeout(least, self.ack_timeout(least).missed(self.own_timeout()));
            }
        }
        Some(self.acknowledge_waiting(now))
    }

    /// How long an ACK waits for a second segment, where `least` is configured.
    fn delay(&self, least: Duration) -> Duration {
        if self.states & SPACED == 0 {
            return least;
        }
        self.ack_timeout(least).delay(AckTimeout::least(least), self.handshake())
    }

    fn ack_timeout(&self, least: Duration) -> AckTimeout {
        match &self.store {
            Some(store) if self.states & SPACED != 0 => store.ack_timeout,
            _ => AckTimeout::least(least),
        }
    }

    fn set_ack_timeout(&mut self, least: Duration, timeout: AckTimeout) {
        self.states &= !SPACED;
        if timeout.0 > AckTimeout::least(least).0 {
            self.states |= SPACED;
            self.store.get_or_insert_default().ack_timeout = timeout;
        }
    }

    /// What the handshake took, us: the receiver's only RTT, as it sends no data (`srtt_us`); [`UNTIMED`] if there was none.
    pub(crate) fn handshake(&self) -> u32 {
        match &self.store {
            Some(store) if self.rtt != UNTIMED => store.syn.saturating_add(store.back),
            _ => UNTIMED,
        }
    }

    /// The receiver's own retransmission timeout, of which it never sends anything again: what the handshake gives, us (`tcp_rtt_estimator`).
    fn own_timeout(&self) -> u32 {
        match self.handshake() {
            UNTIMED => UNTIMED_TIMEOUT,
            rtt => rtt.saturating_add(rtt.saturating_mul(2).max(LEAST_TIMEOUT)),
        }
    }

    /// Something is sent to the other end before the delayed ACK's time: returns that ACK, if one waits.
    pub fn hurry(&mut self, now: Instant) -> Option<Ack> {
        (self.deadline != Instant::MAX).then(|| self.acknowledge_waiting(now))
    }

    /// Whether an ACK that waits may have to go before the segment that arrives `at`: its time has come, or [`ack_before`](Self::ack_before)
    /// says it. Most ACKs that wait do so for the next segment in order.
    #[inline]
    pub fn may_send_before(&self, config: &TcpConfig, at: Instant) -> bool {
        self.deadline != Instant::MAX && (self.deadline < at) | self.has_holes | config.accurate_ecn
    }

    /// A segment is about to arrive while an ACK waits: returns that ACK if it must go first, because the segment's mark differs
    /// from those of the packets that it is for (RFC 8257 §3.2), or because it was held back and would have to report too many blocks.
    pub fn ack_before(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Option<Ack> {
        let waits = self.deadline != Instant::MAX;
        let first = waits && (self.mark_changes(config, segment) || self.crowds(segment));
        first.then(|| self.acknowledge_waiting(now))
    }

    /// Whether an ACK that is held back should not report the segment as well: two blocks were changed later than its own (`tcp_sack_new_ofo_skb`).
    fn crowds(&self, segment: &Segment) -> bool {
        if !self.has_holes || segment.seq <= self.next {
            return false;
        }
        let Some(store) = &self.store else { return false };
        let latest = &store.recent[..BLOCKS_EXPECTED];
        let extends = |block: &Range| block.start <= segment.seq + 1 && segment.seq <= block.end;
        latest.iter().all(|block| !block.is_empty() && !extends(block))
    }

    /// Whether the segment's mark differs from that of the one before, and the echo is that of each packet (DCTCP.CE).
    fn mark_changes(&self, config: &TcpConfig, segment: &Segment) -> bool {
        config.accurate_ecn && segment.congestion_experienced != self.congestion_echo
    }

    /// A segment arrived. If [`deadline`](Self::deadline) has passed, call [`on_timer`](Self::on_timer) first; if it is ahead,
    /// [`ack_before`](Self::ack_before).
    #[inline]
    pub fn on_segment(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Reception {
        if segment.sent < self.recent && self.is_old(config, segment) {
            return self.refuse(config, now, segment);
        }
        match config.rules {
            Rules::Rfc => self.arrive::<false>(config, now, segment),
            Rules::Linux if self.waits_for_second(config, now, segment) => {
                Reception { fresh: true, ack: None }
            }
            Rules::Linux => self.arrive_by_linux(config, now, segment),
        }
    }

    /// Whether the segment was sent before the last one in order, by the clock of timestamps, which Linux lets be late by a tick
    /// (`TCP_PAWS_WINDOW`). Packets that keep their order are never: a retransmission in order is overtaken by none that was sent before.
    #[cold]
    fn is_old(&self, config: &TcpConfig, segment: &Segment) -> bool {
        if !config.timestamps || segment.syn || self.recent == Instant::MAX {
            return false;
        }
        let late = self.recent.as_ps() / TIMESTAMP_TICK - segment.sent.as_ps() / TIMESTAMP_TICK;
        late > u64::from(config.rules == Rules::Linux)
    }

    /// Such a segment is taken for one of an earlier connection, and not accepted: PAWS, RFC 7323 §5.3 R1.
    #[cold]
    fn refuse(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Reception {
        let mut sack = if config.recovery.uses_sack() { self.blocks() } else { NO_SACK };
        if segment.seq < self.next {
            self.hurry_acks(QUICK_ACKS); // `tcp_send_dupack`
            if config.recovery.uses_duplicates() {
                sack = [Range { start: segment.seq, end: segment.seq + 1 }, sack[0], sack[1]];
            }
        }
        self.reset_held_back();
        let ack = match config.rules {
            Rules::Rfc => self.acknowledge::<false>(now, sack),
            Rules::Linux => self.acknowledge::<true>(now, sack),
        };
        Reception { fresh: false, ack: Some(ack) }
    }

    /// By Linux's rules: takes a segment in order of which nothing is to be said but that its ACK waits for a second one, as nearly every other
    /// is; all that [`arrive`](Self::arrive) comes to then. If it is not such a segment, nothing is done.
    #[inline]
    fn waits_for_second(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> bool {
        let flagged = segment.syn | segment.push | segment.cwr | segment.congestion_experienced;
        let hastened = self.quick > 0
            || self.states & GROWS != 0
            || self.ecn_seen != segment.ecn_capable
            || self.rtt == 0;
        let in_order = segment.seq == self.next && !self.has_holes;
        let (Some(delay), true) = (config.delayed_ack, in_order && self.deadline == Instant::MAX) else {
            return false;
        };
        let us = in_us(now);
        let pause = us.wrapping_sub(self.last);
        let slow = self.is_slow(pause, delay);
        if flagged | hastened | config.accurate_ecn || slow && pause > LEAST_TIMEOUT {
            return false;
        }
        self.next += 1;
        self.last = us;
        self.recent = segment.sent; // no ACK waits, so the last one ended here
        self.unacknowledged = true;
        let delay = if slow { self.slow_delay(delay, now, pause, segment) } else { delay };
        self.deadline = now + if pause < READING { READ_IN } else { delay };
        true
    }

    /// Whether segments come slowly: ACKs for which `least` is configured wait longer already, or may do so after this pause (`TCP_ATO_MIN / 2`).
    #[inline]
    fn is_slow(&self, pause: u32, least: Duration) -> bool {
        self.states & SPACED != 0 || u64::from(pause) * 2_000_000 > least.as_ps()
    }

    /// How long the ACK of such a segment waits where segments come slowly. The end of a round trip is looked for as well.
    #[inline(never)]
    fn slow_delay(&mut self, least: Duration, now: Instant, pause: u32, segment: &Segment) -> Duration {
        self.pace_acks(least, pause);
        self.measure(now, segment);
        self.delay(least)
    }

    #[inline(never)]
    fn arrive_by_linux(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Reception {
        self.arrive::<true>(config, now, segment)
    }

    /// A segment arrived, where Linux's rules hold or the RFCs': code of each, as the RFCs' is most packets' way.
    #[allow(clippy::inline_always)] // as many calls as there were before
    #[inline(always)]
    fn arrive<const LINUX: bool>(
        &mut self,
        config: &TcpConfig,
        now: Instant,
        segment: &Segment,
    ) -> Reception {
        if segment.syn {
            self.recent = segment.sent;
            let mut ack = self.acknowledge::<LINUX>(now, NO_SACK);
            self.quick = QUICK_ACKS;
            (self.last, self.rtt) = (in_us(now), 0);
            if LINUX {
                self.round = in_ms(now);
                let store = self.store.get_or_insert_default();
                store.window = Window::new(self.next, config.initial_receive_buffer);
                self.states = GROWS;
                store.syn = in_us(now).wrapping_sub(in_us(segment.sent));
            }
            ack.syn = true;
            ack.echo_retransmission = segment.retransmission;
            ack.congestion_echo = segment.cwr;
            return Reception { fresh: false, ack: Some(ack) };
        }
        self.note_timestamp::<LINUX>(segment);
        let at_once = match (config.accurate_ecn, LINUX) {
            (true, _) => self.mark_changes(config, segment),
            (false, false) => segment.congestion_experienced,
            (false, true) => segment.cwr,
        };
        if segment.cwr || config.accurate_ecn {
            self.congestion_echo = false;
        }
        let follows = LINUX && self.hasten(config, now, segment);
        self.congestion_echo |= segment.congestion_experienced;

        let in_order = segment.seq == self.next;
        if in_order && !self.has_holes {
            self.next += 1;
            if LINUX {
                self.measure(now, segment);
            }
            // The reader has read all, as nothing is out of order (`__tcp_cleanup_rbuf`).
            let at_once = at_once || (segment.push && LINUX);
            let ack = self.maybe_delay::<LINUX>(config, now, at_once);
            if follows && ack.is_none() {
                self.deadline = now + READ_IN;
            }
            return Reception { fresh: true, ack };
        }
        let reports_blocks = config.recovery.uses_sack();
        let acknowledged = self.acknowledged();
        let before = self.next;
        let fresh = self.accept(segment.seq, reports_blocks);
        if LINUX && fresh {
            self.fill_buffer(before);
        }
        if LINUX && in_order {
            self.measure(now, segment);
        }
        if LINUX && reports_blocks && fresh && !at_once {
            let advanced = self.next - acknowledged;
            if self.has_holes && advanced <= 1 && self.quick == 0 && self.holds_back(now) {
                self.unacknowledged = advanced == 1;
                return Reception { fresh, ack: None };
            }
        }
        let mut sack = if reports_blocks { self.blocks() } else { NO_SACK };
        if !fresh && segment.seq < self.next {
            self.hurry_acks(QUICK_ACKS); // `tcp_data_queue`
        }
        if !fresh && config.recovery.uses_duplicates() {
            sack = [Range { start: segment.seq, end: segment.seq + 1 }, sack[0], sack[1]];
        }
        if LINUX {
            self.reset_held_back();
        }
        let ack = self.acknowledge::<LINUX>(now, sack);
        Reception { fresh, ack: Some(ack) }
    }

    /// Where the last ACK ended (Last.ACK.sent).
    fn acknowledged(&self) -> u64 {
        self.next - u64::from(self.unacknowledged)
    }

    /// RFC 7323 §4.3 (2): what arrives behind a hole, or while an ACK waits, is not echoed. Without a handshake, the first segment's timestamp stands
    /// for that of the SYN. Linux drops what is acknowledged all before it looks at its timestamp (`tcp_sequence`).
    #[inline]
    fn note_timestamp<const LINUX: bool>(&mut self, segment: &Segment) {
        let is_older = segment.sent < self.recent && self.recent != Instant::MAX;
        let acknowledged = self.acknowledged();
        let is_next = segment.seq <= acknowledged && !(LINUX && segment.seq + 1 < acknowledged);
        if !is_older && (is_next || self.recent == Instant::MAX) {
            self.recent = segment.sent;
        }
    }

    /// Whether the ACK of a segment that leaves a hole waits for others.
    fn holds_back(&mut self, now: Instant) -> bool {
        let next = self.next;
        let holds = self.store.as_mut().is_some_and(|store| store.held_back.holds(next));
        if holds && self.deadline == Instant::MAX {
            self.deadline = now + held_back::delay(self.handshake());
        }
        holds
    }

    /// An ACK is sent: those that were held back need none of their own.
    fn reset_held_back(&mut self) {
        if let Some(store) = &mut self.store {
            store.held_back.sent();
        }
    }

    /// The next ACKs go at once after a mark that is news, after a retransmission of an ECN-capable sender, or after a pause: the sender's
    /// window may be small. Whether the segment follows another so soon that both are read together.
    #[inline]
    fn hasten(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> bool {
        let mut follows = false;
        if segment.seq == self.next {
            let now = in_us(now);
            let pause = now.wrapping_sub(self.last);
            if self.rtt == 0 {
                self.time_first(now.wrapping_sub(in_us(segment.sent)), pause);
            } else if let Some(least) = config.delayed_ack {
                if self.is_slow(pause, least) {
                    self.pace_acks(least, pause);
                }
            }
            self.last = now;
            follows = pause < READING;
        }
        if self.states & GROWS != 0 && segment.seq >= self.next {
            self.widen();
        }
        let news = segment.congestion_experienced && !self.congestion_echo;
        if news || (self.ecn_seen && !segment.ecn_capable) {
            self.hurry_acks(QUICK_ACKS_AFTER_MARK);
        }
        self.ecn_seen |= segment.ecn_capable;
        follows
    }

    /// The first segment took so long, and came `pause` after the SYN, whose answer it follows.
    #[cold]
    fn time_first(&mut self, took: u32, pause: u32) {
        self.rtt = pause.clamp(1, UNTIMED - 1);
        self.store.get_or_insert_default().back = pause.saturating_sub(took);
    }

    /// So many ACKs go at once, and the others are waited for as at first (`tcp_enter_quickack_mode`).
    fn hurry_acks(&mut self, count: u8) {
        self.quick = self.quick.max(count);
        self.states &= !SPACED;
    }

    /// A packet widens the window.
    #[inline(never)]
    fn widen(&mut self) {
        self.change_window(Window::widen);
        self.quick |= 1;
    }

    /// Of packets out of order the buffer holds one more, or fewer as those from `before` on are complete now.
    fn fill_buffer(&mut self, before: u64) {
        let (next, has_holes) = (self.next, self.has_holes);
        let beyond = self.store.as_ref().map_or(0, |store| store.received.end());
        self.change_window(
            |window| if has_holes { window.hold(before, next, beyond) } else { window.release() },
        );
    }

    /// What an ACK says that the receiver takes while packets are missing.
    #[cold]
    fn offer(&mut self) -> u32 {
        let next = self.next;
        self.store.as_mut().map_or(NO_WINDOW, |store| store.window.offer(next))
    }

    /// Looks at the end of a round trip whether more was read in it than ever before: the window grows then.
    #[inline]
    fn measure(&mut self, now: Instant, segment: &Segment) {
        if self.since_round(now) >= self.rtt {
            self.may_end_round(now, segment);
        }
    }

    /// How long the round trip has lasted, us.
    fn since_round(&self, now: Instant) -> u32 {
        u32::from(in_ms(now).wrapping_sub(self.round)) * 1000
    }

    /// The round trip ends, if it has not become longer meanwhile.
    fn may_end_round(&mut self, now: Instant, segment: &Segment) {
        let next = self.next;
        if let Some(store) = &mut self.store {
            let sample = store.back.saturating_add(in_us(now).wrapping_sub(in_us(segment.sent)));
            self.rtt = store.window.time(self.rtt, sample, next, self.quick > 0);
        }
        if self.since_round(now) >= self.rtt {
            self.round = in_ms(now);
            self.change_window(|window| window.end_round(next));
        }
    }

    /// The window changes: perhaps it can grow now, or no longer.
    fn change_window(&mut self, change: impl FnOnce(&mut Window)) {
        let Some(store) = &mut self.store else { return };
        change(&mut store.window);
        self.states &= !GROWS;
        if store.window.can_grow() {
            self.states |= GROWS;
        }
    }

    /// A segment came late, or one before it did: ACKs wait for longer or shorter, or go at once after a pause of the receiver's own timeout
    /// (`tcp_event_data_recv`).
    #[inline]
    fn pace_acks(&mut self, least: Duration, pause: u32) {
        let before = self.ack_timeout(least);
        // The receiver's own timeout is no less than the least one, and matters only to what exceeds it.
        let short = before.0.max(pause) < LEAST_TIMEOUT / 2;
        let rto = if short { LEAST_TIMEOUT } else { self.own_timeout() };
        self.set_ack_timeout(least, before.on_segment(AckTimeout::least(least), pause, rto));
        if pause > rto {
            self.quick = QUICK_ACKS;
        }
    }

    /// Acknowledges every second segment in order, or this one after the configured delay; `at_once`: its mark is news.
    #[inline]
    fn maybe_delay<const LINUX: bool>(
        &mut self,
        config: &TcpConfig,
        now: Instant,
        at_once: bool,
    ) -> Option<Ack> {
        let quick = LINUX && self.quick > 0;
        match config.delayed_ack {
            Some(least) if self.deadline == Instant::MAX && !at_once && !quick => {
                self.deadline = now + self.delay(least);
                self.unacknowledged = true;
                None
            }
            _ => Some(self.acknowledge::<LINUX>(now, NO_SACK)),
        }
    }

    /// Takes a packet into the out-of-order store; whether it is new.
    fn accept(&mut self, seq: u64, reports_blocks: bool) -> bool {
        if seq < self.next {
            return false;
        }
        let store = self.store.get_or_insert_default();
        let mut fresh = seq == self.next;
        if fresh {
            self.next = seq + 1;
            if let Some(end) = store.received.take_front_at(self.next) {
                self.next = end;
                store.forget_below(end);
            }
        } else {
            let block = store.received.insert(Range { start: seq, end: seq + 1 }, |_| fresh = true);
            if reports_blocks {
                store.remember(block);
            }
        }
        self.has_holes = !store.received.is_empty();
        fresh
    }

    fn blocks(&self) -> SackBlocks {
        self.store().map_or(NO_SACK, |store| store.recent)
    }

    /// The ACK that waits, now.
    fn acknowledge_waiting(&mut self, now: Instant) -> Ack {
        let mut sack = NO_SACK;
        if self.has_holes {
            sack = self.blocks(); // it was held back
            self.reset_held_back();
        }
        self.acknowledge::<true>(now, sack)
    }

    #[inline]
    fn acknowledge<const LINUX: bool>(&mut self, now: Instant, sack: SackBlocks) -> Ack {
        self.deadline = Instant::MAX;
        self.unacknowledged = false;
        if LINUX && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.states &= !SPACED; // `tcp_dec_quickack_mode`
            }
        }
        let window = if LINUX && self.has_holes { self.offer() } else { NO_WINDOW };
        Ack {
            cumulative: self.next,
            sent: now,
            echo: self.recent,
            echo_retransmission: false,
            congestion_echo: self.congestion_echo,
            syn: false,
            sack,
            window,
        }
    }
}

fn in_us(now: Instant) -> u32 {
    (now.as_ps() / 1_000_000) as u32
}

/// The same in ms; it begins again after 65 s.
fn in_ms(now: Instant) -> u16 {
    (now.as_ps() / 1_000_000_000) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rto::tests::config;
    use crate::Recovery;
    use parshall_units::Duration;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn segment(seq: u64) -> Segment {
        Segment::plain(seq, Instant::from_ps(seq))
    }

    fn sack_config() -> TcpConfig {
        TcpConfig { recovery: Recovery::Sack, ..config() }
    }

    fn ack(receiver: &mut Receiver, config: &TcpConfig, seq: u64) -> Ack {
        receiver.on_segment(config, Instant::ZERO, &segment(seq)).ack.expect("acknowledged at once")
    }

    /// RFC 7323 §5.3 R1; `tcp_paws_check` lets a tick pass, and `tcp_sequence` drops what is old before its timestamp is looked at.
    #[test]
    fn what_was_sent_before_a_retransmission_in_order_is_refused_behind_it() {
        for rules in [Rules::Rfc, Rules::Linux] {
            let config = TcpConfig { recovery: Recovery::Rack, rules, ..config() };
            let mut receiver = Receiver::new(1);
            let mut arrives = |seq, sent_ms| {
                let segment = Segment::plain(seq, Instant::ZERO + Duration::from_millis(sent_ms));
                let reception =
                    receiver.on_segment(&config, Instant::ZERO + Duration::from_millis(100), &segment);
                (reception.fresh, reception.ack.map_or(0, |ack| ack.cumulative))
            };
            assert!(arrives(1, 10).0 && arrives(3, 30).0, "a hole: 2");
            assert_eq!(arrives(2, 60), (true, 4), "sent again, and first in order");
            assert_eq!(arrives(4, 50), (false, 4), "overtaken by what was sent 10 ms later");
            assert_eq!(arrives(4, 59).0, rules == Rules::Linux, "a tick of its clock");
            assert!(arrives(5, 70).0, "later ones are taken");
            arrives(1, 90); // a duplicate of a packet that is acknowledged long since
            assert_eq!(arrives(6, 80).0, rules == Rules::Linux, "Linux dropped that without a look");
            let blind = TcpConfig { timestamps: false, ..config.clone() };
            let late = Segment::plain(7, Instant::ZERO);
            assert!(receiver.on_segment(&blind, Instant::ZERO, &late).fresh, "without timestamps");
        }
    }

    #[test]
    fn reports_the_block_just_changed_first() {
        let config = sack_config();
        let mut receiver = Receiver::new(0);
        assert_eq!(ack(&mut receiver, &config, 0).sack, NO_SACK);
        ack(&mut receiver, &config, 2);
        ack(&mut receiver, &config, 4);
        ack(&mut receiver, &config, 6);
        let reply = ack(&mut receiver, &config, 8);
        assert_eq!(reply.cumulative, 1);
        let starts: Vec<u64> = reply.sack.iter().map(|b| b.start).collect();
        assert_eq!(starts, [8, 6, 4]);
        let reply = ack(&mut receiver, &config, 3);
        assert_eq!(reply.sack[0], Range { start: 2, end: 5 });
        assert_eq!(reply.sack[1], Range { start: 8, end: 9 });
        assert_eq!(reply.sack[2], Range { start: 6, end: 7 });
        let reply = ack(&mut receiver, &config, 1);
        assert_eq!(reply.cumulative, 5);
    }

    /// The short way of a segment whose ACK waits, where segments come slowly, and the way of all others come to the same.
    #[test]
    fn slow_segments_have_a_short_way_that_changes_nothing() {
        let least = Duration::from_millis(40);
        let config = TcpConfig { rules: Rules::Linux, delayed_ack: Some(least), ..sack_config() };
        let mut receiver = Receiver::new(1);
        let mut at = Instant::ZERO + Duration::from_secs(1);
        let sent = |at: Instant| Instant::from_ps(at.as_ps() - Duration::from_millis(10).as_ps());
        receiver.on_segment(&config, at, &Segment { syn: true, ..Segment::plain(0, sent(at)) });
        let mut short = 0;
        for number in 1..=2000 {
            let pause = (number * 7919 % 210_000) as u32; // up to more than the least timeout
            at += Duration::from_ps(u64::from(pause) * 1_000_000);
            while receiver.deadline() < at {
                receiver.on_timer(&config, receiver.deadline());
            }
            let segment = Segment::plain(number, sent(at));
            let mut other = receiver.clone();
            if receiver.waits_for_second(&config, at, &segment) {
                if other.is_slow(pause, least) {
                    short += 1;
                    assert!(other.arrive_by_linux(&config, at, &segment).ack.is_none());
                    assert_eq!(format!("{receiver:?}"), format!("{other:?}"));
                }
            } else {
                receiver.arrive_by_linux(&config, at, &segment);
            }
        }
        assert!(short > 500, "{short}");
    }

    /// `tcp_data_queue`: a packet that had arrived makes the next ACKs go at once. Sixteen at the beginning do, those that report holes among
    /// them (`tcp_dec_quickack_mode`).
    #[test]
    fn linux_counts_the_acks_that_go_at_once() {
        let delayed_ack = Some(Duration::from_millis(40));
        let config = TcpConfig { rules: Rules::Linux, recovery: Recovery::Rack, delayed_ack, ..config() };
        let mut receiver = Receiver::new(0);
        let mut at_once = |seq| receiver.on_segment(&config, Instant::ZERO, &segment(seq)).ack.is_some();
        assert!((0..12).chain([13, 14, 15, 12]).all(&mut at_once), "sixteen");
        assert_eq!([16, 17, 18].map(&mut at_once), [false, true, false]);
        assert!(
            [19, 3].iter().copied().chain(20..35).all(&mut at_once),
            "fifteen after that of the duplicate"
        );
        assert!(!at_once(35));
    }

    proptest! {
        /// RFC 7323 §4.3, as it is written: of segments that begin at Last.ACK.sent or before, the latest timestamp, whatever waits or is missing. Linux
        /// leaves out those that end before it (`tcp_sequence`).
        #[test]
        fn acks_echo_ts_recent(
            segments in prop::collection::vec((0u64..12, 0u64..60_000), 1..80),
            linux in any::<bool>(), delayed in any::<bool>(), quick in 0u8..3,
        ) {
            let rules = if linux { Rules::Linux } else { Rules::Rfc };
            let delayed_ack = delayed.then(|| Duration::from_millis(40));
            let config = TcpConfig { rules, delayed_ack, recovery: Recovery::Rack, ..config() };
            let mut receiver = Receiver { quick, ..Receiver::new(0) };
            let (mut now, mut last_ack_sent, mut recent) = (Instant::ZERO, 0, Instant::MAX);
            for (ahead, pause_us) in segments {
                let seq = (receiver.next() + ahead).saturating_sub(8);
                let sent = now + Duration::from_ps(pause_us * 1_000_000);
                let mut acks = Vec::new();
                while receiver.deadline() < sent {
                    acks.extend(receiver.on_timer(&config, receiver.deadline()));
                }
                now = sent;
                let segment = Segment::plain(seq, sent);
                acks.extend(receiver.ack_before(&config, now, &segment));
                for ack in acks {
                    prop_assert_eq!(ack.echo, recent);
                    last_ack_sent = ack.cumulative;
                }
                let reception = receiver.on_segment(&config, now, &segment);
                let is_old = linux && seq + 1 < last_ack_sent;
                if seq <= last_ack_sent && !is_old || recent == Instant::MAX {
                    recent = sent;
                }
                if let Some(ack) = reception.ack {
                    prop_assert_eq!(ack.echo, recent);
                    last_ack_sent = ack.cumulative;
                }
            }
        }

        /// RFC 2018 §4: the block of the segment first, then those that were reported before and are blocks still.
        #[test]
        fn reports_as_many_blocks_as_it_remembers(segments in prop::collection::vec(0u64..24, 1..80)) {
            let config = sack_config();
            let mut receiver = Receiver::new(0);
            let mut arrived = BTreeSet::new();
            let mut reported = NO_SACK;
            for seq in segments {
                let ack = ack(&mut receiver, &config, seq);
                arrived.insert(seq);
                let run_of = |packet: u64| {
                    let start = (0..=packet).rev().take_while(|p| arrived.contains(p)).last()?;
                    let end = (packet..=24).find(|p| !arrived.contains(p))?;
                    Some(Range { start, end })
                };
                prop_assert_eq!(Some(ack.cumulative), (0..=24).find(|p| !arrived.contains(p)));
                let before = reported.iter().filter(|block| !block.is_empty()).map(|block| block.start);
                let mut expected: Vec<Range> = Vec::new();
                for run in std::iter::once(seq).chain(before).filter_map(run_of) {
                    if run.start > ack.cumulative && !expected.contains(&run) {
                        expected.push(run);
                    }
                }
                expected.resize(3, Range::default());
                prop_assert_eq!(ack.sack.to_vec(), expected);
                reported = ack.sack;
            }
        }
    }

    #[test]
    fn a_duplicate_is_acknowledged_but_not_fresh() {
        let config = sack_config();
        let mut receiver = Receiver::new(0);
        for seq in [0, 3] {
            assert!(receiver.on_segment(&config, Instant::ZERO, &segment(seq)).fresh);
        }
        for seq in [0, 3] {
            let reception = receiver.on_segment(&config, Instant::ZERO, &segment(seq));
            assert!(!reception.fresh && reception.ack.is_some());
        }
    }

    #[test]
    fn with_rack_a_duplicate_is_reported_before_the_blocks() {
        let config = TcpConfig { recovery: Recovery::Rack, ..config() };
        let mut receiver = Receiver::new(0);
        let packet = |seq| Range { start: seq, end: seq + 1 };
        for seq in [0, 3, 4, 8] {
            assert_eq!(ack(&mut receiver, &config, seq).duplicate(), None);
        }
        // Below the cumulative ACK, and within a block, which then follows.
        let below = ack(&mut receiver, &config, 0);
        assert_eq!((below.duplicate(), below.sack[1]), (Some(packet(0)), packet(8)));
        let within = ack(&mut receiver, &config, 4);
        assert_eq!(within.duplicate(), Some(packet(4)));
        assert_eq!(within.sack, [packet(4), Range { start: 3, end: 5 }, packet(8)]);
        // SACK recovery has no use for it.
        assert_eq!(ack(&mut receiver, &sack_config(), 4).sack[0], Range { start: 3, end: 5 });
    }

    #[test]
    fn delays_every_other_ack_and_no_longer_than_told() {
        let config = TcpConfig { delayed_ack: Some(Duration::from_millis(40)), ..config() };
        let mut receiver = Receiver::new(0);
        let now = Instant::ZERO;
        assert!(receiver.on_segment(&config, now, &segment(0)).ack.is_none());
        let second = receiver.on_segment(&config, now, &segment(1)).ack.unwrap();
        assert_eq!((second.cumulative, second.echo), (2, segment(0).sent));
        assert!(receiver.on_segment(&config, now, &segment(2)).ack.is_none());
        assert_eq!(receiver.deadline(), now + Duration::from_millis(40));
        assert_eq!(receiver.on_timer(&config, receiver.deadline()).unwrap().cumulative, 3);
        assert_eq!((receiver.deadline(), receiver.hurry(Instant::ZERO).is_some()), (Instant::MAX, false));
        receiver.on_segment(&config, now, &segment(3));
        let hurried = receiver.hurry(Instant::ZERO).unwrap();
        assert_eq!((hurried.cumulative, hurried.echo), (4, segment(3).sent));
        assert_eq!(receiver.deadline(), Instant::MAX);
        // Out of order: at once.
        assert!(receiver.on_segment(&config, now, &segment(9)).ack.is_some());
    }

    #[test]
    fn an_ack_of_a_hole_echoes_the_last_segment_before_it() {
        let config = TcpConfig { recovery: Recovery::Rack, ..config() };
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let echo = |receiver: &mut Receiver, config: &TcpConfig, seq, sent| {
            let segment = Segment::plain(seq, at(sent));
            let ack = receiver.on_segment(config, at(sent + 50), &segment).ack;
            ack.map(|ack| (ack.cumulative, ack.echo))
        };
        let mut receiver = Receiver::new(0);
        assert_eq!(echo(&mut receiver, &config, 0, 50), Some((1, at(50))));
        assert_eq!(echo(&mut receiver, &config, 2, 70), Some((1, at(50))));
        assert_eq!(echo(&mut receiver, &config, 1, 90), Some((3, at(90))), "the retransmission");
        let delays = TcpConfig { delayed_ack: Some(Duration::from_millis(40)), ..config };
        let mut receiver = Receiver::new(0);
        assert_eq!(echo(&mut receiver, &delays, 0, 50), None);
        assert_eq!(
            echo(&mut receiver, &delays, 2, 70),
            Some((1, at(50))),
            "the earliest that the ACK is for"
        );
    }

    #[test]
    fn echoes_a_mark_until_it_is_answered() {
        let config = config();
        let mut receiver = Receiver::new(0);
        let marked = Segment { congestion_experienced: true, ..segment(0) };
        assert!(receiver.on_segment(&config, Instant::ZERO, &marked).ack.unwrap().congestion_echo);
        assert!(ack(&mut receiver, &config, 1).congestion_echo);
        let answered = Segment { cwr: true, ..segment(2) };
        assert!(!receiver.on_segment(&config, Instant::ZERO, &answered).ack.unwrap().congestion_echo);
    }

    /// With Linux's rules: two packets after a mark that is news, two after a retransmission, and one that says CWR.
    #[test]
    fn linux_hastens_acks_where_the_window_may_be_small() {
        let config = TcpConfig {
            rules: Rules::Linux,
            ecn: true,
            delayed_ack: Some(Duration::from_millis(40)),
            ..config()
        };
        let plain = |seq| Segment { ecn_capable: true, ..segment(seq) };
        let marked = |seq| Segment { congestion_experienced: true, ..plain(seq) };
        let mut receiver = Receiver { quick: 0, ..Receiver::new(0) };
        let mut at_once =
            |segment: Segment| receiver.on_segment(&config, Instant::ZERO, &segment).ack.is_some();
        assert_eq!([plain(0), plain(1)].map(&mut at_once), [false, true], "every second one");
        assert_eq!([marked(2), marked(3)].map(&mut at_once), [true, true]);
        assert_eq!([marked(4), marked(5)].map(&mut at_once), [false, true], "the mark is no news");
        let reduced = |seq| Segment { cwr: true, ..plain(seq) };
        assert_eq!([plain(6), reduced(7), reduced(8)].map(&mut at_once), [false, true, true]);
        assert_eq!(
            [segment(9), plain(10), plain(11)].map(&mut at_once),
            [true, true, false],
            "a retransmission"
        );
    }

    #[test]
    fn linux_acknowledges_the_first_sixteen_packets_at_once() {
        let delayed = TcpConfig { delayed_ack: Some(Duration::from_millis(40)), ..config() };
        for (rules, at_once) in [(Rules::Rfc, 0), (Rules::Linux, 16)] {
            let config = TcpConfig { rules, ..delayed.clone() };
            let mut receiver = Receiver::new(1);
            for seq in 1..=at_once {
                assert!(receiver.on_segment(&config, Instant::from_ps(seq), &segment(seq)).ack.is_some());
            }
            let next = at_once + 1;
            assert!(receiver.on_segment(&config, Instant::from_ps(next), &segment(next)).ack.is_none());
        }
    }

    proptest! {
        /// RFC 8257 §3.2: with delayed ACKs too, the packets that ACKs with the echo are for are those that were marked.
        #[test]
        fn the_share_of_packets_echoed_is_the_share_marked(marks in prop::collection::vec(any::<bool>(), 1..200)) {
            let config = TcpConfig {
                accurate_ecn: true, ecn: true, delayed_ack: Some(Duration::from_millis(40)), ..config()
            };
            let mut receiver = Receiver::new(0);
            let (mut acknowledged, mut echoed) = (0, Vec::new());
            let mut acks = 0;
            for (seq, &marked) in marks.iter().enumerate() {
                let segment = Segment { congestion_experienced: marked, ..segment(seq as u64) };
                let before = receiver.ack_before(&config, Instant::ZERO, &segment);
                let reply = receiver.on_segment(&config, Instant::ZERO, &segment).ack;
                for ack in before.into_iter().chain(reply) {
                    echoed.extend((acknowledged..ack.cumulative).map(|_| ack.congestion_echo));
                    acknowledged = ack.cumulative;
                    acks += 1;
                }
            }
            if let Some(ack) = receiver.on_timer(&config, receiver.deadline()) {
                echoed.extend((acknowledged..ack.cumulative).map(|_| ack.congestion_echo));
            }
            prop_assert_eq!(&echoed, &marks);
            // And they stay delayed where the mark stays.
            let changes = marks.windows(2).filter(|pair| pair[0] != pair[1]).count();
            prop_assert!(acks <= marks.len().div_ceil(2) + 2 * changes + 1);
        }
    }
}
