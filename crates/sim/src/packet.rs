//! A packet under way, and the names of what events happen to.

use parshall_tcp::Segment;
use parshall_units::Instant;

/// A data packet, an ACK or a datagram between two events.
///
/// 32 bytes: a flow's packets in flight are what most of the memory of a large simulation holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// When it arrives where it is going.
    pub(crate) at: Instant,
    /// When it was sent; of an ACK: the echo.
    pub(crate) sent: Instant,
    /// Its number; of an ACK: the cumulative acknowledgement.
    pub(crate) seq: u64,
    /// Bytes on the wire; of an ACK: where its SACK blocks are kept.
    pub(crate) load: u32,
    /// Which connection of the flow it belongs to: what is left of an earlier one is not delivered to the next.
    pub(crate) epoch: u16,
    /// Links crossed so far.
    pub(crate) hop: u8,
    pub(crate) flags: Flags,
}

/// A packet on its way between two contended links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub(crate) packet: Packet,
    pub(crate) owner: Owner,
}

/// Whose packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Data(u32),
    Ack(u32),
    Datagram(u32),
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
    /// A segment that arrives at its first link `at`.
    #[inline]
    pub(crate) fn of_segment(segment: &Segment, at: Instant, bytes: u32, epoch: u16) -> Self {
        let mut flags = Flags::default();
        flags.set_if(segment.retransmission, Flags::RETRANSMISSION);
        flags.set_if(segment.syn, Flags::SYN);
        flags.set_if(segment.cwr, Flags::CWR);
        Self { at, sent: segment.sent, seq: segment.seq, load: bytes, epoch, hop: 0, flags }
    }

    /// The segment it carries.
    #[inline]
    pub(crate) fn segment(&self) -> Segment {
        Segment {
            seq: self.seq,
            sent: self.sent,
            retransmission: self.flags.has(Flags::RETRANSMISSION),
            syn: self.flags.has(Flags::SYN),
            cwr: self.flags.has(Flags::CWR),
            congestion_experienced: self.flags.has(Flags::CONGESTION_EXPERIENCED),
        }
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
            _ => Self::WarmUp,
        }
    }
}
