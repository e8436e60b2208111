//! The segments between the two ends.

use crate::ranges::Range;
use parshall_units::Instant;

/// A data segment: one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub seq: u64,
    /// When this copy was sent (the timestamp option, RFC 7323).
    pub sent: Instant,
    /// True if it was sent before.
    pub retransmission: bool,
    /// Opens the connection; carries no data.
    pub syn: bool,
    /// The last of what the application has given, or in Linux's form of `bursts` of what is segmented at once (PSH).
    pub push: bool,
    /// Queues may mark it (ECT). RFC 3168 §6.1.1 and §6.1.5: neither SYNs nor retransmissions, but for accurate ECN.
    pub ecn_capable: bool,
    /// The sender has answered an ECN echo (CWR); with a SYN: it asks for ECN (RFC 3168 §6.1.1).
    pub cwr: bool,
    /// A queue on the way marked it (CE).
    pub congestion_experienced: bool,
}

impl Segment {
    /// A packet that is sent for the first time, with no flag.
    pub fn plain(seq: u64, sent: Instant) -> Self {
        Self {
            seq,
            sent,
            retransmission: false,
            syn: false,
            push: false,
            ecn_capable: false,
            cwr: false,
            congestion_experienced: false,
        }
    }
}

/// Up to three SACK blocks, most recent first (RFC 2018 §4); empty ones are unused.
pub type SackBlocks = [Range; 3];

/// No block.
pub const NO_SACK: SackBlocks = [Range { start: 0, end: 0 }; 3];

/// The window of an ACK that tells none.
pub const NO_WINDOW: u32 = u32::MAX;

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Number of the next packet the receiver waits for.
    pub cumulative: u64,
    /// When it was sent (its timestamp, RFC 7323).
    pub sent: Instant,
    /// The timestamp that it echoes: `sent` of the last segment in order, of the first one if its ACK was delayed
    /// (TS.Recent, RFC 7323 §4.3).
    pub echo: Instant,
    /// Of the answer to a SYN: whether that was a retransmission.
    pub echo_retransmission: bool,
    /// A mark was seen and not yet answered (ECE); of the answer to a SYN: ECN is agreed.
    pub congestion_echo: bool,
    /// Answers the opening segment.
    pub syn: bool,
    /// The packets that arrived beyond `cumulative`; before it, a packet that arrived twice (D-SACK, RFC
    /// 2883).
    pub sack: SackBlocks,
    /// The number of packets from `cumulative` on that the receiver takes. It says so by Linux's rules and where packets
    /// are missing: only there can it stop a sender. Else [`NO_WINDOW`].
    pub window: u32,
}

impl Ack {
    /// One past the last packet that the receiver takes, if it says so.
    pub fn window_end(&self) -> Option<u64> {
        (self.window != NO_WINDOW).then(|| self.cumulative + u64::from(self.window))
    }

    /// The packet that arrived twice: a first block below the cumulative ACK, or within the second one. RFC 2883 §5
    pub fn duplicate(&self) -> Option<Range> {
        let [first, second, _] = self.sack;
        let below = first.end <= self.cumulative;
        let within = !second.is_empty() && second.start <= first.start && first.end <= second.end;
        (!first.is_empty() && (below || within)).then_some(first)
    }
}
