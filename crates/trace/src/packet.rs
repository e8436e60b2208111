//! From a captured frame to what TCP analysis needs: link layer, IP and TCP headers.
//!
//! Headers are taken apart by `etherparse`, whose lax readers accept frames that the snapshot length cut. Lengths come from the
//! IP header; where it has none (0, as segmentation offload and jumbograms write), from the length on the wire.

pub(crate) mod link;
mod options;

use crate::tunnel;
use etherparse::{EtherType, LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket};
use link::Link;
pub use options::Options;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address and a port; IPv4 addresses as mapped ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    pub(crate) address: u128,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// Of an address and a port.
    pub fn new(address: IpAddr, port: u16) -> Self {
        let address = match address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        Self { address: u128::from(address), port }
    }

    /// True if both are of the same address.
    pub(crate) fn is_at(self, other: Self) -> bool {
        self.address == other.address
    }

    /// The address, IPv4 as such.
    pub fn address(self) -> IpAddr {
        Ipv6Addr::from(self.address).to_canonical()
    }
}

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: u8 = 1;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 2;
    /// Reset.
    pub const RST: u8 = 4;
    /// The sender has nothing more to send now.
    pub const PSH: u8 = 8;
    /// The acknowledgement field counts.
    pub const ACK: u8 = 16;
    /// The window was reduced (RFC 3168).
    pub const CWR: u8 = 128;

    /// True if this flag is set.
    #[inline]
    pub fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// A TCP packet as captured: one segment, or several that offload merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Who sent it.
    pub source: Endpoint,
    /// To whom.
    pub destination: Endpoint,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number; meaningful with [`Flags::ACK`].
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window field, not scaled.
    pub window: u16,
    /// Payload on the wire.
    pub payload: u32,
    /// IP and TCP headers.
    pub header_bytes: u16,
    /// Identification field of an IPv4 header.
    pub ip_id: Option<u16>,
    /// Tags of its VLANs, 12 bits each, the outer one higher; 0 without.
    pub vlan: u32,
    /// Options.
    pub options: Options,
}

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// TCP.
    Tcp(Packet),
    /// A fragment of an IP packet, which is not put together again.
    Fragment,
    /// Another protocol.
    Other,
    /// IP or TCP headers that contradict themselves, or of which too little was captured.
    Unreadable,
    /// A link layer that is not understood.
    UnknownLink,
}

/// Packets in packets that are taken out; more of them are damage.
const TUNNELS: u8 = 4;

/// Takes a frame apart; what a tunnel carries counts, not the tunnel.
pub fn decode(link_type: i32, data: &[u8], wire_bytes: u32) -> Content {
    decode_within(Around { tunnels: TUNNELS, vlan: 0 }, link_type, data, wire_bytes)
}

/// The layers around a packet.
#[derive(Clone, Copy)]
struct Around {
    /// How many more tunnels may be in it.
    tunnels: u8,
    vlan: u32,
}

/// Takes apart what `outer` carries.
fn carried(around: Around, inner: Option<tunnel::Inner<'_>>, outer: &[u8], wire_bytes: u32) -> Content {
    let Some((link_type, data)) = inner.filter(|_| around.tunnels > 0) else { return Content::Other };
    let header = offset(outer, data).unwrap_or_default();
    let around = Around { tunnels: around.tunnels - 1, ..around };
    decode_within(around, link_type, data, wire_bytes.saturating_sub(header as u32))
}

fn decode_within(mut around: Around, link_type: i32, data: &[u8], wire_bytes: u32) -> Content {
    let sliced = match link::open(link_type, data) {
        Link::Ethernet => match LaxSlicedPacket::from_ethernet(data) {
            Ok(sliced) => sliced,
            Err(_) => return Content::Unreadable,
        },
        Link::Typed(ether_type, payload) => LaxSlicedPacket::from_ether_type(EtherType(ether_type), payload),
        Link::Ip(payload) => match raw(payload) {
            Some(sliced) => sliced,
            None => return not_ip(payload),
        },
        Link::Other => return Content::Other,
        Link::Cut => return Content::Unreadable,
        Link::Unknown => return Content::UnknownLink,
    };
    if !sliced.link_exts.is_empty() {
        around.vlan = vlan(&sliced).unwrap_or(around.vlan);
    }
    let Some(net) = &sliced.net else {
        return match sliced.ether_payload() {
            _ if sliced.stop_err.is_some() => Content::Unreadable,
            Some(payload) => {
                let inner = tunnel::in_ethernet(payload.ether_type, payload.payload);
                carried(around, inner, data, wire_bytes)
            }
            None => Content::Other,
        };
    };
    ip(around, net, data, wire_bytes)
}

/// The tags of the VLANs; a tag 0 is a priority and no VLAN (IEEE 802.1Q).
fn vlan(sliced: &LaxSlicedPacket<'_>) -> Option<u32> {
    let tags = sliced.link_exts.iter().filter_map(|each| match each {
        LaxLinkExtSlice::Vlan(tag) => Some(u32::from(tag.vlan_identifier().value())),
        LaxLinkExtSlice::Macsec(_) => None,
    });
    let all = tags.fold(0, |outer: u32, tag| outer << 12 | tag);
    (all > 0).then_some(all)
}

/// A packet that begins with an IP header.
fn raw(data: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    LaxSlicedPacket::from_ip(data).ok()
}

/// A frame whose content is no IP packet: of another protocol, or too damaged to tell.
fn not_ip(data: &[u8]) -> Content {
    match data.first().map(|byte| byte >> 4) {
        Some(4 | 6) | None => Content::Unreadable,
        Some(_) => Content::Other,
    }
}

fn ip(around: Around, net: &LaxNetSlice<'_>, frame: &[u8], wire_bytes: u32) -> Content {
    let (header, stated, ip_id, addresses, payload) = match net {
        LaxNetSlice::Ipv4(packet) => {
            let header = packet.header();
            let source = Ipv4Addr::from(header.source());
            let addresses = (IpAddr::V4(source), IpAddr::V4(Ipv4Addr::from(header.destination())));
            let (stated, id) = (u32::from(header.total_len()), header.identification());
            (offset(frame, header.slice()), stated, Some(id), addresses, packet.payload())
        }
        LaxNetSlice::Ipv6(packet) => {
            let header = packet.header();
            let source = Ipv6Addr::from(header.source());
            let addresses = (IpAddr::V6(source), IpAddr::V6(Ipv6Addr::from(header.destination())));
            let stated = match u32::from(header.payload_length()) {
                0 => 0,
                length => length + 40,
            };
            (offset(frame, header.slice()), stated, None, addresses, packet.payload())
        }
        LaxNetSlice::Arp(_) => return Content::Other,
    };
    if payload.fragmented {
        return Content::Fragment;
    }
    if payload.ip_number != etherparse::IpNumber::TCP {
        // An extension header of which too little was captured hides what follows.
        return carried(around, tunnel::in_ip(payload.ip_number, payload.payload), frame, wire_bytes);
    }
    let (Some(header), Some(start)) = (header, offset(frame, payload.payload)) else {
        return Content::Unreadable;
    };
    let total = if stated == 0 { wire_bytes.saturating_sub(header as u32) } else { stated };
    let ip_header = start.saturating_sub(header) as u32;
    let Some(rest) = total.checked_sub(ip_header) else { return Content::Unreadable };
    match tcp(payload.payload, rest) {
        Some(mut packet) => {
            packet.source = Endpoint::new(addresses.0, packet.source.port);
            packet.destination = Endpoint::new(addresses.1, packet.destination.port);
            packet.header_bytes = u16::try_from(total - packet.payload).unwrap_or(u16::MAX);
            packet.ip_id = ip_id;
            packet.vlan = around.vlan;
            Content::Tcp(packet)
        }
        None => Content::Unreadable,
    }
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset(whole: &[u8], part: &[u8]) -> Option<usize> {
    let offset = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (offset + part.len() <= whole.len()).then_some(offset)
}

/// The TCP header, of which ports to window must be there; `total` is the length with payload on the wire.
fn tcp(data: &[u8], total: u32) -> Option<Packet> {
    let fixed: &[u8; 16] = data.first_chunk()?;
    let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let header = usize::from(fixed[12] >> 4) * 4;
    if header < 20 {
        return None;
    }
    let options = data.get(20..header.min(data.len())).map(Options::read).unwrap_or_default();
    let unspecified = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    Some(Packet {
        source: Endpoint::new(unspecified, half(0)),
        destination: Endpoint::new(unspecified, half(2)),
        seq: word(4),
        ack: word(8),
        flags: Flags(fixed[13]),
        window: half(14),
        payload: total.checked_sub(header as u32)?,
        header_bytes: 0,
        ip_id: None,
        vlan: 0,
        options,
    })
}

#[cfg(test)]
mod tests;
