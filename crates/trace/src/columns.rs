//! The TCP packets of a capture as columns, for estimators that need the time of each: dispersion, queues, losses.
//!
//! [`crate::observe`] reads a capture of any length in constant memory; here a packet takes 69 bytes of memory, and no more than
//! [`MOST`] are read. Sequence numbers are those of the wire without their overflows, from 2^32 on, so that none is negative.

use crate::capture::{read_frames, Format};
use crate::error::TraceError;
use crate::filter::{Filter, Selection};
use crate::packet::{decode, Content, Endpoint, Flags, Packet};
use crate::ranges::Ranges;
use parshall_reading::Input;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Packets that are read of a capture at most.
pub const MOST: usize = 8_000_000;

/// Directions of connections that are told apart; packets of others are left out.
const FLOWS: usize = 65_536;

/// Where sequence numbers begin, so that what is before the first one is not below 0.
const ORIGIN: u64 = 1 << 32;

/// Packets in which a copy of a packet is looked for.
const RECENT: usize = 4;

/// Packets of a capture, one value each in every column.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Ends of each direction, `address:port > address:port`, as the records name flows.
    pub names: Vec<String>,
    /// Nanoseconds since the first frame.
    pub time_ns: Vec<u64>,
    /// Index into `names`. The opposite direction is the same number with its last bit changed.
    pub flow: Vec<u32>,
    /// First byte, and bytes of payload.
    pub start: Vec<u64>,
    /// Bytes of payload.
    pub payload: Vec<u32>,
    /// Bytes of the IP packet on the wire.
    pub wire: Vec<u32>,
    /// Flags of the TCP header.
    pub flags: Vec<u8>,
    /// One past the last byte of the opposite direction that is acknowledged; 0 without.
    pub ack: Vec<u64>,
    /// Bytes of the opposite direction that arrived by what was acknowledged so far, selectively too, above the first one seen.
    pub delivered: Vec<u64>,
    /// One past the highest byte of the opposite direction that is known to have arrived; 0 without.
    pub highest: Vec<u64>,
    /// First byte of what the receiver reports to have got twice (RFC 2883); 0 without.
    pub repeated: Vec<u64>,
    /// TSval; 0 without.
    pub stamp: Vec<u32>,
    /// TSecr; 0 without.
    pub echo: Vec<u32>,
}

/// The state of a direction.
#[derive(Debug, Default)]
struct Side {
    /// The number of its SYN, and the last one of it that was seen, without overflows.
    syn: Option<u32>,
    last: Option<u64>,
    /// Its acknowledged bytes: the highest number, those above, and how many they are in all.
    acked: u64,
    arrived: u64,
    sacked: Ranges,
    recent: [Option<Packet>; RECENT],
    next: usize,
}

impl Side {
    /// A sequence number without overflows: the one that is nearest to the last.
    fn unwrap(&mut self, seq: u32) -> u64 {
        let last = self.last.unwrap_or(ORIGIN + u64::from(seq));
        let found = last.saturating_add_signed(i64::from(seq.wrapping_sub(last as u32).cast_signed()));
        self.last = Some(found);
        found
    }

    /// Everything below `ack` arrived, and what is in `blocks`; how much that is in all. What is forgotten of the latter counts again.
    fn acknowledged(&mut self, ack: u64, blocks: impl Iterator<Item = (u64, u64)>) -> u64 {
        let before = if self.acked == 0 { ack } else { self.acked };
        self.acked = before.max(ack);
        self.arrived += self.acked - before - self.sacked.overlap(before, self.acked);
        self.sacked.remove(0, self.acked);
        for (start, end) in blocks {
            self.arrived += self.sacked.insert(start.max(self.acked), end);
        }
        self.arrived
    }

    /// The same packet seen twice, on two interfaces or by a mirror port: without an identification, duplicate acknowledgements look so, too.
    fn is_copy(&mut self, packet: &Packet) -> bool {
        if packet.ip_id.unwrap_or(0) == 0 {
            return false;
        }
        if self.recent.contains(&Some(*packet)) {
            return true;
        }
        self.recent[self.next] = Some(*packet);
        self.next = (self.next + 1) % RECENT;
        false
    }
}

/// Reads the packets of a capture; several files are its consecutive parts.
///
/// # Errors
/// A file cannot be read, or is no capture.
pub fn columns(files: &[PathBuf], filter: &Filter) -> Result<Columns, TraceError> {
    let mut reading = Reading { selection: Selection::new(filter), ..Reading::default() };
    for path in files {
        let cannot = |source| TraceError::Read { path: path.clone(), source };
        let mut input = Input::open(path).map_err(cannot)?;
        let head = input.peek(4).map_err(cannot)?;
        let Some(format) = Format::recognise(&head) else {
            return Err(TraceError::Refused { path: path.clone(), problem: "found no capture".into() });
        };
        read_frames(format, input, |frame| {
            let now = reading.time(frame.time_ns);
            if let Content::Tcp(packet) = decode(frame.link_type, frame.data, frame.wire_bytes) {
                if reading.selection.has_time(now) && reading.selection.has(&packet) {
                    reading.packet(now, &packet);
                }
            }
            if reading.made.time_ns.len() < MOST {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
    }
    Ok(reading.made)
}

#[derive(Debug, Default)]
struct Reading {
    selection: Selection,
    numbers: HashMap<(Endpoint, Endpoint), usize>,
    sides: Vec<Side>,
    origin: Option<u64>,
    last: u64,
    made: Columns,
}

impl Reading {
    /// Nanoseconds since the first frame, which never go back.
    fn time(&mut self, time_ns: Option<u64>) -> u64 {
        let origin = *self.origin.get_or_insert(time_ns.unwrap_or(0));
        self.last = self.last.max(time_ns.unwrap_or(0).saturating_sub(origin));
        self.last
    }

    fn number(&mut self, packet: &Packet) -> Option<usize> {
        let (source, destination) = (packet.source, packet.destination);
        let opens = packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK);
        if let Some(number) = self.numbers.get(&(source, destination)) {
            let known = &self.sides[*number];
            let again = opens && known.last.is_some() && known.syn != Some(packet.seq);
            if !again {
                return Some(*number);
            }
        }
        let number = self.sides.len();
        if number >= FLOWS {
            return None;
        }
        for (from, to) in [(source, destination), (destination, source)] {
            self.numbers.insert((from, to), self.sides.len());
            self.sides.push(Side::default());
            let end = |end: Endpoint| SocketAddr::new(end.address(), end.port);
            self.made.names.push(format!("{} > {}", end(from), end(to)));
        }
        // A connection of a host with itself has one direction for both.
        self.numbers.get(&(source, destination)).copied()
    }

    fn packet(&mut self, now: u64, packet: &Packet) {
        let Some(number) = self.number(packet) else { return };
        if self.sides[number].is_copy(packet) {
            return;
        }
        let side = &mut self.sides[number];
        if packet.flags.has(Flags::SYN) {
            side.syn.get_or_insert(packet.seq);
        }
        let start = side.unwrap(packet.seq);
        let other = &mut self.sides[number ^ 1];
        let (mut ack, mut delivered, mut highest, mut repeated) = (0, 0, 0, 0);
        if packet.flags.has(Flags::ACK) {
            ack = other.unwrap(packet.ack);
            let near =
                |seq: u32| ack.saturating_add_signed(i64::from(seq.wrapping_sub(ack as u32).cast_signed()));
            let blocks = || packet.options.blocks().iter().map(|block| (near(block.0), near(block.1)));
            delivered = other.acknowledged(ack, blocks());
            highest = other.acked.max(other.sacked.end().unwrap_or(0));
            repeated = blocks().next().filter(|block| block.1 <= ack).map_or(0, |block| block.0);
        }
        let (stamp, echo) = packet.options.timestamps.unwrap_or((0, 0));
        let made = &mut self.made;
        made.time_ns.push(now);
        made.flow.push(number as u32);
        made.start.push(start + u64::from(packet.flags.has(Flags::SYN)));
        made.payload.push(packet.payload);
        made.wire.push(packet.payload.saturating_add(u32::from(packet.header_bytes)));
        made.flags.push(packet.flags.0);
        made.ack.push(ack);
        made.delivered.push(delivered);
        made.highest.push(highest);
        made.repeated.push(repeated);
        made.stamp.push(stamp);
        made.echo.push(echo);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_go_on_where_they_overflow() {
        let mut side = Side::default();
        let first = side.unwrap(u32::MAX - 9);
        assert_eq!(side.unwrap(90), first + 100);
        assert_eq!(side.unwrap(u32::MAX - 9), first);
    }

    #[test]
    fn what_arrived_counts_once_whether_selectively_or_not() {
        let mut side = Side::default();
        assert_eq!(side.acknowledged(1000, std::iter::empty()), 0);
        assert_eq!(side.acknowledged(1000, [(1500, 2000)].into_iter()), 500);
        assert_eq!(side.acknowledged(1200, [(1500, 2000)].into_iter()), 700);
        // A duplicate that is reported (RFC 2883) is below what is acknowledged.
        assert_eq!(side.acknowledged(2000, [(1100, 1200)].into_iter()), 1000);
    }
}
