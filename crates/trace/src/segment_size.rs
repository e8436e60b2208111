//! The number of packets of a captured segment.
//!
//! Where the capturing host offloads segmentation, one captured segment is many packets on the wire. The handshake
//! states their size as long as no segment is longer (than a frame of Ethernet takes, where nothing is stated): then
//! each is a packet, however short, and a full one may be shorter than stated if nearly all have that length. A longer
//! one shows offload, or that the handshake states less than is sent (some systems count the options to the segment and
//! others do not, RFC 6691; some state the least size for a path of which they know nothing). Then the size is what
//! full segments are multiples of, if one is common: it may be below the stated one (paths with a smaller MTU,
//! tunnels); or a larger one that nearly all segments have, that fits a frame and is no multiple of the stated one. A
//! segment with PSH may be the end of a write (RFC 9293 §3.9.1.2): its size shows nothing.
//!
//! When the size changes, the segments that were counted are counted again: a small table has how many there were of each length.

/// Distinct sizes that are counted.
const SIZES: usize = 24;

/// A size that explains this share of the packets is good enough, if it is the largest.
const GOOD: f64 = 0.9;

/// Smaller ones are no full segments.
const SMALLEST: u32 = 200;

/// The segment size that every host takes (RFC 9293 §3.7.1): where nothing is stated, shorter ones are no full segments.
const LEAST_FULL: u32 = 536;

/// Payload of an Ethernet frame, without TCP options: what fits was not merged, as long as nothing is known.
const ETHERNET: u32 = 1460;

/// Bytes of TCP options at most, RFC 9293 §3.1.
const OPTIONS: u32 = 40;

/// A segment that is longer than a full one by less than this share is one packet: it lacks an option, or takes another path. As
/// two, the second one would be next to empty.
const NEXT_TO_EMPTY: u32 = 16;

/// What is assumed as long as nothing is known: Ethernet, with timestamps.
const DEFAULT: u32 = 1448;

/// The largest payload of a packet that was not merged, on any usual network.
const LARGEST: u32 = 9_180;

/// After so many segments a size is learnt.
const LEARNT: u32 = 1 << 14;

/// Segments of one length.
#[derive(Clone, Copy, Debug)]
struct Length {
    payload: u32,
    all: u32,
    /// Those without PSH.
    evidence: u32,
}

/// By how much counts change when the size does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Recount {
    pub(crate) packets: i64,
    pub(crate) merged: i64,
    /// Packets now over packets before, and the length of a packet before over that now.
    pub(crate) ratio: f64,
    pub(crate) lengths: f64,
}

/// Learns the payload of a full packet.
#[derive(Clone, Debug)]
pub(crate) struct SegmentSize {
    size: u32,
    /// What the handshake allows, options deducted.
    stated: Option<u32>,
    /// The longest segment that is one packet.
    longest: u32,
    /// Whether a segment was longer than stated, and how many were seen then.
    offload: Option<u32>,
    seen: u32,
    next_look: u32,
    lengths: Vec<Length>,
    /// Segments of other lengths, and their bytes.
    others: u32,
    other_bytes: u64,
}

impl SegmentSize {
    pub(crate) fn new() -> Self {
        Self {
            size: DEFAULT,
            stated: None,
            longest: ETHERNET,
            offload: None,
            seen: 0,
            next_look: 2,
            lengths: Vec::new(),
            others: 0,
            other_bytes: 0,
        }
    }

    /// Bytes of payload in a full packet, as far as is known.
    #[inline]
    pub(crate) fn bytes(&self) -> u32 {
        self.size
    }

    /// The handshake allows this much payload.
    pub(crate) fn state(&mut self, payload: u32) {
        if payload >= SMALLEST {
            self.stated = Some(payload);
            self.learn(payload);
            self.longest = self.longest.max(ETHERNET);
        }
    }

    /// Packets that `payload` bytes are.
    #[inline]
    pub(crate) fn packets(&self, payload: u64) -> u64 {
        packets(payload, self.size, self.longest)
    }

    /// A segment is seen, which is counted after this; what changes of those before. `pushed`: it has PSH.
    #[inline]
    pub(crate) fn see(&mut self, payload: u32, pushed: bool) -> Option<Recount> {
        if self.seen >= LEARNT {
            return None;
        }
        self.seen += 1;
        if self.offload.is_none() && payload > self.stated.unwrap_or(ETHERNET) {
            self.offload = Some(self.seen);
            self.next_look = self.seen;
        }
        let looks = self.seen >= self.next_look;
        let (before, was) = (self.sizes(), looks.then(|| self.total()));
        self.count(payload, pushed);
        if !looks {
            return None;
        }
        let since = self.seen - self.offload.map_or(0, |seen| seen - 1);
        self.next_look = self.seen.saturating_add(since);
        self.look();
        let (was_packets, was_merged) = was.filter(|_| before != self.sizes())?;
        let (now, now_merged) = self.total();
        let (own, own_merged) = self.of(Length { payload, all: 1, evidence: 0 });
        let (now, now_merged) = (now - own, now_merged - own_merged);
        let ratio = if was_packets > 0 { now as f64 / was_packets as f64 } else { 1.0 };
        let lengths = f64::from(before.0) / f64::from(self.size);
        Some(Recount { packets: now - was_packets, merged: now_merged - was_merged, ratio, lengths })
    }

    fn sizes(&self) -> (u32, u32) {
        (self.size, self.longest)
    }

    fn count(&mut self, payload: u32, pushed: bool) {
        let evidence = u32::from(!pushed);
        if let Some(found) = self.lengths.iter_mut().find(|length| length.payload == payload) {
            found.all += 1;
            found.evidence += evidence;
        } else if self.lengths.len() < SIZES {
            self.lengths.push(Length { payload, all: 1, evidence });
        } else {
            self.others += 1;
            self.other_bytes += u64::from(payload);
        }
    }

    /// Packets of all segments counted, and how many segments are of more than one.
    fn total(&self) -> (i64, i64) {
        let others = self.packets(self.other_bytes.div_ceil(u64::from(self.others.max(1)))).cast_signed();
        let others = if self.others > 0 { others * i64::from(self.others) } else { 0 };
        let known = self.lengths.iter().map(|length| self.of(*length));
        known.fold((others, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    fn of(&self, length: Length) -> (i64, i64) {
        let packets = self.packets(u64::from(length.payload)).cast_signed();
        (packets * i64::from(length.all), if packets > 1 { i64::from(length.all) } else { 0 })
    }

    fn learn(&mut self, size: u32) {
        self.size = size;
        self.longest = size + size / NEXT_TO_EMPTY;
    }

    fn look(&mut self) {
        if self.offload.is_none() {
            self.size = self.full_segment();
            return;
        }
        let shown = || self.lengths.iter().filter(|length| length.evidence > 0);
        let weight = |size: u32| -> u32 {
            shown().filter(|length| length.payload % size == 0).map(|length| length.evidence).sum()
        };
        let full: u32 =
            shown().filter(|length| length.payload >= SMALLEST).map(|length| length.evidence).sum();
        let mut common: Vec<Length> = shown().copied().collect();
        common.sort_unstable_by_key(|length| (u32::MAX - length.evidence, length.payload));
        let mut candidates: Vec<u32> = common.iter().map(|length| length.payload).collect();
        candidates.extend(self.stated);
        // The greatest common divisor of the two most common sizes: all segments may be merged ones.
        if let [first, second, ..] = common.as_slice() {
            candidates.push(divisor(first.payload, second.payload));
        }
        let largest = self.stated.map_or(LARGEST, |stated| (stated + OPTIONS).clamp(ETHERNET, LARGEST));
        candidates.retain(|size| {
            let beyond = self.stated.filter(|stated| size > stated);
            let unmerged = beyond
                .is_none_or(|stated| size % stated > 0 && f64::from(weight(*size)) >= GOOD * f64::from(full));
            (SMALLEST..=largest).contains(size) && unmerged
        });
        let Some(best) = candidates.iter().map(|size| weight(*size)).max() else { return };
        // One size alone says little while the handshake says another.
        if best == 0 || f64::from(best) < 0.5 * f64::from(full) || (self.stated.is_some() && best < 3) {
            if self.seen >= SIZES as u32 {
                self.learn(self.size); // no common size: the stated one holds
            }
            return;
        }
        let good = candidates.into_iter().filter(|size| f64::from(weight(*size)) >= GOOD * f64::from(best));
        self.learn(good.max().unwrap_or(self.size));
    }

    /// A full packet where each segment is one: shorter than stated if nearly all have one length; if nothing is stated, the
    /// longest that is no end of a write.
    fn full_segment(&self) -> u32 {
        let full = self.lengths.iter().filter(|length| length.evidence > 0 && length.payload >= SMALLEST);
        let Some(stated) = self.stated else {
            let longest = full.map(|length| length.payload).max();
            return longest.filter(|longest| *longest >= LEAST_FULL).unwrap_or(self.size);
        };
        let all: u32 = full.clone().map(|length| length.evidence).sum();
        let mut alone = full.filter(|length| f64::from(length.evidence) >= GOOD * f64::from(all));
        alone.next().map_or(stated, |length| length.payload)
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.lengths.capacity() * size_of::<Length>()
    }
}

#[inline]
fn packets(payload: u64, size: u32, longest: u32) -> u64 {
    if payload <= u64::from(longest) {
        1
    } else {
        payload.div_ceil(u64::from(size))
    }
}

fn divisor(mut a: u32, mut b: u32) -> u32 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(stated: Option<u32>, payloads: &[u32]) -> u32 {
        let mut size = SegmentSize::new();
        if let Some(stated) = stated {
            size.state(stated);
        }
        for payload in payloads.iter().cycle().take(200) {
            size.see(*payload, false);
        }
        size.bytes()
    }

    #[test]
    fn merged_segments_are_multiples_of_a_full_one() {
        assert_eq!(learnt(Some(1448), &[1448]), 1448);
        assert_eq!(learnt(Some(1448), &[2896, 4344, 1448, 65_160]), 1448);
        assert_eq!(learnt(Some(1448), &[2376, 2376, 1188, 8316]), 1188, "a path with a smaller MTU");
        assert_eq!(learnt(None, &[2896, 4344, 2896]), 1448, "never one alone");
        assert_eq!(learnt(Some(8948), &[8948, 17_896]), 8948, "jumbo frames");
        assert_eq!(learnt(Some(1448), &[1448, 1448, 1448, 311, 77]), 1448);
    }

    #[test]
    fn an_application_that_sends_little_does_not_change_what_the_handshake_says() {
        assert_eq!(learnt(Some(1448), &[12, 40, 100, 90]), 1448);
        assert_eq!(learnt(Some(1448), &[311, 477, 1001, 750, 223, 688, 941]), 1448);
    }

    #[test]
    fn a_size_of_all_segments_wins_over_a_smaller_stated_one() {
        assert_eq!(learnt(Some(1380), &[1392]), 1392, "the options are not counted to the MSS");
        assert_eq!(learnt(Some(536), &[1460]), 1460, "536 was stated for want of a better one");
        assert_eq!(learnt(Some(8948), &[8960]), 8960, "jumbo frames");
        assert_eq!(learnt(Some(536), &[1072]), 536, "all merged");
        assert_eq!(learnt(Some(1380), &[1392, 1380]), 1380, "not all");
    }

    #[test]
    fn counts_packets() {
        let packets = |size: &SegmentSize, all: [u64; 6]| all.map(|bytes| size.packets(bytes));
        let mut size = SegmentSize::new();
        assert_eq!(packets(&size, [1, 1448, 1460, 1461, 2896, 65_160]), [1, 1, 1, 2, 2, 45]);
        size.state(1000);
        assert_eq!(packets(&size, [1, 999, 1000, 1461, 2000, 64_000]), [1, 1, 1, 2, 2, 64]);
        for payload in [1000, 1000, 1000, 1000, 1100] {
            size.see(payload, false); // one above what is stated: no frame of Ethernet is taken for granted any more
        }
        assert_eq!(packets(&size, [1, 1000, 1062, 1063, 1460, 64_000]), [1, 1, 1, 2, 2, 64]);
    }

    #[test]
    fn the_end_of_a_write_is_no_evidence() {
        // Half a full segment, pushed, and then full ones: the handshake's size stands as long as none is longer.
        let mut size = SegmentSize::new();
        size.state(1448);
        assert_eq!(size.see(724, true), None);
        assert!((0..40).all(|_| size.see(1448, false).is_none()));
        assert_eq!((size.bytes(), size.packets(1448)), (1448, 1));
        // Records of 536 bytes of an application, pushed or not, are no packets of the network.
        let mut size = SegmentSize::new();
        size.state(1440);
        for payload in [536, 536, 1440, 536, 536, 1440].into_iter().cycle().take(80) {
            assert_eq!(size.see(payload, payload == 536), None);
        }
        assert_eq!((size.bytes(), size.packets(1440)), (1440, 1));
        assert_eq!(learnt(Some(1440), &[536, 536, 1440]), 1440);
        // Without a handshake a pushed size shows nothing either.
        let mut size = SegmentSize::new();
        for payload in [724, 1448, 1448, 724, 1448, 1448] {
            size.see(payload, payload == 724);
        }
        assert_eq!(size.bytes(), 1448);
    }

    #[test]
    fn what_was_counted_is_counted_again_when_the_size_changes() {
        // Frames of 8948 bytes without a handshake: seven packets each, until it is known.
        let mut size = SegmentSize::new();
        let (mut packets, mut merged) = (0, 0);
        for _ in 0..20 {
            if let Some(change) = size.see(8948, false) {
                packets += change.packets;
                merged += change.merged;
            }
            let own = size.packets(8948).cast_signed();
            (packets, merged) = (packets + own, merged + i64::from(own > 1));
        }
        assert_eq!((size.bytes(), packets, merged), (8948, 20, 0));
        // A path with a smaller MTU than stated, and offload.
        let mut size = SegmentSize::new();
        size.state(1448);
        let (mut packets, mut merged) = (0, 0);
        let payloads = [2376, 1188, 2376, 8316, 2376, 1188];
        for payload in payloads {
            if let Some(change) = size.see(payload, false) {
                packets += change.packets;
                merged += change.merged;
            }
            let own = size.packets(u64::from(payload)).cast_signed();
            (packets, merged) = (packets + own, merged + i64::from(own > 1));
        }
        assert_eq!(
            (size.bytes(), packets, merged),
            (1188, i64::from(payloads.iter().sum::<u32>()) / 1188, 4)
        );
    }
}
