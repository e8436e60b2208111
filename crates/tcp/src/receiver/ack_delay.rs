//! The delay of an ACK of a segment in order, in Linux's form of the policy [`Acks`](crate::policies::Acks).
//!
//! | kernel | here |
//! | --- | --- |
//! | `icsk_ack.quick` | [`Timing::quick`]: ACKs that go at once still |
//! | `icsk_ack.lrcvtime` | [`Timing::last`] |
//! | `icsk_ack.ato` | [`AckTimeout`], where it is longer than what is configured |
//! | `srtt_us` | [`Receiver::handshake`]: the receiver's only RTT, as it sends no data |
//!
//! Read for these facts: net/ipv4/tcp_input.c, tcp_output.c and tcp_timer.c of Linux 6.18.

use super::ack_timeout::AckTimeout;
use super::forms::Forms;
use super::Receiver;
use crate::segment::Segment;
use crate::TcpConfig;
use parshall_units::{Duration, Instant};

/// `TCP_MAX_QUICKACKS` of Linux.
pub(super) const QUICK_ACKS: u8 = 16;

/// Packets in order that Linux acknowledges at once after a mark or a retransmission (`__tcp_ecn_check_ce`).
const QUICK_ACKS_AFTER_MARK: u8 = 2;

/// The receiver's own timeout, us: of a handshake that was not timed, and what it adds to one that was at least
/// (`TCP_TIMEOUT_INIT`, `TCP_RTO_MIN`).
const UNTIMED_TIMEOUT: u32 = 1_000_000;
const LEAST_TIMEOUT: u32 = 200_000;

/// How long a reader takes to wake and read, us: what comes within it is read together, and acknowledged then
/// (`tcp_cleanup_rbuf`). So the last packet of a burst does not wait for the timer of delayed ACKs. No constant of the
/// kernel: hosts that were watched took some 50 us.
const READING: u32 = 50;
pub(super) const READ_IN: Duration = Duration::from_ps(READING as u64 * 1_000_000);

/// The time of a handshake that was not timed, as there was none.
pub(super) const UNTIMED: u32 = u32::MAX;

/// When segments came, and how ACKs wait for the next ones.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Timing {
    /// When the last segment in order came, or the SYN, us; it begins again after 71 minutes.
    last: u32,
    /// The time of a round trip, us; [`UNTIMED`] if there was no handshake, 0 until the first segment tells.
    pub(super) rtt: u32,
    /// When the round trip began in which the growth of the window is measured, ms; it begins again after 65 s.
    pub(super) round: u16,
    /// So many ACKs go at once still.
    pub(super) quick: u8,
    states: u8,
}

/// The bits of `Timing::states`. Most receivers are in neither state.
const GROWS: u8 = 1;
const SPACED: u8 = 2;

impl Timing {
    pub(super) const NEW: Self = Self { last: 0, rtt: UNTIMED, round: 0, quick: QUICK_ACKS, states: 0 };

    /// A SYN came.
    #[inline]
    pub(super) fn begin(&mut self, now: Instant) {
        *self = Self { last: in_us(now), rtt: 0, ..Self::NEW };
    }

    /// True if the window can grow.
    pub(super) fn grows(&self) -> bool {
        self.states & GROWS != 0
    }

    pub(super) fn set_grows(&mut self, grows: bool) {
        self.states = (self.states & !GROWS) | (u8::from(grows) * GROWS);
    }

    /// True if ACKs wait longer than is configured: the store has the timeout.
    fn is_spaced(&self) -> bool {
        self.states & SPACED != 0
    }

    /// The last segment in order came so recently that it is not read yet.
    pub(super) fn is_being_read(&self, now: Instant) -> bool {
        in_us(now).wrapping_sub(self.last) <= READING
    }

    /// True if segments come slowly: ACKs for which `least` is configured wait longer already, or may do so after this `pause`
    /// (us; `TCP_ATO_MIN / 2`).
    #[inline]
    pub(super) fn is_slow(&self, pause: u32, least: Duration) -> bool {
        self.is_spaced() || u64::from(pause) * 2_000_000 > least.as_ps()
    }

    /// So many ACKs go at once at least, and later ones wait as at first. `tcp_enter_quickack_mode`
    pub(super) fn hurry(&mut self, count: u8) {
        self.quick = self.quick.max(count);
        self.states &= !SPACED;
    }

    /// An ACK goes. `tcp_dec_quickack_mode`
    #[inline]
    pub(super) fn count_ack(&mut self) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.states &= !SPACED;
            }
        }
    }
}

impl Receiver {
    /// Fast path: takes a segment in order that needs no ACK at once, while no ACK waits. Equivalent to
    /// [`arrive`](Self::arrive) for such a segment; returns `false` for any other, which is not taken.
    #[inline]
    pub(super) fn waits_for_second(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> bool {
        let timing = &self.timing;
        let flagged = segment.syn | segment.push | segment.cwr | segment.congestion_experienced;
        let hastened =
            timing.quick > 0 || timing.grows() || self.ecn_seen != segment.ecn_capable || timing.rtt == 0;
        let in_order = segment.seq == self.next && !self.has_holes;
        let (Some(delay), true) = (config.delayed_ack, in_order && self.deadline == Instant::MAX) else {
            return false;
        };
        let us = in_us(now);
        let pause = us.wrapping_sub(timing.last);
        let slow = timing.is_slow(pause, delay);
        if flagged | hastened | config.accurate_ecn || slow && pause > LEAST_TIMEOUT {
            return false;
        }
        self.next += 1;
        self.timing.last = us;
        self.recent = segment.sent; // no ACK waits, so the last one ended here
        self.unacknowledged = true;
        let delay = if slow { self.slow_delay(delay, now, pause, segment) } else { delay };
        self.deadline = now + if pause < READING { READ_IN } else { delay };
        true
    }

    /// How long the ACK of such a segment waits where segments come slowly. The end of a round trip is looked for as
    /// well.
    #[inline(never)]
    fn slow_delay(&mut self, least: Duration, now: Instant, pause: u32, segment: &Segment) -> Duration {
        self.space_acks(least, pause);
        self.measure(now, segment);
        self.delay(least)
    }

    /// A segment arrived: the next ACKs go at once after the first mark of a round trip, after a retransmission of an
    /// ECN-capable sender, or after a pause, since the sender's window may be small. Returns whether it follows another
    /// so soon that both are read together.
    #[inline]
    pub(super) fn note_arrival<F: Forms>(
        &mut self,
        config: &TcpConfig,
        now: Instant,
        segment: &Segment,
    ) -> bool {
        let mut follows = false;
        if segment.seq == self.next {
            let by_linux = F::acks(config);
            let now = in_us(now);
            let pause = now.wrapping_sub(self.timing.last);
            if self.timing.rtt == 0 {
                self.time_first(now.wrapping_sub(in_us(segment.sent)), pause);
            } else if let Some(least) = config.delayed_ack.filter(|_| by_linux) {
                if self.timing.is_slow(pause, least) {
                    self.space_acks(least, pause);
                }
            }
            self.timing.last = now;
            follows = pause < READING && by_linux;
        }
        if self.timing.grows() && segment.seq >= self.next {
            self.widen();
        }
        let first_mark = segment.congestion_experienced && !self.congestion_echo;
        if first_mark || (self.ecn_seen && !segment.ecn_capable) {
            self.timing.hurry(QUICK_ACKS_AFTER_MARK);
        }
        self.ecn_seen |= segment.ecn_capable;
        follows
    }

    /// The first segment took so long, and came `pause` after the SYN, whose answer it follows.
    #[cold]
    fn time_first(&mut self, took: u32, pause: u32) {
        self.timing.rtt = pause.clamp(1, UNTIMED - 1);
        self.store.get_or_insert_default().back = pause.saturating_sub(took);
    }

    /// A segment came after a long `pause`, or one before it did: ACKs wait for longer or shorter, or go at once after
    /// a pause of the receiver's own timeout (`tcp_event_data_recv`).
    #[inline]
    fn space_acks(&mut self, least: Duration, pause: u32) {
        let before = self.ack_timeout(least);
        // The receiver's own timeout is no less than the least one, and matters only to what exceeds it.
        let short = before.0.max(pause) < LEAST_TIMEOUT / 2;
        let rto = if short { LEAST_TIMEOUT } else { self.own_timeout() };
        self.set_ack_timeout(least, before.on_segment(AckTimeout::least(least), pause, rto));
        if pause > rto {
            self.timing.quick = QUICK_ACKS;
        }
    }

    /// An ACK went alone: the next one waits for longer. `tcp_delack_timer_handler`
    pub(super) fn lengthen_delay(&mut self, least: Duration) {
        self.set_ack_timeout(least, self.ack_timeout(least).missed(self.own_timeout()));
    }

    /// Returns the wait of an ACK for a second segment, where `least` is configured.
    pub(super) fn delay(&self, least: Duration) -> Duration {
        if !self.timing.is_spaced() {
            return least;
        }
        self.ack_timeout(least).delay(AckTimeout::least(least), self.handshake())
    }

    fn ack_timeout(&self, least: Duration) -> AckTimeout {
        match &self.store {
            Some(store) if self.timing.is_spaced() => store.ack_timeout,
            _ => AckTimeout::least(least),
        }
    }

    fn set_ack_timeout(&mut self, least: Duration, timeout: AckTimeout) {
        self.timing.states &= !SPACED;
        if timeout.0 > AckTimeout::least(least).0 {
            self.timing.states |= SPACED;
            self.store.get_or_insert_default().ack_timeout = timeout;
        }
    }

    /// Returns the time of the handshake, us: the receiver's only RTT, as it sends no data (`srtt_us`); [`UNTIMED`] if there
    /// was none.
    pub(crate) fn handshake(&self) -> u32 {
        match &self.store {
            Some(store) if self.timing.rtt != UNTIMED => store.syn.saturating_add(store.back),
            _ => UNTIMED,
        }
    }

    /// The receiver's own retransmission timeout, us, though it never sends anything again: what the handshake gives
    /// (`tcp_rtt_estimator`).
    fn own_timeout(&self) -> u32 {
        match self.handshake() {
            UNTIMED => UNTIMED_TIMEOUT,
            rtt => rtt.saturating_add(rtt.saturating_mul(2).max(LEAST_TIMEOUT)),
        }
    }
}

/// A time in us; it begins again after 71 minutes.
pub(super) fn in_us(now: Instant) -> u32 {
    (now.as_ps() / 1_000_000) as u32
}

/// The same in ms; it begins again after 65 s.
pub(super) fn in_ms(now: Instant) -> u16 {
    (now.as_ps() / 1_000_000_000) as u16
}
