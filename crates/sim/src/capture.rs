//! Captures of links: what tcpdump would write on the interface that sends to the link (`probes.pcap`).
//!
//! | what | when |
//! | --- | --- |
//! | a packet that crosses the link | it has left: its last bit is transmitted |
//! | a packet of the other direction of the same flow | it comes in, on its way to the other end |
//!
//! What the queue drops or the medium loses is not there. For the other direction, the way back is laid beside the way there, end
//! to end: the link i hops from the sender has beside it the contended link of the way back that is i hops from the sender (of a
//! shorter way back, the one that is farthest), and packets come in as they reach that link's end. Where the way back is not
//! contended it is as long as the way there, and ACKs come in as they pass.
//!
//! Only headers are kept. Those of packets from outside are their own ([`external`]). Of simulated packets [`frame`]
//! says how they are made, [`numbering`] how packets become bytes. A packet is as long as in the simulation, but no
//! shorter than its headers and its data: with the timestamps option, headers have 52 bytes, so packets whose
//! `header_size` is 40 are 12 bytes longer here. SYNs and ACKs are as long as their options make them, and at least as
//! in the simulation. There are no FINs, as the simulator has none, and SYNs only with `handshake`. Windows of more
//! than 65,535 bytes are scaled (RFC 7323 §2).
//!
//! Flows run ahead of the event queue, so a frame waits until nothing earlier can come: memory holds what is under way.
//!
//! Reference of the format: draft-ietf-opsawg-pcap, with times in ns; link type 101, raw IP.

mod external;
mod frame;
mod hooks;
mod numbering;
mod route;

pub use frame::MOST_HEADERS;
pub(crate) use frame::{Ends, DISCARD};
pub(crate) use hooks::{check, Wires};
pub(crate) use numbering::Numbering;

use crate::output::Output;
use crate::wire::{self, AckOptions};
use crate::SimError;
use etherparse::{IpDscp, IpEcn, TcpHeader, TcpOptionElement};
use external::External;
use frame::{identification, tcp, udp, Frame, Length, Marks};
use parshall_engine::Packet;
use parshall_net::ecn::Ecn;
use parshall_net::markers::Class;
use parshall_tcp::Ack;
use parshall_units::{Duration, Instant};
use route::{sequence, DatagramRoute, Hop, TcpRoute};
use std::collections::{BinaryHeap, VecDeque};

/// A flow, by its place among those of its kind, its group's there, and its number in the records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Which {
    pub(crate) index: u32,
    pub(crate) group: u32,
    pub(crate) id: u32,
}

/// The captures of a simulation.
#[derive(Debug)]
pub(crate) struct Captures {
    files: Files,
    tcp: Vec<TcpRoute>,
    datagrams: Vec<DatagramRoute>,
    flows: Vec<FlowState>,
    /// The IP identifications of the ACKs that are under way on contended links, by their slots.
    identifications: Vec<u16>,
    external: External,
}

/// What is remembered of a TCP flow.
#[derive(Clone, Debug, Default)]
struct FlowState {
    numbering: Numbering,
    /// When ACKs reached the sender, and their timestamps.
    heard: VecDeque<(Instant, u32)>,
    /// ACKs sent.
    acks: u16,
}

impl FlowState {
    /// The identification of the next ACK. (ACKs have one sequence number, so tools tell them apart by this.)
    fn next_ack(&mut self) -> u16 {
        self.acks = self.acks.wrapping_add(1);
        self.acks
    }

    /// The timestamp of the last ACK that was there when a packet was sent. RFC 7323 §3.2
    fn echo(&self, sent: Instant) -> u32 {
        let heard = self.heard.partition_point(|&(at, _)| at <= sent);
        heard.checked_sub(1).map_or(0, |last| self.heard[last].1)
    }

    /// Packets sent before have passed the last link.
    fn forget_before(&mut self, sent: Instant) {
        let heard = self.heard.partition_point(|&(at, _)| at <= sent);
        self.heard.drain(..heard.saturating_sub(1));
    }
}

/// A clock of milliseconds for the timestamps option. RFC 7323 §5.4
fn timestamp(at: Instant) -> u32 {
    (at.as_ps() / 1_000_000_000) as u32
}

impl Captures {
    /// A transfer of a flow begins with packet `first`, on a connection of its own or on the one that lives on.
    pub(crate) fn begin(&mut self, flow: u32, first: u64, bytes: Option<u64>, own_connection: bool) {
        self.flow(flow).numbering.begin(first, bytes, own_connection);
    }

    fn flow(&mut self, index: u32) -> &mut FlowState {
        let index = index as usize;
        if self.flows.len() <= index {
            self.flows.resize(index + 1, FlowState::default()); // open loops add flows
        }
        &mut self.flows[index]
    }

    /// A data packet has crossed a link of its path and reaches its end `at`.
    pub(crate) fn data(&mut self, flow: Which, hop: usize, at: Instant, packet: &Packet) {
        let hop = &self.tcp[flow.group as usize].forth[hop];
        if hop.is_captured() {
            self.files.keep(hop, at, &self.data_frame(flow, packet));
        }
        if hop.is_last {
            self.flow(flow.index).forget_before(packet.sent);
        }
    }

    /// An ACK is sent `at`, on an uncontended way back, and heard at the end of `back`.
    pub(crate) fn ack_sent(
        &mut self,
        flow: Which,
        at: Instant,
        (to_receiver, back): (Duration, Duration),
        ack: &Ack,
    ) {
        let identification = self.flow(flow.index).next_ack();
        let route = &self.tcp[flow.group as usize];
        if !route.passed.is_empty() {
            let frame = self.ack_frame(flow, (at, identification), ack);
            for &(file, after) in &route.passed {
                self.files.keep_one(file, at + to_receiver + after, &frame);
            }
        }
        self.flow(flow.index).heard.push_back((at + back, timestamp(at)));
    }

    /// An ACK is sent to a contended way back.
    pub(crate) fn ack_queued(&mut self, flow: u32, slot: u32) {
        let identification = self.flow(flow).next_ack();
        let slot = slot as usize;
        if self.identifications.len() <= slot {
            self.identifications.resize(slot + 1, 0);
        }
        self.identifications[slot] = identification;
    }

    /// An ACK has crossed a link of the way back and reaches its end `at`, and the sender `to_sender` later if that was the last.
    pub(crate) fn ack(
        &mut self,
        flow: Which,
        hop: usize,
        (at, to_sender): (Instant, Duration),
        packet: &Packet,
        (slot, options): (u32, &AckOptions),
    ) {
        let sent = (options.sent, self.identifications[slot as usize]);
        let hop = &self.tcp[flow.group as usize].back[hop];
        if hop.is_captured() {
            self.files.keep(hop, at, &self.ack_frame(flow, sent, &wire::ack(packet, options)));
        }
        if hop.is_last {
            self.flow(flow.index).heard.push_back((at + to_sender, timestamp(options.sent)));
        }
    }

    /// A datagram has crossed a link of its path and reaches its end `at`.
    pub(crate) fn datagram(&mut self, flow: Which, hop: usize, at: Instant, packet: &Packet) {
        let route = &self.datagrams[flow.group as usize];
        let hop = &route.forth[hop];
        if hop.is_captured() {
            let length = Length {
                payload: packet.bytes().saturating_sub(route.header_bytes),
                on_link: packet.bytes(),
            };
            let dscp = dscp(packet, route.marked, route.dscp);
            let marks = marks(packet, packet.seq(), (dscp, IpEcn::NotEct));
            self.files.keep(hop, at, &udp(at, Ends::of(flow.id, route.number), marks, length));
        }
    }

    fn data_frame(&self, flow: Which, packet: &Packet) -> Frame {
        let route = &self.tcp[flow.group as usize];
        let state = &self.flows[flow.index as usize];
        let flags = packet.flags();
        let syn = flags.has(wire::SYN);
        let position = state.numbering.position(packet.seq(), route.payload);
        let mut header = TcpHeader::new(position.port, DISCARD, sequence(position.byte, syn), u16::MAX);
        header.syn = syn;
        header.cwr = flags.has(wire::CWR);
        header.psh = flags.has(wire::PUSH);
        header.ece = syn && header.cwr; // RFC 3168 §6.1.1
        if !syn {
            header.ack = true;
            header.acknowledgment_number = 1;
        }
        route.set_options(
            &mut header,
            timestamp(packet.sent),
            if syn { 0 } else { state.echo(packet.sent) },
            None,
        );
        let ecn = match packet.ecn(route.ecn) {
            Ecn::NotCapable => IpEcn::NotEct,
            Ecn::Ect0 => IpEcn::Ect0,
            Ecn::Ect1 => IpEcn::Ect1,
            Ecn::Ce => IpEcn::CongestionExperienced,
        };
        let length =
            Length { payload: packet.bytes().saturating_sub(route.header_bytes), on_link: packet.bytes() };
        let dscp = dscp(packet, route.marked, route.dscp);
        let marks = marks(packet, packet.seq(), (dscp, ecn));
        tcp(Instant::ZERO, route.ends(flow.id), marks, header, length)
    }

    fn ack_frame(&self, flow: Which, (sent, identification): (Instant, u16), ack: &Ack) -> Frame {
        let route = &self.tcp[flow.group as usize];
        let numbering = &self.flows[flow.index as usize].numbering;
        let place = |packet| numbering.position(packet, route.payload);
        let position = place(ack.cumulative);
        let mut header = TcpHeader::new(DISCARD, position.port, u32::from(!ack.syn), route.window(ack));
        header.syn = ack.syn;
        header.ack = true;
        header.acknowledgment_number = sequence(position.byte, false);
        header.ece = ack.congestion_echo;
        let blocks = ack.sack.map(|block| {
            (!block.is_empty())
                .then(|| [block.start, block.end].map(|end| sequence(place(end).byte, false)))
                .map(|[start, end]| (start, end))
        });
        let blocks = blocks[0]
            .map(|first| TcpOptionElement::SelectiveAcknowledgement(first, [blocks[1], blocks[2], None]));
        route.set_options(&mut header, timestamp(sent), timestamp(ack.echo), blocks);
        let marks = Marks { identification, dscp: route.dscp, ecn: IpEcn::NotEct };
        let length = Length { payload: 0, on_link: route.ack_bytes };
        tcp(Instant::ZERO, route.ends(flow.id).back(), marks, header, length)
    }

    /// Writes what passed before `now`, the time of the event queue: nothing earlier will come.
    pub(crate) fn write_before(&mut self, now: Instant) {
        self.files.write_before(now);
    }

    /// Refuses to go on if a file cannot be continued.
    pub(crate) fn check(&mut self, now: Instant) -> Result<(), SimError> {
        self.files.outputs.iter_mut().try_for_each(|output| output.check("probes.pcap", now))
    }

    /// Files are written by threads of their own from now on.
    pub(crate) fn write_in_background(&mut self) -> Result<(), SimError> {
        self.files.outputs.iter_mut().try_for_each(Output::write_in_background).map_err(SimError::from)
    }

    /// Packets that are in no file, because it could not be written as fast as they came.
    pub(crate) fn left_out(&self) -> u64 {
        self.files.outputs.iter().map(Output::left_out).sum()
    }

    /// The simulation ended.
    pub(crate) fn finish(mut self, end: Instant) -> Result<(), SimError> {
        self.files.write_before(end);
        self.check(end)?;
        self.files.outputs.into_iter().try_for_each(Output::finish).map_err(SimError::from)
    }
}

/// What a marker says of the packet, or else what its group says.
fn dscp(packet: &Packet, marked: bool, group: IpDscp) -> IpDscp {
    match (marked, packet.class()) {
        (false, _) => group,
        (true, Class::In) => IpDscp::AF11,
        (true, Class::Out) => IpDscp::AF12,
    }
}

fn marks(packet: &Packet, number: u64, (dscp, ecn): (IpDscp, IpEcn)) -> Marks {
    Marks { identification: identification(packet.sent, number), dscp, ecn }
}

/// The files, and the frames that are not written yet.
#[derive(Debug)]
struct Files {
    outputs: Vec<Output>,
    waiting: BinaryHeap<Frame>,
    kept: u64,
}

impl Files {
    fn new(outputs: Vec<Output>) -> Self {
        let mut files = Self { outputs, waiting: BinaryHeap::new(), kept: 0 };
        for output in &mut files.outputs {
            output.write(&[&file_header()]);
        }
        files
    }

    /// A packet reaches a link's end `at`: it left the link before, and comes in there now.
    fn keep(&mut self, hop: &Hop, at: Instant, frame: &Frame) {
        if let Some(file) = hop.leaving {
            self.keep_one(file, Instant::from_ps(at.as_ps() - hop.delay.as_ps()), frame);
        }
        for &file in &hop.arriving {
            self.keep_one(file, at, frame);
        }
    }

    fn keep_one(&mut self, file: u32, at: Instant, frame: &Frame) {
        let mut kept = frame.clone();
        (kept.at, kept.file, kept.order) = (at, file, self.kept);
        self.waiting.push(kept);
        self.kept += 1;
    }

    fn write_before(&mut self, now: Instant) {
        while self.waiting.peek().is_some_and(|next| next.at < now) {
            let Some(next) = self.waiting.pop() else { return };
            let output = &mut self.outputs[next.file as usize];
            output.write(&[&record_header(&next), next.headers()]);
        }
    }
}

/// The start of a file: times in ns, little-endian, raw IP.
fn file_header() -> [u8; 24] {
    let words = [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, MOST_HEADERS as u32, 101];
    little_endian(words)
}

fn record_header(frame: &Frame) -> [u8; 16] {
    let ns = frame.at.as_ps() / 1000;
    let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    little_endian([seconds as u32, rest as u32, frame.headers().len() as u32, frame.wire_bytes])
}

fn little_endian<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
