//! Segments and ACKs of TCP as packets of the engine.

mod options;

pub(crate) use options::{AckOptions, AckSlots};

use parshall_engine::{Flags, Packet, Waiting};
use parshall_tcp::{Ack, Segment};
use parshall_units::Instant;

/// Sent again; of an ACK: what it echoes was.
pub(crate) const RETRANSMISSION: Flags = Flags::OWN[0];
/// Opens a connection, or answers that.
pub(crate) const SYN: Flags = Flags::OWN[1];
/// Of data: CWR.
pub(crate) const CWR: Flags = Flags::OWN[2];
/// Of data: PSH.
pub(crate) const PUSH: Flags = Flags::OWN[3];
/// Of an ACK: ECE. (ACKs are not pushed.)
pub(crate) const CONGESTION_ECHO: Flags = Flags::OWN[3];

/// The segment that a packet carries.
#[inline]
pub(crate) fn segment(packet: &Packet) -> Segment {
    let flags = packet.flags();
    Segment {
        seq: packet.seq(),
        sent: packet.sent,
        retransmission: flags.has(RETRANSMISSION),
        syn: flags.has(SYN),
        push: flags.has(PUSH),
        ecn_capable: !flags.has(Flags::NOT_ECN_CAPABLE),
        cwr: flags.has(CWR),
        congestion_experienced: flags.has(Flags::CONGESTION_EXPERIENCED),
    }
}

/// The packet of a segment that its sender has just sent.
#[inline]
pub(crate) fn waiting(segment: &Segment, bytes: u32) -> Waiting {
    let mut flags = Flags::default();
    flags.set_if(segment.retransmission, RETRANSMISSION);
    flags.set_if(segment.syn, SYN);
    flags.set_if(segment.push, PUSH);
    flags.set_if(segment.cwr, CWR);
    flags.set_if(!segment.ecn_capable, Flags::NOT_ECN_CAPABLE);
    Waiting::new(segment.sent, segment.seq, bytes, flags)
}

/// The ACK that a packet is: its number is the cumulative acknowledgement, its time the echo. `options`: what few ACKs
/// carry.
#[inline]
pub(crate) fn ack(packet: &Packet, options: &AckOptions) -> Ack {
    let flags = packet.flags();
    Ack {
        cumulative: packet.seq(),
        sent: options.sent,
        echo: packet.sent,
        echo_retransmission: flags.has(RETRANSMISSION),
        congestion_echo: flags.has(CONGESTION_ECHO),
        syn: flags.has(SYN),
        sack: options.sack,
        window: options.window,
    }
}

/// The packet of an ACK of so many bytes, without what few ACKs carry.
#[inline]
pub(crate) fn ack_packet(at: Instant, ack: &Ack, bytes: u32) -> Packet {
    let mut flags = Flags::default();
    flags.set_if(ack.echo_retransmission, RETRANSMISSION);
    flags.set_if(ack.syn, SYN);
    flags.set_if(ack.congestion_echo, CONGESTION_ECHO);
    Packet::new(at, ack.echo, ack.cumulative, bytes, flags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_net::ecn::Ecn;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_segment_survives_its_packet(
            seq in 0u64..1 << 39, sent in 0u64..1 << 50, bits in any::<[bool; 5]>(), marked in any::<bool>(),
        ) {
            let [retransmission, syn, push, ecn_capable, cwr] = bits;
            let sent = Instant::from_ps(sent);
            let before = Segment { retransmission, syn, push, ecn_capable, cwr, ..Segment::plain(seq, sent) };
            let mut packet = waiting(&before, 1500).arriving(Instant::MAX);
            prop_assert_eq!(packet.ecn(Ecn::Ect0), if ecn_capable { Ecn::Ect0 } else { Ecn::NotCapable });
            if marked {
                packet.mark();
            }
            let after = segment(&packet);
            let expected = Segment { congestion_experienced: marked, ..before };
            prop_assert_eq!(format!("{after:?}"), format!("{expected:?}"));
        }
    }
}
