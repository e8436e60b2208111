//! The receiving end: which ACK answers which segment.
//!
//! The core knows what has arrived, and what ACKs report of it:
//! - SACK blocks: the one that holds the segment just received first, then the others, changed last first (RFC 2018
//!   §4); before them, for senders that use it (RACK), a segment that had arrived before (D-SACK, RFC 2883);
//! - ECN: CE latches the echo until the sender's CWR (RFC 3168 §6.1.3), or is echoed packet by packet (RFC 8257 §3.2):
//!   where CE changes, an ACK that waits goes first, with the echo of its own packets ([`Receiver::ack_before`]);
//! - the timestamp: TS.Recent (RFC 7323 §4.3). Where a hole is reported it is that of the last segment before the hole.
//!
//! When an ACK goes, the policies say. By the RFCs one that fills or opens a hole goes at once (RFC 5681 §4.2), and one
//! in order may wait for a second segment. Linux's forms are in files of their own:
//!
//! | file | policy |
//! | --- | --- |
//! | [`ack_delay`], [`ack_timeout`] | [`Acks`](crate::policies::Acks): ACKs in order |
//! | [`held_back`] | [`SackCompression`](crate::policies::SackCompression): ACKs that report holes |
//! | [`buffer`], [`window`] | [`ReceiveBuffer`](crate::policies::ReceiveBuffer): the window that is offered |

mod ack_delay;
mod ack_timeout;
mod buffer;
mod forms;
mod held_back;
mod old_segments;
mod store;
#[cfg(test)]
mod tests;
mod window;

use crate::policies::Rules;
use crate::ranges::Range;
use crate::segment::{Ack, SackBlocks, Segment, NO_SACK, NO_WINDOW};
use crate::timer_wheel;
use crate::TcpConfig;
use ack_delay::{Timing, QUICK_ACKS, READ_IN};
use forms::Forms;
use parshall_units::Instant;
pub use store::Store;

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
    /// True if anything arrived out of order and still waits for what is missing before it.
    has_holes: bool,
    /// The packet before `next` is in no ACK yet.
    unacknowledged: bool,
    /// An ECN-capable segment has come: one that is not is a retransmission.
    ecn_seen: bool,
    /// What policies of Linux's form remember.
    timing: Timing,
    /// The timestamp that the next ACK echoes (TS.Recent, RFC 7323 §4.3): of the last segment that began where the last
    /// ACK ended, or before; [`Instant::MAX`] until one has come.
    recent: Instant,
    /// Made when the first segment arrives out of order, or at a handshake with policies of Linux's form.
    store: Option<Box<Store>>,
}

/// The result of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// True if this packet had not arrived before.
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
            unacknowledged: false,
            ecn_seen: false,
            timing: Timing::NEW,
            recent: Instant::MAX,
            store: None,
        }
    }

    /// A new connection between the same ends, whose first packet is `base`.
    pub fn reopen(&mut self, base: u64) {
        let store = self.store.take().map(|mut store| {
            store.reopen();
            store
        });
        *self = Self { store, ..Self::new(base) };
    }

    /// Number of the next packet in order: everything below has arrived.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the state that the next segment will look at beside the receiver itself, as something is missing
    /// before it.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_deref().filter(|_| self.has_holes)
    }

    /// When [`on_timer`](Self::on_timer) must be called; [`Instant::MAX`] if never.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The time of an ACK that waits has come: returns it, unless the timer expires at a later tick of the clock, which
    /// is the new deadline.
    pub fn on_timer(&mut self, config: &TcpConfig, now: Instant) -> Option<Ack> {
        if now < self.deadline {
            return None;
        }
        let is_read = config.rules.acks.is_linux() && self.timing.is_being_read(now);
        if let (Some(least), false) = (config.delayed_ack, is_read | self.has_holes) {
            let tick = config.timer_tick.filter(|&tick| !timer_wheel::is_tick(now, tick));
            if let Some(tick) = tick {
                self.deadline = timer_wheel::expiry(now, self.delay(least), tick);
                return None;
            }
            if config.rules.acks.is_linux() {
                self.lengthen_delay(least);
            }
        }
        Some(self.acknowledge_waiting(now))
    }

    /// Something is sent to the other end before the delayed ACK's time: returns that ACK, if one waits.
    pub fn hurry(&mut self, now: Instant) -> Option<Ack> {
        (self.deadline != Instant::MAX).then(|| self.acknowledge_waiting(now))
    }

    /// True if an ACK that waits may have to go before the segment that arrives `at`: its time has come, or
    /// [`ack_before`](Self::ack_before) has to be asked. Most ACKs that wait do so for the next segment in order.
    #[inline]
    pub fn may_send_before(&self, config: &TcpConfig, at: Instant) -> bool {
        self.deadline != Instant::MAX && (self.deadline < at) | self.has_holes | config.accurate_ecn
    }

    /// A segment is about to arrive while an ACK waits: returns that ACK if it must go first, because the segment's
    /// mark differs from those of the packets that it is for (RFC 8257 §3.2), or because it was held back and would
    /// have to report too many blocks.
    pub fn ack_before(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Option<Ack> {
        let waits = self.deadline != Instant::MAX;
        let first = waits && (self.mark_changes(config, segment) || self.exceeds_blocks(segment));
        first.then(|| self.acknowledge_waiting(now))
    }

    /// True if the segment's mark differs from that of the one before, and the echo is that of each packet (DCTCP.CE).
    fn mark_changes(&self, config: &TcpConfig, segment: &Segment) -> bool {
        config.accurate_ecn && segment.congestion_experienced != self.congestion_echo
    }

    /// A segment arrived. If [`deadline`](Self::deadline) has passed, call [`on_timer`](Self::on_timer) first; if it is
    /// ahead, [`ack_before`](Self::ack_before).
    #[inline]
    pub fn on_segment(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Reception {
        if segment.sent < self.recent && self.is_old(config, segment) {
            return self.refuse(config, now, segment);
        }
        let Rules { acks, sack_compression, receive_buffer, .. } = config.rules;
        let by_linux = u8::from(acks.is_linux())
            + u8::from(sack_compression.is_linux())
            + u8::from(receive_buffer.is_linux());
        if by_linux == 0 {
            self.arrive::<forms::Rfc>(config, now, segment)
        } else if acks.is_linux() && self.waits_for_second(config, now, segment) {
            Reception { fresh: true, ack: None }
        } else if by_linux == 3 {
            self.arrive_by_linux::<forms::Linux>(config, now, segment)
        } else {
            self.arrive_by_linux::<forms::Mixed>(config, now, segment)
        }
    }

    #[inline(never)]
    fn arrive_by_linux<F: Forms>(
        &mut self,
        config: &TcpConfig,
        now: Instant,
        segment: &Segment,
    ) -> Reception {
        self.arrive::<F>(config, now, segment)
    }

    /// A segment arrived.
    #[allow(clippy::inline_always)] // as many calls as there were before
    #[inline(always)]
    fn arrive<F: Forms>(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Reception {
        if segment.syn {
            return Reception { fresh: false, ack: Some(self.answer_syn::<F>(config, now, segment)) };
        }
        let by_linux = F::acks(config);
        self.note_timestamp(segment, by_linux);
        let at_once = match (config.accurate_ecn, by_linux) {
            (true, _) => self.mark_changes(config, segment),
            (false, false) => segment.congestion_experienced,
            (false, true) => segment.cwr,
        };
        if segment.cwr || config.accurate_ecn {
            self.congestion_echo = false;
        }
        let follows = F::LINUX && self.note_arrival::<F>(config, now, segment);
        self.congestion_echo |= segment.congestion_experienced;
        if segment.seq != self.next || self.has_holes {
            return self.arrive_out_of_order::<F>(config, now, segment, at_once);
        }
        self.next += 1;
        if F::LINUX {
            self.measure(now, segment);
        }
        // The reader has read all, as nothing is out of order (`__tcp_cleanup_rbuf`).
        let at_once = at_once || (segment.push && by_linux);
        let ack = self.maybe_delay::<F>(config, now, at_once);
        if follows && ack.is_none() {
            self.deadline = now + READ_IN;
        }
        Reception { fresh: true, ack }
    }

    /// A connection begins.
    #[inline]
    fn answer_syn<F: Forms>(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Ack {
        self.recent = segment.sent;
        let ack = self.acknowledge::<F>(now, NO_SACK);
        self.timing.begin(now);
        if F::LINUX {
            self.begin_timing(config, now, segment);
        }
        Ack { syn: true, echo_retransmission: segment.retransmission, congestion_echo: segment.cwr, ..ack }
    }

    /// A segment arrived that leaves a hole, fills one, or had arrived before; `at_once`: its mark asks for an ACK.
    #[inline]
    fn arrive_out_of_order<F: Forms>(
        &mut self,
        config: &TcpConfig,
        now: Instant,
        segment: &Segment,
        at_once: bool,
    ) -> Reception {
        let in_order = segment.seq == self.next;
        let reports_blocks = config.recovery.uses_sack();
        let acknowledged = self.acknowledged();
        let before = self.next;
        let fresh = self.accept(segment.seq, reports_blocks);
        if F::LINUX && fresh {
            self.fill_buffer(before);
        }
        if F::LINUX && in_order {
            self.measure(now, segment);
        }
        if F::sack_compression(config) && reports_blocks && fresh && !at_once {
            let advanced = self.next - acknowledged;
            let quick = F::acks(config) && self.timing.quick > 0;
            if self.has_holes && advanced <= 1 && !quick && self.holds_back(now) {
                self.unacknowledged = advanced == 1;
                return Reception { fresh, ack: None };
            }
        }
        let mut sack = if reports_blocks { self.blocks() } else { NO_SACK };
        if !fresh && segment.seq < self.next {
            self.timing.hurry(QUICK_ACKS); // `tcp_data_queue`
        }
        if !fresh && config.recovery.uses_duplicates() {
            sack = [Range { start: segment.seq, end: segment.seq + 1 }, sack[0], sack[1]];
        }
        if F::LINUX {
            self.reset_held_back();
        }
        let ack = self.acknowledge::<F>(now, sack);
        Reception { fresh, ack: Some(ack) }
    }

    /// Where the last ACK ended (Last.ACK.sent).
    fn acknowledged(&self) -> u64 {
        self.next - u64::from(self.unacknowledged)
    }

    /// RFC 7323 §4.3 (2): what arrives behind a hole, or while an ACK waits, is not echoed. Without a handshake, the
    /// first segment's timestamp stands for that of the SYN. Linux drops what is acknowledged all before it looks at its
    /// timestamp (`tcp_sequence`).
    #[inline]
    fn note_timestamp(&mut self, segment: &Segment, by_linux: bool) {
        let is_older = segment.sent < self.recent && self.recent != Instant::MAX;
        let acknowledged = self.acknowledged();
        let is_next = segment.seq <= acknowledged && !(by_linux && segment.seq + 1 < acknowledged);
        if !is_older && (is_next || self.recent == Instant::MAX) {
            self.recent = segment.sent;
        }
    }

    /// Acknowledges every second segment in order, or this one after its delay; `at_once`: now.
    #[inline]
    fn maybe_delay<F: Forms>(&mut self, config: &TcpConfig, now: Instant, at_once: bool) -> Option<Ack> {
        let quick = F::acks(config) && self.timing.quick > 0;
        match config.delayed_ack {
            Some(least) if self.deadline == Instant::MAX && !at_once && !quick => {
                self.deadline = now + self.delay(least);
                self.unacknowledged = true;
                None
            }
            _ => Some(self.acknowledge::<F>(now, NO_SACK)),
        }
    }

    /// Takes a packet into the out-of-order store; returns whether it is new.
    fn accept(&mut self, seq: u64, reports_blocks: bool) -> bool {
        if seq < self.next {
            return false;
        }
        let store = self.store.get_or_insert_default();
        let (next, fresh) = store.accept(self.next, seq, reports_blocks);
        self.next = next;
        self.has_holes = store.has_holes();
        fresh
    }

    fn blocks(&self) -> SackBlocks {
        self.store().map_or(NO_SACK, Store::blocks)
    }

    /// The ACK that waits, now.
    fn acknowledge_waiting(&mut self, now: Instant) -> Ack {
        let mut sack = NO_SACK;
        if self.has_holes {
            sack = self.blocks(); // it was held back
            self.reset_held_back();
        }
        self.acknowledge::<forms::Mixed>(now, sack)
    }

    #[inline]
    fn acknowledge<F: Forms>(&mut self, now: Instant, sack: SackBlocks) -> Ack {
        self.deadline = Instant::MAX;
        self.unacknowledged = false;
        if F::LINUX {
            self.timing.count_ack();
        }
        let window = if F::LINUX && self.has_holes { self.offer() } else { NO_WINDOW };
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
