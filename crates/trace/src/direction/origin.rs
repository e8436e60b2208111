//! Which sequence numbers are the flow's: where its data begin, and what fits nothing.
//!
//! A SYN says where data begin; without one, the first packet that was captured does. What fits nothing is passed over. Where more
//! segments fit nothing than fit, the numbers that are taken for the flow's are another connection's: it begins again with the
//! segment at hand.

use super::{Direction, LARGEST_JUMP};
use crate::holes::{Holes, Missed};
use crate::packet::{Flags, Packet};
use crate::ranges::Ranges;
use crate::resent::Retransmissions;
use std::collections::VecDeque;

/// Sequence numbers begin here, so that those before the first one seen are positive.
const ORIGIN: u64 = 1 << 32;

/// So many segments before the first number of a flow are accidents.
const FEW: u64 = 3;

impl Direction {
    /// A SYN: data begins after `seq`.
    pub(crate) fn open(&mut self, seq: u32) {
        self.after_syn = Some(seq.wrapping_add(1));
        self.begin_at(seq.wrapping_add(1));
        self.opened = true;
    }

    pub(super) fn begin_at(&mut self, seq: u32) {
        let base = ORIGIN + u64::from(seq);
        (self.synchronised, self.first, self.una, self.max, self.recover) = (true, base, base, base, base);
    }

    /// The numbers that were taken for this flow's were another's: it begins with `seq`, or after its SYN if that fits. What was
    /// counted stays.
    fn begin_again(&mut self, seq: u32) {
        self.delivered_before = self.delivered();
        (self.captured_bytes, self.uncaptured_bytes) = (0, 0);
        let fits = |first: &u32| (0..LARGEST_JUMP).contains(&seq.wrapping_sub(*first).cast_signed());
        let first = self.after_syn.filter(fits);
        self.begin_at(first.unwrap_or(seq));
        self.opened = first.is_some();
        (self.seen, self.acked, self.fin, self.edge) = (false, false, None, None);
        (self.holes, self.missed, self.gaps) = (Holes::default(), Missed::default(), VecDeque::new());
        (self.sacked, self.outside, self.resent) =
            (Ranges::default(), Ranges::default(), Retransmissions::default());
        (self.dupacks, self.probed, self.window_closed, self.more_waited) = (0, 0, false, false);
        self.times.begin_again();
        self.rounds.begin_again();
    }

    /// The 64-bit number; `None` if it is nowhere near.
    #[inline]
    pub(super) fn extend(&self, seq: u32) -> Option<u64> {
        let distance = seq.wrapping_sub(self.max as u32).cast_signed();
        (-LARGEST_JUMP < distance).then(|| self.max.wrapping_add_signed(i64::from(distance)))
    }

    /// True if a number is within `reach`, or what the receiver's window allows, of what was sent last.
    pub(crate) fn is_near(&self, seq: u32, reach: u64) -> bool {
        let distance = seq.wrapping_sub(self.max as u32).cast_signed();
        !self.synchronised || u64::from(distance.unsigned_abs()) <= reach.max(self.largest_window)
    }

    /// The number of a segment with data; `None` if it fits nothing, and is passed over.
    #[inline]
    pub(super) fn number(&mut self, packet: &Packet) -> Option<u64> {
        let seq = packet.seq.wrapping_add(u32::from(packet.flags.has(Flags::SYN)));
        if !self.synchronised {
            self.begin_at(seq);
        }
        let start = self.extend(seq);
        let fits = start.is_some_and(|start| {
            let (end, border) = (start + u64::from(packet.payload), self.first);
            let in_window = self.seen || !self.opened || self.edge.is_none_or(|edge| start <= edge);
            in_window && (end > border || !self.seen && self.is_answered_by(end))
        });
        if fits {
            return start;
        }
        self.odd_segment(seq, start)
    }

    /// True if the acknowledgement with which the capture of this flow begins may answer data that end here.
    pub(super) fn is_answered_by(&self, end: u64) -> bool {
        self.acked && !self.opened && self.max.saturating_sub(end) <= 2 * u64::from(self.size.bytes())
    }

    /// A segment whose number is nowhere near, before the flow's first one, or, of a connection's first data, beyond the window.
    /// A single one is passed over; where they are more than those that fit, they are the flow.
    #[cold]
    fn odd_segment(&mut self, seq: u32, start: Option<u64>) -> Option<u64> {
        let enough = if start.is_some() { FEW } else { 0 };
        match start {
            Some(start) if !self.seen && self.opened && start > self.first && self.counts.odd > 0 => {
                return Some(start); // the second one beyond the window: the first was no accident
            }
            _ if self.counts.odd >= self.counts.segments.max(enough) => {
                self.begin_again(seq);
                return self.extend(seq);
            }
            _ => {}
        }
        self.counts.odd += 1;
        None
    }

    /// An acknowledgement that fits nothing. Of a direction without data, the number of others than that is its own.
    pub(super) fn odd_acknowledgement(&mut self, ack: u32) {
        self.counts.odd_acks += 1;
        if !self.seen && 2 * self.counts.odd_acks > self.counts.acknowledgements.max(4) {
            self.counts.odd_acks = 0;
            self.begin_again(ack);
        }
    }
}
