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
    assert_eq!(decode(9, &[0xff, 0x03, 0xc0, 0x21, 1], 5), Content::Other, "PPP that carries no IP");
    assert_eq!(decode(101, &[], 0), Content::Unreadable);
}

proptest! {
    #[test]
    fn any_bytes_are_something(
        link in prop::sample::select(vec![0, 1, 7, 9, 12, 50, 101, 104, 108, 113, 129, 204, 228, 229, 239, 242, 276, 105]),
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

/// An IPv4 header around a payload of this protocol.
fn around(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len()) as u16;
    let mut bytes = vec![0x45, 0];
    bytes.extend(total.to_be_bytes());
    bytes.extend([0, 9, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    bytes.extend(payload);
    bytes
}

/// An Ethernet frame with a VLAN tag.
fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&[0; 12][..], &[0x81, 0, 0, 7], &ether_type.to_be_bytes(), payload].concat()
}

#[test]
fn what_a_tunnel_carries_is_taken_out() {
    let inner = ipv4();
    let framed = ethernet(0x0800, &inner);
    let pppoe = [&[0x11, 0, 0, 5, 0, (inner.len() + 2) as u8, 0, 0x21][..], &inner].concat();
    let labels = [&[0, 1, 0x20, 64, 0, 2, 0x21, 64][..], &inner].concat();
    let gre = [&[0, 0, 8, 0][..], &inner].concat();
    let keyed = [&[0xb0, 0, 0x65, 0x58][..], &[0; 12], &framed].concat();
    let length = (framed.len() + 16) as u16;
    let vxlan =
        [&[200, 0, 0x12, 0xb5][..], &length.to_be_bytes(), &[0, 0, 8, 0, 0, 0, 0, 0, 7, 0], &framed].concat();
    for (name, link_type, bytes) in [
        ("PPPoE", 1, ethernet(0x8864, &pppoe)),
        ("MPLS", 1, ethernet(0x8847, &labels)),
        ("IP in IP", 101, around(4, &inner)),
        ("twice", 101, around(4, &around(4, &inner))),
        ("GRE", 1, ethernet(0x0800, &around(47, &gre))),
        ("GRE with key and Ethernet", 101, around(47, &keyed)),
        ("VXLAN", 101, around(17, &vxlan)),
    ] {
        let packet = tcp(decode(link_type, &bytes, bytes.len() as u32));
        assert_eq!((packet.seq, packet.payload, packet.ip_id), (1, 5, Some(0x1234)), "{name}");
        assert_eq!(packet.source, Endpoint::new("10.0.0.1".parse().unwrap(), 1000), "{name}");
        // However little was captured.
        for captured in 0..bytes.len() {
            let _ = decode(link_type, &bytes[..captured], bytes.len() as u32);
        }
    }
    let five = (0..5).fold(inner.clone(), |packet, _| around(4, &packet));
    assert_eq!(decode(101, &five, five.len() as u32), Content::Other, "no end of tunnels is damage");
    // PPP that carries no IP, GRE of another version, and any other UDP.
    assert_eq!(decode(1, &ethernet(0x8864, &[0x11, 0, 0, 5, 0, 4, 0xc0, 0x21, 1, 1]), 28), Content::Other);
    assert_eq!(decode(101, &around(47, &[0, 1, 8, 0, 0x45]), 25), Content::Other);
    assert_eq!(decode(101, &around(17, &[200, 0, 0, 53, 0, 8, 0, 0]), 28), Content::Other);
}

#[test]
fn options_that_are_not_known_are_skipped_by_their_length() {
    // Multipath TCP (30, RFC 8684) and an experiment (253, RFC 6994) before the timestamps; and lengths that cannot be.
    let read = |options: &[u8]| {
        let mut bytes = ipv4();
        bytes.truncate(40);
        bytes.extend(options);
        bytes[32] = ((20 + options.len()) / 4 * 16) as u8;
        bytes[2..4].copy_from_slice(&(40 + options.len() as u16).to_be_bytes());
        tcp(decode(101, &bytes, bytes.len() as u32)).options
    };
    let timestamps = [8, 10, 0, 0, 0, 7, 0, 0, 0, 9];
    let unknown = [[30, 4, 1, 2].as_slice(), &[253, 6, 0xf9, 0x89, 1, 2], &timestamps].concat();
    assert_eq!(read(&unknown).timestamps, Some((7, 9)));
    for length in [0, 1, 60] {
        assert_eq!(read(&[&[30, length], &timestamps[..]].concat()), Options::default(), "{length}");
    }
    // One of known kind with another length is none of that kind.
    assert_eq!(read(&[&[2, 6, 5, 180, 0, 0], &timestamps[..]].concat()).mss, None);
    assert_eq!(read(&[&[2, 6, 5, 180, 0, 0], &timestamps[..]].concat()).timestamps, Some((7, 9)));
}

#[test]
fn tags_of_vlans_are_told_apart() {
    let vlan = |bytes: &[u8]| tcp(decode(1, bytes, bytes.len() as u32)).vlan;
    let inner = ipv4();
    let tagged = |tags: &[u16]| {
        let mut bytes = vec![0; 12];
        for tag in tags {
            bytes.extend([0x81, 0]);
            bytes.extend(tag.to_be_bytes());
        }
        bytes.extend([8, 0]);
        bytes.extend(&inner);
        bytes
    };
    assert_eq!(vlan(&tagged(&[])), 0);
    assert_eq!(vlan(&tagged(&[0xe000])), 0, "a priority");
    assert_eq!(vlan(&tagged(&[0xe007])), 7);
    assert_eq!(vlan(&tagged(&[7, 9])), 7 << 12 | 9);
}
