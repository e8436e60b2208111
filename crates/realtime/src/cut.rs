//! Segmentation offload: a super-packet becomes the segments that a network card would send of it.
//!
//! Of TCP: each segment has the headers of the super-packet, with its own length, sequence number and IP
//! identification. FIN and PSH are those of the last, CWR of the first (RFC 3168 §6.1.2: it answers one congestion
//! event). Checksums of IP are written; those of TCP and UDP, which the sending kernel left to be completed, still are:
//! their field holds the sum of the pseudo-header.

use crate::checksum::{pseudo_header, set_ip};
use crate::headers::{sequence, set_word, word, Headers, CWR, FIN, PSH, TCP, UDP};
use crate::pool::{Pool, Stored};
use crate::virtio::{Partial, Segmentation, VirtioHeader};

/// Where the checksum stands in the header of TCP, and of UDP.
pub(crate) const TCP_CHECKSUM: u16 = 16;
const UDP_CHECKSUM: u16 = 6;

/// It is no valid IPv4 packet, or not the super-packet that its header describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Calls `each` with the slot of every segment of a packet, in order: of one that is no super-packet, with its own.
pub(crate) fn cut(
    virtio: &VirtioHeader,
    headers: &Headers,
    packet: &[u8],
    pool: &mut Pool,
    mut each: impl FnMut(u32, &Stored),
) -> Result<(), Malformed> {
    let packet = &packet[..headers.total];
    let (protocol, offset) = match virtio.segmentation {
        Segmentation::None => {
            let is_inside = |at: Partial| usize::from(at.start) + usize::from(at.offset) + 2 <= packet.len();
            if !virtio.partial.is_none_or(is_inside) {
                return Err(Malformed);
            }
            let (slot, stored) = pool.take();
            stored.bytes.extend_from_slice(packet);
            stored.partial = virtio.partial;
            each(slot, stored);
            return Ok(());
        }
        Segmentation::Tcp => (TCP, TCP_CHECKSUM),
        Segmentation::Udp => (UDP, UDP_CHECKSUM),
    };
    let partial = Partial { start: headers.ip as u16, offset };
    let is_sound = headers.protocol == protocol
        && headers.transport > 0
        && headers.payload() > 0
        && virtio.segment_bytes > 0
        && virtio.partial == Some(partial);
    if !is_sound {
        return Err(Malformed);
    }
    let (header, payload) = packet.split_at(headers.bytes());
    let size = usize::from(virtio.segment_bytes);
    let last = (payload.len() - 1) / size;
    for (number, part) in payload.chunks(size).enumerate() {
        let (slot, stored) = pool.take();
        stored.bytes.extend_from_slice(header);
        stored.bytes.extend_from_slice(part);
        stored.partial = Some(partial);
        become_segment(&mut stored.bytes, headers, (number, number * size), number == last);
        each(slot, stored);
    }
    Ok(())
}

/// Headers of a super-packet become those of the segment with this number, whose payload begins there.
fn become_segment(bytes: &mut [u8], headers: &Headers, (number, begins): (usize, usize), is_last: bool) {
    let Headers { ip, protocol, .. } = *headers;
    let (total, identification) = (bytes.len(), word(bytes, 4).wrapping_add(number as u16));
    set_word(bytes, 2, total as u16);
    set_word(bytes, 4, identification);
    set_ip(&mut bytes[..ip]);
    let checksum = if protocol == TCP {
        let number_of_byte = sequence(bytes, ip).wrapping_add(begins as u32);
        bytes[ip + 4..ip + 8].copy_from_slice(&number_of_byte.to_be_bytes());
        let not_here = if number > 0 { CWR } else { 0 } | if is_last { 0 } else { FIN | PSH };
        bytes[ip + 13] &= !not_here;
        TCP_CHECKSUM
    } else {
        set_word(bytes, ip + 4, (total - ip) as u16);
        UDP_CHECKSUM
    };
    let pseudo_header = pseudo_header(&bytes[12..20], protocol, total - ip);
    set_word(bytes, ip + usize::from(checksum), pseudo_header);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{completed, read, super_packet, SuperPacket};
    use crate::virtio;
    use etherparse::{Ipv4Header, TcpHeader, UdpHeader};
    use proptest::prelude::*;

    fn segments(bytes: &[u8]) -> Vec<Stored> {
        let (virtio, headers, packet) = read(bytes);
        let mut pool = Pool::default();
        let mut found = Vec::new();
        cut(&virtio, &headers, packet, &mut pool, |_, stored| {
            found.push(Stored { bytes: stored.bytes.clone(), partial: stored.partial });
        })
        .unwrap();
        found
    }

    #[test]
    fn flags_belong_to_the_first_or_the_last_segment() {
        let flags = |given| {
            let packet = SuperPacket { flags: given, payload: 2500, segment: 1000, ..SuperPacket::default() };
            let segments = segments(&super_packet(&packet));
            segments.iter().map(|segment| segment.bytes[33]).collect::<Vec<u8>>()
        };
        assert_eq!(flags(16 | FIN | PSH | CWR), [16 | CWR, 16, 16 | FIN | PSH]);
        assert_eq!(flags(16 | 64), [16 | 64; 3], "ECE is in all of them");
    }

    proptest! {
        #[test]
        fn segments_are_sound_and_hold_the_payload_in_order(
            payload in 1usize..60_000, segment in 1u16..9000, seq: u32, id: u16, tcp: bool
        ) {
            prop_assume!(payload / usize::from(segment) < 2000);
            let packet = SuperPacket { payload, segment, seq, id, tcp, ..SuperPacket::default() };
            let bytes = super_packet(&packet);
            let segments = segments(&bytes);
            let mut whole = Vec::new();
            for (number, segment) in segments.iter().enumerate() {
                let checked = completed(segment);
                let (ip, rest) = Ipv4Header::from_slice(&checked).unwrap();
                prop_assert_eq!(ip.calc_header_checksum(), ip.header_checksum);
                prop_assert_eq!(usize::from(ip.total_len), checked.len());
                prop_assert_eq!(ip.identification, id.wrapping_add(number as u16));
                let part = if tcp {
                    let (header, part) = TcpHeader::from_slice(rest).unwrap();
                    prop_assert_eq!(header.calc_checksum_ipv4(&ip, part).unwrap(), header.checksum);
                    prop_assert_eq!(header.sequence_number, seq.wrapping_add(whole.len() as u32));
                    part
                } else {
                    let (header, part) = UdpHeader::from_slice(rest).unwrap();
                    prop_assert_eq!(header.calc_checksum_ipv4(&ip, part).unwrap(), header.checksum);
                    prop_assert_eq!(usize::from(header.length), part.len() + 8);
                    part
                };
                prop_assert!(part.len() == usize::from(packet.segment) || number + 1 == segments.len());
                whole.extend_from_slice(part);
            }
            prop_assert_eq!(whole.as_slice(), &bytes[bytes.len() - payload..]);
        }

        #[test]
        fn any_bytes_are_cut_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0u8..6, like_ip: bool) {
            let mut bytes = bytes;
            if like_ip && bytes.len() > virtio::BYTES + 20 {
                let length = (bytes.len() - virtio::BYTES) as u16;
                bytes[1] = kind;
                bytes[virtio::BYTES] = 0x45;
                set_word(&mut bytes, virtio::BYTES + 2, length);
                bytes[virtio::BYTES + 9] = if kind == 1 { TCP } else { UDP };
            }
            let Some((virtio, packet)) = VirtioHeader::read(&bytes) else { return Ok(()) };
            let Some(headers) = Headers::read(packet) else { return Ok(()) };
            let mut pool = Pool::default();
            let mut count = 0;
            let refused = cut(&virtio, &headers, packet, &mut pool, |_, _| count += 1).is_err();
            prop_assert_eq!(refused, count == 0);
            prop_assert_eq!(pool.held(), count);
        }
    }
}
