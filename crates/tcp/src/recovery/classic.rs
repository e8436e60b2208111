//! Loss recovery by duplicate ACKs: Tahoe, Reno (RFC 5681 §3.2) and NewReno (RFC 6582).
//!
//! Duplicate ACKs start one fast retransmit a window, for Tahoe and Reno too: what was sent before the last reduction
//! does not reduce again (RFC 6582 §3.2 step 2; without it Reno halves several times for one burst of losses). A second
//! loss in the window of a Reno sender then waits for the timer.
//!
//! Choices the RFCs leave open: a full ACK sets cwnd to ssthresh (RFC 6582 §3.2 step 3 option 2); the first
//! partial ACK, and no later one, restarts the timer ("impatient").

use super::scoreboard::DUP_THRESH;
use super::{Account, Repair};
use crate::connection::{Connection, Phase};
use crate::segment::Ack;
use crate::TcpConfig;
use parshall_congestion::CongestionControl;
use parshall_units::Instant;

/// The recovery after the third duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Slow start from the first hole.
    Tahoe,
    /// Fast recovery until the first new ACK.
    Reno,
    /// Fast recovery until what was sent before it is acknowledged.
    NewReno,
}

/// Loss recovery by duplicate ACKs.
#[derive(Debug)]
pub(crate) struct Classic {
    variant: Variant,
    /// No partial ACK has come yet.
    first_partial: bool,
    /// The first unacknowledged packet goes next, whatever the window.
    retransmit_first: bool,
    dupacks: u32,
    /// What the recovery adds to cwnd, packets.
    inflation: f64,
}

impl Classic {
    pub(crate) fn new(variant: Variant) -> Self {
        Self { variant, first_partial: false, retransmit_first: false, dupacks: 0, inflation: 0.0 }
    }

    fn fast_retransmit(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) {
        self.dupacks = 0;
        if self.variant == Variant::Tahoe {
            connection.begin_again(now);
        } else {
            connection.begin_recovery(now);
            self.inflation = DUP_THRESH as f64;
            self.first_partial = true;
            self.retransmit_first = true;
        }
        connection.arm_timer(config, now);
    }

    /// New data was acknowledged during fast recovery.
    #[inline(never)]
    fn on_recovery_ack(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, acked: u64) {
        if connection.una >= connection.recover || self.variant != Variant::NewReno {
            connection.arm_timer(config, now);
            return self.end(connection);
        }
        // Partial ACK: RFC 6582 §3.2 step 3
        self.inflation -= acked as f64;
        self.inflation += 1.0;
        self.inflation = self.inflation.max(1.0 - connection.control.window());
        self.retransmit_first = true;
        if self.first_partial {
            self.first_partial = false;
            connection.arm_timer(config, now);
        }
    }

    fn end(&mut self, connection: &mut Connection) {
        self.reset();
        connection.end_recovery();
    }

    fn reset(&mut self) {
        *self = Self::new(self.variant);
    }
}

impl Repair for Classic {
    #[inline]
    fn on_new_data(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        _ack: &Ack,
        acked: u64,
    ) -> Option<u64> {
        if connection.phase == Phase::Recovery {
            self.on_recovery_ack(connection, config, now, acked);
            return None;
        }
        connection.arm_timer(config, now);
        if connection.phase == Phase::Loss && connection.una >= connection.recover {
            self.end(connection);
        }
        let duplicates = u64::from(std::mem::take(&mut self.dupacks));
        Some(config.rules.window_growth.delivered_after_duplicates(acked, duplicates))
    }

    /// A duplicate ACK.
    #[inline]
    fn on_old_data(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, _ack: &Ack) {
        if connection.phase == Phase::Loss && connection.nxt <= connection.recover {
            return; // it answers a packet that was sent again, whether or not it was lost
        }
        self.dupacks += 1;
        match connection.phase {
            // RFC 6582 §3.2 step 2: not for what was sent before the last recovery.
            Phase::Open if u64::from(self.dupacks) >= DUP_THRESH && connection.una > connection.recover => {
                self.fast_retransmit(connection, config, now);
            }
            Phase::Recovery => self.inflation += 1.0,
            _ => {}
        }
    }

    fn on_timer(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) {
        connection.on_timeout(config, now);
        self.reset();
        connection.nxt = connection.una;
        connection.arm_timer(config, now);
    }

    #[inline]
    fn chooses_next(&self, _phase: Phase) -> bool {
        self.retransmit_first
    }

    #[inline]
    fn next(&mut self, connection: &mut Connection, _config: &TcpConfig) -> Option<u64> {
        self.retransmit_first = false;
        Some(connection.una)
    }

    fn is_urgent(&self) -> bool {
        self.retransmit_first
    }

    #[inline]
    fn extra_window(&self, phase: Phase, config: &TcpConfig) -> (f64, u32) {
        let limited = if phase == Phase::Open && config.limited_transmit { self.dupacks.min(2) } else { 0 };
        (self.inflation, limited)
    }

    #[inline]
    fn in_network(&self, connection: &Connection) -> u64 {
        connection.flight()
    }

    fn account(&self, connection: &Connection) -> Account {
        let first = u64::from(connection.phase == Phase::Recovery);
        Account { arrived: u64::from(self.dupacks), lost: first, retransmitted: first }
    }

    fn window(&self, connection: &Connection) -> f64 {
        connection.control.window() + self.inflation
    }

    fn restart(&mut self, _base: u64) {
        self.reset();
    }
}
