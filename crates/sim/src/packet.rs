//! A packet under way, and the names of what events happen to.

use parshall_net::markers::Class;
use parshall_tcp::{Ack, SackBlocks, Segment};
use parshall_units::Instant;

/// A data packet, an ACK or a datagram between two events.
///
/// Number, size and flags share a word, because packets in flight are most of what a large simulation remembers.
/// A number has 40 bits: the 10^12th packet of one flow is days of computing away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// When it arrives where it is going.
    pub(crate) at: Instant,
    /// When it was sent; of an ACK: the echo.
    pub(crate) sent: Instant,
    word: u64,
}

const FLAG_BITS: u32 = 6;
const SIZE_BITS: u32 = 18;

/// Largest size of a packet, bytes.
pub(crate) const MAX_BYTES: u32 = (1 << SIZE_BITS) - 1;

/// A packet on its flow's own line to the first link. When it arrives there is computed when it comes first: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) sent: Instant,
    word: u64,
}

/// A packet on its way between two contended links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub(crate) packet: Packet,
    pub(crate) owner: Owner,
    /// Links crossed so far.
    pub(crate) hop: u8,
}

/// Whose packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Data of a TCP flow.
    Data(u32),
    /// An ACK of a TCP flow, and where its SACK blocks are kept.
    Ack(u32, u32),
    /// A datagram.
    Datagram(u32),
}

impl Owner {
    /// A number for the packets of one flow in one direction.
    pub(crate) fn flow_number(self) -> u32 {
        match self {
            Self::Data(index) => index << 2,
            Self::Ack(index, _) => index << 2 | 1,
            Self::Datagram(index) => index << 2 | 2,
        }
    }
}

/// Yes or no about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) const RETRANSMISSION: Self = Self(1);
    pub(crate) const SYN: Self = Self(2);
    pub(crate) const CWR: Self = Self(4);
    pub(crate) const CONGESTION_EXPERIENCED: Self = Self(8);
    pub(crate) const CONGESTION_ECHO: Self = Self(16);
    /// Within its flow's profile.
    pub(crate) const WITHIN: Self = Self(32);

    #[inline]
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(crate) fn set_if(&mut self, condition: bool, other: Self) {
        self.0 |= if condition { other.0 } else { 0 };
    }
}

impl Packet {
    #[inline]
    pub(crate) fn new(at: Instant, sent: Instant, seq: u64, bytes: u32, flags: Flags) -> Self {
        debug_assert!(bytes <= MAX_BYTES && seq < 1 << (64 - SIZE_BITS - FLAG_BITS));
        let word = seq << (SIZE_BITS + FLAG_BITS) | u64::from(bytes) << FLAG_BITS | u64::from(flags.0);
        Self { at, sent, word }
    }

    /// Its number; of an ACK: the cumulative acknowledgement.
    #[inline]
    pub(crate) fn seq(&self) -> u64 {
        self.word >> (SIZE_BITS + FLAG_BITS)
    }

    /// Bytes on the wire.
    #[inline]
    pub(crate) fn bytes(&self) -> u32 {
        (self.word >> FLAG_BITS) as u32 & MAX_BYTES
    }

    #[inline]
    pub(crate) fn flags(&self) -> Flags {
        Flags(self.word as u8 & ((1 << FLAG_BITS) - 1))
    }

    /// A queue marked it.
    #[inline]
    pub(crate) fn mark(&mut self) {
        self.word |= u64::from(Flags::CONGESTION_EXPERIENCED.0);
    }

    /// Whether it may say that its ends understand ECN, if they do: not while they have still to agree. RFC 3168 §6.1.1
    #[inline]
    pub(crate) fn is_ecn_capable(&self) -> bool {
        !self.flags().has(Flags::SYN)
    }

    /// Whether it is within its flow's profile.
    #[inline]
    pub(crate) fn class(&self) -> Class {
        Class::within(self.flags().has(Flags::WITHIN))
    }

    /// The same packet, in a class.
    #[inline]
    #[must_use]
    pub(crate) fn of_class(mut self, class: Class) -> Self {
        self.word |= if class == Class::In { u64::from(Flags::WITHIN.0) } else { 0 };
        self
    }

    /// The segment it carries.
    #[inline]
    pub(crate) fn segment(&self) -> Segment {
        let flags = self.flags();
        Segment {
            seq: self.seq(),
            sent: self.sent,
            retransmission: flags.has(Flags::RETRANSMISSION),
            syn: flags.has(Flags::SYN),
            cwr: flags.has(Flags::CWR),
            congestion_experienced: flags.has(Flags::CONGESTION_EXPERIENCED),
        }
    }

    /// The ACK that it is, with these SACK blocks.
    #[inline]
    pub(crate) fn ack(&self, sack: SackBlocks) -> Ack {
        let flags = self.flags();
        Ack {
            cumulative: self.seq(),
            echo: self.sent,
            echo_retransmission: flags.has(Flags::RETRANSMISSION),
            congestion_echo: flags.has(Flags::CONGESTION_ECHO),
            syn: flags.has(Flags::SYN),
            sack,
        }
    }
}

impl Waiting {
    /// A segment that its sender has just sent.
    #[inline]
    pub(crate) fn of_segment(segment: &Segment, bytes: u32) -> Self {
        let mut flags = Flags::default();
        flags.set_if(segment.retransmission, Flags::RETRANSMISSION);
        flags.set_if(segment.syn, Flags::SYN);
        flags.set_if(segment.cwr, Flags::CWR);
        let Packet { sent, word, .. } = Packet::new(segment.sent, segment.sent, segment.seq, bytes, flags);
        Self { sent, word }
    }

    /// Bytes on the wire.
    #[inline]
    pub(crate) fn bytes(self) -> u32 {
        (self.word >> FLAG_BITS) as u32 & MAX_BYTES
    }

    /// It reaches the first link.
    #[inline]
    pub(crate) fn arriving(self, at: Instant) -> Packet {
        Packet { at, sent: self.sent, word: self.word }
    }
}

/// What an event happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    /// The first packet of a TCP flow's line reaches its first link.
    Data(u32),
    /// The first ACK of a flow's line reaches its first link.
    Acks(u32),
    /// A flow's retransmission timer, or its application.
    SlowTimer(u32),
    /// A flow's pacing, or its delayed ACK.
    FastTimer(u32),
    /// A flow's next datagram reaches its first link.
    Datagram(u32),
    /// A transfer of an open loop arrives.
    Arrival(u32),
    /// The first packet on a link's propagation line reaches the next link.
    Link(u32),
    /// A bin of the link samples ends.
    Bin,
    /// The warm-up ends.
    WarmUp,
    /// A link whose queue decides at departure has transmitted a packet.
    Transmission(u32),
    /// A flow of datagrams hears its receiver's report.
    Report(u32),
    /// The transfers that the end waits for are done.
    AllDone,
}

/// Largest index an entity can have.
pub(crate) const MAX_INDEX: u32 = (1 << 24) - 1;

impl Entity {
    #[inline]
    pub(crate) fn bits(self) -> u32 {
        let (kind, index) = match self {
            Self::Data(index) => (0, index),
            Self::Acks(index) => (1, index),
            Self::SlowTimer(index) => (2, index),
            Self::FastTimer(index) => (3, index),
            Self::Datagram(index) => (4, index),
            Self::Arrival(index) => (5, index),
            Self::Link(index) => (6, index),
            Self::Bin => (7, 0),
            Self::WarmUp => (8, 0),
            Self::Transmission(index) => (9, index),
            Self::Report(index) => (10, index),
            Self::AllDone => (11, 0),
        };
        debug_assert!(index <= MAX_INDEX);
        kind << 24 | index
    }

    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        let index = bits & MAX_INDEX;
        match bits >> 24 {
            0 => Self::Data(index),
            1 => Self::Acks(index),
            2 => Self::SlowTimer(index),
            3 => Self::FastTimer(index),
            4 => Self::Datagram(index),
            5 => Self::Arrival(index),
            6 => Self::Link(index),
            7 => Self::Bin,
            8 => Self::WarmUp,
            9 => Self::Transmission(index),
            10 => Self::Report(index),
            _ => Self::AllDone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_keeps_what_it_is_given(seq in 0u64..1 << 40, bytes in 0..=MAX_BYTES, bits in 0u8..64) {
            let mut packet = Packet::new(Instant::ZERO, Instant::ZERO, seq, bytes, Flags(bits));
            prop_assert_eq!((packet.seq(), packet.bytes(), packet.flags()), (seq, bytes, Flags(bits)));
            packet.mark();
            prop_assert_eq!((packet.seq(), packet.bytes()), (seq, bytes));
            prop_assert_eq!(packet.flags(), Flags(bits | 8));
            let within = packet.of_class(Class::In);
            prop_assert_eq!((within.seq(), within.bytes(), within.flags()), (seq, bytes, Flags(bits | 8 | 32)));
            prop_assert_eq!((packet.class(), within.class()), (Class::within(bits & 32 != 0), Class::In));
        }

        #[test]
        fn entities_survive_their_bits(kind in 0u32..12, index in 0..=MAX_INDEX) {
            let entity = Entity::from_bits(kind << 24 | index);
            prop_assert_eq!(Entity::from_bits(entity.bits()), entity);
        }
    }
}
