//! Payload that arrives, of flows whose sockets are not ours: nobody but the network can say how much it was.
//!
//! Of TCP it is what the receiver has acknowledged (RFC 9293 §3.4), each byte once; of UDP what was delivered.

use crate::headers::{acknowledgement, word, Headers, ACK, SYN, TCP, UDP};
use parshall_sim::Direction;
use std::collections::HashMap;
use std::ops::Range;

/// Counts it, from senders to receivers.
pub(crate) struct PayloadMeter {
    flows: Range<u32>,
    bytes: Vec<u64>,
    /// The last acknowledgement of each connection: its flow, and the ports of receiver and sender.
    acknowledged: HashMap<(u32, u16, u16), u32>,
}

impl PayloadMeter {
    pub(crate) fn new(flows: Range<u32>) -> Self {
        Self { bytes: vec![0; flows.len()], flows, acknowledged: HashMap::new() }
    }

    /// A packet is delivered.
    pub(crate) fn see(&mut self, flow: u32, direction: Direction, packet: &[u8]) {
        if !self.flows.contains(&flow) {
            return;
        }
        let Some(headers) = Headers::read(packet).filter(|headers| headers.transport > 0) else { return };
        let new = match (headers.protocol, direction) {
            (UDP, Direction::Forward) => headers.payload() as u64,
            (TCP, Direction::Reverse) => self.newly_acknowledged(flow, &headers, packet),
            _ => 0,
        };
        self.bytes[(flow - self.flows.start) as usize] += new;
    }

    fn newly_acknowledged(&mut self, flow: u32, headers: &Headers, packet: &[u8]) -> u64 {
        let at = headers.ip;
        let flags = packet[at + 13];
        let connection = (flow, word(packet, at), word(packet, at + 2));
        if flags & SYN != 0 {
            self.acknowledged.remove(&connection); // the ports may have been used before
        }
        if flags & ACK == 0 {
            return 0;
        }
        let number = acknowledgement(packet, at);
        let last = self.acknowledged.entry(connection).or_insert(number);
        let advance = number.wrapping_sub(*last);
        if advance >= 1 << 31 {
            return 0; // older than the last one (RFC 9293 §3.4: numbers are compared modulo 2^32)
        }
        *last = number;
        u64::from(advance)
    }

    /// Each flow, and its bytes.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (u32, u64)> + use<'_> {
        self.flows.clone().zip(self.bytes.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of TCP or UDP between ports 7 and 9.
    fn packet(protocol: u8, flags: u8, acknowledged: u32, payload: usize) -> Vec<u8> {
        let transport = if protocol == TCP { 20 } else { 8 };
        let mut bytes = vec![0; 20 + transport + payload];
        let total = bytes.len() as u16;
        (bytes[0], bytes[9]) = (0x45, protocol);
        bytes[2..4].copy_from_slice(&total.to_be_bytes());
        bytes[20..24].copy_from_slice(&[0, 7, 0, 9]);
        if protocol == TCP {
            bytes[28..32].copy_from_slice(&acknowledged.to_be_bytes());
            (bytes[32], bytes[33]) = (5 << 4, flags);
        }
        bytes
    }

    fn counted(packets: &[(u32, Direction, Vec<u8>)]) -> Vec<u64> {
        let mut meter = PayloadMeter::new(2..4);
        for (flow, direction, packet) in packets {
            meter.see(*flow, *direction, packet);
        }
        meter.totals().map(|(_, bytes)| bytes).collect()
    }

    #[test]
    fn acknowledged_bytes_count_once() {
        let ack = |number| (2, Direction::Reverse, packet(TCP, ACK, number, 0));
        let wrapped = [u32::MAX - 99, u32::MAX, 900, 400, 900].map(ack);
        assert_eq!(counted(&wrapped), [1000, 0], "numbers go round, and old ones count nothing");
    }

    #[test]
    fn a_new_connection_begins_at_its_own_number() {
        let syn_ack = (3, Direction::Reverse, packet(TCP, SYN | ACK, 5_000, 0));
        let ack = |number| (3, Direction::Reverse, packet(TCP, ACK, number, 0));
        assert_eq!(counted(&[syn_ack.clone(), ack(5_300), syn_ack, ack(5_100)]), [0, 400]);
        let syn = (3, Direction::Reverse, packet(TCP, SYN, 0, 0)); // the receiver opens it
        assert_eq!(counted(&[ack(9), syn, ack(1_000_000), ack(1_000_050)]), [0, 50]);
    }

    #[test]
    fn datagrams_count_on_their_way_forward_and_other_flows_not_at_all() {
        let datagram = |flow, direction| (flow, direction, packet(UDP, 0, 0, 100));
        let all = [
            datagram(2, Direction::Forward),
            datagram(2, Direction::Reverse),
            datagram(4, Direction::Forward),
            (2, Direction::Forward, packet(TCP, ACK, 9, 500)),
            (2, Direction::Forward, vec![0x45, 0]),
        ];
        assert_eq!(counted(&all), [100, 0]);
    }
}
