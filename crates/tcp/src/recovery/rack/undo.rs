//! Undoing a reduction whose packets were only late, as Linux does.
//!
//! | Linux | here |
//! | --- | --- |
//! | `undo_marker` | `reduction` is there; [`Reduction::marker`] |
//! | `undo_retrans` | [`Reduction::unanswered`] |
//! | `retrans_stamp` | `first_retransmission` |
//! | `prior_cwnd`, `prior_ssthresh` | [`Reduction::before`] |
//! | `frto` | `watches_timeout` |
//!
//! A reduction answered no loss
//! - if the receiver reports all that was sent again as duplicates (D-SACK, RFC 3708): `tcp_try_undo_dsack`;
//! - if an ACK echoes the timestamp of a packet that was sent before the first retransmission (Eifel, RFC 3522):
//!   `tcp_packet_delayed`, in `tcp_try_undo_partial`, `tcp_try_undo_loss`, `tcp_try_undo_recovery`;
//! - if, after a timeout, packets are acknowledged that were sent once and before it (F-RTO, RFC 5682 §3, with SACK):
//!   `tcp_process_loss`.
//!
//! The window and ssthresh are then what they were (RFC 4015 has a smaller window; Linux does not), and what counts as
//! lost does not any more. Read for these facts: net/ipv4/tcp_input.c of Linux 6.18.

use crate::connection::Connection;
use crate::policies::three_quarters;
use crate::ranges::Range;
use parshall_congestion::CongestionControl;
use parshall_units::Instant;

/// A reduction that may have to be undone.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    /// The first packet that was not acknowledged then.
    marker: u64,
    /// Window and ssthresh before it, packets; `None`: they were reduced already, by a mark.
    before: Option<(f64, f64)>,
    /// Packets sent again that the receiver has not reported as duplicates; `None`: none was sent again.
    unanswered: Option<u64>,
}

/// A connection's knowledge of its last reduction.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    reduction: Option<Reduction>,
    /// When a lost packet was sent again first; [`Instant::MAX`]: none was.
    first_retransmission: Instant,
    /// After a timeout it is not yet clear whether anything was lost.
    watches_timeout: bool,
    /// After a timeout new data goes before what counts as lost: an ACK of it would say that nothing was.
    pub(super) probes: bool,
}

/// The information of an ACK after a timeout (F-RTO).
#[derive(Clone, Copy, Debug)]
pub(super) struct AfterTimeout {
    /// It acknowledges new data.
    pub(super) advances: bool,
    /// It reports a packet that was sent once, before the timeout.
    pub(super) original: bool,
    /// It reports a packet by SACK, or is a duplicate ACK.
    pub(super) disordered: bool,
}

impl Undo {
    pub(super) const NONE: Self =
        Self { reduction: None, first_retransmission: Instant::MAX, watches_timeout: false, probes: false };

    /// The window is about to be reduced, with so many packets under way for another time. `tcp_init_undo`
    pub(super) fn begin(&mut self, connection: &Connection, resent: u64) {
        let (window, ssthresh) = (connection.whole_window(), connection.control.ssthresh());
        let current = ssthresh.max(three_quarters(window)); // `tcp_current_ssthresh`
        self.reduction = Some(Reduction {
            marker: connection.una,
            before: (!connection.reduced).then(|| (connection.control.window(), current)),
            unanswered: (resent > 0).then_some(resent),
        });
        if resent == 0 {
            self.first_retransmission = Instant::MAX;
        }
        self.probes = false;
    }

    /// A lost packet is sent again.
    pub(super) fn resent(&mut self, now: Instant) {
        if let Some(reduction) = &mut self.reduction {
            *reduction.unanswered.get_or_insert(0) += 1;
        }
        self.first_retransmission = self.first_retransmission.min(now);
    }

    /// The receiver has packets twice.
    pub(super) fn on_duplicate(&mut self, packets: Range) {
        if let Some(Reduction { marker, unanswered: Some(unanswered), .. }) = &mut self.reduction {
            if packets.end > *marker {
                *unanswered = unanswered.saturating_sub(packets.end - packets.start);
            }
        }
    }

    /// The window is reduced for another reason, which nothing undoes.
    pub(super) fn forget(&mut self) {
        *self = Self::NONE;
    }

    /// True if all that was sent again was needless.
    pub(super) fn by_duplicates(&self) -> bool {
        self.reduction.is_some_and(|reduction| reduction.unanswered == Some(0))
    }

    /// True if an ACK that echoes `echo` is for a packet that was only late.
    pub(super) fn by_echo(&self, echo: Option<Instant>) -> bool {
        let late = || {
            self.first_retransmission == Instant::MAX
                || echo.is_some_and(|echo| echo < self.first_retransmission)
        };
        self.reduction.is_some() && late()
    }

    /// The retransmission timer has expired; `watches`: outside a recovery, or again without an ACK of new data.
    /// `tcp_enter_loss`
    pub(super) fn on_timeout(&mut self, watches: bool) {
        self.watches_timeout = watches;
    }

    /// True if an ACK after a timeout shows that nothing was lost, if that is being watched. `tcp_process_loss`, RFC 5682
    /// §3.1
    pub(super) fn by_original(&mut self, connection: &mut Connection, ack: AfterTimeout) -> bool {
        self.probes = false;
        if !self.watches_timeout || self.reduction.is_none() {
            return false;
        }
        if ack.original {
            return true; // step 3.b
        }
        if connection.nxt > connection.recover {
            self.watches_timeout = !ack.disordered; // step 3.a
        } else if ack.advances && connection.una < connection.recover {
            connection.recover = connection.nxt;
            self.probes = true; // step 2.b
        }
        false
    }

    /// There is no new data to find out with, or no room for it.
    pub(super) fn cannot_probe(&mut self) {
        self.probes = false;
        self.watches_timeout = false;
    }

    /// The connection gets back what it had. `tcp_undo_cwnd_reduction`
    pub(super) fn apply(&mut self, connection: &mut Connection) {
        if let Some((window, ssthresh)) = self.reduction.and_then(|reduction| reduction.before) {
            connection.undo_reduction(window, ssthresh);
        }
        self.reduction = None;
        self.watches_timeout = false;
        self.probes = false;
    }
}
