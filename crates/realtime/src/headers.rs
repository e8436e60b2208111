//! The headers of a packet: IPv4 (RFC 791), TCP (RFC 9293), UDP (RFC 768).

use parshall_net::ecn::Ecn;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// Flags of TCP, in byte 13 of its header.
pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const PSH: u8 = 8;
pub(crate) const ACK: u8 = 16;
pub(crate) const CWR: u8 = 128;

const SHORTEST_IP: usize = 20;
const SHORTEST_TCP: usize = 20;
const UDP_BYTES: usize = 8;

/// Where what stands in an IPv4 packet. All of these places are inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    /// Bytes of the IP header.
    pub(crate) ip: usize,
    /// Bytes of the TCP or UDP header; 0: it is neither, or a fragment.
    pub(crate) transport: usize,
    pub(crate) protocol: u8,
    /// Bytes of the packet.
    pub(crate) total: usize,
}

impl Headers {
    /// Of the packet at the beginning of `bytes`; `None`: there is no sound one.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let first = *bytes.first()?;
        let ip = usize::from(first & 15) * 4;
        if first >> 4 != 4 || ip < SHORTEST_IP || bytes.len() < ip {
            return None;
        }
        let total = usize::from(word(bytes, 2));
        if total < ip || total > bytes.len() {
            return None;
        }
        let protocol = bytes[9];
        let is_fragment = word(bytes, 6) & 0x3fff != 0;
        let room = total - ip;
        let transport = match protocol {
            _ if is_fragment => 0,
            TCP => {
                let length = usize::from(*bytes.get(ip + 12).filter(|_| room >= SHORTEST_TCP)? >> 4) * 4;
                (SHORTEST_TCP..=room).contains(&length).then_some(length)?
            }
            UDP => (room >= UDP_BYTES).then_some(UDP_BYTES)?,
            _ => 0,
        };
        Some(Self { ip, transport, protocol, total })
    }

    /// Bytes of all headers.
    pub(crate) fn bytes(&self) -> usize {
        self.ip + self.transport
    }

    /// Bytes behind the headers.
    pub(crate) fn payload(&self) -> usize {
        self.total - self.bytes()
    }
}

/// A word in network byte order.
pub(crate) fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn set_word(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Two words in network byte order.
fn long_word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The sequence number of a TCP segment.
pub(crate) fn sequence(bytes: &[u8], ip: usize) -> u32 {
    long_word(bytes, ip + 4)
}

/// The acknowledgement number of a TCP segment.
pub(crate) fn acknowledgement(bytes: &[u8], ip: usize) -> u32 {
    long_word(bytes, ip + 8)
}

pub(crate) fn source(bytes: &[u8]) -> u32 {
    long_word(bytes, 12)
}

pub(crate) fn destination(bytes: &[u8]) -> u32 {
    long_word(bytes, 16)
}

/// The DSCP (RFC 2474 §3) and the ECN codepoint (RFC 3168 §5).
pub(crate) fn type_of_service(bytes: &[u8]) -> (u8, Ecn) {
    let ecn = match bytes[1] & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    };
    (bytes[1] >> 2, ecn)
}
