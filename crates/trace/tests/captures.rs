//! Every format, link layer and kind of damage, on a conversation of known content.

mod common;

use common::wire::{self, frames, links, mss, pcapng, sack, timestamps, Frame, Pcap, Segment, PCAP};
use common::{observe_file, try_observe, OPTIONS};
use flate2::write::GzEncoder;
use std::io::Write;

const MS: u64 = 1_000_000;
const EPOCH: u64 = 1_700_000_000_000_000_000;

/// A handshake of 40 ms seen at the client, and ten packets of 1000 B that are acknowledged after 40 ms.
fn conversation() -> Vec<Segment> {
    let at = |ms: u64| EPOCH + ms * MS;
    let mut segments = vec![
        Segment::new(at(0), true, 99, 0, 0).flags(wire::SYN).with(&mss(1000)),
        Segment::new(at(40), false, 499, 100, 0).flags(wire::SYN | wire::ACK).with(&mss(1000)),
        Segment::new(at(40), true, 100, 500, 0),
    ];
    for i in 0..10 {
        segments.push(Segment::new(at(50 + u64::from(i)), true, 100 + 1000 * i, 500, 1000));
    }
    for i in 0..10 {
        segments.push(Segment::new(at(90 + u64::from(i)), false, 500, 1100 + 1000 * i, 0));
    }
    segments
}

fn check(name: &str, bytes: &[u8]) {
    let observed = observe_file(bytes);
    assert_eq!(observed.summary.flows, 1, "{name}");
    assert_eq!(observed.summary.tcp, 23, "{name}");
    assert!(observed.summary.stopped.is_empty(), "{name}: {:?}", observed.summary.stopped);
    assert_eq!(observed.first("trace_flows", "delivered_bytes"), 10_000.0, "{name}");
    assert_eq!(observed.first("flows", "packets_sent"), 10.0, "{name}");
    let rtt = observed.first("flows", "mean_rtt_s");
    assert!((rtt - 0.040).abs() < 2e-6, "{name}: {rtt}");
    let handshake = observed.first("trace_flows", "handshake_rtt_s");
    assert!((handshake - 0.040).abs() < 2e-6, "{name}: {handshake}");
    assert!((observed.first("flows", "start_s") - 0.050).abs() < 2e-6, "{name}");
    assert_eq!(observed.first("trace_flows", "opened"), 1.0, "{name}");
}

#[test]
fn every_link_layer_and_snapshot_length() {
    for (name, link_type, link) in links() {
        for snap in [link.len() + 40, 96, 65_535] {
            check(name, &PCAP.file(link_type, &frames(&conversation(), &link, snap)));
        }
    }
}

#[test]
fn every_byte_order_and_resolution() {
    let (_, link_type, link) = links()[0].clone();
    let frames = frames(&conversation(), &link, 65_535);
    for big_endian in [false, true] {
        for nanoseconds in [false, true] {
            check("pcap", &Pcap { big_endian, nanoseconds }.file(link_type, &frames));
        }
        // Microseconds, nanoseconds, and 2^-20 s.
        for resolution in [6, 9, 0x94] {
            check("pcapng", &pcapng(big_endian, resolution, link_type, &frames));
        }
    }
}

#[test]
fn compressed_captures() {
    let (_, link_type, link) = links()[0].clone();
    let plain = PCAP.file(link_type, &frames(&conversation(), &link, 65_535));
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&plain).unwrap();
    check("gzip", &encoder.finish().unwrap());
    check("zstd", &zstd::encode_all(&plain[..], 1).unwrap());
}

#[test]
fn ipv6_with_and_without_extension_headers() {
    for extended in [false, true] {
        let link = [&[0; 12][..], &[0x86, 0xdd]].concat();
        let whole = conversation().into_iter().map(|segment| {
            let bytes = [&link[..], &segment.ipv6(extended)].concat();
            (segment.time_ns, bytes.len(), bytes)
        });
        check("IPv6", &PCAP.file(1, &whole.collect::<Vec<Frame>>()));
        let raw = conversation().into_iter().map(|segment| {
            let bytes = segment.ipv6(extended);
            (segment.time_ns, bytes.len(), bytes)
        });
        check("raw IPv6", &PCAP.file(229, &raw.collect::<Vec<Frame>>()));
    }
}

#[test]
fn fragments_and_other_protocols_are_counted() {
    let mut packets = frames(&conversation(), &[], 65_535);
    let mut fragment = packets[5].clone();
    fragment.2[6] = 0x20; // more fragments
    packets.push(fragment);
    let mut udp = packets[5].clone();
    udp.2[9] = 17;
    packets.push(udp);
    let mut arp = packets[5].clone();
    arp.2[0] = 0x15; // neither version
    packets.push(arp);
    let observed = observe_file(&PCAP.file(101, &packets));
    let summary = &observed.summary;
    assert_eq!((summary.fragments, summary.other, summary.tcp, summary.frames), (1, 2, 23, 26));
}

#[test]
fn a_truncated_file_gives_what_was_readable_and_the_byte() {
    let packets = frames(&conversation(), &[], 65_535);
    let whole = PCAP.file(101, &packets);
    let starts: Vec<usize> = packets
        .iter()
        .scan(24, |at, frame| {
            let start = *at;
            *at += 16 + frame.2.len();
            Some(start)
        })
        .collect();
    for cut in [whole.len() - 1, whole.len() - 40, starts[10] + 3, starts[10] + 16, 30] {
        let observed = observe_file(&whole[..cut]);
        let whole_records = starts.iter().skip(1).chain([&whole.len()]).filter(|end| **end <= cut).count();
        assert_eq!(observed.summary.frames as usize, whole_records);
        let [stopped] = observed.summary.stopped.as_slice() else { panic!("{:?}", observed.summary) };
        assert_eq!(stopped.byte as usize, starts[whole_records]);
        assert!(stopped.reason.contains("ends in the middle"), "{}", stopped.reason);
    }
    // At the end of a record nothing is missing.
    assert!(observe_file(&whole[..starts[10]]).summary.stopped.is_empty());
    let ng = pcapng(false, 9, 101, &packets);
    let observed = observe_file(&ng[..ng.len() - 5]);
    assert_eq!((observed.summary.frames, observed.summary.stopped.len()), (22, 1));
}

#[test]
fn a_damaged_record_stops_the_reading_and_costs_no_memory() {
    let packets = frames(&conversation(), &[], 65_535);
    let mut bytes = PCAP.file(101, &packets[..3]);
    let stop = bytes.len();
    bytes.extend([0xff; 64]);
    let observed = observe_file(&bytes);
    assert_eq!(observed.summary.frames, 3);
    assert_eq!(observed.summary.stopped[0].byte as usize, stop);
}

#[test]
fn a_clock_that_jumps_by_centuries() {
    let mut segments = conversation();
    for segment in &mut segments[2..] {
        segment.time_ns += 16_300_000_000_000_000_000;
    }
    segments.insert(8, Segment { time_ns: segments[7].time_ns, ..segments[3].clone() });
    let observed = observe_file(&pcapng(true, 9, 101, &frames(&segments, &[], 65_535)));
    assert_eq!(observed.first("flows", "retransmissions"), 1.0);
}

#[test]
fn a_block_shorter_than_its_own_frame_stops_the_reading() {
    for big_endian in [false, true] {
        let packets = frames(&conversation(), &[], 65_535);
        let mut bytes = pcapng(big_endian, 9, 101, &packets);
        let stop = bytes.len();
        // A decryption block of nine bytes: its length and frame take twelve.
        for word in [0x8000_0001u32, 9, 0, 0] {
            bytes.extend(if big_endian { word.to_be_bytes() } else { word.to_le_bytes() });
        }
        let observed = observe_file(&bytes);
        assert_eq!((observed.summary.frames, observed.summary.stopped[0].byte as usize), (23, stop));
        assert!(observed.summary.stopped[0].reason.contains("less than 12 bytes"));
    }
}

#[test]
fn a_clock_that_goes_back() {
    let mut segments = conversation();
    // Frames 6 to 8 a little late, and everything from frame 15 on an hour early.
    for segment in &mut segments[6..8] {
        segment.time_ns -= 10 * MS;
    }
    for segment in &mut segments[15..] {
        segment.time_ns -= 3_600_000 * MS;
    }
    let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    assert_eq!(observed.summary.clock_backwards, 3);
    assert!((observed.summary.clock_backwards_s - 3600.0).abs() < 1.0);
    assert!(observed.summary.duration_s < 0.2, "{}", observed.summary.duration_s);
    assert_eq!(observed.first("trace_flows", "delivered_bytes"), 10_000.0);
}

#[test]
fn merged_segments_count_as_their_packets() {
    let mut segments = conversation();
    segments.drain(4..13);
    segments[3].payload = 10_000;
    let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    assert_eq!(observed.first("flows", "packets_sent"), 10.0);
    assert_eq!(observed.first("trace_flows", "merged_segments"), 1.0);
    // Larger than an IPv4 length can say.
    let mut big = conversation();
    big.drain(4..13);
    big[3].payload = 100_000;
    big.drain(4..);
    let observed = observe_file(&PCAP.file(101, &frames(&big, &[], 65_535)));
    assert_eq!(observed.first("flows", "packets_sent"), 100.0);
}

#[test]
fn segments_longer_than_the_stated_size_are_one_packet_each() {
    // Whose MSS option counts no options (RFC 6691 says that it must not); who states the least size that every path has;
    // and no handshake.
    for (stated, stamped, payload) in
        [(Some(1392), true, 1392), (Some(536), false, 1460), (None, false, 1460)]
    {
        let mut segments = conversation();
        if stated.is_none() {
            segments.drain(..3);
        }
        for segment in &mut segments {
            segment.options.clear();
            if let Some(stated) = stated.filter(|_| segment.flags & wire::SYN != 0) {
                segment.options = mss(stated);
            }
            if stamped {
                segment.options.extend(timestamps((segment.time_ns / MS) as u32, 1));
            }
            if segment.payload > 0 {
                segment.seq = 100 + (segment.seq - 100) / 1000 * payload;
                segment.payload = payload as usize;
            } else if segment.ack.is_some_and(|ack| ack > 1000 && ack != 500) {
                segment.ack = segment.ack.map(|ack| 100 + (ack - 100) / 1000 * payload);
            }
        }
        let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
        assert_eq!(observed.first("flows", "packets_sent"), 10.0, "{stated:?}");
        assert_eq!(observed.first("trace_flows", "merged_segments"), 0.0, "{stated:?}");
        assert_eq!(observed.first("trace_flows", "segment_bytes"), f64::from(payload), "{stated:?}");
    }
}

#[test]
fn a_wrong_number_is_said() {
    let mut segments = conversation();
    segments.drain(..3);
    segments[0].seq = segments[0].seq.wrapping_sub(2_000_000);
    let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    let remarks = observed.summary.remarks.join(" ");
    assert!(remarks.contains("10.0.0.1:40000 > 10.0.0.2:80"), "{remarks}");
    assert!(remarks.contains("were acknowledged and not captured"), "{remarks}");
    // Not where a few are missing.
    let mut segments = conversation();
    segments.drain(6..8);
    assert!(observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535))).summary.remarks.is_empty());
}

#[test]
fn one_direction_alone() {
    for from_client in [true, false] {
        let segments: Vec<Segment> =
            conversation().into_iter().filter(|segment| segment.from_client == from_client).collect();
        let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
        assert_eq!(observed.first("trace_flows", "delivered_bytes"), 10_000.0);
        assert_eq!(observed.first("flows", "packets_sent"), if from_client { 10.0 } else { 0.0 });
        assert!(observed.first("flows", "mean_rtt_s").is_nan());
        let handshake = observed.first("trace_flows", "handshake_rtt_s");
        assert_eq!(handshake.is_nan(), !from_client, "{handshake}");
        assert_eq!(observed.text("trace_flows", "vantage")[0], "");
    }
}

#[test]
fn what_was_captured_twice_counts_once() {
    let mut doubled = Vec::new();
    for (i, mut segment) in conversation().into_iter().enumerate() {
        segment.ip_id = i as u16 + 1;
        doubled.push(segment.clone());
        segment.time_ns += 5_000;
        doubled.push(segment);
    }
    let observed = observe_file(&PCAP.file(101, &frames(&doubled, &[], 65_535)));
    assert_eq!(observed.summary.copies, 23);
    assert_eq!(observed.first("flows", "retransmissions"), 0.0);
    assert_eq!(observed.first("flows", "packets_sent"), 10.0);
}

#[test]
fn an_overtaken_packet_is_no_loss() {
    for stamped in [false, true] {
        let mut segments = conversation();
        let late = segments.remove(6);
        segments.insert(8, Segment { time_ns: segments[7].time_ns + MS / 10, ..late });
        if stamped {
            for (i, segment) in segments.iter_mut().enumerate().skip(3) {
                // The packet's own time of sending.
                let value = if i == 8 {
                    6
                } else if i > 5 && i < 8 {
                    i as u32 + 1
                } else {
                    i as u32
                };
                segment.options.extend(timestamps(value, 0));
            }
        }
        let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
        assert_eq!(observed.first("trace_flows", "out_of_order_packets"), 1.0);
        assert_eq!(observed.first("flows", "packets_dropped"), 0.0);
        assert_eq!(observed.first("flows", "packets_sent"), 10.0);
    }
}

#[test]
fn a_duplicate_that_the_receiver_reports_was_no_loss() {
    let mut segments = conversation();
    let end = segments.last().unwrap().time_ns;
    // The third packet is sent again before it is acknowledged, and the receiver says that it had it.
    let again = Segment { time_ns: segments[12].time_ns + MS, ..segments[5].clone() };
    segments.insert(13, again);
    let report = Segment::new(end + 30 * MS, false, 500, 10_100, 0).with(&sack(&[(2100, 3100)]));
    let without = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    segments.push(report);
    let with = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    for (observed, lost) in [(&without, 1.0), (&with, 0.0)] {
        assert_eq!(observed.first("flows", "retransmissions"), 1.0);
        assert_eq!(observed.first("flows", "packets_dropped"), lost);
        assert_eq!(observed.first("trace_flows", "spurious_retransmissions"), 1.0 - lost);
    }
    assert_eq!(with.first("trace_flows", "duplicates_reported"), 1.0);
}

#[test]
fn packets_that_the_capture_missed_are_no_losses() {
    let mut segments = conversation();
    segments.drain(6..8);
    let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    assert_eq!(observed.first("trace_flows", "uncaptured_packets"), 2.0);
    assert_eq!(observed.first("flows", "packets_dropped"), 0.0);
    assert_eq!(observed.first("flows", "packets_sent"), 10.0);
}

#[test]
fn a_capture_that_begins_in_the_middle() {
    let mut segments = conversation();
    segments.drain(..5); // two data packets are missing too
    let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    assert_eq!(observed.first("trace_flows", "delivered_bytes"), 8000.0);
    assert_eq!(observed.first("flows", "packets_sent"), 8.0);
    assert_eq!(observed.first("trace_flows", "opened"), 0.0);
    assert!((observed.first("flows", "mean_rtt_s") - 0.040).abs() < 2e-6);
}

#[test]
fn a_new_connection_between_the_same_ends_is_a_new_flow() {
    let mut segments = conversation();
    let mut again = conversation();
    for segment in &mut again {
        segment.time_ns += 1000 * MS;
        let shift = if segment.from_client { 7_000_000 } else { 9_000_000u32 };
        let back = if segment.from_client { 9_000_000 } else { 7_000_000u32 };
        segment.seq = segment.seq.wrapping_add(shift);
        segment.ack = segment.ack.map(|ack| ack.wrapping_add(back));
    }
    segments.extend(again);
    let observed = observe_file(&PCAP.file(101, &frames(&segments, &[], 65_535)));
    assert_eq!(observed.column("flows", "flow"), [0.0, 1.0]);
    assert_eq!(observed.column("trace_flows", "delivered_bytes"), [10_000.0, 10_000.0]);
}

#[test]
fn parts_of_one_capture() {
    let packets = frames(&conversation(), &[], 65_535);
    let (first, second) = (PCAP.file(101, &packets[..8]), pcapng(false, 9, 101, &packets[8..]));
    let observed = try_observe(&[&first, &second], &OPTIONS).unwrap();
    assert_eq!((observed.summary.frames, observed.summary.flows), (23, 1));
    assert_eq!(observed.first("trace_flows", "delivered_bytes"), 10_000.0);
}

#[test]
fn what_is_no_trace_is_refused_with_what_is_accepted() {
    let message = |bytes: &[u8]| try_observe(&[bytes], &OPTIONS).map(|_| ()).unwrap_err().to_string();
    for (bytes, found) in [
        (&b""[..], "an empty file"),
        (b"PK\x03\x04abc", "the bytes 50 4b 03 04"),
        (b"hello world\n", "text that begins with \"hello world\""),
        (b"\x1f\x8b\x08broken", "compressed data that cannot be read"),
        (b"{\"a\": 1}", "no TCP_INFO sample"),
        (b"t_s,cwnd_pkts\nx,y\n", "a series without a row of two numbers"),
    ] {
        let message = message(bytes);
        assert!(message.contains(found), "{message}");
    }
    assert!(message(b"PK\x03\x04").contains("accepted: pcap, pcapng"));
    assert!(message(b"{nothing").contains("JSON that cannot be read"));
}
