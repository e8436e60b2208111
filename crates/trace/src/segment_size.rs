//! How many packets a captured segment was.
//!
//! Where the capturing host offloads segmentation, one captured segment is many packets on the wire. Their size is not that of the
//! handshake's option, an upper bound only (paths with a smaller MTU, tunnels): it is the largest size that full segments are
//! multiples of. An upper bound it is, if at all, for what the sender does not merge: some systems count the options to the
//! segment and others do not (RFC 6691), some state the least size for a path of which they know nothing. A size that nearly all
//! segments have, that fits a frame and is no multiple of the stated one was not merged.

/// Distinct sizes that are counted.
const SIZES: usize = 24;

/// A size that explains this share of the packets is good enough, if it is the largest.
const GOOD: f64 = 0.9;

/// Smaller ones are no full segments.
const SMALLEST: u32 = 200;

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

/// Learns the payload of a full packet.
#[derive(Clone, Debug)]
pub(crate) struct SegmentSize {
    size: u32,
    /// What the handshake allows, options deducted.
    stated: Option<u32>,
    /// The longest segment that is one packet.
    longest: u32,
    seen: u32,
    next_look: u32,
    counts: Vec<(u32, u32)>,
}

impl SegmentSize {
    pub(crate) fn new() -> Self {
        Self { size: DEFAULT, stated: None, longest: ETHERNET, seen: 0, next_look: 2, counts: Vec::new() }
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
        if payload <= u64::from(self.longest) {
            1
        } else {
            payload.div_ceil(u64::from(self.size))
        }
    }

    /// A segment was seen.
    #[inline]
    pub(crate) fn see(&mut self, payload: u32) {
        if self.seen >= 1 << 14 {
            return; // learnt
        }
        self.seen += 1;
        if let Some(found) = self.counts.iter_mut().find(|count| count.0 == payload) {
            found.1 += 1;
        } else if self.counts.len() < SIZES {
            self.counts.push((payload, 1));
        }
        if self.seen >= self.next_look {
            self.next_look = self.seen.saturating_mul(2);
            self.look();
        }
    }

    fn learn(&mut self, size: u32) {
        self.size = size;
        self.longest = size + size / NEXT_TO_EMPTY;
    }

    fn look(&mut self) {
        let weight = |size: u32| -> u32 {
            let multiples = self.counts.iter().filter(|(payload, _)| payload % size == 0);
            multiples.map(|(_, count)| count).sum()
        };
        let full: u32 =
            self.counts.iter().filter(|(payload, _)| *payload >= SMALLEST).map(|count| count.1).sum();
        let mut common: Vec<_> = self.counts.clone();
        common.sort_unstable_by_key(|(payload, count)| (u32::MAX - count, *payload));
        let mut candidates: Vec<u32> = common.iter().map(|count| count.0).collect();
        candidates.extend(self.stated);
        // The greatest common divisor of the two most common sizes: all segments may be merged ones.
        if let [first, second, ..] = common.as_slice() {
            candidates.push(divisor(first.0, second.0));
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
        if f64::from(best) < 0.5 * f64::from(full) || (self.stated.is_some() && best < 3) {
            if self.seen >= SIZES as u32 {
                self.learn(self.size); // no common size: the stated one holds
            }
            return;
        }
        let good = candidates.into_iter().filter(|size| f64::from(weight(*size)) >= GOOD * f64::from(best));
        self.learn(good.max().unwrap_or(self.size));
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.counts.capacity() * size_of::<(u32, u32)>()
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
            size.see(*payload);
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
        for _ in 0..4 {
            size.see(1000);
        }
        assert_eq!(packets(&size, [1, 1000, 1062, 1063, 1460, 64_000]), [1, 1, 1, 2, 2, 64]);
    }
}
