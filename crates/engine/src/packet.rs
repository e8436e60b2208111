//! A packet under way.

use parshall_net::ecn::Ecn;
use parshall_net::markers::Class;
use parshall_units::Instant;

/// A packet between two events.
///
/// What it carries is its endpoint's business: the network knows size, class and marks, and hands back the tag by which
/// the endpoint finds the rest ([`Owner::tag`]). Number, size and flags share a word, because packets in flight are
/// most of what a large simulation remembers. A number has 39 bits: the 5 * 10^11th packet of one flow is days of
/// computing away.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When it arrives where it is going.
    pub at: Instant,
    /// When it was sent, or what else its endpoint keeps here.
    pub sent: Instant,
    word: u64,
}

const FLAG_BITS: u32 = 7;
const SIZE_BITS: u32 = 18;

/// Largest size of a packet, bytes.
pub const MAX_BYTES: u32 = (1 << SIZE_BITS) - 1;

/// A packet in transit from its flow to the first link. When it arrives there is computed when it comes first: 16
/// bytes.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// When it was sent.
    pub sent: Instant,
    word: u64,
}

/// A packet on its way between two contended links.
#[derive(Clone, Copy, Debug)]
pub struct Transit {
    /// The packet.
    pub packet: Packet,
    /// Whose it is.
    pub owner: Owner,
    /// Links crossed so far.
    pub hop: u8,
}

/// Whose packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The code of its transit queue.
    pub transit: u8,
    /// The flow, by its place among those of its kind.
    pub flow: u32,
    /// A word that the transit queue keeps with this packet.
    pub tag: u32,
}

impl Owner {
    /// A number for the packets of one transit queue of one flow.
    pub fn flow_number(self) -> u32 {
        let kind = u32::from(self.transit);
        (self.flow << 2 | kind & 3) ^ (kind >> 2) << 26
    }
}

/// Yes or no about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// A queue marked it (CE).
    pub const CONGESTION_EXPERIENCED: Self = Self(8);
    /// Within its flow's profile.
    pub const WITHIN: Self = Self(32);
    /// Not-ECT, although its flow's packets are ECN-capable.
    pub const NOT_ECN_CAPABLE: Self = Self(64);
    /// Four that mean what the packet's endpoint says.
    pub const OWN: [Self; 4] = [Self(1), Self(2), Self(4), Self(16)];

    /// True if one of `other` is set.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Sets `other` on a condition.
    #[inline]
    pub fn set_if(&mut self, condition: bool, other: Self) {
        self.0 |= if condition { other.0 } else { 0 };
    }
}

impl Packet {
    /// A packet that arrives `at`. Its number is below 2^39, its size at most [`MAX_BYTES`].
    #[inline]
    pub fn new(at: Instant, sent: Instant, seq: u64, bytes: u32, flags: Flags) -> Self {
        debug_assert!(bytes <= MAX_BYTES && seq < 1 << (64 - SIZE_BITS - FLAG_BITS));
        let word = seq << (SIZE_BITS + FLAG_BITS) | u64::from(bytes) << FLAG_BITS | u64::from(flags.0);
        Self { at, sent, word }
    }

    /// Its number.
    #[inline]
    pub fn seq(&self) -> u64 {
        self.word >> (SIZE_BITS + FLAG_BITS)
    }

    /// Bytes on the wire.
    #[inline]
    pub fn bytes(&self) -> u32 {
        (self.word >> FLAG_BITS) as u32 & MAX_BYTES
    }

    /// Its flags.
    #[inline]
    pub fn flags(&self) -> Flags {
        Flags(self.word as u8 & ((1 << FLAG_BITS) - 1))
    }

    /// A queue marked it.
    #[inline]
    pub fn mark(&mut self) {
        self.word |= u64::from(Flags::CONGESTION_EXPERIENCED.0);
    }

    /// Returns its ECN codepoint if its flow's packets have `codepoint`: none if it is of those without, and CE once it is
    /// marked.
    #[inline]
    pub fn ecn(&self, codepoint: Ecn) -> Ecn {
        if codepoint == Ecn::NotCapable || self.flags().has(Flags::NOT_ECN_CAPABLE) {
            Ecn::NotCapable
        } else if self.flags().has(Flags::CONGESTION_EXPERIENCED) {
            Ecn::Ce
        } else {
            codepoint
        }
    }

    /// Returns its class: within its flow's profile, or not.
    #[inline]
    pub fn class(&self) -> Class {
        Class::within(self.flags().has(Flags::WITHIN))
    }

    /// The same packet, in a class.
    #[inline]
    #[must_use]
    pub fn of_class(mut self, class: Class) -> Self {
        self.word |= if class == Class::In { u64::from(Flags::WITHIN.0) } else { 0 };
        self
    }
}

impl Waiting {
    /// A packet that is sent now.
    #[inline]
    pub fn new(sent: Instant, seq: u64, bytes: u32, flags: Flags) -> Self {
        let Packet { sent, word, .. } = Packet::new(sent, sent, seq, bytes, flags);
        Self { sent, word }
    }

    /// Its number.
    pub fn seq(self) -> u64 {
        self.word >> (SIZE_BITS + FLAG_BITS)
    }

    /// Sets flags.
    #[inline]
    pub fn set(&mut self, flags: Flags) {
        self.word |= u64::from(flags.0);
    }

    /// Bytes on the wire.
    #[inline]
    pub fn bytes(self) -> u32 {
        (self.word >> FLAG_BITS) as u32 & MAX_BYTES
    }

    /// It reaches the first link.
    #[inline]
    pub fn arriving(self, at: Instant) -> Packet {
        Packet { at, sent: self.sent, word: self.word }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_keeps_what_it_is_given(seq in 0u64..1 << 39, bytes in 0..=MAX_BYTES, bits in 0u8..128) {
            let mut packet = Packet::new(Instant::ZERO, Instant::ZERO, seq, bytes, Flags(bits));
            prop_assert_eq!((packet.seq(), packet.bytes(), packet.flags()), (seq, bytes, Flags(bits)));
            packet.mark();
            prop_assert_eq!((packet.seq(), packet.bytes()), (seq, bytes));
            prop_assert_eq!(packet.flags(), Flags(bits | 8));
            let within = packet.of_class(Class::In);
            prop_assert_eq!((within.seq(), within.bytes(), within.flags()), (seq, bytes, Flags(bits | 8 | 32)));
            prop_assert_eq!((packet.class(), within.class()), (Class::within(bits & 32 != 0), Class::In));
        }
    }
}
