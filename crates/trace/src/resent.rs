//! Retransmissions, and their necessity.
//!
//! A retransmission means that the copy before it was lost, unless
//!
//! | evidence that it arrived | source |
//! | --- | --- |
//! | it was acknowledged, selectively or not, before the retransmission passed | |
//! | the receiver reports a duplicate (D-SACK) | RFC 2883 |
//! | the acknowledgement echoes a timestamp older than the retransmission's (Eifel) | RFC 3522 |
//! | the acknowledgement came sooner than any does after a packet | |
//! | an acknowledgement jumps over it, and its own is a duplicate | |
//!
//! The last one needs neither SACK nor timestamps. Without SACK a sender goes back over a whole window after a timeout (Tahoe
//! after any loss), and knows of one hole only, the one at the left edge. What fills that hole is answered by an
//! acknowledgement of all that the receiver has beyond it. Retransmissions in there that were sent *after* what filled
//! the hole had no part in it, since a path keeps the order: the receiver had their data, or they arrived unseen
//! because an acknowledgement was delayed or lost. The receiver answers data that it has at once, with a duplicate
//! acknowledgement (RFC 5681 §4.2): so each of them is needless once its duplicate comes, and lost if what was sent after it is
//! acknowledged first. Where SACK blocks showed the hole, it was one.

use crate::path_times::Nanos;
use std::collections::VecDeque;

/// Retransmissions that are remembered.
const KEPT: usize = 256;

/// An acknowledgement after less than this share of the least time was not caused by the retransmission.
const TOO_SOON: f64 = 0.7;

/// Where the least time is shorter, it says nothing.
const SHORTEST: Nanos = 500_000;

/// One retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) at: Nanos,
    pub(crate) packets: u64,
    /// The slots in which it and the copy before it were sent.
    pub(crate) round: u64,
    pub(crate) before: Option<u64>,
    pub(crate) timestamp: Option<u32>,
    /// True if the copy before it is taken for lost.
    pub(crate) lost: bool,
    pub(crate) settled: bool,
    /// True if the receiver has said (SACK) that it did not have it.
    pub(crate) shown: bool,
    /// True if an acknowledgement jumped over it, and its duplicate is awaited.
    pub(crate) suspect: bool,
}

/// The evidence of an acknowledgement on retransmissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    pub(crate) now: Nanos,
    /// The number that was acknowledged before, and is now.
    pub(crate) una: u64,
    pub(crate) ack: u64,
    pub(crate) echo: Option<u32>,
    pub(crate) least: Option<Nanos>,
}

/// The retransmissions of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retransmissions {
    list: VecDeque<Resent>,
    unsettled: usize,
    suspects: usize,
}

impl Retransmissions {
    pub(crate) fn push(&mut self, resent: Resent) {
        if self.list.len() >= KEPT {
            if let Some(oldest) = self.list.pop_front() {
                self.unsettled -= usize::from(!oldest.settled);
                self.suspects -= usize::from(oldest.suspect);
            }
        }
        self.unsettled += usize::from(!resent.settled);
        self.list.push_back(resent);
    }

    /// The last retransmission of this byte.
    pub(crate) fn last_of(&self, byte: u64) -> Option<&Resent> {
        self.list.iter().rev().find(|resent| resent.start <= byte && byte < resent.end)
    }

    /// True if anything between was sent again and is not settled.
    pub(crate) fn any_within(&self, start: u64, end: u64) -> bool {
        self.unsettled > 0
            && self.list.iter().any(|resent| !resent.settled && resent.start < end && start < resent.end)
    }

    /// Calls `unlost` with each retransmission that turns out to have been needless.
    pub(crate) fn judge(
        &mut self,
        evidence: &Evidence,
        sacked: impl Fn(u64, u64) -> bool,
        mut unlost: impl FnMut(&Resent),
    ) {
        if self.unsettled == 0 && self.suspects == 0 {
            return;
        }
        let edge =
            self.list.iter().rposition(|resent| resent.start <= evidence.una && evidence.una < resent.end);
        if evidence.ack > evidence.una {
            self.forget_suspects_before(edge);
        }
        for (place, resent) in self.list.iter_mut().enumerate().filter(|(_, resent)| !resent.settled) {
            let covered = resent.end <= evidence.ack;
            if !covered && !sacked(resent.start, resent.end) {
                continue;
            }
            resent.settled = true;
            self.unsettled -= 1;
            // The echo is of the segment that was at the left edge (RFC 7323 §4.3): if that was sent before this
            // retransmission and its acknowledgement covers it, the receiver had it already.
            let older = match (evidence.echo, resent.timestamp) {
                (Some(echo), Some(timestamp)) => covered && echo.wrapping_sub(timestamp).cast_signed() < 0,
                _ => false,
            };
            let elapsed = evidence.now.saturating_sub(resent.at) as f64;
            let too_soon =
                evidence.least.is_some_and(|least| least >= SHORTEST && elapsed < TOO_SOON * least as f64);
            if resent.lost && (older || too_soon) {
                resent.lost = false;
                unlost(resent);
            } else if resent.lost && covered && !resent.shown {
                // What filled the hole at the left edge was sent before it.
                resent.suspect = evidence.una < resent.start && edge.is_none_or(|edge| edge < place);
                self.suspects += usize::from(resent.suspect);
            }
        }
    }

    /// What is at the left edge, sent again at `edge` or new, was acknowledged: the duplicates of what was sent before it
    /// would have come.
    fn forget_suspects_before(&mut self, edge: Option<usize>) {
        if self.suspects > 0 {
            for resent in
                self.list.iter_mut().take(edge.unwrap_or(usize::MAX)).filter(|resent| resent.suspect)
            {
                resent.suspect = false;
                self.suspects -= 1;
            }
        }
    }

    /// A duplicate acknowledgement: calls `unlost` with the first retransmission that one was awaited of.
    #[inline]
    pub(crate) fn answered_by_duplicate(&mut self, unlost: impl FnOnce(&Resent)) {
        if self.suspects == 0 {
            return;
        }
        if let Some(resent) = self.list.iter_mut().find(|resent| resent.suspect) {
            (resent.suspect, resent.lost) = (false, false);
            self.suspects -= 1;
            unlost(resent);
        }
    }

    /// The receiver had `start..end` twice: calls `unlost` with the retransmission that was needless. Whether there was one.
    pub(crate) fn duplicate(&mut self, start: u64, end: u64, unlost: impl FnOnce(&Resent)) -> bool {
        let mut overlapping =
            self.list.iter_mut().rev().filter(|resent| resent.start < end && start < resent.end).peekable();
        let known = overlapping.peek().is_some();
        if let Some(resent) = overlapping.find(|resent| resent.lost) {
            self.suspects -= usize::from(resent.suspect);
            (resent.suspect, resent.lost) = (false, false);
            unlost(resent);
        }
        known
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.list.capacity() * size_of::<Resent>()
    }
}
