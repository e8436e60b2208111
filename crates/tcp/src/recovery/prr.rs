//! The rule that lets packets go while some are missing: proportional rate reduction (RFC 6937), or the pipe below the
//! window (RFC 6675 §5).
//!
//! | RFC 6937 | here |
//! | --- | --- |
//! | `prr_delivered`, `prr_out` | `delivered`, `out` |
//! | `RecoverFS` | `before`: packets in flight when the recovery began; in Linux's form the window |
//! | `sndcnt` | `quota` |
//!
//! In Linux's form of [`RecoveryRate`] the ACK that begins a recovery counts as the later ones do, and below ssthresh
//! a packet more than was delivered goes only for an ACK that advances and finds no loss (`SafeACK` of
//! draft-ietf-tcpm-prr-rfc6937bis). What an ACK lets go is a window then, which stays until the next one that reports a
//! delivery: packets that are found lost meanwhile make room in it (`tcp_cwnd_reduction`). A reduction that answers ECN
//! goes the same way (`tcp_enter_cwr`), and a recovery that begins meanwhile goes on with its counts
//! (`tcp_enter_recovery`).

use crate::connection::{Connection, Phase};
use crate::policies::RecoveryRate;
use crate::TcpConfig;
use parshall_congestion::CongestionControl;

/// Proportional rate reduction.
#[derive(Clone, Debug)]
pub(super) struct Prr {
    rate: RecoveryRate,
    delivered: u64,
    out: u64,
    before: u64,
    /// Packets that may go now; in Linux's form, that could go after the last ACK that reported a delivery.
    quota: u64,
    /// In Linux's form: `snd_cwnd`.
    window: u64,
    /// In Linux's form: it counts for an ECN reduction.
    for_ecn: bool,
}

/// The report of an ACK in recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// Packets that no ACK had reported before.
    pub(super) delivered: u64,
    /// It acknowledges new data, and no loss is found by it.
    pub(super) safe: bool,
}

impl Prr {
    /// Of a connection, if it reduces so.
    pub(super) fn of(proportional: bool, rate: RecoveryRate) -> Option<Self> {
        proportional.then(|| Self::new(rate, 1))
    }

    fn new(rate: RecoveryRate, before: u64) -> Self {
        Self { rate, delivered: 0, out: 0, before, quota: 0, window: before, for_ecn: false }
    }

    /// An ECN reduction of a window of `before` packets begins.
    pub(super) fn start_for_ecn(&mut self, before: u64) {
        *self = Self { for_ecn: self.rate == RecoveryRate::Linux, ..Self::new(self.rate, before.max(1)) };
    }

    /// True if it says what may go on a connection now.
    pub(super) fn governs(&self, connection: &Connection) -> bool {
        match connection.phase {
            Phase::Recovery => true,
            Phase::Open => connection.reduced && self.for_ecn,
            Phase::Connecting | Phase::Loss => false,
        }
    }

    /// A recovery begins on a connection, whose control has not heard of the loss yet.
    pub(super) fn start(&mut self, connection: &Connection) {
        if self.governs(connection) {
            return;
        }
        let before = match self.rate {
            RecoveryRate::Rfc => connection.flight(),
            RecoveryRate::Linux => connection.whole_window(),
        };
        *self = Self::new(self.rate, before.max(1));
    }

    /// The ACK that begins the recovery, after [`start`](Self::start).
    pub(super) fn on_first_ack(&mut self, report: Report, pipe: u64, ssthresh: u64) {
        if self.rate == RecoveryRate::Linux {
            self.on_ack(report, pipe, ssthresh);
        }
    }

    /// A later ACK in recovery; there are `pipe` packets in the network now. RFC 6937 §3.1, with the slow-start
    /// reduction bound.
    pub(super) fn on_ack(&mut self, Report { delivered, safe }: Report, pipe: u64, ssthresh: u64) {
        if self.rate == RecoveryRate::Linux && delivered == 0 {
            return;
        }
        self.delivered += delivered;
        self.quota = if pipe > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.before).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered);
            (ssthresh - pipe).min(limit + u64::from(safe || self.rate == RecoveryRate::Rfc))
        };
        self.window = pipe + self.quota;
    }

    /// True if one more packet may go.
    fn has_room(&self, pipe: impl FnOnce() -> u64) -> bool {
        match self.rate {
            RecoveryRate::Rfc => self.quota > 0,
            RecoveryRate::Linux => pipe() < self.window,
        }
    }

    /// Returns the packets that may be in flight now, with `pipe` packets in the network; `first`: one may go
    /// in any case.
    pub(super) fn window_now(&self, pipe: u64, first: bool) -> u64 {
        match self.rate {
            RecoveryRate::Rfc => pipe + self.quota.max(u64::from(first)),
            RecoveryRate::Linux => self.window.max(pipe + u64::from(first)),
        }
    }

    /// A packet was sent.
    pub(super) fn sent(&mut self) {
        self.out += 1;
        self.quota = self.quota.saturating_sub(1);
    }
}

/// True if one more packet may go, with `pipe` of them in the network.
pub(super) fn has_room(
    prr: Option<&Prr>,
    connection: &Connection,
    config: &TcpConfig,
    pipe: impl FnOnce() -> u64,
) -> bool {
    let window = connection.whole_window();
    match prr {
        Some(prr) if prr.governs(connection) => prr.has_room(pipe),
        // Without limited transmit (RFC 3042) what is SACKed makes no room.
        _ if connection.phase == Phase::Open && !config.limited_transmit => {
            connection.max - connection.una < window
        }
        _ => pipe() < window,
    }
}

/// Returns the packets that may be in flight now, with `pipe` of them in the network; `first`: one may go in any
/// case.
pub(super) fn window_now(prr: Option<&Prr>, connection: &Connection, pipe: u64, first: bool) -> f64 {
    match prr {
        Some(prr) if prr.governs(connection) => prr.window_now(pipe, first) as f64,
        _ => connection.control.window(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 §3.1: while more is in the network than ssthresh, packets go in the proportion of ssthresh to what was
    /// in flight.
    #[test]
    fn sends_in_proportion_and_then_up_to_ssthresh() {
        let mut prr = Prr::new(RecoveryRate::Rfc, 20);
        let mut sent = 0;
        for delivered in 1..=10 {
            prr.on_ack(Report { delivered: 1, safe: false }, 20 - delivered, 10);
            while prr.quota > 0 {
                prr.sent();
                sent += 1;
            }
            if 20 - delivered > 10 {
                assert_eq!(sent, delivered.div_ceil(2));
            }
        }
        // At the bound: no more than one packet above what was delivered.
        prr.on_ack(Report { delivered: 3, safe: false }, 2, 10);
        assert_eq!(prr.quota, 8.min((13 - sent).max(3) + 1));
    }

    /// `SafeACK`: one packet more than was delivered, if the ACK advances and finds no loss; no ACK without news
    /// changes anything.
    #[test]
    fn linux_asks_whether_an_ack_is_safe() {
        for (safe, quota) in [(false, 2), (true, 3)] {
            let mut prr = Prr::new(RecoveryRate::Linux, 20);
            prr.on_first_ack(Report { delivered: 2, safe }, 4, 10);
            assert_eq!(prr.quota, quota);
            prr.on_ack(Report { delivered: 0, safe: false }, 4, 10);
            assert_eq!(prr.quota, quota);
        }
        let mut linux = Prr::new(RecoveryRate::Linux, 20);
        linux.on_first_ack(Report { delivered: 2, safe: false }, 4, 10);
        assert!(linux.has_room(|| 5) && !linux.has_room(|| 6), "two of ten may go");
        assert!(linux.has_room(|| 3), "what is found lost later makes room");
        let mut rfc = Prr::new(RecoveryRate::Rfc, 20);
        rfc.on_first_ack(Report { delivered: 2, safe: true }, 4, 10);
        assert_eq!(rfc.quota, 0, "it counts from the second ACK on");
    }
}
