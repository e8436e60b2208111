//! Receive offload: segments of a TCP flow that are due at a tick, and follow each other, become one super-packet.
//!
//! They are merged where Linux's generic receive offload would (net/ipv4/tcp_offload.c, `tcp_gro_receive`; af_inet.c,
//! `inet_gro_receive`): all headers equal but for sequence number, IP identification (which counts on), length and
//! checksum; equal payloads, of which the last may be shorter; FIN and PSH end a super-packet; no other flag than ACK
//! and ECE. So segments with different ECN codepoints, ACKs without data, retransmissions and gaps stay as they are,
//! and the receiver sees what it would see behind a network card.

use crate::checksum::{pseudo_header, set_ip};
use crate::cut::TCP_CHECKSUM;
use crate::headers::{sequence, set_word, word, Headers, ACK, FIN, PSH, TCP};
use crate::pool::{Pool, Stored};
use crate::virtio::{self, Partial, Segmentation, VirtioHeader};
use parshall_sim::{Delivery, Direction};
use parshall_units::Instant;
use std::io::IoSlice;

/// Segments of a super-packet, at most. 44 of 1500 bytes fill it.
pub(crate) const MOST_SEGMENTS: usize = 64;

/// Bytes of all headers, at most: IPv4 and TCP have up to 60 each.
const MOST_HEADERS: usize = 120;

const ECE: u8 = 64;

/// Packets of one flow that are written at once, by their slots.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) flow: u32,
    pub(crate) direction: Direction,
    /// Each packet, and when it was due.
    pub(crate) packets: Vec<(u32, Instant)>,
    /// Of one that accepts more: headers of the first, and what the next one has to be.
    open: Option<Next>,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    headers: Headers,
    sequence: u32,
    identification: u16,
    /// Payload of each segment, and of all so far.
    size: usize,
    payload: usize,
}

/// The batches of a tick, in the order in which they are written. Their memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    all: Vec<Batch>,
    used: usize,
    /// The last batch of each flow, forward and back.
    last: [Vec<u32>; 2],
}

const NONE: u32 = u32::MAX;

impl Batches {
    pub(crate) fn for_flows(flows: u32) -> Self {
        let none = vec![NONE; flows as usize];
        Self { all: Vec::new(), used: 0, last: [none.clone(), none] }
    }

    /// Adds a packet that is due.
    pub(crate) fn add(&mut self, pool: &Pool, delivery: &Delivery) {
        let Delivery { at, flow, direction, slot, .. } = *delivery;
        let stored = pool.get(slot);
        let last = &mut self.last[usize::from(direction == Direction::Reverse)][flow as usize];
        if let Some(batch) = self.all[..self.used].get_mut(*last as usize) {
            if batch.accept(pool, stored) {
                return batch.packets.push((slot, at));
            }
        }
        *last = self.used as u32;
        let open = Next::after(stored);
        if let Some(batch) = self.all.get_mut(self.used) {
            batch.packets.clear();
            (batch.flow, batch.direction, batch.open) = (flow, direction, open);
            batch.packets.push((slot, at));
        } else {
            self.all.push(Batch { flow, direction, packets: vec![(slot, at)], open });
        }
        self.used += 1;
    }

    pub(crate) fn all(&self) -> &[Batch] {
        &self.all[..self.used]
    }

    /// All have been written.
    pub(crate) fn clear(&mut self) {
        for Batch { flow, direction, .. } in &self.all[..self.used] {
            self.last[usize::from(*direction == Direction::Reverse)][*flow as usize] = NONE;
        }
        self.used = 0;
    }
}

impl Next {
    /// What follows a first packet; `None`: nothing can.
    fn after(stored: &Stored) -> Option<Self> {
        let bytes = &stored.bytes;
        let headers = Headers::read(bytes)?;
        let size = headers.payload();
        if headers.protocol != TCP || headers.transport == 0 || size == 0 || !is_partial(stored, &headers) {
            return None;
        }
        let flags = bytes[headers.ip + 13];
        (flags & ACK != 0 && flags & !(ACK | ECE) == 0).then(|| Self {
            headers,
            sequence: sequence(bytes, headers.ip).wrapping_add(size as u32),
            identification: word(bytes, 4).wrapping_add(1),
            size,
            payload: size,
        })
    }
}

/// True if the checksum of TCP is still to be completed, so that no byte of the payload need be read.
fn is_partial(stored: &Stored, headers: &Headers) -> bool {
    stored.partial == Some(Partial { start: headers.ip as u16, offset: TCP_CHECKSUM })
}

impl Batch {
    /// True if a packet continues it, which then is noted.
    fn accept(&mut self, pool: &Pool, stored: &Stored) -> bool {
        let (Some(next), Some(&(first, _))) = (&mut self.open, self.packets.first()) else { return false };
        let (before, bytes) = (&pool.get(first).bytes, &stored.bytes);
        let Some(headers) = Headers::read(bytes) else { return false };
        let (ip, size) = (headers.ip, headers.payload());
        let same_places = Headers { total: next.headers.total, ..headers } == next.headers;
        let fits = size > 0
            && size <= next.size
            && u16::try_from(headers.bytes() + next.payload + size).is_ok()
            && self.packets.len() < MOST_SEGMENTS;
        if !(same_places && fits && is_partial(stored, &headers)) {
            return false;
        }
        let is_next = sequence(bytes, ip) == next.sequence && word(bytes, 4) == next.identification;
        let same = |range: std::ops::Range<usize>| before[range.clone()] == bytes[range];
        let flags = |bytes: &[u8]| bytes[ip + 13] & !(FIN | PSH);
        // IP: all but length, identification and checksum. TCP: all but sequence number, FIN, PSH, checksum and urgent
        // pointer.
        let same_headers = same(0..2)
            && same(6..10)
            && same(12..ip)
            && same(ip..ip + 4)
            && same(ip + 8..ip + 13)
            && flags(before) == flags(bytes)
            && same(ip + 14..ip + 16)
            && same(ip + 20..headers.bytes());
        if !(is_next && same_headers) {
            return false;
        }
        next.sequence = next.sequence.wrapping_add(size as u32);
        next.identification = next.identification.wrapping_add(1);
        next.payload += size;
        if size < next.size || bytes[ip + 13] & (FIN | PSH) != 0 {
            self.open = None;
        }
        true
    }

    /// Calls `write` with the pieces of what is written: the header of the device, and the packet or the super-packet.
    pub(crate) fn write<T>(&self, pool: &Pool, write: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
        let first = pool.get(self.packets[0].0);
        if self.packets.len() == 1 {
            let header = VirtioHeader { partial: first.partial, ..VirtioHeader::default() }.write();
            return write(&[IoSlice::new(&header), IoSlice::new(&first.bytes)]);
        }
        let Some(headers) = Headers::read(&first.bytes) else { unreachable!("it was read when it came") };
        let beginning = headers.bytes();
        let mut start = [0; virtio::BYTES + MOST_HEADERS];
        let end = virtio::BYTES + beginning;
        start[virtio::BYTES..end].copy_from_slice(&first.bytes[..beginning]);
        let mut pieces = [IoSlice::new(&[]); MOST_SEGMENTS + 1];
        let mut total = beginning;
        for (piece, &(slot, _)) in pieces[1..].iter_mut().zip(&self.packets) {
            let bytes = &pool.get(slot).bytes;
            *piece = IoSlice::new(&bytes[beginning..]);
            total += bytes.len() - beginning;
            start[virtio::BYTES + headers.ip + 13] |= bytes[headers.ip + 13];
        }
        become_super_packet(&mut start[virtio::BYTES..end], &headers, total);
        let virtio = VirtioHeader {
            partial: first.partial,
            segmentation: Segmentation::Tcp,
            header_bytes: beginning as u16,
            segment_bytes: headers.payload() as u16,
        };
        start[..virtio::BYTES].copy_from_slice(&virtio.write());
        pieces[0] = IoSlice::new(&start[..end]);
        write(&pieces[..=self.packets.len()])
    }
}

/// Headers of a segment become those of a super-packet of so many bytes.
fn become_super_packet(bytes: &mut [u8], headers: &Headers, total: usize) {
    set_word(bytes, 2, total as u16);
    set_ip(&mut bytes[..headers.ip]);
    let pseudo_header = pseudo_header(&bytes[12..20], TCP, total - headers.ip);
    set_word(bytes, headers.ip + usize::from(TCP_CHECKSUM), pseudo_header);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::mark;
    use crate::cut::cut;
    use crate::testing::{read, super_packet, SuperPacket};
    use proptest::prelude::*;

    /// The segments of super-packets, one after the other.
    fn stored(pool: &mut Pool, packets: &[SuperPacket]) -> Vec<u32> {
        let mut slots = Vec::new();
        for packet in packets {
            let bytes = super_packet(packet);
            let (virtio, headers, packet) = read(&bytes);
            cut(&virtio, &headers, packet, pool, |slot, _| slots.push(slot)).unwrap();
        }
        slots
    }

    /// What is written of packets that are due together.
    fn written(pool: &Pool, slots: &[(u32, u32)]) -> Vec<Vec<u8>> {
        let mut batches = Batches::for_flows(4);
        for round in 0..2 {
            for &(flow, slot) in slots {
                let direction = Direction::Forward;
                batches.add(pool, &Delivery { at: Instant::ZERO, flow, direction, slot, marked: false });
            }
            if round == 0 {
                batches.clear(); // as after a tick: nothing of it may remain
            }
        }
        let whole = |pieces: &[IoSlice<'_>]| pieces.iter().flat_map(|piece| piece.to_vec()).collect();
        batches.all().iter().map(|batch| batch.write(pool, whole)).collect()
    }

    fn of_one_flow(slots: &[u32]) -> Vec<(u32, u32)> {
        slots.iter().map(|&slot| (0, slot)).collect()
    }

    #[test]
    fn two_super_packets_that_follow_each_other_become_one() {
        let first = SuperPacket { payload: 3000, segment: 1000, ..SuperPacket::default() };
        let second = SuperPacket { seq: first.seq + 3000, id: first.id + 3, payload: 1500, ..first };
        let mut pool = Pool::default();
        let slots = stored(&mut pool, &[first, second]);
        let both = super_packet(&SuperPacket { payload: 4500, ..first });
        let found = written(&pool, &of_one_flow(&slots));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0][..62], both[..62], "all headers");
        assert_eq!(found[0].len(), both.len());
    }

    #[test]
    fn flows_that_take_turns_are_merged_each() {
        let packet = SuperPacket { payload: 3000, segment: 1000, ..SuperPacket::default() };
        let mut pool = Pool::default();
        let (one, other) = (stored(&mut pool, &[packet]), stored(&mut pool, &[packet]));
        let turns: Vec<(u32, u32)> =
            one.iter().zip(&other).flat_map(|(&one, &other)| [(0, one), (3, other)]).collect();
        assert_eq!(written(&pool, &turns), vec![super_packet(&packet); 2]);
    }

    #[test]
    fn what_differs_is_not_merged() {
        let packet = SuperPacket { payload: 2000, segment: 1000, ..SuperPacket::default() };
        let count = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut pool = Pool::default();
            let slots = stored(&mut pool, &[packet]);
            change(&mut pool.get_mut(slots[1]).bytes);
            written(&pool, &of_one_flow(&slots)).len()
        };
        assert_eq!(count(&|_| ()), 1);
        assert_eq!(count(&|bytes| mark(bytes)), 2, "the ECN codepoint");
        for (what, at) in [
            ("identification", 5),
            ("TTL", 8),
            ("address", 19),
            ("port", 23),
            ("sequence number", 27),
            ("acknowledgement", 31),
            ("SYN, CWR", 33),
            ("window", 35),
            ("options", 45),
        ] {
            assert_eq!(count(&|bytes| bytes[at] ^= 0x82), 2, "{what}");
        }
        assert_eq!(count(&|bytes| bytes[33] |= PSH), 1, "PSH of the last one");
    }

    #[test]
    fn nothing_follows_a_push_or_a_shorter_segment() {
        let mut pool = Pool::default();
        let pushed = SuperPacket { payload: 1000, segment: 1000, flags: ACK | PSH, ..SuperPacket::default() };
        let next = SuperPacket { seq: pushed.seq + 1000, id: pushed.id + 1, flags: ACK, ..pushed };
        let slots = stored(&mut pool, &[pushed, next]);
        assert_eq!(written(&pool, &of_one_flow(&slots)).len(), 2);
        let long = SuperPacket { payload: 1500, segment: 1000, flags: ACK, ..pushed };
        let next = SuperPacket { seq: long.seq + 1500, id: long.id + 2, ..long };
        let slots = stored(&mut pool, &[long, next]);
        assert_eq!(written(&pool, &of_one_flow(&slots)).len(), 2);
    }

    proptest! {
        /// What is cut and merged again is what it was.
        #[test]
        fn merging_undoes_cutting(segments in 1usize..44, segment in 8u16..1460, rest in 0usize..1460, seq: u32, id: u16, push: bool) {
            let payload = (segments - 1) * usize::from(segment) + 1 + rest % usize::from(segment);
            let flags = if push { ACK | PSH } else { ACK };
            let packet = SuperPacket { payload, segment, seq, id, flags, ..SuperPacket::default() };
            let mut pool = Pool::default();
            let slots = stored(&mut pool, &[packet]);
            let found = written(&pool, &of_one_flow(&slots));
            prop_assert_eq!(found.len(), 1);
            let expected = super_packet(&packet);
            if segments > 1 {
                prop_assert_eq!(&found[0], &expected);
            } else {
                prop_assert_eq!(&found[0][10..], &expected[10..]);
            }
        }
    }
}
