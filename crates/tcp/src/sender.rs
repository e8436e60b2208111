//! The sending end: a connection, and the loss recovery that it was built with.
//!
//! | part | what |
//! | --- | --- |
//! | [`Connection`] | numbers, control, RTT, statistics; knows no recovery |
//! | [`LossRecovery`] | how losses are found and repaired; works on the connection |
//! | [`acknowledgements`] | an ACK goes to both, and then to the control |
//! | [`transmission`] | what goes next, and when |
//! | [`segmentation`] | in Linux's form of `bursts`: what waits until more goes with it |

mod acknowledgements;
mod segmentation;
mod transmission;

pub use crate::connection::Phase;

use crate::connection::Connection;
use crate::recovery::{LossRecovery, Repair};
use crate::ssthresh_cache::Ending;
use crate::statistics::Statistics;
use crate::timer_wheel;
use crate::TcpConfig;
use parshall_congestion::{CongestionControl, Control};
use parshall_units::{Duration, Instant};
use std::mem::offset_of;

/// Endless data.
pub const ENDLESS: u64 = u64::MAX;

/// The sending end of a connection.
///
/// The order of the fields is the order of memory: what every ACK needs comes first, so that a packet touches as few
/// cache lines of its flow as can be. With hundreds of flows that is most of what a packet costs. What follows
/// [`HOT_BYTES`](Self::HOT_BYTES) is for special events.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    pub(crate) recovery: LossRecovery,
    pub(crate) connection: Connection,
}

impl Sender {
    /// Bytes from the beginning that every ACK may touch.
    pub const HOT_BYTES: usize = offset_of!(Self, connection) + Connection::HOT_BYTES;

    /// A connection whose packets are numbered from `base` (at least 1), with no data yet.
    pub fn new(config: &TcpConfig, control: Control, base: u64, now: Instant) -> Self {
        debug_assert!(base >= 1, "packet 0 is never data: recover = base - 1 must exist");
        let recovery = LossRecovery::new(config, base, control.needs().recovery_window);
        let mut statistics = Statistics::default();
        statistics.restart(now);
        let connection = Connection::new(config, control, base, recovery.notes_transmissions(), statistics);
        Self { recovery, connection }
    }

    /// The next connection between the same ends: everything is new but the statistics and the numbering, which goes
    /// on; its control, of the same kind, takes over what the last one learnt for all. Returns the number of its first
    /// packet.
    pub fn reopen(&mut self, config: &TcpConfig, mut control: Control, now: Instant) -> u64 {
        let base = self.connection.max + 1;
        control.inherit(&mut self.connection.control);
        let mut statistics = std::mem::take(&mut self.connection.statistics);
        statistics.skip_until(now);
        let noted = self.recovery.notes_transmissions();
        self.connection = Connection::new(config, control, base, noted, statistics);
        self.recovery.restart(base);
        base
    }

    /// The application gives `packets` more ([`ENDLESS`]: without end).
    pub fn supply(&mut self, packets: u64) {
        self.connection.end = self.connection.end.saturating_add(packets);
    }

    /// True if everything supplied is acknowledged.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.connection.una >= self.connection.end
    }

    /// True if `packet` is the last one supplied.
    #[inline]
    pub fn is_last(&self, packet: u64) -> bool {
        packet + 1 == self.connection.end
    }

    /// True if the timeout at hand is that of a SYN, and the connection begins with a window of one packet for it.
    pub fn syn_timeout_cuts_window(&self, config: &TcpConfig) -> bool {
        self.connection.phase == Phase::Connecting && self.connection.syn_timeout_cuts_window(config)
    }

    /// Returns whether the connection that has just opened is to begin with its initial window, though the window was
    /// cut for timeouts of SYNs: none was lost. It says so once; who opened the connection then
    /// [replaces](Self::replace_control) its control.
    pub fn take_needless_cut(&mut self) -> bool {
        self.connection.take_needless_cut()
    }

    /// Another control takes over: a connection whose SYN was lost begins with one packet (RFC 5681 §3.1), and who
    /// opened it knows how its controls are made.
    pub fn replace_control(&mut self, now: Instant, mut control: Control) {
        self.settle(now);
        control.inherit(&mut self.connection.control);
        self.connection.control = control;
    }

    /// Data is to be sent again on a connection that was idle for a retransmission timeout or more. RFC 5681 §4.1
    pub fn restart_after_idle(&mut self, config: &TcpConfig, now: Instant, idle: Duration) {
        self.settle(now);
        let form = config.rules.idle_restart;
        let timeouts = idle.as_ps() / self.timeout(config).as_ps().max(1);
        let window = self.connection.whole_window();
        let control = &mut self.connection.control;
        if form.is_linux() {
            control.set_ssthresh(form.ssthresh(control.ssthresh(), window));
        }
        control.on_idle_restart(form.window(window, config.initial_window.0, timeouts) as f64);
    }

    /// The congestion control.
    pub fn control(&self) -> &Control {
        &self.connection.control
    }

    /// Returns the counts so far.
    #[inline]
    pub fn statistics(&self) -> &Statistics {
        &self.connection.statistics
    }

    /// Returns the counts so far, to be counted anew or taken over.
    pub fn statistics_mut(&mut self) -> &mut Statistics {
        &mut self.connection.statistics
    }

    /// First unacknowledged packet.
    pub fn una(&self) -> u64 {
        self.connection.una
    }

    /// One past the highest packet sent.
    pub fn max(&self) -> u64 {
        self.connection.max
    }

    /// Packets sent and not cumulatively acknowledged (FlightSize).
    #[inline]
    pub fn flight(&self) -> u64 {
        self.connection.flight()
    }

    /// Packets sent that are in the network as far as is known: neither acknowledged, by SACK either, nor found lost
    /// (RFC 6675, pipe).
    pub fn in_network(&self) -> u64 {
        self.recovery.in_network(&self.connection)
    }

    /// Smoothed RTT; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        let srtt = self.connection.rtt.srtt();
        (srtt > Duration::ZERO).then_some(srtt)
    }

    /// The application gives data again after a pause, which does not count for the mean window.
    pub fn resume(&mut self, now: Instant) {
        self.connection.statistics.skip_until(now);
    }

    /// The retransmission timeout as it stands.
    pub fn timeout(&self, config: &TcpConfig) -> Duration {
        self.connection.timeout(config)
    }

    /// Where the connection stands.
    pub fn phase(&self) -> Phase {
        self.connection.phase
    }

    /// When the retransmission timer expires, or another timer of the loss recovery; [`Instant::MAX`] if none is
    /// running.
    #[inline]
    pub fn rto_deadline(&self) -> Instant {
        self.connection.deadline
    }

    /// Returns the end of the connection, if it ends now.
    pub fn ending(&self) -> Ending {
        let Connection { control, phase, rto, .. } = &self.connection;
        Ending {
            window: control.window(),
            ssthresh: control.ssthresh(),
            open: *phase == Phase::Open,
            timed: self.srtt().is_some() && rto.backoff() == 0,
        }
    }

    /// Brings the statistics up to `now` (before they are read, or restarted).
    #[inline]
    pub fn settle(&mut self, now: Instant) {
        self.connection.settle(now);
    }

    /// Time has come to [`rto_deadline`](Self::rto_deadline).
    pub fn on_timer(&mut self, config: &TcpConfig, now: Instant) {
        if now < self.connection.deadline || self.waits_for_tick(config, now) {
            return;
        }
        self.settle(now);
        if self.connection.phase == Phase::Connecting {
            self.connection.on_syn_timeout();
        } else {
            self.recovery.on_timer(&mut self.connection, config, now);
        }
    }

    /// True if the timer that has come to its time expires at a later tick of the clock; then it is put off until that.
    fn waits_for_tick(&mut self, config: &TcpConfig, now: Instant) -> bool {
        let Self { connection, recovery } = self;
        let Some(tick) = config.timer_tick.filter(|&tick| !timer_wheel::is_tick(now, tick)) else {
            return false;
        };
        let lasts = if connection.phase == Phase::Connecting {
            connection.syn_timeout(config)
        } else {
            recovery.timer_lasts(connection, config, now)
        };
        connection.deadline = timer_wheel::expiry(now, lasts, tick);
        recovery.put_off_timers(now, connection.deadline);
        true
    }
}
