//! Packets for tests, made by `etherparse`; and tests whose times a busy machine can spoil.

use crate::checksum::pseudo_header;
use crate::headers::{set_word, Headers, ACK, TCP, UDP};
use crate::pool::Stored;
use crate::virtio::{self, Partial, Segmentation, VirtioHeader};
use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Has a test of times done until it passes, at most three times. A machine that is busy for a moment fails it once, a
/// fault of ours each time.
pub(crate) fn tried_thrice(test: impl Fn()) {
    let passes = || catch_unwind(AssertUnwindSafe(&test)).is_ok();
    if !passes() && !passes() {
        test();
    }
}

/// A super-packet as a sending kernel hands it over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperPacket {
    pub(crate) ends: ([u8; 4], [u8; 4]),
    pub(crate) payload: usize,
    pub(crate) segment: u16,
    pub(crate) seq: u32,
    pub(crate) id: u16,
    pub(crate) flags: u8,
    pub(crate) ecn: u8,
    pub(crate) tcp: bool,
}

impl Default for SuperPacket {
    fn default() -> Self {
        Self {
            ends: ([10, 1, 0, 1], [10, 2, 0, 1]),
            payload: 1000,
            segment: 1000,
            seq: 1_000_000,
            id: 77,
            flags: ACK,
            ecn: 0,
            tcp: true,
        }
    }
}

/// Returns a host's answer to an echo request, the device's header included (RFC 792: the same, with the addresses
/// exchanged and type 0).
pub(crate) fn echo_answer(request: &[u8]) -> Vec<u8> {
    let mut bytes = request.to_vec();
    let packet = &mut bytes[virtio::BYTES..];
    let (mut source, mut destination) = ([0; 4], [0; 4]);
    source.copy_from_slice(&packet[12..16]);
    destination.copy_from_slice(&packet[16..20]);
    packet[12..16].copy_from_slice(&destination);
    packet[16..20].copy_from_slice(&source);
    packet[20] = 0;
    bytes
}

/// Its bytes, the device's header included; TCP has the timestamps option.
pub(crate) fn super_packet(packet: &SuperPacket) -> Vec<u8> {
    let payload: Vec<u8> = (0..packet.payload).map(|place| (place * 31 + place / 251) as u8).collect();
    let mut transport = Vec::new();
    if packet.tcp {
        let mut header = TcpHeader::new(40_000, 5001, packet.seq, 500);
        let options = [TcpOptionElement::Noop, TcpOptionElement::Noop, TcpOptionElement::Timestamp(7, 8)];
        header.set_options(&options).unwrap();
        header.write(&mut transport).unwrap();
        transport[13] = packet.flags;
    } else {
        let header = UdpHeader::without_ipv4_checksum(40_000, 5001, payload.len()).unwrap();
        header.write(&mut transport).unwrap();
    }
    let header_bytes = 20 + transport.len() as u16;
    transport.extend_from_slice(&payload);
    let (source, destination) = packet.ends;
    let protocol = if packet.tcp { IpNumber::TCP } else { IpNumber::UDP };
    let mut ip = Ipv4Header::new(transport.len() as u16, 64, protocol, source, destination).unwrap();
    ip.identification = packet.id;
    ip.ecn = packet.ecn.try_into().unwrap();
    ip.header_checksum = ip.calc_header_checksum();
    let offset = if packet.tcp { 16 } else { 6 };
    let mut bytes = [ip.to_bytes().as_slice(), &transport].concat();
    let sum = pseudo_header(&bytes[12..20], if packet.tcp { TCP } else { UDP }, transport.len());
    set_word(&mut bytes, 20 + usize::from(offset), sum);
    let virtio = VirtioHeader {
        partial: Some(Partial { start: 20, offset }),
        segmentation: if packet.tcp { Segmentation::Tcp } else { Segmentation::Udp },
        header_bytes,
        segment_bytes: packet.segment,
    };
    [virtio.write().as_slice(), &bytes].concat()
}

/// Returns the parts of a packet that a driver reads.
pub(crate) fn read(bytes: &[u8]) -> (VirtioHeader, Headers, &[u8]) {
    let (virtio, packet) = VirtioHeader::read(bytes).unwrap();
    (virtio, Headers::read(packet).unwrap(), &bytes[virtio::BYTES..])
}

/// A packet whose checksum is completed, as the receiving kernel does it.
pub(crate) fn completed(stored: &Stored) -> Vec<u8> {
    let mut bytes = stored.bytes.clone();
    if let Some((at, checksum)) = crate::checksum::completed(stored) {
        set_word(&mut bytes, at, checksum);
    }
    bytes
}
