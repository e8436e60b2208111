//! The Internet checksum: RFC 1071, and its change with a changed word, RFC 1624.

use crate::headers::UDP;
use crate::pool::Stored;
use crate::virtio::Partial;

/// The one's complement sum of bytes, as 16-bit words; an odd last byte is the high one of its word.
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let odd = words.remainder().first().map_or(0, |&last| u64::from(last) << 8);
    fold(words.fold(odd, |sum, word| sum + u64::from(u16::from_be_bytes([word[0], word[1]]))))
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The sum of the pseudo-header of TCP or UDP over IPv4: RFC 9293 §3.1. It is what stands in the place of a checksum
/// that is to be completed.
pub(crate) fn pseudo_header(addresses: &[u8], protocol: u8, transport_bytes: usize) -> u16 {
    fold(u64::from(sum(addresses)) + u64::from(protocol) + transport_bytes as u64)
}

/// The checksum of TCP or UDP that the sending kernel left to be completed, and where it stands; `None`: the packet has
/// its own.
pub(crate) fn completed(packet: &Stored) -> Option<(usize, u16)> {
    let Partial { start, offset } = packet.partial?;
    let checksum = !sum(&packet.bytes[usize::from(start)..]);
    let is_udp = packet.bytes[9] == UDP;
    let shown = if is_udp && checksum == 0 { 0xffff } else { checksum }; // RFC 768
    Some((usize::from(start) + usize::from(offset), shown))
}

/// Writes the checksum of an IPv4 header.
pub(crate) fn set_ip(header: &mut [u8]) {
    header[10..12].fill(0);
    let checksum = !sum(header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// The ECN field of an IPv4 header becomes CE: RFC 3168 §5. The rest of the checksum stays as it was, right or wrong.
pub(crate) fn mark(header: &mut [u8]) {
    let before = [header[0], header[1]];
    header[1] |= 3;
    // RFC 1624, eq. 3: HC' = ~(~HC + ~m + m')
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    let words = [!checksum, !u16::from_be_bytes(before), u16::from_be_bytes([header[0], header[1]])];
    let changed = !fold(words.into_iter().map(u64::from).sum());
    header[10..12].copy_from_slice(&changed.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{IpNumber, Ipv4Header};
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
        assert_eq!(sum(&[0x01]), 0x0100);
    }

    proptest! {
        #[test]
        fn headers_are_right_before_and_after_a_mark(length in 0u16..1480, ttl: u8, ends: ([u8; 4], [u8; 4]), ecn in 0u8..4) {
            let header = Ipv4Header::new(length, ttl, IpNumber::TCP, ends.0, ends.1).unwrap();
            let mut bytes = header.to_bytes().to_vec();
            bytes[1] = ecn;
            set_ip(&mut bytes);
            prop_assert_eq!(sum(&bytes), 0xffff);
            mark(&mut bytes);
            prop_assert_eq!((bytes[1], sum(&bytes)), (3, 0xffff));
            let (read, _) = Ipv4Header::from_slice(&bytes).unwrap();
            prop_assert_eq!(read.calc_header_checksum(), read.header_checksum);
        }
    }
}
