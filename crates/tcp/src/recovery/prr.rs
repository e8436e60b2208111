//! What lets packets go while some are missing: proportional rate reduction (RFC 6937), or the pipe below the window (RFC 6675 §5).
//!
//! | RFC 6937 | here |
//! | --- | --- |
//! | `prr_delivered`, `prr_out` | `delivered`, `out` |
//! | `RecoverFS` | `flight_at_start` |
//! | `sndcnt` | `quota` |

use crate::connection::{Connection, Phase};
use crate::TcpConfig;
use parshall_congestion::CongestionControl;

/// Proportional rate reduction.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    delivered: u64,
    out: u64,
    flight_at_start: u64,
    /// Packets that may go now.
    quota: u64,
}

impl Prr {
    /// Of a connection, if it reduces so.
    pub(super) fn of(proportional: bool) -> Option<Self> {
        proportional.then(Self::default)
    }

    /// A recovery begins with so many packets in flight.
    pub(super) fn start(&mut self, flight: u64) {
        *self = Self { flight_at_start: flight.max(1), ..Self::default() };
    }

    /// An ACK in recovery: `delivered` packets more left the network, in which there are `pipe` now. RFC 6937 §3.1, with the slow-start
    /// reduction bound.
    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64) {
        self.delivered += delivered;
        self.quota = if pipe > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.flight_at_start).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + 1;
            (ssthresh - pipe).min(limit)
        };
    }

    /// A packet was sent.
    pub(super) fn sent(&mut self) {
        self.out += 1;
        self.quota = self.quota.saturating_sub(1);
    }
}

/// Whether one more packet may go, with `pipe` of them in the network.
pub(super) fn has_room(
    prr: Option<&Prr>,
    connection: &Connection,
    config: &TcpConfig,
    pipe: impl FnOnce() -> u64,
) -> bool {
    let window = connection.control.window() as u64;
    match (connection.phase, prr) {
        (Phase::Recovery, Some(prr)) => prr.quota > 0,
        // Without limited transmit (RFC 3042) what is SACKed makes no room.
        (Phase::Open, _) if !config.limited_transmit => connection.max - connection.una < window,
        _ => pipe() < window,
    }
}

/// What may be in flight now, packets, with `pipe` of them in the network; `first`: one may go in any case.
pub(super) fn window_now(prr: Option<&Prr>, connection: &Connection, pipe: u64, first: bool) -> f64 {
    match prr {
        Some(prr) if connection.phase == Phase::Recovery => (pipe + prr.quota.max(u64::from(first))) as f64,
        _ => connection.control.window(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 §3.1: while more is in the network than ssthresh, packets go in the proportion of ssthresh to what was in flight.
    #[test]
    fn sends_in_proportion_and_then_up_to_ssthresh() {
        let mut prr = Prr::default();
        prr.start(20);
        let mut sent = 0;
        for delivered in 1..=10 {
            prr.on_ack(1, 20 - delivered, 10);
            while prr.quota > 0 {
                prr.sent();
                sent += 1;
            }
            if 20 - delivered > 10 {
                assert_eq!(sent, delivered.div_ceil(2));
            }
        }
        // At the bound: no more than one packet above what was delivered.
        prr.on_ack(3, 2, 10);
        assert_eq!(prr.quota, 8.min((13 - sent).max(3) + 1));
    }
}
