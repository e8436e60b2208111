//! Link layers: what comes before the network layer, and of which kind that is.
//!
//! | link type | what comes first | what says which protocol follows |
//! | --- | --- | --- |
//! | 1 | Ethernet | its type, read by `etherparse` |
//! | 113, 276 | Linux cooked, both versions | an Ethernet type |
//! | 0, 108 | four bytes of an address family | the version of IP |
//! | 101, 12, 14, 228, 229 | nothing: raw IP | the version of IP |
//! | 9, 50, 204 | PPP, with or without the address and control bytes of HDLC (RFC 1661, 1662) | a PPP protocol, of one byte or two |
//! | 104 | Cisco HDLC: address, control | an Ethernet type |
//! | 239 | NFLOG: attributes of netfilter's log, one of which is the packet | the version of IP |
//! | 242 | IP over InfiniBand: 40 bytes of addresses | an Ethernet type |
//! | 7, 129 | ARCNET, of BSD and of Linux | ARCNET's own type |
//!
//! Reference: <https://www.tcpdump.org/linktypes.html>.

/// The link types that are understood, for messages.
pub(crate) const LINK_TYPES: &str =
    "Ethernet (1), Linux cooked (113, 276), raw IP (101, 228, 229), loopback (0, 108), \
     PPP (9, 50, 204), Cisco HDLC (104), NFLOG (239), IP over InfiniBand (242), ARCNET (7, 129)";

pub(crate) const ETHERNET: i32 = 1;
/// Raw IP, for what a tunnel carries.
pub(crate) const RAW: i32 = 101;

/// PPP protocols, as in <https://www.iana.org/assignments/ppp-numbers>.
pub(crate) const PPP_IPV4: u16 = 0x0021;
pub(crate) const PPP_IPV6: u16 = 0x0057;

/// The bytes that HDLC writes before PPP: all stations, unnumbered information.
const ALL_STATIONS: [u8; 2] = [0xff, 0x03];

/// The attribute that holds the packet, `NFULA_PAYLOAD`, and the bytes before the first attribute.
const NFLOG_PAYLOAD: u16 = 9;
const NFLOG_HEADER: usize = 4;

/// ARCNET's types for IP: RFC 1201, with a header of three more bytes, and RFC 1051.
const ARCNET_IP: u8 = 212;
const ARCNET_IP_OLD: u8 = 240;

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link<'a> {
    Ethernet,
    /// A payload of this Ethernet type.
    Typed(u16, &'a [u8]),
    /// Bytes that should be an IP packet.
    Ip(&'a [u8]),
    /// Another protocol.
    Other,
    /// Too little was captured to tell.
    Cut,
    Unknown,
}

/// Takes the link layer off.
pub(super) fn open(link_type: i32, data: &[u8]) -> Link<'_> {
    match link_type {
        ETHERNET => Link::Ethernet,
        113 => typed(data, 14, 16),
        276 => typed(data, 0, 20),
        0 | 108 => Link::Ip(data.get(4..).unwrap_or_default()),
        RAW | 12 | 14 | 228 | 229 => Link::Ip(data),
        9 | 50 => ppp(data),
        204 => ppp(data.get(1..).unwrap_or_default()),
        104 => typed(data, 2, 4),
        239 => nflog(data),
        242 => typed(data, 40, 44),
        7 => arcnet(data, 2, 3, 6),
        129 => arcnet(data, 4, 5, 8),
        _ => Link::Unknown,
    }
}

fn typed(data: &[u8], type_at: usize, header: usize) -> Link<'_> {
    match (half(data, type_at), data.get(header..)) {
        (Some(ether_type), Some(payload)) => Link::Typed(ether_type, payload),
        _ => Link::Cut,
    }
}

fn ppp(data: &[u8]) -> Link<'_> {
    let data = data.strip_prefix(&ALL_STATIONS).unwrap_or(data);
    // RFC 1661 §2: the last byte of a protocol is odd, all others even; a first byte of 0 may be left out.
    let (protocol, payload) = match data {
        [first, rest @ ..] if first & 1 == 1 => (u16::from(*first), rest),
        [first, second, rest @ ..] => (u16::from_be_bytes([*first, *second]), rest),
        _ => return Link::Cut,
    };
    match protocol {
        PPP_IPV4 | PPP_IPV6 => Link::Ip(payload),
        _ => Link::Other,
    }
}

/// The packet among the attributes, whose lengths and types are in the byte order of the host that captured.
fn nflog(data: &[u8]) -> Link<'_> {
    let length = |at: usize, big: bool| -> Option<(usize, u16)> {
        let number = |at: usize| {
            let bytes: [u8; 2] = *data.get(at..)?.first_chunk()?;
            Some(if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
        };
        Some((usize::from(number(at)?), number(at + 2)? & 0x7fff))
    };
    let payload = |big: bool| {
        let mut at = NFLOG_HEADER;
        loop {
            let (bytes, kind) = length(at, big).filter(|found| found.0 >= 4)?;
            if kind == NFLOG_PAYLOAD {
                return Some(&data[at + 4..(at + bytes).min(data.len())]);
            }
            at += bytes.next_multiple_of(4);
        }
    };
    payload(false).or_else(|| payload(true)).map_or(Link::Cut, Link::Ip)
}

fn arcnet(data: &[u8], type_at: usize, old: usize, new: usize) -> Link<'_> {
    match data.get(type_at) {
        Some(&ARCNET_IP) => data.get(new..).map_or(Link::Cut, Link::Ip),
        Some(&ARCNET_IP_OLD) => data.get(old..).map_or(Link::Cut, Link::Ip),
        Some(_) => Link::Other,
        None => Link::Cut,
    }
}

fn half(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)
}
