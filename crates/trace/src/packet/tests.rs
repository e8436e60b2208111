use super::*;
use proptest::prelude::*;

/// 10.0.0.1:1000 to 10.0.0.2:80, 5 bytes of payload, with timestamps.
fn ipv4() -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 57, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    bytes.extend([3, 232, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x80, 0x18, 0, 100, 0, 0, 0, 0]);
    bytes.extend([1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9]);
    bytes.extend(b"hello");
    bytes
}

fn tcp(content: Content) -> Packet {
    let Content::Tcp(packet) = content else { panic!("{content:?}") };
    packet
}

#[test]
fn reads_what_the_analysis_needs() {
    let bytes = ipv4();
    let packet = tcp(decode(101, &bytes, bytes.len() as u32));
    assert_eq!(packet.source, Endpoint::new("10.0.0.1".parse().unwrap(), 1000));
    assert_eq!(packet.destination.address(), "10.0.0.2".parse::<IpAddr>().unwrap());
    assert_eq!((packet.seq, packet.ack, packet.window, packet.payload), (1, 2, 100, 5));
    assert_eq!((packet.header_bytes, packet.ip_id), (52, Some(0x1234)));
    assert!(packet.flags.has(Flags::ACK) && !packet.flags.has(Flags::SYN));
    assert_eq!(packet.options.timestamps, Some((7, 9)));
}

#[test]
fn lengths_are_those_on_the_wire_however_little_was_captured() {
    let bytes = ipv4();
    for captured in 36..bytes.len() {
        let packet = tcp(decode(101, &bytes[..captured], bytes.len() as u32));
        assert_eq!(packet.payload, 5, "{captured}");
        assert_eq!(packet.options.timestamps.is_some(), captured >= 52, "{captured}");
    }
    assert_eq!(decode(101, &bytes[..30], 57), Content::Unreadable);
    // Padding of a short Ethernet frame is no payload.
    let mut frame = [&[0; 12][..], &[8, 0], &bytes, &[0; 9]].concat();
    assert_eq!(tcp(decode(1, &frame, 80)).payload, 5);
    // Offload writes no length: it is that on the wire.
    frame[16..18].fill(0);
    frame.truncate(66);
    assert_eq!(tcp(decode(1, &frame, 14 + 52 + 40_000)).payload, 40_000);
}

#[test]
fn contradictions_are_unreadable() {
    let mut short = ipv4();
    short[2..4].copy_from_slice(&30u16.to_be_bytes()); // less than the headers
    assert_eq!(decode(101, &short, 57), Content::Unreadable);
    let mut header = ipv4();
    header[32] = 0x10; // a TCP header of 4 bytes
    assert_eq!(decode(101, &header, 57), Content::Unreadable);
    assert_eq!(decode(147, &ipv4(), 57), Content::UnknownLink);
    assert_eq!(decode(101, &[], 0), Content::Unreadable);
}

proptest! {
    #[test]
    fn any_bytes_are_something(
        link in prop::sample::select(vec![0, 1, 12, 101, 108, 113, 228, 229, 276, 105]),
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        wire: u32, real: bool, at in 0usize..60, value: u8,
    ) {
        if real {
            bytes = ipv4();
            if at < bytes.len() {
                bytes[at] = value;
            }
        }
        if let Content::Tcp(packet) = decode(link, &bytes, wire) {
            prop_assert!(packet.options.sack_blocks <= 4);
        }
    }
}
