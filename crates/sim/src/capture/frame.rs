//! The headers of one packet, as bytes: IPv4, then TCP or UDP, with the checksums of the whole packet, whose payload is zeros.
//!
//! | what | value | source |
//! | --- | --- | --- |
//! | sender of flow n | 10.0.0.0 + n | RFC 1918 |
//! | receiver of group g | 198.18.0.0 + g | RFC 2544: addresses for benchmarks |
//! | port of receivers | 9, discard | RFC 863 |
//! | identification of data | time of sending in µs + number, modulo 2^16: the same on all links | RFC 6864 §4.1 |
//! | identification of ACKs | they are counted | |
//! | packets within their flow's profile, beyond it | AF11, AF12 | RFC 2597 §6 |

use super::numbering::FIRST_PORT;
use etherparse::checksum::Sum16BitWords;
use etherparse::{ip_number, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use parshall_units::Instant;
use std::cmp::Ordering;
use std::net::Ipv4Addr;

/// The longest headers: IPv4 without options, TCP with all the options that fit.
pub const MOST_HEADERS: usize = 80;

const IP_BYTES: u32 = 20;

/// A packet that was captured: its headers, and how long it is.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// When it passed.
    pub(super) at: Instant,
    /// The file it goes to, and its place among those that passed at the same time.
    pub(super) file: u32,
    pub(super) order: u64,
    /// Its length on the link.
    pub(super) wire_bytes: u32,
    length: u8,
    headers: [u8; MOST_HEADERS],
}

impl Frame {
    /// A packet of so many bytes that begins like this.
    pub(super) fn of_bytes(beginning: &[u8], wire_bytes: u32) -> Self {
        let mut headers = [0; MOST_HEADERS];
        let length = beginning.len().min(MOST_HEADERS);
        headers[..length].copy_from_slice(&beginning[..length]);
        Self { at: Instant::ZERO, file: 0, order: 0, wire_bytes, length: length as u8, headers }
    }

    /// A queue marks it. RFC 3168 §5
    pub(super) fn mark(&mut self) {
        if let Ok((mut ip, _)) = Ipv4Header::from_slice(self.headers()) {
            ip.ecn = IpEcn::CongestionExperienced;
            ip.header_checksum = ip.calc_header_checksum();
            let bytes = ip.to_bytes();
            self.headers[..bytes.len()].copy_from_slice(&bytes);
        }
    }

    pub(super) fn headers(&self) -> &[u8] {
        &self.headers[..usize::from(self.length)]
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Frame {}

impl PartialOrd for Frame {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest: what a heap gives first.
impl Ord for Frame {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

/// 10.0.0.0/8
const SENDERS: u32 = 10 << 24;

/// 198.18.0.0/15
const RECEIVERS: u32 = 198 << 24 | 18 << 16;

/// The common fields of both directions of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) sender: Ipv4Addr,
    pub(crate) receiver: Ipv4Addr,
}

impl Ends {
    pub(crate) fn of(flow: u32, group: u32) -> Self {
        let sender = Ipv4Addr::from_bits(SENDERS + flow % (1 << 24));
        let receiver = Ipv4Addr::from_bits(RECEIVERS + group % (1 << 17));
        Self { sender, receiver }
    }

    pub(super) fn back(self) -> Self {
        Self { sender: self.receiver, receiver: self.sender }
    }
}

/// The fields of the IP header besides the addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) identification: u16,
    pub(super) dscp: IpDscp,
    pub(super) ecn: IpEcn,
}

/// The length of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) payload: u32,
    /// On the simulated link; if its headers alone are longer, they count.
    pub(super) on_link: u32,
}

/// The identification of what was sent at this time.
pub(super) fn identification(sent: Instant, number: u64) -> u16 {
    (sent.as_ps() / 1_000_000).wrapping_add(number) as u16
}

/// A TCP segment.
pub(super) fn tcp(at: Instant, ends: Ends, marks: Marks, mut header: TcpHeader, length: Length) -> Frame {
    header.checksum = 0;
    let bytes = header.to_bytes();
    let carried = fitting(bytes.len(), length.payload);
    let sum = pseudo_header(ends, ip_number::TCP, carried).add_slice(&bytes);
    header.checksum = sum.ones_complement().to_be();
    frame(at, ends, marks, ip_number::TCP, &header.to_bytes(), length)
}

/// A UDP datagram.
pub(super) fn udp(at: Instant, ends: Ends, marks: Marks, length: Length) -> Frame {
    let carried = fitting(UdpHeader::LEN, length.payload);
    let mut header =
        UdpHeader { source_port: FIRST_PORT, destination_port: DISCARD, length: carried, checksum: 0 };
    let sum = pseudo_header(ends, ip_number::UDP, carried).add_slice(&header.to_bytes());
    header.checksum = sum.to_ones_complement_with_no_zero().to_be();
    frame(at, ends, marks, ip_number::UDP, &header.to_bytes(), length)
}

/// The port of receivers.
pub(crate) const DISCARD: u16 = 9;

/// Bytes behind the IP header, as many of them as its length can tell.
fn fitting(header: usize, payload: u32) -> u16 {
    (header as u32 + payload).min(u32::from(u16::MAX) - IP_BYTES) as u16
}

/// RFC 9293 §3.1, RFC 768. (Payloads of zeros add nothing but their length.)
fn pseudo_header(ends: Ends, protocol: IpNumber, length: u16) -> Sum16BitWords {
    Sum16BitWords::new()
        .add_4bytes(ends.sender.octets())
        .add_4bytes(ends.receiver.octets())
        .add_2bytes([0, protocol.0])
        .add_2bytes(length.to_be_bytes())
}

fn frame(
    at: Instant,
    ends: Ends,
    marks: Marks,
    protocol: IpNumber,
    transport: &[u8],
    length: Length,
) -> Frame {
    let carried = fitting(transport.len(), length.payload);
    let mut ip = Ipv4Header {
        dscp: marks.dscp,
        ecn: marks.ecn,
        total_len: IP_BYTES as u16 + carried,
        identification: marks.identification,
        dont_fragment: true,
        time_to_live: 64,
        protocol,
        source: ends.sender.octets(),
        destination: ends.receiver.octets(),
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    let mut headers = [0; MOST_HEADERS];
    let (network, rest) = headers.split_at_mut(IP_BYTES as usize);
    network.copy_from_slice(&ip.to_bytes());
    rest[..transport.len()].copy_from_slice(transport);
    let own = IP_BYTES + transport.len() as u32;
    let wire_bytes = length.on_link.max(own + length.payload);
    Frame { at, file: 0, order: 0, wire_bytes, length: own as u8, headers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4HeaderSlice, TcpHeaderSlice, TcpOptionElement, UdpHeaderSlice};
    use proptest::prelude::*;

    const MARKS: Marks = Marks { identification: 7, dscp: IpDscp::AF12, ecn: IpEcn::Ect0 };

    #[test]
    fn flows_and_groups_have_addresses_of_their_own() {
        let ends = Ends::of(0x0001_0203, 5);
        assert_eq!(ends.sender, Ipv4Addr::new(10, 1, 2, 3));
        assert_eq!(ends.receiver, Ipv4Addr::new(198, 18, 0, 5));
        assert_eq!(Ends::of(0, 0x0001_0102).receiver, Ipv4Addr::new(198, 19, 1, 2));
        assert_eq!(ends.back().sender, ends.receiver);
    }

    proptest! {
        /// The library computes the checksums of the whole packets from their bytes.
        #[test]
        fn checksums_are_those_of_packets_of_zeros(
            seq: u32, payload in 0u32..9000, on_link in 0u32..9000, flow in 0u32..1 << 24, ack: bool,
        ) {
            let mut header = TcpHeader::new(50_000, DISCARD, seq, 65_535);
            header.ack = ack;
            header.set_options(&[TcpOptionElement::Timestamp(seq, 9)]).unwrap();
            let (ends, length) = (Ends::of(flow, 3), Length { payload, on_link });
            let zeros = vec![0; payload as usize];

            let segment = tcp(Instant::ZERO, ends, MARKS, header, length);
            let ip = Ipv4HeaderSlice::from_slice(segment.headers()).unwrap().to_header();
            let tcp = TcpHeaderSlice::from_slice(&segment.headers()[20..]).unwrap().to_header();
            prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            prop_assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, &zeros).unwrap());
            prop_assert_eq!(u32::from(ip.total_len), 52 + payload);
            prop_assert_eq!(segment.wire_bytes, on_link.max(52 + payload));

            let datagram = udp(Instant::ZERO, ends, MARKS, length);
            let ip = Ipv4HeaderSlice::from_slice(datagram.headers()).unwrap().to_header();
            let udp = UdpHeaderSlice::from_slice(&datagram.headers()[20..]).unwrap().to_header();
            prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            prop_assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&ip, &zeros).unwrap());
            prop_assert_eq!(u32::from(udp.length), 8 + payload);
        }
    }

    #[test]
    fn a_datagram_longer_than_ip_can_tell_says_the_most() {
        let datagram =
            udp(Instant::ZERO, Ends::of(0, 0), MARKS, Length { payload: 100_000, on_link: 100_028 });
        let ip = Ipv4HeaderSlice::from_slice(datagram.headers()).unwrap();
        assert_eq!((ip.total_len(), datagram.wire_bytes), (65_535, 100_028));
    }
}
