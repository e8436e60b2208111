//! Data below the highest byte seen: overtaken, behind their acknowledgement in the file, or sent again, and then what was lost.

use super::{adjust, echo_of, Direction, LEAST_TIMEOUT};
use crate::events::Kind;
use crate::limits::{Path, Side};
use crate::packet::Packet;
use crate::path_times::{Nanos, Vantage};
use crate::resent::Resent;
use crate::rounds::Sent;

/// Without a round-trip time, a hole that is filled sooner was an overtaken packet.
const REORDERED: Nanos = 3_000_000;

/// How long a sender may take to answer, beyond the path.
const ANSWER: Nanos = 5_000_000;

/// Data that are sent again: when they were before, whether the receiver had them, and whether the copy before was not captured.
#[derive(Clone, Copy, Debug)]
struct Again {
    start: u64,
    end: u64,
    before: Option<Nanos>,
    needless: bool,
    unseen: bool,
}

impl Direction {
    /// Bytes below `max` pass.
    pub(super) fn old_data(&mut self, now: Nanos, packet: &Packet, start: u64, end: u64) {
        let start = start.max(self.first);
        if start >= end {
            return; // bytes of a segment that go with its first ones
        }
        let packets = self.size.packets(end - start);
        let timestamp = packet.options.timestamps.map(|pair| pair.0);
        let (filled, change) = self.holes.remove(&self.size, start, end);
        self.captured_bytes += filled;
        if !self.missed.is_empty() && self.stands_behind_its_acknowledgement(now, start, end, filled) {
            adjust(&mut self.counts.packets, packets.cast_signed() + change);
            return;
        }
        if filled > 0 && self.was_overtaken(now, start, timestamp) {
            // The hole stood for it.
            adjust(&mut self.counts.packets, packets.cast_signed() + change);
            self.counts.out_of_order += packets;
            return;
        }
        self.counts.packets += packets;
        self.counts.retransmissions += packets;
        let previous = self.resent.last_of(start).copied();
        let copied = match &previous {
            Some(resent) => Some(resent.round),
            None => self.rounds.index_of(start),
        };
        let arrived = filled == 0 && (end <= self.una || self.sacked.covers(start, end));
        let discarded = filled == 0 && !arrived && self.was_discarded(start, end);
        let needless = arrived || discarded;
        if arrived {
            self.counts.spurious += packets;
        } else if discarded {
            self.counts.discarded += packets;
        } else {
            self.counts.lost += packets;
            if filled > 0 {
                // The copy that the hole stood for.
                adjust(&mut self.counts.packets, packets.cast_signed() + change);
                self.counts.lost_before += packets;
            }
            if let Some(round) = copied {
                self.rounds.mark(round, packets, true);
            }
        }
        let again =
            Again { start, end, before: previous.map(|resent| resent.at), needless, unseen: filled > 0 };
        self.episode(now, &again);
        self.times.resent(start, end);
        let sent = Sent { start, end, packets, new: false, echo: echo_of(packet), patience: self.patience() };
        self.in_slot(now, &sent);
        self.resent.push(Resent {
            start,
            end,
            at: now,
            packets,
            round: self.rounds.current(),
            before: copied,
            timestamp,
            lost: !needless,
            settled: needless,
            shown: self.sacked.end().is_some_and(|highest| highest > end),
            suspect: false,
        });
    }

    /// True if these bytes, of which `filled` were in holes, are in the file for the first time, behind their acknowledgement: then they
    /// were captured after all. Bytes for the first time beside others that were seen are captured, and sent again.
    fn stands_behind_its_acknowledgement(&mut self, now: Nanos, start: u64, end: u64, filled: u64) -> bool {
        let patience = self.times.smoothed().unwrap_or(0).max(LEAST_TIMEOUT);
        self.missed.forget(now, patience, &self.size);
        let (bytes, change, ago) = self.missed.remove(now, &self.size, start, end);
        if bytes == 0 {
            return false;
        }
        self.captured_bytes += bytes;
        self.uncaptured_bytes = self.uncaptured_bytes.saturating_sub(bytes);
        adjust(&mut self.counts.uncaptured, change);
        adjust(&mut self.counts.packets, change);
        let first = bytes + filled == end - start;
        if first {
            self.counts.acknowledged_first += 1;
            self.counts.disorder = self.counts.disorder.max(ago);
        }
        first
    }

    /// True if what is sent again was discarded by the receiver, at which it was captured: it lay beyond the window.
    fn was_discarded(&self, start: u64, end: u64) -> bool {
        !self.outside.is_empty()
            && self.outside.overlap(start, end) > 0
            && self.times.vantage() == Vantage::Receiver
    }

    /// True if a packet that fills a hole was sent before the one that revealed it.
    fn was_overtaken(&self, now: Nanos, start: u64, timestamp: Option<u32>) -> bool {
        let at = self.gaps.partition_point(|gap| gap.end <= start);
        let Some(gap) = self.gaps.get(at) else { return false };
        if let (Some(own), Some(other)) = (timestamp, gap.timestamp) {
            match own.wrapping_sub(other).cast_signed() {
                i32::MIN..=-1 => return true,
                1.. => return false,
                0 => {}
            }
        }
        // A retransmission takes a round trip at least.
        let limit = self.times.least().map_or(REORDERED, |least| least / 10 * 8);
        now.saturating_sub(gap.at) < limit
    }

    /// Counts loss events, timeouts and tail probes.
    fn episode(&mut self, now: Nanos, again: &Again) {
        let Again { start, end, before: sent_again, needless, unseen } = *again;
        let duplicates = self.dupacks >= 3 || self.sacked.end().is_some_and(|highest| highest > end);
        let srtt = self.times.smoothed().unwrap_or(0);
        let waited = now.saturating_sub(self.progress.max(sent_again.unwrap_or(0)));
        let quiet = now.saturating_sub(self.active);
        let at_edge = start <= self.una;
        let timer = waited >= LEAST_TIMEOUT.max(srtt / 10 * 9)
            && quiet >= ANSWER.saturating_add((self.times.until_answered() / 4).saturating_mul(5));
        let last = self.fin.map_or(self.max, |fin| fin.max(end));
        if !at_edge && end == last && !duplicates && self.una >= self.recover {
            self.counts.tail_probes += 1; // RFC 8985 §7
        } else if at_edge && timer {
            self.counts.timeouts += 1;
            self.events.push(now, Kind::Timeout, Some(waited));
            if start >= self.recover && !needless {
                self.lost(now, start, unseen);
            }
            self.limits.timed_out(now, self.progress.max(sent_again.unwrap_or(0)));
            self.recover = self.max;
        } else if start >= self.recover && !needless {
            self.counts.loss_events += 1;
            self.lost(now, start, unseen);
            self.recover = self.max;
        }
    }

    /// The data that begins at `start` was lost: before the capture point, if it was not seen.
    fn lost(&mut self, now: Nanos, start: u64, unseen: bool) {
        let path = Path { least: self.times.least(), packet: self.times.packet_time() };
        if unseen {
            let gap = self.gaps.get(self.gaps.partition_point(|gap| gap.end <= start));
            let waits = gap.map_or_else(|| self.times.waits(), |gap| gap.waits);
            self.limits.lost(now, Side::Before, Some(waits.before), &path);
        } else {
            let waited = self.times.waited_beyond();
            self.limits.lost(now, Side::Beyond, waited, &path);
        }
    }
}
