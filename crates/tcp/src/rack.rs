//! RACK-TLP (RFC 8985): losses found by time, and a probe at the tail.
//!
//! | RFC 8985 | here |
//! | --- | --- |
//! | `Segment.xmit_ts`, `.lost`, `.retransmitted` | [`Packet`]: `sent`, `lost`, `sent_again` |
//! | `RACK.xmit_ts`, `RACK.end_seq` | `newest`: when the delivered packet sent last was sent, and its number |
//! | `RACK.rtt` | `rtt` |
//! | `RACK.fack` | `highest`, the highest packet delivered |
//! | `RACK.reordering_seen` | `reordering_seen` |
//! | `RACK.segs_sacked` | `sacked_count` |
//! | `TLP.end_seq`, `TLP.is_retrans` | [`Probe`] |
//! | `RACK.reo_wnd_mult`, `.reo_wnd_persist`, `.dsack_round` | [`Patience`] |
//!
//! A packet is lost when one that was sent after it was delivered, and more than an RTT and the reordering window has passed since it
//! was sent. A packet that is sent again is judged anew, so lost retransmissions are found too.
//!
//! Every transmission joins `order`, which is therefore in order of time: the packets to judge are at its head, and each is judged once.
//! An entry is void if its packet was delivered, sent again or found lost since. The cost is that of the packets, not of the window.
//!
//! Packets keep their order in the networks here, so what a receiver reports as a duplicate (D-SACK) tells of a timer or a probe that
//! was too early. It widens the reordering window all the same, as the RFC asks (§6.2 step 4).
//!
//! Choices and deviations: the smallest RTT is the connection's, not that of the last minutes; the timer for reordering waits for the
//! first packet in doubt, not for the last.

use crate::ranges::{Range, RangeSet};
use parshall_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A packet in flight, as of its last transmission.
#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Instant,
    sent_again: bool,
    lost: bool,
    sacked: bool,
}

/// A loss probe under way.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// One past the highest packet when it was sent.
    end: u64,
    retransmission: bool,
}

/// What an ACK says of the probe under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeAnswer {
    /// There is none, or nothing is known yet.
    Nothing,
    /// Nothing was lost, or it is found by other means.
    Needless,
    /// The probe itself repaired a loss.
    Repaired,
}

/// How much later than others a packet may be, in quarters of the smallest RTT: one more in each round trip with a duplicate, one again
/// after 16 recoveries without. RFC 8985 §6.2 step 4
#[derive(Clone, Copy, Debug)]
struct Patience {
    quarters: u32,
    /// Recoveries until it is one again.
    persist: u32,
    /// A duplicate below this belongs to the round trip of the last one; 0: there is none.
    round_end: u64,
}

impl Patience {
    const FIRST: Self = Self { quarters: 1, persist: 0, round_end: 0 };
    const RECOVERIES: u32 = 16;
    /// As in Linux; more than the smoothed RTT it never is.
    const MOST: u32 = 255;

    /// An ACK up to `una` reports a duplicate; `nxt` is the next packet to send.
    fn lengthen(&mut self, una: u64, nxt: u64) {
        if una >= self.round_end {
            *self = Self {
                quarters: (self.quarters + 1).min(Self::MOST),
                persist: Self::RECOVERIES,
                round_end: nxt,
            };
        }
    }

    /// A recovery ends.
    fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }
}

/// The deadlines of a sender with RACK; [`Instant::MAX`]: off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// Retransmission timeout.
    pub(crate) rto: Instant,
    /// Loss probe (PTO).
    pub(crate) probe: Instant,
    /// A packet in doubt becomes lost.
    pub(crate) reordering: Instant,
}

impl Timers {
    const OFF: Self = Self { rto: Instant::MAX, probe: Instant::MAX, reordering: Instant::MAX };

    pub(crate) fn first(&self) -> Instant {
        self.rto.min(self.probe).min(self.reordering)
    }
}

/// What is known of the RTT when losses are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtts {
    /// Smallest of the connection.
    pub(crate) min: Duration,
    /// Smoothed.
    pub(crate) smoothed: Duration,
}

/// The scoreboard of a sender with RACK.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// First unacknowledged packet, the first one in `packets`.
    base: u64,
    packets: VecDeque<Packet>,
    sacked: RangeSet,
    sacked_count: u64,
    /// Packets lost and not yet sent again, and their numbers (with some that were delivered since).
    lost_count: u64,
    lost: BinaryHeap<Reverse<u64>>,
    /// Transmissions not yet judged.
    order: VecDeque<(Instant, u64)>,
    newest: (Instant, u64),
    rtt: Duration,
    highest: u64,
    reordering_seen: bool,
    patience: Patience,
    probe: Option<Probe>,
    /// A probe goes next.
    pub(crate) probe_due: bool,
    /// Whether there was an RTT sample since the last probe (§7.3).
    sampled_since_probe: bool,
    pub(crate) timers: Timers,
}

/// SACKed packets from which on there is no doubt, as long as no reordering was seen. RFC 8985 §6.2 step 4
const DUP_THRESH: u64 = 3;

impl Rack {
    /// A connection whose first packet is `base`.
    pub(crate) fn new(base: u64) -> Self {
        Self {
            base,
            packets: VecDeque::new(),
            sacked: RangeSet::default(),
            sacked_count: 0,
            lost_count: 0,
            lost: BinaryHeap::new(),
            order: VecDeque::new(),
            newest: (Instant::ZERO, 0),
            rtt: Duration::ZERO,
            highest: 0,
            reordering_seen: false,
            patience: Patience::FIRST,
            probe: None,
            probe_due: false,
            sampled_since_probe: true,
            timers: Timers::OFF,
        }
    }

    /// The next connection between the same ends.
    pub(crate) fn reset(&mut self, base: u64) {
        *self = Self::new(base);
    }

    /// A packet is sent. RFC 8985 §6.1
    pub(crate) fn on_send(&mut self, now: Instant, number: u64) {
        let index = (number - self.base) as usize;
        match self.packets.get_mut(index) {
            Some(packet) => {
                self.lost_count -= u64::from(packet.lost);
                *packet = Packet { sent: now, sent_again: true, lost: false, ..*packet };
            }
            None => {
                self.packets.push_back(Packet { sent: now, sent_again: false, lost: false, sacked: false });
            }
        }
        self.order.push_back((now, number));
    }

    /// An ACK up to `una`, with SACK blocks; `echo`: when the packet that caused it was sent, if it says so. Returns how many
    /// packets it reports as delivered; `sacked` is told of what the blocks report for the first time. RFC 8985 §6.2 steps 1 to 3
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        una: u64,
        blocks: &[Range; 3],
        (echo, min_rtt): (Option<Instant>, Duration),
        mut sacked: impl FnMut(Range),
    ) -> u64 {
        let mut delivery = Delivery { now, echo, min_rtt, newest: None, count: 0 };
        while self.base < una {
            let Some(packet) = self.packets.pop_front() else { break };
            self.deliver(self.base, packet, &mut delivery);
            self.sacked_count -= u64::from(packet.sacked);
            self.base += 1;
        }
        self.base = self.base.max(una);
        self.sacked.remove_below(una, |_| {});
        let end = self.base + self.packets.len() as u64;
        let mut blocks = *blocks;
        blocks.sort_unstable_by_key(|block| block.start);
        for block in blocks {
            let block = Range { start: block.start.max(una), end: block.end.min(end) };
            let mut known = std::mem::take(&mut self.sacked);
            known.insert(block, |part| {
                sacked(part);
                for number in part.start..part.end {
                    let index = (number - self.base) as usize;
                    let packet = self.packets[index];
                    self.deliver(number, packet, &mut delivery);
                    self.packets[index] = Packet { sacked: true, lost: false, ..packet };
                    self.sacked_count += 1;
                }
            });
            self.sacked = known;
        }
        if let Some(newest) = delivery.newest {
            self.rtt = now.since(newest.0);
            self.newest = self.newest.max(newest);
        }
        delivery.count
    }

    fn deliver(&mut self, number: u64, packet: Packet, delivery: &mut Delivery) {
        if packet.sacked {
            return;
        }
        delivery.count += 1;
        self.lost_count -= u64::from(packet.lost);
        // Step 3: below one delivered before, and not because it was sent again.
        if number > self.highest {
            self.highest = number;
        } else if !packet.sent_again {
            self.reordering_seen = true;
        }
        // Step 2: the ACK of a packet sent twice may be its first copy's.
        let of_first_copy = delivery.echo.is_some_and(|echo| echo < packet.sent)
            || delivery.now.since(packet.sent) < delivery.min_rtt;
        if !(packet.sent_again && of_first_copy) {
            delivery.newest = delivery.newest.max(Some((packet.sent, number)));
        }
    }

    /// How long a packet may be late. RFC 8985 §6.2 step 4
    fn reordering_window(&self, rtts: Rtts, recovering: bool) -> Duration {
        if !self.reordering_seen && (recovering || self.sacked_count >= DUP_THRESH) {
            return Duration::ZERO;
        }
        if rtts.smoothed == Duration::ZERO {
            return self.rtt.over(4); // no ACK has advanced yet
        }
        rtts.min.times(u64::from(self.patience.quarters)).over(4).min(rtts.smoothed)
    }

    /// An ACK up to `una` reports a packet that arrived twice; `nxt` is the next packet to send.
    pub(crate) fn duplicate_seen(&mut self, una: u64, nxt: u64) {
        self.patience.lengthen(una, nxt);
    }

    /// A recovery ends.
    pub(crate) fn recovered(&mut self) {
        self.patience.recovered();
    }

    /// Finds what is lost by now, and sets the timer for what is in doubt; how many were found. RFC 8985 §6.2 step 5
    pub(crate) fn detect_losses(&mut self, now: Instant, rtts: Rtts, recovering: bool) -> u64 {
        let patience = self.rtt + self.reordering_window(rtts, recovering);
        let before = self.lost_count;
        self.timers.reordering = Instant::MAX;
        while let Some(&(sent, number)) = self.order.front() {
            if self.is_outstanding(sent, number) {
                if (sent, number) >= self.newest {
                    break;
                }
                if sent + patience > now {
                    self.timers.reordering = sent + patience;
                    break;
                }
                self.mark_lost(number);
            }
            self.order.pop_front();
        }
        self.lost_count - before
    }

    /// The retransmission timer expired: the first packet is lost, and all that is old enough; how many. RFC 8985 §6.3
    pub(crate) fn mark_lost_on_timeout(&mut self, now: Instant, rtts: Rtts, recovering: bool) -> u64 {
        let patience = self.rtt + self.reordering_window(rtts, recovering);
        let before = self.lost_count;
        while let Some(&(sent, number)) = self.order.front() {
            if self.is_outstanding(sent, number) {
                if sent + patience > now {
                    break;
                }
                self.mark_lost(number);
            }
            self.order.pop_front();
        }
        if self.packets.front().is_some_and(|packet| !packet.lost) {
            self.mark_lost(self.base);
        }
        self.probe = None;
        self.probe_due = false;
        self.timers = Timers::OFF;
        self.lost_count - before
    }

    /// Whether this transmission of a packet is its last one, and neither delivered nor lost.
    fn is_outstanding(&self, sent: Instant, number: u64) -> bool {
        let packet = number.checked_sub(self.base).and_then(|index| self.packets.get(index as usize));
        packet.is_some_and(|packet| packet.sent == sent && !packet.lost && !packet.sacked)
    }

    fn mark_lost(&mut self, number: u64) {
        self.packets[(number - self.base) as usize].lost = true;
        self.lost_count += 1;
        self.lost.push(Reverse(number));
    }

    /// The lost packet to send again next: the lowest.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
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
    pub(crate) fn pipe(&self) -> u64 {
        self.packets.len() as u64 - self.sacked_count - self.lost_count
    }

    /// Packets lost and not yet sent again.
    pub(crate) fn lost_count(&self) -> u64 {
        self.lost_count
    }

    /// Packets found lost and not delivered since, sent again or not; and packets whose retransmission is under way, a probe's too.
    /// Counted anew: for reports.
    pub(crate) fn lost_and_retransmitted(&self) -> (u64, u64) {
        let again =
            self.packets.iter().filter(|packet| packet.sent_again && !packet.lost && !packet.sacked).count()
                as u64;
        let probe = self
            .probe
            .filter(|probe| probe.retransmission)
            .and_then(|probe| (probe.end - 1).checked_sub(self.base));
        let probed = probe
            .and_then(|index| self.packets.get(index as usize))
            .is_some_and(|packet| !packet.lost && !packet.sacked);
        (self.lost_count + again - u64::from(probed), again)
    }

    /// Packets SACKed and not yet acknowledged cumulatively.
    pub(crate) fn sacked_count(&self) -> u64 {
        self.sacked_count
    }

    /// Whether what goes next is not simply the next packet in order.
    pub(crate) fn has_holes(&self) -> bool {
        self.sacked_count > 0 || self.lost_count > 0 || self.probe_due
    }

    // --- tail loss probe ---

    /// There was an RTT sample.
    pub(crate) fn sampled(&mut self) {
        self.sampled_since_probe = true;
    }

    /// Whether a probe may be scheduled: nothing SACKed or lost, none under way, and a sample since the last one. RFC 8985 §7.2, §7.3
    pub(crate) fn may_probe(&self) -> bool {
        self.probe.is_none() && self.sampled_since_probe && !self.has_holes()
    }

    /// The probe is sent; `end` is one past the highest packet then. RFC 8985 §7.3
    pub(crate) fn probe_sent(&mut self, end: u64, retransmission: bool) {
        self.probe_due = false;
        self.probe = Some(Probe { end, retransmission });
        self.sampled_since_probe = false;
    }

    /// What an ACK up to `una` says of the probe, by the `duplicate` that it reports, or as a duplicate ACK `without_sack`.
    /// RFC 8985 §7.4.2
    pub(crate) fn answer_to_probe(
        &mut self,
        una: u64,
        duplicate: Option<Range>,
        without_sack: bool,
    ) -> ProbeAnswer {
        let Some(probe) = self.probe.filter(|probe| una >= probe.end) else { return ProbeAnswer::Nothing };
        let twice = duplicate.is_some_and(|packet| packet.end == probe.end);
        if probe.retransmission && una == probe.end && !twice && !without_sack {
            return ProbeAnswer::Nothing;
        }
        self.probe = None;
        if probe.retransmission && una > probe.end && !twice {
            ProbeAnswer::Repaired
        } else {
            ProbeAnswer::Needless
        }
    }
}

/// What an ACK reports as delivered.
struct Delivery {
    now: Instant,
    echo: Option<Instant>,
    min_rtt: Duration,
    /// When the one sent last was sent, and its number.
    newest: Option<(Instant, u64)>,
    count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTTS: Rtts = Rtts { min: Duration::from_millis(40), smoothed: Duration::from_millis(100) };

    #[test]
    fn duplicates_widen_the_reordering_window_once_a_round_trip_for_sixteen_recoveries() {
        let mut rack = Rack::new(1);
        rack.reordering_seen = true;
        let window = |rack: &Rack| rack.reordering_window(RTTS, true);
        assert_eq!(window(&rack), Duration::from_millis(10));
        rack.duplicate_seen(10, 50);
        rack.duplicate_seen(49, 90);
        assert_eq!(window(&rack), Duration::from_millis(20));
        rack.duplicate_seen(50, 90);
        assert_eq!(window(&rack), Duration::from_millis(30));
        for _ in 0..15 {
            rack.recovered();
        }
        assert_eq!(window(&rack), Duration::from_millis(30));
        rack.recovered();
        assert_eq!(window(&rack), Duration::from_millis(10));
        // Never beyond the smoothed RTT.
        for round in 2..100 {
            rack.duplicate_seen(100 * round, 100 * round + 100);
        }
        assert_eq!(window(&rack), RTTS.smoothed);
    }

    #[test]
    fn without_reordering_three_sacked_packets_or_a_recovery_end_all_doubt() {
        let mut rack = Rack::new(1);
        rack.duplicate_seen(10, 50);
        assert_eq!(rack.reordering_window(RTTS, false), Duration::from_millis(20));
        assert_eq!(rack.reordering_window(RTTS, true), Duration::ZERO);
        rack.sacked_count = 3;
        assert_eq!(rack.reordering_window(RTTS, false), Duration::ZERO);
    }

    #[test]
    fn a_probe_that_arrived_twice_was_needless_and_one_that_filled_a_hole_was_not() {
        let packet = |number| Some(Range { start: number, end: number + 1 });
        for (una, duplicate, without_sack, answer) in [
            (20, None, false, ProbeAnswer::Nothing),
            (20, packet(19), false, ProbeAnswer::Needless),
            (20, packet(4), false, ProbeAnswer::Nothing),
            (20, None, true, ProbeAnswer::Needless),
            (21, None, false, ProbeAnswer::Repaired),
            (21, packet(19), false, ProbeAnswer::Needless),
        ] {
            let mut rack = Rack::new(1);
            rack.probe_sent(20, true);
            assert_eq!(rack.answer_to_probe(una, duplicate, without_sack), answer, "{una} {duplicate:?}");
        }
    }
}
