//! All connections of a trace, in bounded memory.
//!
//! | limit | value |
//! | --- | --- |
//! | memory of the connections followed at a time | [`BUDGET`] |
//! | connections followed at a time | [`CONNECTIONS`] |
//! | time after which one that is over is let go | [`LINGER`] |
//!
//! Every [`SWEEP`] packets, connections that are over for a while are written and forgotten; if a limit is passed, the longest
//! idle ones too, as evicted. Packets of an evicted connection begin a flow of its own. Flows are numbered as their data begins.

use crate::connection::{Connection, Key};
use crate::direction::Counts;
use crate::packet::Packet;
use crate::path_times::Nanos;
use crate::rows;
use parshall_records::{RecordsError, Tables};
use std::collections::hash_map::Entry;
use std::collections::HashMap;

/// Bytes behind all connections when a sweep begins; what they gain between two sweeps comes on top.
pub const BUDGET: usize = 256 << 20;

/// Connections when a sweep begins.
pub const CONNECTIONS: usize = 1 << 17;

/// Packets between two sweeps.
const SWEEP: u64 = 1 << 16;

/// Nanoseconds.
const LINGER: Nanos = 120_000_000_000;

/// What is left where a limit was passed.
const KEPT: f64 = 0.75;

/// Follows connections.
#[derive(Debug)]
pub(crate) struct Flows {
    connections: HashMap<Key, Box<Connection>>,
    sample_every: Option<Nanos>,
    packets: u64,
    /// True if any packet was tagged with a VLAN.
    tagged: bool,
    next_flow: u32,
    budget: usize,
    limit: usize,
    /// Connections that were let go before their end.
    pub(crate) evicted: u64,
    /// Connections without any data.
    pub(crate) empty: u64,
    /// Packets that were captured twice.
    pub(crate) copies: u64,
    /// Connections, with and without data.
    pub(crate) connections_begun: u64,
    pub(crate) doubts: Doubts,
}

/// Notes on flows, for the remarks.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    hardly_captured: HardlyCaptured,
    disorder: Disorder,
}

impl Doubts {
    fn look(&mut self, key: &Key, side: usize, counts: &Counts) {
        self.hardly_captured.look(key, side, counts);
        self.disorder.look(counts);
    }

    /// Remarks that a reader should know.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        self.hardly_captured.remark().into_iter().chain(self.disorder.remark())
    }
}

/// Flows of which more packets were missed than captured, by their acknowledgements.
#[derive(Debug, Default)]
pub(crate) struct HardlyCaptured {
    flows: u64,
    /// The first of them: its name, packets missed and sent.
    first: Option<(String, u64, u64)>,
}

impl HardlyCaptured {
    fn look(&mut self, key: &Key, side: usize, counts: &Counts) {
        if counts.uncaptured * 2 > counts.packets {
            self.flows += 1;
            self.first.get_or_insert_with(|| (rows::name(key, side), counts.uncaptured, counts.packets));
        }
    }

    fn remark(&self) -> Option<String> {
        let (name, missed, sent) = self.first.as_ref()?;
        let more = match self.flows {
            1 => String::new(),
            more => format!(", and most packets of {} other flows", more - 1),
        };
        Some(format!(
            "{missed} of {sent} packets of {name}{more} were acknowledged and not captured: packets, bytes and rates are right \
             only if no sequence number is damaged"
        ))
    }
}

/// Flows whose segments stand behind their acknowledgements in the file.
#[derive(Debug, Default)]
pub(crate) struct Disorder {
    flows: u64,
    segments: u64,
    longest: Nanos,
}

impl Disorder {
    fn look(&mut self, counts: &Counts) {
        if counts.acknowledged_first > 0 {
            self.flows += 1;
            self.segments += counts.acknowledged_first;
            self.longest = self.longest.max(counts.disorder);
        }
    }

    fn remark(&self) -> Option<String> {
        (self.flows > 0).then(|| {
            format!(
                "data stand after their acknowledgements in the file (segments: {}, flows: {}, by up to {} us): its order is \
                 not that on the wire, as where two taps, several queues of a card or a virtual switch are captured. They \
                 are no retransmissions, and round-trip times are right to within that time",
                self.segments,
                self.flows,
                self.longest.div_ceil(1000)
            )
        })
    }
}

impl Flows {
    pub(crate) fn new(sample_every: Option<Nanos>) -> Self {
        Self::bounded(sample_every, BUDGET, CONNECTIONS)
    }

    pub(crate) fn bounded(sample_every: Option<Nanos>, budget: usize, limit: usize) -> Self {
        Self {
            connections: HashMap::new(),
            sample_every: sample_every.filter(|every| *every > 0),
            packets: 0,
            tagged: false,
            next_flow: 0,
            budget,
            limit,
            evicted: 0,
            empty: 0,
            copies: 0,
            connections_begun: 0,
            doubts: Doubts::default(),
        }
    }

    /// Flows that have sent data.
    pub(crate) fn count(&self) -> u32 {
        self.next_flow
    }

    /// A packet passes.
    #[inline]
    pub(crate) fn on_packet(
        &mut self,
        now: Nanos,
        packet: &Packet,
        tables: &mut Tables,
    ) -> Result<(), RecordsError> {
        let (mut key, side) = Key::of(packet);
        self.tagged |= packet.vlan > 0;
        if self.tagged {
            key = self.on_vlan(key, side, packet.vlan);
        }
        let connection = match self.connections.entry(key) {
            Entry::Vacant(vacant) => {
                self.connections_begun += 1;
                vacant.insert(Box::new(Connection::new()))
            }
            Entry::Occupied(mut occupied) => {
                if occupied.get().is_succeeded_by(packet, side) {
                    self.connections_begun += 1;
                    let mut over = std::mem::replace(occupied.get_mut(), Box::new(Connection::new()));
                    write(&key, &mut over, &mut self.next_flow, &mut self.empty, &mut self.doubts, tables)?;
                }
                occupied.into_mut()
            }
        };
        if connection.on_packet(now, side, packet) {
            for direction in &mut connection.directions {
                if direction.number.is_none() && direction.seen {
                    direction.number = Some(self.next_flow);
                    self.next_flow = self.next_flow.saturating_add(1);
                }
                let Some(flow) = direction.number else { continue };
                while let Some(round) = direction.settled_round() {
                    rows::round(tables, flow, &round)?;
                }
                for event in direction.events.pending.drain(..) {
                    rows::event(tables, flow, &event)?;
                }
                for period in direction.limits.finished.drain(..) {
                    rows::period(tables, flow, &period)?;
                }
                if let Some(every) = self.sample_every {
                    if now >= direction.next_sample && direction.seen {
                        rows::sample(tables, flow, now, direction)?;
                        direction.next_sample = (now / every + 1).saturating_mul(every);
                    }
                }
            }
        } else {
            self.copies += 1;
        }
        self.packets += 1;
        if self.packets.is_multiple_of(SWEEP) {
            self.sweep(now, tables)?;
        }
        Ok(())
    }

    /// The connection of these ends that a packet on this VLAN belongs to. One way may be tagged otherwise than the other; but what
    /// one end sends on two VLANs is of two connections.
    fn on_vlan(&self, key: Key, side: usize, vlan: u32) -> Key {
        let Some(first) = self.connections.get(&key) else { return key };
        let other = key.on(vlan);
        let is_other = match (first.vlans[side], first.vlans[1 - side]) {
            (Some(own), _) => own != vlan,
            (None, Some(way_back)) => way_back != vlan && self.connections.contains_key(&other),
            (None, None) => false,
        };
        if is_other {
            other
        } else {
            key
        }
    }

    fn sweep(&mut self, now: Nanos, tables: &mut Tables) -> Result<(), RecordsError> {
        let mut over: Vec<Key> = Vec::new();
        let mut held: Vec<(Nanos, u64, Key)> = Vec::new();
        let mut memory = 0;
        for (key, connection) in &self.connections {
            if connection.is_over() && now.saturating_sub(connection.last) > LINGER {
                over.push(*key);
            } else {
                let footprint = connection.footprint();
                memory += footprint;
                held.push((connection.last, footprint as u64, *key));
            }
        }
        if memory > self.budget || held.len() > self.limit {
            held.sort_unstable_by_key(|(last, _, key)| (*last, *key));
            let mut count = held.len();
            for (_, footprint, key) in held {
                if memory as f64 <= KEPT * self.budget as f64 && count as f64 <= KEPT * self.limit as f64 {
                    break;
                }
                memory -= footprint as usize;
                count -= 1;
                self.evicted += 1;
                over.push(key);
            }
        }
        self.write_all(over, tables)
    }

    /// Writes what is left, in the order of the flows' numbers.
    pub(crate) fn finish(&mut self, tables: &mut Tables) -> Result<(), RecordsError> {
        let all = self.connections.keys().copied().collect();
        self.write_all(all, tables)
    }

    /// Writes connections and forgets them; the order does not depend on the hash function.
    fn write_all(&mut self, keys: Vec<Key>, tables: &mut Tables) -> Result<(), RecordsError> {
        let mut gone: Vec<(Key, Box<Connection>)> =
            keys.into_iter().filter_map(|key| self.connections.remove_entry(&key)).collect();
        gone.sort_unstable_by_key(|(key, connection)| {
            let number = connection.directions.iter().filter_map(|direction| direction.number).min();
            (number.unwrap_or(u32::MAX), *key)
        });
        for (key, mut connection) in gone {
            write(&key, &mut connection, &mut self.next_flow, &mut self.empty, &mut self.doubts, tables)?;
        }
        Ok(())
    }
}

/// Writes the flows of a connection.
fn write(
    key: &Key,
    connection: &mut Connection,
    next_flow: &mut u32,
    empty: &mut u64,
    doubts: &mut Doubts,
    tables: &mut Tables,
) -> Result<(), RecordsError> {
    let mut any = false;
    for side in 0..2 {
        let direction = &mut connection.directions[side];
        // Data of which only the acknowledgements were captured.
        if direction.number.is_none() && direction.delivered() > 0 {
            direction.number = Some(*next_flow);
            *next_flow = next_flow.saturating_add(1);
        }
        if let Some(flow) = direction.number {
            any = true;
            doubts.look(key, side, &direction.counts);
            rows::flow(tables, flow, key, side, connection)?;
        }
    }
    // What happened to a direction without data, as its SYN, is told of the other one.
    let numbers = [0, 1].map(|side: usize| connection.directions[side].number);
    for side in 0..2 {
        for event in connection.directions[side].events.pending.drain(..) {
            if let Some(flow) = numbers[side].or(numbers[1 - side]) {
                rows::event(tables, flow, &event)?;
            }
        }
    }
    *empty += u64::from(!any);
    Ok(())
}
