//! The data of one direction of a connection: a flow, as the capture point sees it.
//!
//! | name | what |
//! | --- | --- |
//! | `first` | first byte of data that was seen |
//! | `una` | first byte not acknowledged |
//! | `max` | one past the highest byte seen (or acknowledged) |
//! | hole | bytes below `max` that were not seen |
//! | `recover` | losses below belong to an event that was counted |
//!
//! Sequence numbers are extended to 64 bits. A segment above `max` leaves a hole; what fills it is a packet that was
//! overtaken, if it comes too early for a retransmission or has an older timestamp, else the retransmission of a packet lost
//! before the capture point. What was seen already is sent again ([`crate::resent`] judges why), but for what the receiver had to
//! discard: it lay beyond the window offered when it passed, at the receiver. One byte at the left edge while the receiver
//! offers no window is a probe of that window (RFC 9293 §3.8.6.1): it is counted, and no data as long as it is not
//! acknowledged. Loss events and timeouts are told apart by the time since the last progress: a timeout comes from the
//! sender's timer and not in answer to an acknowledgement.
//!
//! A hole that is acknowledged was not captured, unless its data stand behind their acknowledgement in the file: captures of two
//! taps, several queues of a card or a virtual switch are not in the order of the wire. Such holes wait for their data until the
//! sender could send them again because the acknowledgement was lost, [`LEAST_TIMEOUT`] or a round trip.
//!
//! [`origin`] says which numbers are the flow's, [`again`] what becomes of data below `max`.

mod again;
mod limiting;
mod origin;

use crate::events::Events;
use crate::holes::{Holes, Missed};
use crate::limits::Limits;
use crate::packet::{Flags, Packet};
use crate::path_times::{Echoing, Nanos, PathTimes, Waits};
use crate::ranges::Ranges;
use crate::resent::{Evidence, Resent, Retransmissions};
use crate::rounds::{Rounds, Sent};
use crate::segment_size::{Recount, SegmentSize};
use std::collections::VecDeque;

/// A jump by more is no hole in what was seen: the capture has a gap there, or the number is wrong.
const LARGEST_JUMP: i32 = 1 << 28;

/// Least retransmission timeout of usual systems, less a margin.
const LEAST_TIMEOUT: Nanos = 190_000_000;

/// The counts of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Captured segments with data.
    pub(crate) segments: u64,
    /// Those of more than one packet.
    pub(crate) merged: u64,
    /// Packets sent: seen, and those that must have been sent before the capture point.
    pub(crate) packets: u64,
    pub(crate) retransmissions: u64,
    /// Packets taken for lost, all in all and before the capture point.
    pub(crate) lost: u64,
    pub(crate) lost_before: u64,
    pub(crate) spurious: u64,
    pub(crate) out_of_order: u64,
    pub(crate) uncaptured: u64,
    /// Segments that stand behind their acknowledgement in the file, and the longest time by which.
    pub(crate) acknowledged_first: u64,
    pub(crate) disorder: Nanos,
    /// Packets sent again because the receiver discarded them.
    pub(crate) discarded: u64,
    pub(crate) loss_events: u64,
    pub(crate) timeouts: u64,
    pub(crate) tail_probes: u64,
    pub(crate) duplicates_reported: u64,
    pub(crate) ecn_reductions: u64,
    pub(crate) acknowledgements: u64,
    pub(crate) zero_windows: u64,
    pub(crate) zero_window_probes: u64,
    pub(crate) wire_bytes: u64,
    payload_bytes: u64,
    /// Segments, and acknowledgements, whose numbers fit nothing.
    pub(crate) odd: u64,
    odd_acks: u64,
}

/// A hole's end, when it appeared, how long the packet before it had waited, and the timestamp of the packet that revealed it.
#[derive(Clone, Copy, Debug)]
struct Gap {
    end: u64,
    at: Nanos,
    waits: Waits,
    timestamp: Option<u32>,
}

/// One direction of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// The flow's number, once it has sent data.
    pub(crate) number: Option<u32>,
    pub(crate) counts: Counts,
    pub(crate) size: SegmentSize,
    pub(crate) times: PathTimes,
    pub(crate) rounds: Rounds,
    pub(crate) limits: Limits,
    pub(crate) events: Events,
    /// True if `una` and `max` mean anything.
    synchronised: bool,
    /// True if data begins after a SYN that was seen, and the first number after it.
    opened: bool,
    after_syn: Option<u32>,
    /// True if data, and acknowledgements of it, were seen.
    pub(crate) seen: bool,
    pub(crate) acked: bool,
    first: u64,
    una: u64,
    max: u64,
    fin: Option<u64>,
    holes: Holes,
    missed: Missed,
    gaps: VecDeque<Gap>,
    sacked: Ranges,
    /// One past the last byte that the receiver's window allows, and what passed beyond it.
    edge: Option<u64>,
    window: u64,
    outside: Ranges,
    resent: Retransmissions,
    /// Payload captured, each byte once; acknowledged and not captured; delivered before the flow began again.
    captured_bytes: u64,
    uncaptured_bytes: u64,
    delivered_before: u64,
    dupacks: u32,
    recover: u64,
    last_window: u16,
    /// True if the receiver offers no window, and one past the last byte that probed it.
    window_closed: bool,
    probed: u64,
    /// True if the sender had more to send when it sent what is last below `max`.
    more_waited: bool,
    pub(crate) largest_window: u64,
    cwr: bool,
    /// First data; last data or progress; last progress; last packet of either kind.
    pub(crate) began: Option<Nanos>,
    pub(crate) ended: Nanos,
    ended_data: Nanos,
    acked_at: Nanos,
    under_way_since: Nanos,
    progress: Nanos,
    /// When the sender knew that what was lost last had been repaired.
    repaired: Nanos,
    active: Nanos,
    pub(crate) next_sample: Nanos,
}

impl Direction {
    pub(crate) fn new() -> Self {
        Self {
            number: None,
            counts: Counts::default(),
            size: SegmentSize::new(),
            times: PathTimes::new(),
            rounds: Rounds::default(),
            limits: Limits::default(),
            events: Events::default(),
            synchronised: false,
            opened: false,
            after_syn: None,
            seen: false,
            acked: false,
            first: 0,
            una: 0,
            max: 0,
            fin: None,
            holes: Holes::default(),
            missed: Missed::default(),
            gaps: VecDeque::new(),
            sacked: Ranges::default(),
            edge: None,
            window: 0,
            outside: Ranges::default(),
            resent: Retransmissions::default(),
            captured_bytes: 0,
            uncaptured_bytes: 0,
            delivered_before: 0,
            dupacks: 0,
            recover: 0,
            last_window: 0,
            window_closed: false,
            probed: 0,
            more_waited: false,
            largest_window: 0,
            cwr: false,
            began: None,
            ended: 0,
            ended_data: 0,
            acked_at: 0,
            under_way_since: 0,
            progress: 0,
            repaired: 0,
            active: 0,
            next_sample: 0,
        }
    }

    /// Data passes.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Nanos, packet: &Packet) {
        let Some(start) = self.number(packet) else { return };
        let end = start + u64::from(packet.payload);
        if packet.payload <= 1 && end == self.una && self.una == self.max && self.seen {
            return; // a keep-alive, RFC 9293 §3.8.4
        }
        if packet.payload == 1 && start == self.una && self.window_closed {
            self.probes_window(end);
            return;
        }
        if !self.seen {
            self.seen = true;
            self.first_data(start, end);
        }
        if self.began.is_none() {
            self.began = Some(now);
            self.progress = now;
        }
        if let Some(change) = self.size.see(packet.payload, packet.flags.has(Flags::PSH)) {
            self.count_again(&change);
        }
        let packets = self.size.packets(u64::from(packet.payload));
        self.counts.segments += 1;
        self.counts.merged += u64::from(packets > 1);
        self.counts.payload_bytes += u64::from(packet.payload);
        self.counts.wire_bytes += u64::from(packet.payload) + packets * u64::from(packet.header_bytes);
        self.congestion_window_reduced(now, packet);
        let next = start == self.max;
        let dense = self.more_waited;
        if next && !dense {
            self.after_a_write(now, packet);
        }
        if start >= self.max {
            self.new_data(now, packet, start, end, packets);
        } else if end > self.max {
            // Sent again, with new data behind it.
            let border = self.max;
            self.old_data(now, packet, start, border);
            self.new_data(now, packet, border, end, self.size.packets(end - border));
        } else {
            self.old_data(now, packet, start, end);
        }
        if self.edge.is_some_and(|edge| end > edge) {
            self.outside.insert(start, end);
        }
        if let Some(echo) = echo_of(packet) {
            let in_order = self.sacked.is_empty() && self.dupacks == 0 && self.una >= self.recover;
            let pause = now.saturating_sub(self.ended_data);
            let after_pause = !dense && self.times.least().is_some_and(|least| pause > least / 2);
            self.times.echoed(now, echo, Echoing { next, waited: next && dense, in_order, after_pause });
        }
        self.ended = self.ended.max(now);
        self.ended_data = now;
        self.active = now;
    }

    /// The size of a packet is another one than what was counted by.
    fn count_again(&mut self, change: &Recount) {
        let counts = &mut self.counts;
        adjust(&mut counts.packets, change.packets);
        adjust(&mut counts.merged, change.merged);
        for count in [
            &mut counts.retransmissions,
            &mut counts.lost,
            &mut counts.lost_before,
            &mut counts.spurious,
            &mut counts.out_of_order,
            &mut counts.discarded,
        ] {
            *count = (*count as f64 * change.ratio).round() as u64;
        }
        let missed = (counts.uncaptured as f64 * change.lengths).round() as u64;
        adjust(&mut counts.packets, missed.cast_signed() - counts.uncaptured.cast_signed());
        counts.uncaptured = missed;
        self.rounds.count_again(change.ratio);
    }

    fn probes_window(&mut self, end: u64) {
        self.counts.segments += 1;
        self.counts.zero_window_probes += 1;
        self.probed = end;
    }

    /// The flow begins here, if its beginning was not captured: what was sent before is not missing. Else what was acknowledged of
    /// it was.
    fn first_data(&mut self, start: u64, end: u64) {
        let (border, acked) = (self.max, self.acked);
        if self.opened {
            self.miss(self.active, self.first, self.una);
        } else if start >= border {
            (self.first, self.max, self.recover) = (start, start, start);
            if !acked {
                self.una = start;
            }
        } else if self.is_answered_by(end) {
            self.first = start; // what the acknowledgement before it answers
            self.miss(self.active, start, border);
        }
    }

    /// The bytes between were acknowledged and not captured, as far as is known.
    fn miss(&mut self, at: Nanos, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let packets = self.missed.add(at, &self.size, start, end);
        adjust(&mut self.counts.uncaptured, packets);
        adjust(&mut self.counts.packets, packets);
        self.uncaptured_bytes += end - start;
        packets.max(0).cast_unsigned()
    }

    /// A FIN takes a number of its own.
    pub(crate) fn on_fin(&mut self, now: Nanos, packet: &Packet) {
        let Some(start) = self.extend(packet.seq).filter(|_| self.synchronised) else { return };
        let end = start + u64::from(packet.payload);
        if end >= self.max {
            if self.una == self.max {
                self.under_way_since = now;
            }
            if start > self.max && (self.seen || self.opened) {
                // Data before it come later, if at all.
                let missing = self.leaves_hole(now, packet, self.max, start);
                self.counts.packets += missing;
                self.rounds.missed(missing);
            }
            self.fin = Some(end);
            self.max = end + 1;
        } else if end + 1 == self.max && self.fin.is_none() && !self.missed.is_empty() {
            // Its acknowledgement stands before it: what looked like a byte that was not captured is none.
            let (bytes, packets, _) = self.missed.remove(now, &self.size, end, end + 1);
            if bytes > 0 {
                self.fin = Some(end);
                self.uncaptured_bytes = self.uncaptured_bytes.saturating_sub(bytes);
                adjust(&mut self.counts.uncaptured, packets);
                adjust(&mut self.counts.packets, packets);
            }
        }
    }

    fn congestion_window_reduced(&mut self, now: Nanos, packet: &Packet) {
        let cwr = packet.flags.has(Flags::CWR) && !packet.flags.has(Flags::SYN);
        if cwr && !self.cwr {
            self.counts.ecn_reductions += 1;
            self.limits.marked(now);
        }
        self.cwr = cwr;
    }

    #[inline]
    fn new_data(&mut self, now: Nanos, packet: &Packet, start: u64, end: u64, packets: u64) {
        let begin = self.max;
        let gap = start - begin;
        let mut sent = packets;
        self.captured_bytes += end - start;
        if begin == self.una {
            self.under_way_since = now;
        }
        if gap > 0 {
            sent += self.leaves_hole(now, packet, begin, start);
        }
        self.counts.packets += sent;
        self.times.sent(now, end);
        let sent = Sent {
            start: begin,
            end,
            packets: sent,
            new: true,
            echo: echo_of(packet),
            patience: self.patience(),
        };
        self.in_slot(now, &sent);
        self.max = end;
        self.more_waited = !packet.flags.has(Flags::PSH);
    }

    /// The bytes between were not seen, but later ones were; the packets that are missing, if they may still come.
    fn leaves_hole(&mut self, now: Nanos, packet: &Packet, begin: u64, end: u64) -> u64 {
        if end - begin >= LARGEST_JUMP as u64 / 16 {
            self.miss(now, begin, end);
            return 0;
        }
        let (missing, forgotten) = self.holes.add(&self.size, begin, end);
        self.uncaptured_bytes += forgotten;
        if self.gaps.len() >= Ranges::LIMIT {
            self.gaps.pop_front();
        }
        let timestamp = packet.options.timestamps.map(|pair| pair.0);
        self.gaps.push_back(Gap { end, at: now, waits: self.times.waits(), timestamp });
        missing.max(0).cast_unsigned()
    }

    fn patience(&self) -> Option<Nanos> {
        // Two round trips while an acknowledgement may still come, one if none is captured.
        self.times.smoothed().map(|rtt| if self.acked { rtt.saturating_mul(2) } else { rtt })
    }

    /// An acknowledgement of this direction's data passes, which offers a window; `scaled`: its scale is known.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Nanos, packet: &Packet, window: u64, scaled: bool) {
        if !self.synchronised {
            self.begin_at(packet.ack);
        }
        self.counts.acknowledgements += 1;
        self.largest_window = self.largest_window.max(window);
        self.counts.zero_windows += u64::from(window == 0);
        let Some(ack) = self.extend(packet.ack) else {
            self.odd_acknowledgement(packet.ack);
            return;
        };
        self.acked = true;
        let ahead = ack > self.max;
        if ahead {
            self.unseen_was_acknowledged(now, ack);
        }
        let edge = self.edge.map(|edge| (edge, self.window));
        if scaled && ack >= self.una {
            (self.edge, self.window) = (Some(ack + window), window);
        }
        let echo = packet.options.timestamps.map(|pair| pair.1);
        let (had_sacked, reported) = (!self.sacked.is_empty(), self.counts.duplicates_reported);
        if packet.options.sack_blocks > 0 {
            self.on_sack(now, packet.options.blocks(), ack);
        }
        if ack < self.una {
            return; // an old one
        }
        if let Some((value, _)) = packet.options.timestamps {
            self.times.acknowledged_with(now, value);
        }
        let evidence = Evidence { now, una: self.una, ack, echo, least: self.times.least_beyond() };
        let (counts, rounds, sacked) = (&mut self.counts, &mut self.rounds, &self.sacked);
        self.resent.judge(
            &evidence,
            |start, end| sacked.covers(start, end),
            |resent| unlose(counts, rounds, resent),
        );
        let advanced = ack > self.una;
        if advanced {
            let usable = !ahead && !had_sacked && self.dupacks == 0 && !self.resent.any_within(self.una, ack);
            let segment = u64::from(self.size.bytes());
            self.times.acknowledged(now, (self.una, ack), segment, usable && self.una >= self.recover);
            self.events.progress(now, self.progress.max(self.under_way_since), self.times.smoothed());
            self.advance(now, ack);
        } else if packet.payload == 0 && self.max > self.una && packet.window == self.last_window {
            self.dupacks += 1;
        }
        if !advanced && packet.payload == 0 && self.counts.duplicates_reported == reported {
            let (counts, rounds) = (&mut self.counts, &mut self.rounds);
            self.resent.answered_by_duplicate(|resent| unlose(counts, rounds, resent));
        }
        self.last_window = packet.window;
        self.window_closed = window == 0;
        self.events.window(now, window == 0);
        // At the sender the answer comes at once; elsewhere it is recognised by its echo.
        let wait = self.times.until_answered();
        let echoed = packet.options.timestamps.map(|pair| pair.0).filter(|_| wait > 0);
        self.rounds.acknowledged(now.saturating_add(wait / 20 * 19), echoed, (ack, edge), &self.sacked);
        self.acked_at = now;
        self.limits.waited(self.times.waits());
        self.window_moved(now);
        self.active = now;
    }

    fn unseen_was_acknowledged(&mut self, now: Nanos, ack: u64) {
        if self.probed > self.max && self.probed <= ack {
            self.counts.packets += 1; // the receiver took a probe's byte
            self.captured_bytes += 1;
            self.max = self.probed;
        }
        if self.seen && self.fin.is_none() && ack > self.max {
            let missing = self.miss(now, self.max, ack);
            self.rounds.missed(missing);
        } else if !self.seen {
            self.recover = ack;
        }
        self.max = ack;
    }

    fn advance(&mut self, now: Nanos, ack: u64) {
        if self.una < self.recover && ack >= self.recover {
            self.repaired = now.saturating_add(self.times.until_answered());
        }
        self.una = ack;
        self.dupacks = 0;
        self.progress = now;
        if self.began.is_some() {
            self.ended = self.ended.max(now);
        }
        self.sacked.remove(0, ack);
        self.outside.remove(0, ack);
        if !self.holes.is_empty() {
            for (start, end) in self.holes.below(ack) {
                self.miss(now, start, end);
            }
            let (_, packets) = self.holes.remove(&self.size, 0, ack);
            adjust(&mut self.counts.packets, packets); // those that are missed now
            while self.gaps.front().is_some_and(|gap| gap.end <= ack) {
                self.gaps.pop_front();
            }
        }
    }

    fn on_sack(&mut self, now: Nanos, blocks: &[(u32, u32)], ack: u64) {
        let extended = |block: &(u32, u32)| Some((self.extend(block.0)?, self.extend(block.1)?));
        let all: [Option<(u64, u64)>; 4] = std::array::from_fn(|i| blocks.get(i).and_then(extended));
        for (i, block) in all.iter().enumerate() {
            let Some((start, end)) = *block else { continue };
            if start >= end || end > self.max {
                continue;
            }
            let inside_next = i == 0 && all[1].is_some_and(|outer| outer.0 <= start && end <= outer.1);
            if end <= ack || inside_next {
                // RFC 2883 §4: the first block reports a duplicate.
                if i == 0 {
                    self.counts.duplicates_reported += 1;
                    let (counts, rounds) = (&mut self.counts, &mut self.rounds);
                    self.resent.duplicate(start, end, |resent| unlose(counts, rounds, resent));
                }
                continue;
            }
            if !self.sacked.covers(end - 1, end) {
                self.times.sacked(now, end, self.una >= self.recover);
            }
            self.sacked.insert(start.max(ack), end);
        }
    }

    /// Payload that arrived, as far as the capture shows: no more than was captured, and is missing.
    pub(crate) fn delivered(&self) -> u64 {
        let end = self.fin.unwrap_or(u64::MAX);
        let now = if self.acked {
            let acknowledged = self.una.min(end).saturating_sub(self.first);
            let known = self.captured_bytes + self.uncaptured_bytes;
            if self.seen {
                acknowledged.min(known)
            } else {
                acknowledged
            }
        } else if self.seen {
            self.max.min(end).saturating_sub(self.first).saturating_sub(self.holes.total())
        } else {
            0
        };
        self.delivered_before + now
    }

    /// Payload that was captured, of every copy.
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.counts.payload_bytes
    }

    /// Packets on their way: neither acknowledged nor, selectively, received; `None` if acknowledgements are not seen.
    pub(crate) fn in_flight(&self) -> Option<u64> {
        let bytes = (self.max - self.una.min(self.max)).saturating_sub(self.sacked.total());
        self.acked.then(|| if bytes == 0 { 0 } else { self.size.packets(bytes) })
    }

    /// The slots that are settled.
    pub(crate) fn settled_round(&mut self) -> Option<crate::rounds::Round> {
        self.rounds.settled(!self.acked)
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.size.footprint()
            + self.times.footprint()
            + self.rounds.footprint()
            + self.limits.footprint()
            + self.events.footprint()
            + self.holes.footprint()
            + self.missed.footprint()
            + self.sacked.footprint()
            + self.outside.footprint()
            + self.resent.footprint()
            + self.gaps.capacity() * size_of::<Gap>()
    }
}

/// Adds what may be less than 0; no count is.
fn adjust(count: &mut u64, change: i64) {
    *count = count.saturating_add_signed(change);
}

/// The timestamp that a packet echoes.
fn echo_of(packet: &Packet) -> Option<u32> {
    packet.options.timestamps.filter(|_| packet.flags.has(Flags::ACK)).map(|pair| pair.1)
}

/// A retransmission was needless: the copy before it had arrived.
fn unlose(counts: &mut Counts, rounds: &mut Rounds, resent: &Resent) {
    counts.lost = counts.lost.saturating_sub(resent.packets);
    counts.spurious += resent.packets;
    if let Some(round) = resent.before {
        rounds.mark(round, resent.packets, false);
    }
}
