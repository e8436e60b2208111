//! RACK (RFC 8985): losses found by time.
//!
//! | RFC 8985 | here |
//! | --- | --- |
//! | `Segment.xmit_ts`, `.lost`, `.retransmitted` | [`Packet`]: `sent`, `lost`, `sent_again` |
//! | `RACK.xmit_ts`, `RACK.end_seq` | `newest`: when the delivered packet sent last was sent, and its number |
//! | `RACK.rtt` | `rtt`: of the packet that [`LossDetection`] says |
//! | `RACK.fack` | `highest`, the highest packet delivered |
//! | `RACK.reordering_seen` | `reordering_seen` |
//! | `RACK.segs_sacked` | `sacked_count` |
//!
//! A packet is lost when one that was sent after it was delivered, and more than an RTT and the reordering window has
//! passed since it was sent. A packet that is sent again is judged anew, so lost retransmissions are found too.
//!
//! Transmissions are judged in order of time, each once. First transmissions are in that order by number (`fresh` is
//! the next one); only what is sent again is noted in a queue, `resent`. A transmission is void if its packet was
//! delivered, sent again or found lost since. The cost is that of the packets, not of the window.
//!
//! Where packets keep their order, what a receiver reports as a duplicate (D-SACK) tells of a timer or a probe that was
//! too early; where they do not, of a window that was too short. It widens the reordering window in either case, as the
//! RFC asks (§6.2 step 4).
//!
//! Whether an ACK is for the first copy of a packet that was sent again, the echoed timestamp says of packets
//! acknowledged cumulatively only; of those SACKed behind a hole the RTT alone does (§6.2 step 2, condition 2), else no
//! retransmitted probe would find a loss.

use crate::policies::{LossDetection, LossResponse, Rules};
use crate::ranges::{Range, RangeSet};
use crate::recovery::scoreboard::DUP_THRESH;
use parshall_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The farthest that Linux takes for reordering: `tcp_max_reordering`.
const MOST_REORDERING: u64 = 300;

/// A packet in flight, as of its last transmission.
#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Instant,
    sent_again: bool,
    /// It is to be sent again.
    lost: bool,
    /// It was found lost, and perhaps sent again since.
    repaired: bool,
    sacked: bool,
}

impl Packet {
    fn new(sent: Instant) -> Self {
        Self { sent, sent_again: false, lost: false, repaired: false, sacked: false }
    }
}

/// A packet that was sent again, not yet judged.
#[derive(Clone, Copy, Debug)]
struct Resent {
    sent: Instant,
    number: u64,
    /// One past the highest packet then: those below it were first sent before.
    end: u64,
}

/// The packets outstanding.
///
/// The order of the fields is the order of memory: what every packet needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Segments {
    /// First unacknowledged packet, the first one in `packets`.
    base: u64,
    packets: VecDeque<Packet>,
    newest: (Instant, u64),
    highest: u64,
    rtt: Duration,
    sacked_count: u64,
    /// Packets lost and not yet sent again.
    lost_count: u64,
    /// RTT that the ACK at hand gives of packets that were sent once; [`Duration::MAX`]: none.
    sample: Duration,
    resent: VecDeque<Resent>,
    // Three cache lines of the recovery to here.
    pub(super) reordering_seen: bool,
    /// How far a packet has come behind higher ones, packets: `tcp_sock.reordering` of Linux.
    reordering: u64,
    detection: LossDetection,
    response: LossResponse,
    /// The first packet whose first transmission is not yet judged.
    fresh: u64,
    /// Packets found lost and not delivered since, sent again or not: `lost_out` of Linux.
    repaired_count: u64,
    /// Of the packets that the ACK at hand reports, the lowest that was sent once; [`u64::MAX`]: none.
    lowest_original: u64,
    /// Of the packets that the ACK at hand reports by SACK and that were sent once, when the lowest was sent;
    /// [`Instant::MAX`]: none.
    first_sacked: Instant,
    /// The packets lost and not yet sent again, with some that were delivered since.
    lost: BinaryHeap<Reverse<u64>>,
    sacked: RangeSet,
}

/// The packets that are lost by now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    /// Packets found lost.
    pub(super) packets: u64,
    /// Of these, packets that had been sent again.
    pub(super) retransmissions: u64,
    /// Until when the first of the others is in doubt; [`Instant::MAX`]: none is.
    pub(super) in_doubt_until: Instant,
}

impl Segments {
    /// A connection whose first packet is `base`.
    pub(super) fn new(base: u64, rules: &Rules) -> Self {
        Self {
            base,
            packets: VecDeque::new(),
            newest: (Instant::ZERO, 0),
            highest: 0,
            fresh: base,
            sacked_count: 0,
            lost_count: 0,
            repaired_count: 0,
            rtt: Duration::ZERO,
            sample: Duration::MAX,
            lowest_original: u64::MAX,
            first_sacked: Instant::MAX,
            reordering_seen: false,
            reordering: DUP_THRESH,
            detection: rules.loss_detection,
            response: rules.loss_response,
            resent: VecDeque::new(),
            lost: BinaryHeap::new(),
            sacked: RangeSet::default(),
        }
    }

    /// Those of the next connection between the same ends, whose first packet is `base`.
    pub(super) fn restarted(&self, base: u64) -> Self {
        let Self { detection, response, .. } = *self;
        Self { detection, response, ..Self::new(base, &Rules::RFC) }
    }

    /// A packet is sent; whether it was lost. RFC 8985 §6.1
    pub(super) fn on_send(&mut self, now: Instant, number: u64) -> bool {
        let index = (number - self.base) as usize;
        let Some(packet) = self.packets.get_mut(index) else {
            self.packets.push_back(Packet::new(now));
            return false;
        };
        let lost = packet.lost;
        self.lost_count -= u64::from(lost);
        *packet = Packet { sent: now, sent_again: true, lost: false, ..*packet };
        self.resent.push_back(Resent { sent: now, number, end: self.end() });
        lost
    }

    /// A queue that slow start made long gives its memory back, once the window was cut: its packets come round through
    /// all of it, and with hundreds of flows no near cache has it.
    #[inline]
    pub(super) fn trim(&mut self) {
        let capacity = self.packets.capacity();
        if capacity > 16 && self.packets.len() < capacity / 4 {
            self.packets.shrink_to(capacity / 2);
        }
    }

    /// One past the highest packet sent.
    fn end(&self) -> u64 {
        self.base + self.packets.len() as u64
    }

    /// An ACK up to `una`, with SACK blocks; `echo`: when the packet that caused it was sent, if it says so. Returns
    /// how many packets it reports as delivered; `sacked` is told of what the blocks report for the first time. RFC
    /// 8985 §6.2 steps 1 to 3
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        una: u64,
        blocks: &[Range; 3],
        (echo, min_rtt): (Option<Instant>, Duration),
        mut sacked: impl FnMut(Range),
    ) -> u64 {
        let echo = echo.filter(|_| self.detection.trusts_echo());
        let mut delivery =
            Delivery { now, echo, min_rtt, newest: None, last: None, originals: None, count: 0 };
        self.lowest_original = u64::MAX;
        let mut again = false;
        while self.base < una {
            let Some(packet) = self.packets.pop_front() else { break };
            again |= packet.sent_again;
            self.deliver(self.base, packet, &mut delivery);
            self.sacked_count -= u64::from(packet.sacked);
            self.base += 1;
        }
        let last_acknowledged = delivery.last.take();
        let acknowledged = delivery.originals.take().filter(|_| !again);
        self.base = self.base.max(una);
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una, |_| {});
        }
        if !blocks[0].is_empty() {
            delivery.echo = None; // it says nothing of what is behind a hole (RFC 7323 §4.3)
            self.take_blocks(*blocks, &mut delivery, &mut sacked);
        }
        let sacked = delivery.originals;
        self.first_sacked = sacked.map_or(Instant::MAX, |(first, _)| first);
        self.sample = sacked.or(acknowledged).map_or(Duration::MAX, |(_, last)| now.since(last));
        if let Some(newest) = delivery.newest {
            let measured = self.detection.measured(newest.0, last_acknowledged.or(delivery.last));
            self.rtt = measured.map_or(self.rtt, |sent| now.since(sent));
            self.newest = self.newest.max(newest);
        }
        delivery.count
    }

    /// Fast path of [`on_ack`](Self::on_ack) and [`detect_losses`](Self::detect_losses): an ACK up to `una` without
    /// SACK blocks, of packets that were sent once, in their order, while nothing is SACKed or lost. Returns how many
    /// packets; `None`, and nothing is done, if the path does not apply.
    #[inline]
    pub(super) fn deliver_in_order(&mut self, now: Instant, una: u64) -> Option<u64> {
        if self.has_holes() || !self.resent.is_empty() || self.highest >= self.base {
            return None;
        }
        let count = una.checked_sub(self.base).filter(|&count| count > 0)?;
        let last = *self.packets.get(count as usize - 1)?;
        let newest = (last.sent, una - 1);
        // What is outstanding was sent later than all that was delivered.
        let later = self.packets.get(count as usize).is_none_or(|next| (next.sent, una) >= self.newest);
        if !later || newest < self.newest {
            return None;
        }
        for _ in 0..count {
            self.packets.pop_front();
        }
        self.base = una;
        self.highest = una - 1;
        self.newest = newest;
        self.rtt = now.since(last.sent);
        self.sample = self.rtt;
        Some(count)
    }

    /// The SACK blocks of an ACK, lowest first.
    fn take_blocks(
        &mut self,
        mut blocks: [Range; 3],
        delivery: &mut Delivery,
        sacked: &mut impl FnMut(Range),
    ) {
        blocks.sort_unstable_by_key(|block| block.start);
        let mut known = std::mem::take(&mut self.sacked);
        for block in blocks {
            let block = Range { start: block.start.max(self.base), end: block.end.min(self.end()) };
            known.insert(block, |part| {
                sacked(part);
                for number in part.start..part.end {
                    let index = (number - self.base) as usize;
                    let packet = self.packets[index];
                    self.deliver(number, packet, delivery);
                    self.packets[index] = Packet { sacked: true, lost: false, repaired: false, ..packet };
                    self.sacked_count += 1;
                }
            });
        }
        self.sacked = known;
    }

    #[inline]
    fn deliver(&mut self, number: u64, packet: Packet, delivery: &mut Delivery) {
        if packet.sacked {
            return;
        }
        delivery.count += 1;
        if !packet.sent_again {
            self.lowest_original = self.lowest_original.min(number);
            let first = delivery.originals.map_or(packet.sent, |(first, _)| first);
            delivery.originals = Some((first, packet.sent));
        }
        self.lost_count -= u64::from(packet.lost);
        self.repaired_count -= u64::from(packet.repaired);
        // Step 3: below one delivered before, and not because it was sent again.
        if number > self.highest {
            self.highest = number;
        } else if !packet.sent_again {
            self.reordering_seen = true;
            let behind = (self.highest + 1 - number).min(MOST_REORDERING); // `tcp_check_sack_reordering`
            self.reordering = self.reordering.max(behind);
        }
        // Step 2: the ACK of a packet sent twice may be its first copy's.
        let of_first_copy = delivery.echo.is_some_and(|echo| echo < packet.sent)
            || delivery.now.since(packet.sent) < delivery.min_rtt;
        if !(packet.sent_again && of_first_copy) {
            let this = (packet.sent, number);
            if delivery.newest.is_none_or(|newest| newest < this) {
                delivery.newest = Some(this);
            }
            delivery.last = Some(packet.sent);
        }
    }

    /// True if packets come so far behind others that by Linux's rules the window grows by what is SACKed, too (`tcp_may_raise_cwnd`).
    pub(super) fn reorders_far(&self) -> bool {
        self.reordering > DUP_THRESH
    }

    /// A timeout while so many packets are SACKed: they were lost, and not overtaken (`tcp_enter_loss`).
    pub(super) fn doubt_reordering(&mut self) {
        if self.sacked_count >= DUP_THRESH {
            self.reordering = DUP_THRESH;
        }
    }

    /// Finds what is lost by now, if a packet may be late by `window`. RFC 8985 §6.2 step 5
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Instant, window: impl FnOnce(&Self) -> Duration) -> Losses {
        let mut found = Losses { packets: 0, retransmissions: 0, in_doubt_until: Instant::MAX };
        // Nearly always nothing that was sent later has been delivered.
        let mut first = self.first_unjudged();
        if first.is_none_or(|first| first >= self.newest) {
            return found;
        }
        let lateness = self.rtt + window(self);
        while let Some((sent, number)) = first.filter(|&first| first < self.newest) {
            if sent + lateness > now {
                found.in_doubt_until = sent + lateness;
                break;
            }
            found.packets += 1;
            found.retransmissions += u64::from(self.packets[(number - self.base) as usize].sent_again);
            self.mark_lost(number);
            first = self.first_unjudged();
        }
        found
    }

    /// The retransmission timer expired: the first packet is lost, and all that is old enough; how many. RFC 8985 §6.3
    pub(super) fn mark_lost_on_timeout(&mut self, now: Instant, window: Duration) -> u64 {
        let lateness = self.rtt + window;
        let before = self.lost_count;
        while let Some((_, number)) = self.first_unjudged().filter(|&(sent, _)| sent + lateness <= now) {
            self.mark_lost(number);
        }
        if self.packets.front().is_some_and(|packet| !packet.lost) {
            self.mark_lost(self.base);
        }
        self.lost_count - before
    }

    /// The earliest transmission not yet judged that is its packet's last one, and neither delivered nor lost; forgets
    /// void ones before it.
    #[inline]
    fn first_unjudged(&mut self) -> Option<(Instant, u64)> {
        self.fresh = self.fresh.max(self.base);
        loop {
            let end = self.resent.front().map_or(self.end(), |again| again.end);
            while self.fresh < end {
                let packet = self.packets[(self.fresh - self.base) as usize];
                if !(packet.sent_again || packet.lost || packet.sacked) {
                    return Some((packet.sent, self.fresh));
                }
                self.fresh += 1;
            }
            let &Resent { sent, number, .. } = self.resent.front()?;
            if self.is_outstanding(sent, number) {
                return Some((sent, number));
            }
            self.resent.pop_front();
        }
    }

    /// True if this transmission of a packet is its last one, and neither delivered nor lost.
    fn is_outstanding(&self, sent: Instant, number: u64) -> bool {
        let packet = number.checked_sub(self.base).and_then(|index| self.packets.get(index as usize));
        packet.is_some_and(|packet| packet.sent == sent && !packet.lost && !packet.sacked)
    }

    /// A packet is lost, even if it is SACKed: a receiver may discard what it reported (RFC 2018 §8).
    fn mark_lost(&mut self, number: u64) {
        let packet = &mut self.packets[(number - self.base) as usize];
        packet.lost = true;
        self.sacked_count -= u64::from(std::mem::take(&mut packet.sacked));
        self.lost_count += 1;
        self.repaired_count += u64::from(!std::mem::replace(&mut packet.repaired, true));
        self.lost.push(Reverse(number));
    }

    /// Nothing counts as lost any more, and all that is outstanding is judged anew. `tcp_undo_cwnd_reduction`
    pub(super) fn unmark_lost(&mut self) {
        for packet in &mut self.packets {
            packet.lost = false;
            packet.repaired = false;
        }
        self.lost_count = 0;
        self.repaired_count = 0;
        self.lost.clear();
        self.fresh = self.base;
        let numbered = || self.packets.iter().zip(self.base..);
        let mut again: Vec<(Instant, u64)> = numbered()
            .filter(|(packet, _)| packet.sent_again && !packet.sacked)
            .map(|(packet, number)| (packet.sent, number))
            .collect();
        again.sort_unstable();
        let mut first = numbered().filter(|(packet, _)| !packet.sent_again).peekable();
        let mut end = self.base;
        self.resent = again
            .into_iter()
            .map(|(sent, number)| {
                while let Some((_, earlier)) = first.next_if(|(packet, _)| packet.sent <= sent) {
                    end = earlier + 1;
                }
                Resent { sent, number, end }
            })
            .collect();
    }

    /// The lost packet to send again next: the lowest.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        while let Some(&Reverse(number)) = self.lost.peek() {
            let packet = number.checked_sub(self.base).and_then(|index| self.packets.get(index as usize));
            if packet.is_some_and(|packet| packet.lost) {
                return Some(number);
            }
            self.lost.pop();
        }
        None
    }

    /// Packets in the network: those neither SACKed nor lost.
    pub(super) fn pipe(&self) -> u64 {
        self.packets.len() as u64 - self.sacked_count - self.lost_count
    }

    /// Packets lost and not yet sent again.
    pub(super) fn lost_count(&self) -> u64 {
        self.lost_count
    }

    /// Packets whose losses call for a recovery: in Linux's form of [`LossResponse`] also those that were sent again
    /// and are not known to have arrived (`tcp_time_to_recover`).
    pub(super) fn to_answer(&self) -> u64 {
        self.response.to_answer(self.lost_count, self.repaired_count)
    }

    /// Packets found lost and not delivered since, sent again or not.
    pub(super) fn repaired_count(&self) -> u64 {
        self.repaired_count
    }

    /// Packets whose retransmission is under way, also that of a probe: counted anew, for a recovery's beginning and
    /// for reports.
    pub(super) fn retransmitted(&self) -> u64 {
        let again = |packet: &&Packet| packet.sent_again && !packet.lost && !packet.sacked;
        self.packets.iter().filter(again).count() as u64
    }

    /// Packets SACKed and not yet acknowledged cumulatively.
    pub(super) fn sacked_count(&self) -> u64 {
        self.sacked_count
    }

    /// The RTT that the ACK at hand gives without its timestamp: of the last packet that it reports, those of its
    /// blocks first. None of what was sent again, nor if it acknowledges such a packet cumulatively.
    /// `tcp_clean_rtx_queue`, `tcp_sacktag_one`
    pub(super) fn newest_rtt(&self) -> Option<Duration> {
        (self.sample < Duration::MAX).then_some(self.sample)
    }

    /// Of the packets that the ACK at hand reports, the lowest that was sent once; [`u64::MAX`]: none.
    pub(super) fn lowest_original(&self) -> u64 {
        self.lowest_original
    }

    /// True if the first packet outstanding was sent after one that the ACK at hand reports by SACK, so that Linux starts
    /// the timers anew (`tcp_clean_rtx_queue`).
    pub(super) fn is_first_resent_since_sacked(&self) -> bool {
        let later = |first: &Packet| first.sent > self.first_sacked;
        self.packets.front().is_some_and(later)
    }

    /// When the first packet outstanding was sent last.
    #[inline]
    pub(super) fn first_sent(&self) -> Option<Instant> {
        Some(self.packets.front()?.sent)
    }

    /// When the last one was.
    #[inline]
    pub(super) fn last_sent(&self) -> Option<Instant> {
        Some(self.packets.back()?.sent)
    }

    /// RTT of the packet delivered last that was sent last.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// True if any is SACKed or lost.
    pub(super) fn has_holes(&self) -> bool {
        self.sacked_count > 0 || self.lost_count > 0
    }
}

/// What an ACK reports as delivered.
struct Delivery {
    now: Instant,
    /// The timestamp that it echoes, where that tells which copy of a packet arrived.
    echo: Option<Instant>,
    min_rtt: Duration,
    /// When the one sent last was sent, and its number.
    newest: Option<(Instant, u64)>,
    /// When the one reported last was sent.
    last: Option<Instant>,
    /// When the first and the last one of those that were sent once were sent.
    originals: Option<(Instant, Instant)>,
    count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first unacknowledged packet is never one that the receiver still has: an ACK would have said so.
    #[test]
    fn a_timeout_finds_a_first_packet_lost_that_was_sacked() {
        let mut segments = Segments::new(1, &Rules::RFC);
        for number in 1..=3 {
            segments.on_send(Instant::ZERO, number);
        }
        let first = [Range { start: 1, end: 2 }, Range::default(), Range::default()];
        assert_eq!(segments.on_ack(Instant::ZERO, 1, &first, (None, Duration::MAX), |_| {}), 1);
        let later = Instant::ZERO + Duration::from_secs(1);
        assert_eq!(segments.mark_lost_on_timeout(later, Duration::ZERO), 3);
        assert_eq!((segments.pipe(), segments.sacked_count(), segments.lost_count()), (0, 0, 3));
        for number in 1..=3 {
            assert_eq!(segments.next_lost(), Some(number));
            segments.on_send(later, number);
        }
        assert_eq!((segments.pipe(), segments.next_lost()), (3, None));
        segments.on_ack(later, 4, &Default::default(), (None, Duration::MAX), |_| {});
        assert_eq!((segments.pipe(), segments.has_holes()), (0, false));
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn block(start: u64, end: u64) -> [Range; 3] {
        [Range { start, end }, Range::default(), Range::default()]
    }

    /// `tcp_clean_rtx_queue`, `tcp_sacktag_one`: what was sent again gives no RTT but by the timestamp's echo, in a
    /// block or not.
    #[test]
    fn only_packets_that_were_sent_once_give_an_rtt() {
        let mut segments = Segments::new(1, &Rules::LINUX);
        for number in 1..=9 {
            segments.on_send(at(number), number);
        }
        let hears = |segments: &mut Segments, ms, una, blocks| {
            segments.on_ack(at(ms), una, &blocks, (None, Duration::ZERO), |_| {});
            (segments.newest_rtt(), segments.is_first_resent_since_sacked())
        };
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(hears(&mut segments, 100, 2, [Range::default(); 3]), (ms(99), false), "acknowledged");
        assert_eq!(hears(&mut segments, 105, 2, block(4, 6)), (ms(100), false), "the last of a block");
        segments.on_send(at(110), 2);
        segments.on_send(at(111), 3);
        assert_eq!(hears(&mut segments, 115, 2, block(6, 7)), (ms(109), true), "the first packet went later");
        assert_eq!(hears(&mut segments, 211, 2, block(3, 7)), (None, false), "sent again, in a block");
        assert_eq!(
            hears(&mut segments, 212, 7, [Range::default(); 3]),
            (None, false),
            "sent again, acknowledged"
        );
        segments.on_send(at(220), 7);
        assert_eq!(hears(&mut segments, 320, 10, [Range::default(); 3]), (None, false), "with others");
    }
}
