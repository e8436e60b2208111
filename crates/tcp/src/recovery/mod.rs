//! Loss recovery: how a sender finds losses and repairs them.
//!
//! | recovery | losses found by | repaired by | window meanwhile | file |
//! | --- | --- | --- | --- | --- |
//! | `tahoe` | 3 duplicate ACKs | going back to the first hole, slow start | from 1 | `classic.rs` |
//! | `reno` (RFC 5681) | 3 duplicate ACKs | the first hole only | ssthresh + 3 + duplicates | `classic.rs` |
//! | `newreno` (RFC 6582) | 3 duplicate ACKs | a hole each partial ACK | the same, less partial ACKs | `classic.rs` |
//! | `sack` (RFC 6675) | 3 SACKed packets above | every hole, by scoreboard | pipe to ssthresh, or PRR | `sack.rs` |
//! | `rack` (RFC 8985) | time since it was sent; probes at the tail | every hole | the same | `rack.rs` |
//!
//! Which one it is, a connection decides when it is built: [`LossRecovery`]. Each has state of its own and works on the
//! [`Connection`] that it is handed; none knows the sender.
//!
//! Choice that the RFCs leave open: ssthresh is reduced only by the first of several timeouts in a row (RFC 5681 §3.1).
//! Others are in the headers of the files.

mod catalog;
mod classic;
mod prr;
mod rack;
mod sack;
pub mod scoreboard;

pub use catalog::{Recovery, CATALOG};

use crate::connection::{Connection, Phase};
use crate::segment::Ack;
use crate::TcpConfig;
use classic::{Classic, Variant};
use parshall_units::{Duration, Instant};
use rack::Rack;
use sack::Sack;

/// The work of a loss recovery for its sender.
///
/// It owns the way in which losses are found, what is sent again, and the retransmission timer. Packets that go simply
/// one after another are not its concern, and most ACKs are answered so: what is asked for each of them is inlined and
/// looks at flags only.
pub(crate) trait Repair {
    /// An ACK acknowledges new data: `acked` packets, which the connection no longer counts as outstanding. How many
    /// packets it reports as delivered that no ACK had reported before; `None`: the window may not grow by it.
    fn on_new_data(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
        acked: u64,
    ) -> Option<u64>;

    /// An ACK acknowledges nothing new cumulatively, while data is outstanding.
    fn on_old_data(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, ack: &Ack);

    /// Time has come to the connection's deadline.
    fn on_timer(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant);

    /// How long the timer that comes to its time now was to last.
    fn timer_lasts(&self, connection: &Connection, config: &TcpConfig, _now: Instant) -> Duration {
        connection.timeout(config)
    }

    /// The timers that have come to their time expire later, as the connection's deadline does.
    fn put_off_timers(&mut self, _now: Instant, _until: Instant) {}

    /// True if what goes next must be asked of [`next`](Self::next): it is not simply the next packet in order.
    fn chooses_next(&self, phase: Phase) -> bool;

    /// The packet that goes next, if one may go now.
    fn next(&mut self, connection: &mut Connection, config: &TcpConfig) -> Option<u64>;

    /// True if a packet goes next whatever the window.
    fn is_urgent(&self) -> bool;

    /// What it adds to the window of packets in order: by inflation (RFC 5681 §3.2), and packets of limited transmit
    /// (RFC 3042).
    #[inline]
    fn extra_window(&self, _phase: Phase, _config: &TcpConfig) -> (f64, u32) {
        (0.0, 0)
    }

    /// An ECN reduction of a window of `before` packets begins, by the ACK at hand.
    fn on_reduction(&mut self, _before: u64) {}

    /// What may be in flight in order while an ECN reduction lasts, packets; `None`: the control's window.
    fn reducing_window(&self, _connection: &Connection) -> Option<u64> {
        None
    }

    /// A packet was sent, if the recovery [keeps times](LossRecovery::notes_transmissions).
    fn on_transmission(
        &mut self,
        _connection: &mut Connection,
        _config: &TcpConfig,
        _now: Instant,
        _packet: u64,
    ) {
    }

    /// True if the packet that goes after `packet` may be segmented at once with it: it follows it in order, and both are
    /// sent for the first time or again.
    #[inline]
    fn is_segmented_with_next(&mut self, _packet: u64, _retransmission: bool) -> bool {
        true
    }

    /// A round trip ended: the memory that a larger window needed can be given back.
    #[inline]
    fn end_round(&mut self) {}

    /// Packets in the network, as far as is known.
    fn in_network(&self, connection: &Connection) -> u64;

    /// Packets SACKed and not yet acknowledged cumulatively.
    #[inline]
    fn sacked(&self) -> u64 {
        0
    }

    /// Packets by which the window grows at an ACK of no new data: with Linux's rules what is SACKed, where packets come far behind others.
    #[inline]
    fn grows_by(&self) -> u64 {
        0
    }

    /// The RTT that the ACK at hand gives without its timestamp, by Linux's rules, if it keeps the packets' times.
    #[inline]
    fn newest_rtt(&self) -> Option<Duration> {
        None
    }

    /// When the first unacknowledged packet was sent last, if it keeps their times.
    #[inline]
    fn first_sent(&self) -> Option<Instant> {
        None
    }

    /// When the last packet was sent, likewise.
    #[inline]
    fn last_sent(&self) -> Option<Instant> {
        None
    }

    /// What is known of the packets outstanding, counted anew: for reports.
    fn account(&self, connection: &Connection) -> Account;

    /// What may be in flight now, packets: `snd_cwnd` of Linux.
    fn window(&self, connection: &Connection) -> f64;

    /// The next connection between the same ends, whose first packet is `base`.
    fn restart(&mut self, base: u64);
}

/// Of the packets outstanding, how many
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// arrived, as far as is known: SACKed, or counted by duplicate ACKs;
    pub(crate) arrived: u64,
    /// were found lost and are not known to have arrived since, sent again or not;
    pub(crate) lost: u64,
    /// are under way for another time.
    pub(crate) retransmitted: u64,
}

/// The loss recovery of a connection.
#[derive(Debug)]
pub(crate) enum LossRecovery {
    /// By duplicate ACKs.
    Classic(Classic),
    /// By a scoreboard.
    Sack(Sack),
    /// By time.
    Rack(Rack),
}

/// The same call, of whichever it is.
macro_rules! each {
    ($self:ident, $repair:ident => $call:expr) => {
        match $self {
            Self::Classic($repair) => $call,
            Self::Sack($repair) => $call,
            Self::Rack($repair) => $call,
        }
    };
}

impl LossRecovery {
    /// Of a connection whose first packet is `base`; `own_window`: its control says what may be sent during loss
    /// recovery too.
    pub(crate) fn new(config: &TcpConfig, base: u64, own_window: bool) -> Self {
        let proportional = config.prr && !own_window;
        match config.recovery {
            Recovery::Tahoe => Self::Classic(Classic::new(Variant::Tahoe)),
            Recovery::Reno => Self::Classic(Classic::new(Variant::Reno)),
            Recovery::NewReno => Self::Classic(Classic::new(Variant::NewReno)),
            Recovery::Sack => Self::Sack(Sack::new(proportional, config.rules.recovery_rate)),
            Recovery::Rack => Self::Rack(Rack::new(base, proportional, &config.rules)),
        }
    }

    /// True if it must hear of each transmission.
    pub(crate) fn notes_transmissions(&self) -> bool {
        matches!(self, Self::Rack(_))
    }
}

impl Repair for LossRecovery {
    #[allow(clippy::inline_always)] // most ACKs only find out that there is nothing to repair
    #[inline(always)]
    fn on_new_data(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
        acked: u64,
    ) -> Option<u64> {
        each!(self, repair => repair.on_new_data(connection, config, now, ack, acked))
    }

    #[inline]
    fn on_old_data(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, ack: &Ack) {
        each!(self, repair => repair.on_old_data(connection, config, now, ack));
    }

    fn on_timer(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) {
        each!(self, repair => repair.on_timer(connection, config, now));
    }

    fn timer_lasts(&self, connection: &Connection, config: &TcpConfig, now: Instant) -> Duration {
        each!(self, repair => repair.timer_lasts(connection, config, now))
    }

    fn put_off_timers(&mut self, now: Instant, until: Instant) {
        each!(self, repair => repair.put_off_timers(now, until));
    }

    #[inline]
    fn chooses_next(&self, phase: Phase) -> bool {
        each!(self, repair => repair.chooses_next(phase))
    }

    #[inline]
    fn next(&mut self, connection: &mut Connection, config: &TcpConfig) -> Option<u64> {
        each!(self, repair => repair.next(connection, config))
    }

    fn is_urgent(&self) -> bool {
        each!(self, repair => repair.is_urgent())
    }

    #[inline]
    fn extra_window(&self, phase: Phase, config: &TcpConfig) -> (f64, u32) {
        each!(self, repair => repair.extra_window(phase, config))
    }

    fn on_reduction(&mut self, before: u64) {
        each!(self, repair => repair.on_reduction(before));
    }

    fn reducing_window(&self, connection: &Connection) -> Option<u64> {
        each!(self, repair => repair.reducing_window(connection))
    }

    #[inline]
    fn on_transmission(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        packet: u64,
    ) {
        each!(self, repair => repair.on_transmission(connection, config, now, packet));
    }

    #[inline]
    fn is_segmented_with_next(&mut self, packet: u64, retransmission: bool) -> bool {
        each!(self, repair => repair.is_segmented_with_next(packet, retransmission))
    }

    #[inline]
    fn end_round(&mut self) {
        each!(self, repair => repair.end_round());
    }

    #[inline]
    fn in_network(&self, connection: &Connection) -> u64 {
        each!(self, repair => repair.in_network(connection))
    }

    #[inline]
    fn sacked(&self) -> u64 {
        each!(self, repair => repair.sacked())
    }

    #[inline]
    fn newest_rtt(&self) -> Option<Duration> {
        each!(self, repair => repair.newest_rtt())
    }

    #[inline]
    fn grows_by(&self) -> u64 {
        each!(self, repair => repair.grows_by())
    }

    #[inline]
    fn first_sent(&self) -> Option<Instant> {
        each!(self, repair => repair.first_sent())
    }

    #[inline]
    fn last_sent(&self) -> Option<Instant> {
        each!(self, repair => repair.last_sent())
    }

    fn account(&self, connection: &Connection) -> Account {
        each!(self, repair => repair.account(connection))
    }

    fn window(&self, connection: &Connection) -> f64 {
        each!(self, repair => repair.window(connection))
    }

    fn restart(&mut self, base: u64) {
        each!(self, repair => repair.restart(base));
    }
}
