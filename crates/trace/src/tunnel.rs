//! Packets in packets: what a tunnel carries is taken out of it, so that the TCP in it is seen.
//!
//! | around | within | source |
//! | --- | --- | --- |
//! | PPPoE session | IP | RFC 2516 §5 |
//! | MPLS labels | IP, told by its version | RFC 3032 §2.1 |
//! | IP | IP | RFC 2003, RFC 4213 |
//! | GRE | IP, Ethernet | RFC 2784, RFC 2890 |
//! | UDP to the port of VXLAN | Ethernet | RFC 7348 §5 |

use crate::packet::link::{ETHERNET, PPP_IPV4, PPP_IPV6, RAW};
use etherparse::{EtherType, IpNumber};

/// Ethernet types that etherparse does not name.
const PPPOE_SESSION: u16 = 0x8864;
const MPLS: u16 = 0x8847;
const TRANSPARENT_ETHERNET: u16 = 0x6558;

const VXLAN_PORT: u16 = 4789;

/// The content of a packet: its link type, and its bytes.
pub(crate) type Inner<'a> = (i32, &'a [u8]);

/// Returns the content of a payload of this Ethernet type.
pub(crate) fn in_ethernet(ether_type: EtherType, payload: &[u8]) -> Option<Inner<'_>> {
    match ether_type.0 {
        PPPOE_SESSION => match half(payload, 6)? {
            PPP_IPV4 | PPP_IPV6 => ip(payload.get(8..)?),
            _ => None,
        },
        MPLS => {
            // The bit of the last label.
            let last = payload.chunks_exact(4).position(|label| label[2] & 1 == 1)?;
            ip(&payload[4 * (last + 1)..])
        }
        _ => None,
    }
}

/// Returns the content of a payload of this IP protocol.
pub(crate) fn in_ip(protocol: IpNumber, payload: &[u8]) -> Option<Inner<'_>> {
    match protocol {
        IpNumber::IPV4 | IpNumber::IPV6 => ip(payload),
        IpNumber::GRE => gre(payload),
        IpNumber::UDP if half(payload, 2)? == VXLAN_PORT => Some((ETHERNET, payload.get(16..)?)),
        _ => None,
    }
}

fn gre(payload: &[u8]) -> Option<Inner<'_>> {
    let flags = half(payload, 0)?;
    // Version 0; a checksum, a key and a sequence number take four bytes each.
    if flags & 7 != 0 {
        return None;
    }
    let optional = [0x8000, 0x2000, 0x1000].into_iter().filter(|bit| flags & bit != 0).count();
    let inner = payload.get(4 + 4 * optional..)?;
    match half(payload, 2)? {
        TRANSPARENT_ETHERNET => Some((ETHERNET, inner)),
        kind if kind == EtherType::IPV4.0 || kind == EtherType::IPV6.0 => ip(inner),
        _ => None,
    }
}

fn ip(data: &[u8]) -> Option<Inner<'_>> {
    matches!(data.first()? >> 4, 4 | 6).then_some((RAW, data))
}

fn half(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)
}
