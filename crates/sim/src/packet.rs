//! A packet under way.

use crate::endpoints::tcp::AckOptions;
use crate::endpoints::TransitKind;
use parshall_net::ecn::Ecn;
use parshall_net::markers::Class;
use parshall_tcp::{Ack, Segment};
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

const FLAG_BITS: u32 = 7;
const SIZE_BITS: u32 = 18;

/// Largest size of a packet, bytes.
pub(crate) const MAX_BYTES: u32 = (1 << SIZE_BITS) - 1;

/// A packet in transit from its flow to the first link. When it arrives there is computed when it comes first: 16 bytes.
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
pub(crate) struct Owner {
    pub(crate) transit: TransitKind,
    /// The flow, by its place among those of its kind.
    pub(crate) flow: u32,
    /// What else the transit queue must know of this packet (of an ACK: where its SACK blocks are kept).
    pub(crate) tag: u32,
}

impl Owner {
    /// A number for the packets of one transit queue of one flow.
    pub(crate) fn flow_number(self) -> u32 {
        let kind = self.transit as u32;
        (self.flow << 2 | kind & 3) ^ (kind >> 2) << 26
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
    /// Of an ACK; of data the same bit is [`PUSH`](Self::PUSH).
    pub(crate) const CONGESTION_ECHO: Self = Self(16);
    /// Of data: PSH.
    pub(crate) const PUSH: Self = Self(16);
    /// Within its flow's profile.
    pub(crate) const WITHIN: Self = Self(32);
    /// Not-ECT, although its flow's packets are ECN-capable: a SYN, a retransmission, or the two ends have not agreed.
    pub(crate) const NOT_ECN_CAPABLE: Self = Self(64);

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

    /// An ACK of so many bytes, without what few ACKs carry.
    #[inline]
    pub(crate) fn of_ack(at: Instant, ack: &Ack, bytes: u32) -> Self {
        let mut flags = Flags::default();
        flags.set_if(ack.echo_retransmission, Flags::RETRANSMISSION);
        flags.set_if(ack.syn, Flags::SYN);
        flags.set_if(ack.congestion_echo, Flags::CONGESTION_ECHO);
        Self::new(at, ack.echo, ack.cumulative, bytes, flags)
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

    /// What it says about ECN if its flow's packets say `codepoint`: nothing if it is of those that do not, and CE once it is
    /// marked.
    #[inline]
    pub(crate) fn ecn(&self, codepoint: Ecn) -> Ecn {
        if codepoint == Ecn::NotCapable || self.flags().has(Flags::NOT_ECN_CAPABLE) {
            Ecn::NotCapable
        } else if self.flags().has(Flags::CONGESTION_EXPERIENCED) {
            Ecn::Ce
        } else {
            codepoint
        }
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
            push: flags.has(Flags::PUSH),
            ecn_capable: !flags.has(Flags::NOT_ECN_CAPABLE),
            cwr: flags.has(Flags::CWR),
            congestion_experienced: flags.has(Flags::CONGESTION_EXPERIENCED),
        }
    }

    /// The ACK that it is, with what few ACKs carry.
    #[inline]
    pub(crate) fn ack(&self, options: &AckOptions) -> Ack {
        let flags = self.flags();
        Ack {
            cumulative: self.seq(),
            sent: options.sent,
            echo: self.sent,
            echo_retransmission: flags.has(Flags::RETRANSMISSION),
            congestion_echo: flags.has(Flags::CONGESTION_ECHO),
            syn: flags.has(Flags::SYN),
            sack: options.sack,
            window: options.window,
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
        flags.set_if(segment.push, Flags::PUSH);
        flags.set_if(segment.cwr, Flags::CWR);
        flags.set_if(!segment.ecn_capable, Flags::NOT_ECN_CAPABLE);
        let Packet { sent, word, .. } = Packet::new(segment.sent, segment.sent, segment.seq, bytes, flags);
        Self { sent, word }
    }

    /// Its number.
    pub(crate) fn seq(self) -> u64 {
        self.word >> (SIZE_BITS + FLAG_BITS)
    }

    /// It is the last of those that are sent together.
    pub(crate) fn push(&mut self) {
        self.word |= u64::from(Flags::PUSH.0);
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
