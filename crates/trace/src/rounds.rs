//! Windows: the packets of consecutive slots of one round-trip time (Loiseau et al. 2010, section 5.2).
//!
//! A slot begins with a packet, and lasts the round-trip time that this very packet sees: until its acknowledgement, seen at the
//! capture point, has reached the sender. Data sent from then on echoes that acknowledgement's timestamp, where the sender does as
//! RFC 7323 §4.3 says; old BSDs do not renew what they echo when an acknowledgement brings no data, and no slot waits
//! for the echo of a sender that was seen not to. Where that cannot be seen (the packet was lost; only one direction was captured) the slot
//! lasts the smoothed round-trip time. The packets of a slot are the window in packets, as long as the sender has data.
//!
//! A slot's losses are known only later, when packets are sent again; until then it is kept, together with the range of
//! sequence numbers that were new in it.

use crate::path_times::Nanos;
use crate::ranges::Ranges;
use std::collections::VecDeque;

/// Slots whose losses may still change. The oldest are passed on beyond this.
const KEPT: usize = 128;

/// A slot stays open for later judgements (D-SACK, duplicates) for this many slots after all its data was acknowledged.
const SETTLING: usize = 4;

/// A finished slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Round {
    pub(crate) index: u64,
    pub(crate) start: Nanos,
    pub(crate) packets: u64,
    pub(crate) lost: u32,
    /// First new byte of the slot, and of the one after it.
    first: u64,
    end: u64,
}

/// Packets that were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Their sequence numbers.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) packets: u64,
    /// True if for the first time.
    pub(crate) new: bool,
    /// The timestamp they echo.
    pub(crate) echo: Option<u32>,
    /// The longest duration of a slot without an acknowledgement.
    pub(crate) patience: Option<Nanos>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    round: Round,
    /// Acknowledging more than this ends the slot.
    marker: u64,
    /// True if that was new when it was sent: then whatever is acknowledged beyond it ends the slot as well.
    new: bool,
    /// When the slot ends, once known, and what the data that follows it echoes then.
    ends: Option<Nanos>,
    echo: Option<u32>,
    /// One past what the sender was allowed to send, and the window, before the acknowledgement that ends the slot.
    edge: Option<(u64, u64)>,
}

/// A slot that just ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed {
    pub(crate) start: Nanos,
    /// When the sender could send again.
    pub(crate) ended: Nanos,
    pub(crate) packets: u64,
    /// One past the last new byte, one past the last that the receiver's window allowed, and that window.
    pub(crate) end: u64,
    pub(crate) edge: Option<(u64, u64)>,
}

/// The slots of one direction of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    open: Option<Open>,
    closed: VecDeque<Round>,
    next_index: u64,
    /// What is acknowledged, and what was when each of the last slots ended, the earliest first.
    acked: u64,
    /// True if a slot ended without the echo that it waited for: this sender does not renew what it echoes.
    stale_echoes: bool,
    acked_then: [u64; SETTLING],
    /// Sum of window x duration, packet-nanoseconds, and of the durations.
    area: f64,
    duration: f64,
}

impl Rounds {
    /// Packets pass; the slot that they end.
    #[inline]
    pub(crate) fn sent(&mut self, now: Nanos, sent: &Sent) -> Option<Closed> {
        let mut closed = None;
        let Sent { start, end, packets, new, .. } = *sent;
        if let Some(open) = &self.open {
            let known = open.ends.is_some_and(|ends| now >= ends);
            let echoed = match (open.echo, sent.echo) {
                (Some(awaited), Some(echo)) => Some(echo.wrapping_sub(awaited).cast_signed() >= 0),
                _ => None,
            };
            let answered = self.stale_echoes || echoed != Some(false);
            let waited = now.saturating_sub(open.round.start);
            if known && answered || sent.patience.is_some_and(|patience| waited >= patience) {
                if let Some(echoed) = echoed.filter(|_| known) {
                    self.stale_echoes = !echoed;
                }
                closed = self.close(now);
            }
        }
        let index = self.next_index;
        let open = self.open.get_or_insert(Open {
            round: Round { index, start: now, packets: 0, lost: 0, first: start, end: start },
            marker: if new { end.saturating_sub(1) } else { start },
            new,
            ends: None,
            echo: None,
            edge: None,
        });
        if open.round.packets == 0 && !new {
            // New data follows after what the last slot sent.
            let first = self.closed.back().map_or(start, |last| last.end);
            (open.round.first, open.round.end) = (first, first);
        }
        open.round.packets += packets;
        if new {
            open.round.end = open.round.end.max(end);
        }
        closed
    }

    /// Something was acknowledged: all below `ack`, and selectively what is in `sacked`. The sender knows at `known`, not before;
    /// its data then echoes `echo`. Until then the receiver's window reached to `edge`.
    #[inline]
    pub(crate) fn acknowledged(
        &mut self,
        known: Nanos,
        echo: Option<u32>,
        (ack, edge): (u64, Option<(u64, u64)>),
        sacked: &Ranges,
    ) {
        self.acked = self.acked.max(ack);
        if let Some(open) = &mut self.open {
            if open.ends.is_some() {
                return;
            }
            let (marker, highest) = (open.marker, sacked.end().unwrap_or(0));
            if ack > marker || highest > marker && (open.new || sacked.covers(marker, marker + 1)) {
                (open.ends, open.echo, open.edge) = (Some(known), echo, edge);
            }
        }
    }

    /// So many packets were sent that were not captured.
    pub(crate) fn missed(&mut self, packets: u64) {
        if let Some(open) = &mut self.open {
            open.round.packets += packets;
        }
    }

    /// Packets are so many times as many as was counted.
    pub(crate) fn count_again(&mut self, ratio: f64) {
        for round in self.closed.iter_mut().chain(self.open.as_mut().map(|open| &mut open.round)) {
            round.packets = (round.packets as f64 * ratio).round() as u64;
            round.lost = (f64::from(round.lost) * ratio).round() as u32;
        }
        self.area *= ratio;
    }

    /// Sequence numbers begin again: those of the slots so far mean nothing any more.
    pub(crate) fn begin_again(&mut self) {
        let next_index = self.next_index + u64::from(self.open.is_some());
        *self = Self { next_index, area: self.area, duration: self.duration, ..Self::default() };
    }

    fn close(&mut self, now: Nanos) -> Option<Closed> {
        let open = self.open.take()?;
        let ended = open.ends.unwrap_or(now).min(now);
        let duration = ended.saturating_sub(open.round.start) as f64;
        self.area += open.round.packets as f64 * duration;
        self.duration += duration;
        self.closed.push_back(open.round);
        self.next_index += 1;
        self.acked_then.rotate_left(1);
        self.acked_then[SETTLING - 1] = self.acked;
        let Round { start, packets, end, .. } = open.round;
        Some(Closed { start, ended, packets, end, edge: open.edge })
    }

    /// The slot in which this new byte was sent.
    fn of(&mut self, byte: u64) -> Option<&mut Round> {
        if let Some(open) = &mut self.open {
            if byte >= open.round.first {
                return Some(&mut open.round);
            }
        }
        let at = self.closed.partition_point(|round| round.first <= byte);
        self.closed.get_mut(at.checked_sub(1)?)
    }

    /// The number of the slot in which this new byte was sent, if it is still known.
    pub(crate) fn index_of(&mut self, byte: u64) -> Option<u64> {
        self.of(byte).map(|round| round.index)
    }

    /// The number of the slot under way.
    pub(crate) fn current(&self) -> u64 {
        self.next_index
    }

    /// So many packets of slot `index` were lost after all, or were not.
    pub(crate) fn mark(&mut self, index: u64, packets: u64, lost: bool) {
        let packets = u32::try_from(packets).unwrap_or(u32::MAX);
        let found = match &mut self.open {
            Some(open) if open.round.index == index => Some(&mut open.round),
            _ => {
                let first = self.closed.front().map_or(0, |round| round.index);
                index.checked_sub(first).and_then(|at| self.closed.get_mut(at as usize))
            }
        };
        if let Some(round) = found {
            round.lost =
                if lost { round.lost.saturating_add(packets) } else { round.lost.saturating_sub(packets) };
        }
    }

    /// The oldest slot if its losses are settled: all its data is acknowledged, for a while; `unseen`: acknowledgements are not
    /// captured.
    pub(crate) fn settled(&mut self, unseen: bool) -> Option<Round> {
        let oldest = self.closed.front()?;
        let settled = oldest.index + (SETTLING as u64) < self.next_index
            && (unseen || oldest.end <= self.acked_then[0]);
        (settled || self.closed.len() > KEPT).then(|| self.closed.pop_front()).flatten()
    }

    /// All finished slots; the one under way is not.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Round> + '_ {
        self.closed.drain(..)
    }

    /// Mean window over the time of the finished slots.
    pub(crate) fn mean_window(&self) -> Option<f64> {
        (self.duration > 0.0).then(|| self.area / self.duration)
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.closed.capacity() * size_of::<Round>()
    }
}
