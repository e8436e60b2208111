//! Our sender and receiver as one end of a connection, in the bytes and flags of scripts.
//!
//! What the two do not have is done here, and is none of what is tested: options and flags of the set-up, FIN, the cutting of
//! bytes into packets.

use crate::bytes::{Stream, Written, BASE};
use crate::common::default_config;
use crate::script::{segment, Flags, TcpOption, TcpPacket};
use crate::settings::Settings;
use parshall_congestion::catalog::CATALOG;
use parshall_congestion::{CongestionControl, ControlConfig, SlowStart, Start};
use parshall_tcp::ranges::Range;
use parshall_tcp::sender::Phase;
use parshall_tcp::{Ack, Receiver, Recovery, RtoFloor, Segment, Sender, SsthreshCache, TcpConfig};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::fmt;

/// A packet that we sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub time: Instant,
    pub flags: Flags,
    pub seq: u32,
    pub length: u32,
    pub ack: u32,
    pub sack: Vec<(u32, u32)>,
    pub ecn_capable: bool,
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        segment(f, self.flags, (self.seq, self.length), Some(self.ack), &self.sack)
    }
}

/// Numbers at which the two streams begin in the script.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origins {
    pub ours: u32,
    pub theirs: u32,
}

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Closed,
    Listening,
    /// Our SYN is out: an answer to theirs, or the first.
    Passive,
    Active,
    Established,
}

/// What scripts of SYNs say of a connection.
#[derive(Clone, Copy, Debug)]
struct Offer {
    mss: u64,
    sack: bool,
    timestamps: bool,
    scale: Option<u8>,
}

pub struct Endpoint {
    pub settings: Settings,
    pub state: State,
    /// Packets sent, those first that no line of the script has been compared with.
    pub sent: VecDeque<Sent>,
    pub written: Written,
    origins: Origins,
    config: TcpConfig,
    /// The same, but for how long our own ACKs wait.
    receiving: TcpConfig,
    control: ControlConfig,
    sender: Option<Sender>,
    receiver: Receiver,
    arriving: Stream,
    /// Our largest MSS, by the MTU and the socket's options.
    pub largest_mss: u64,
    scale: u8,
    last_window: Option<u64>,
    /// Values of our timestamps in the script, and when they were sent.
    stamps: Vec<(u32, Instant)>,
    syn_sent: Instant,
    last_sent: Instant,
    reported: Vec<(u32, u32)>,
    congestion_echo: bool,
    closing: bool,
    fin_sent: bool,
    their_fin: bool,
}

/// Why a script does not apply.
pub type Inapplicable = String;

impl Endpoint {
    /// An end whose peer's stream is cut at `arriving`.
    pub fn new(settings: Settings, origins: Origins, arriving: Stream, largest_mss: u64) -> Self {
        let entry =
            CATALOG.iter().find(|entry| entry.name == settings.control).expect("names are the catalog's");
        let config = as_linux(&settings);
        Self {
            receiving: TcpConfig { delayed_ack: Some(DELAYED_ACK.as_ps()), ..config.clone() },
            config,
            control: default_config(entry),
            settings,
            state: State::Closed,
            sent: VecDeque::new(),
            written: Written::new(largest_mss),
            origins,
            sender: None,
            receiver: Receiver::new(BASE),
            arriving,
            largest_mss,
            scale: 0,
            last_window: None,
            stamps: Vec::new(),
            syn_sent: Instant::ZERO,
            last_sent: Instant::ZERO,
            reported: Vec::new(),
            congestion_echo: false,
            closing: false,
            fin_sent: false,
            their_fin: false,
        }
    }

    pub fn config(&self) -> &TcpConfig {
        &self.config
    }

    pub fn sender(&self) -> Option<&Sender> {
        self.sender.as_ref()
    }

    // --- system calls ---

    pub fn connect(&mut self, now: Instant) {
        self.config.ecn = self.settings.asks_for_ecn;
        self.open(now, State::Active);
    }

    /// Bytes of the application.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        if let Some(sender) = &mut self.sender {
            let idle = sender.una() == sender.max() && sender.max() > BASE;
            if idle
                && self.settings.restarts_after_idle
                && now.since(self.last_sent) > sender.timeout(&self.config)
            {
                sender.restart_after_idle(now, self.config.initial_window as f64);
            }
        }
        self.written.bytes += bytes;
        self.poll(now);
    }

    pub fn close(&mut self, now: Instant) {
        self.closing = true;
        self.poll(now);
    }

    /// Bytes that arrived in order.
    pub fn received(&self) -> u64 {
        self.arriving.start(self.receiver.next())
    }

    fn open(&mut self, now: Instant, state: State) {
        let start = Start { window: self.config.initial_window as f64, ssthresh: f64::INFINITY, random: 0 };
        let control = self.control.build_with(start, self.config.slow_start, self.config.pacing);
        self.config.pacing |= control.needs().pacing;
        self.sender = Some(Sender::new(&self.config, control, BASE, now));
        self.state = state;
        self.poll(now);
    }

    /// The peer's answer to our SYN has said which recovery there is, and a sender has one from its beginning.
    fn start_anew(&mut self) {
        let Some(old) = &self.sender else { return };
        let start = Start { window: old.control().window(), ssthresh: f64::INFINITY, random: 0 };
        let control = self.control.build_with(start, self.config.slow_start, self.config.pacing);
        let mut sender = Sender::new(&self.config, control, BASE, self.syn_sent);
        sender.poll_transmit(&self.config, self.syn_sent);
        sender.statistics = old.statistics.clone();
        self.sender = Some(sender);
    }

    // --- time ---

    /// When something happens by itself.
    pub fn deadline(&self) -> Instant {
        let sender = self
            .sender
            .as_ref()
            .map_or(Instant::MAX, |sender| sender.rto_deadline().min(sender.pacing_deadline()));
        sender.min(self.receiver.deadline())
    }

    /// Time has come to [`deadline`](Self::deadline).
    ///
    /// # Errors
    /// A loss probe was sent where the script's machine sends none.
    pub fn on_deadline(&mut self, now: Instant) -> Result<(), Inapplicable> {
        if let Some(ack) = self.receiver.on_timer(now) {
            self.acknowledge(now, &ack);
        }
        let mut was_open = false;
        if let Some(sender) = self.sender.as_mut().filter(|sender| sender.rto_deadline() <= now) {
            was_open = sender.phase() == Phase::Open;
            if sender.phase() == Phase::Connecting {
                let start = Start { window: 1.0, ssthresh: f64::INFINITY, random: 0 }; // RFC 5681 §3.1: the SYN was lost
                let control = self.control.build_with(start, self.config.slow_start, self.config.pacing);
                sender.replace_control(now, control);
            }
            sender.on_timer(&self.config, now);
            was_open &= sender.phase() == Phase::Open;
        }
        let before = self.sent.len();
        self.poll(now);
        if was_open
            && self.sent.len() > before
            && self.config.recovery == Recovery::Rack
            && !self.settings.probes
        {
            return Err("needs sysctl tcp_early_retrans=0: RACK without loss probes".into());
        }
        Ok(())
    }

    // --- sending ---

    /// Sends what may be sent now.
    pub fn poll(&mut self, now: Instant) {
        let Some(sender) = &mut self.sender else { return };
        if self.state == State::Established {
            sender.supply(self.written.pack(sender.una(), sender.max()));
        }
        let mut segments = Vec::new();
        while let Some(segment) = sender.poll_transmit(&self.config, now) {
            segments.push(segment);
        }
        for segment in segments {
            self.transmit(now, &segment);
        }
        let all_sent = self.sender.as_ref().is_some_and(|sender| sender.max() == self.written.stream.next())
            && self.written.bytes == self.written.stream.end();
        if self.closing && all_sent && !self.fin_sent && self.state == State::Established {
            self.fin_sent = true;
            self.push(now, Flags { fin: true, ack: true, ..Flags::default() }, self.written.bytes, 0);
        }
    }

    fn transmit(&mut self, now: Instant, segment: &Segment) {
        self.last_sent = now;
        if segment.syn {
            self.syn_sent = now;
            let ecn = self.config.ecn;
            let passive = self.state == State::Passive;
            let flags =
                Flags { syn: true, ack: passive, echo: ecn, reduced: ecn && !passive, ..Flags::default() };
            let ack = if passive { self.origins.theirs.wrapping_add(1) } else { 0 };
            let (time, seq) = (now, self.origins.ours);
            self.sent.push_back(Sent {
                time,
                flags,
                seq,
                length: 0,
                ack,
                sack: Vec::new(),
                ecn_capable: false,
            });
            return;
        }
        let (start, size) = (self.written.stream.start(segment.seq), self.written.stream.size(segment.seq));
        let last = segment.seq + 1 == self.written.stream.next() && self.written.bytes == start + size;
        let fin = self.closing && last && (!self.fin_sent || segment.retransmission);
        self.fin_sent |= fin;
        let echo = self.congestion_echo;
        self.push(now, Flags { fin, ack: true, reduced: segment.cwr, echo, ..Flags::default() }, start, size);
        let waiting = self.receiver.deadline();
        if waiting != Instant::MAX {
            self.receiver.on_timer(waiting); // it went with the data
        }
    }

    fn push(&mut self, time: Instant, flags: Flags, start: u64, size: u64) {
        let sent = Sent {
            time,
            flags,
            seq: self.our_number(start),
            length: size as u32,
            ack: self.ack_number(),
            sack: Vec::new(),
            ecn_capable: self.config.ecn && size > 0,
        };
        self.sent.push_back(sent);
    }

    fn acknowledge(&mut self, now: Instant, ack: &Ack) {
        self.congestion_echo = ack.congestion_echo;
        let mut sack = Vec::new();
        for block in ack.sack.iter().filter(|block| !block.is_empty() && self.config.recovery.uses_sack()) {
            let number = |packet| self.their_number(self.arriving.start(packet));
            sack.push((number(block.start), number(block.end)));
        }
        let sender_at = self.sender.as_ref().map_or(0, |sender| self.written.stream.start(sender.max()));
        let seq = self.our_number(sender_at + u64::from(self.fin_sent));
        let flags = Flags { ack: true, echo: ack.congestion_echo, ..Flags::default() };
        let number = self.ack_number();
        self.sent.push_back(Sent { time: now, flags, seq, length: 0, ack: number, sack, ecn_capable: false });
    }

    fn our_number(&self, offset: u64) -> u32 {
        self.origins.ours.wrapping_add(1).wrapping_add(offset as u32)
    }

    fn their_number(&self, offset: u64) -> u32 {
        self.origins.theirs.wrapping_add(1).wrapping_add(offset as u32)
    }

    fn ack_number(&self) -> u32 {
        self.their_number(self.received() + u64::from(self.their_fin))
    }

    /// Whether windows are scaled.
    pub fn is_scaled(&self) -> bool {
        self.scale > 0
    }

    // --- arrivals ---

    /// A packet of the script arrives.
    ///
    /// # Errors
    /// It says what cannot be said to a sender that counts packets, or opens another connection.
    pub fn on_packet(&mut self, now: Instant, packet: &TcpPacket) -> Result<(), Inapplicable> {
        match self.state {
            State::Listening if packet.flags.syn && !packet.flags.ack => {
                self.on_syn(now, packet);
                Ok(())
            }
            State::Active if packet.flags.syn && packet.flags.ack => {
                self.agree(packet);
                self.config.ecn &= packet.flags.echo;
                self.start_anew();
                self.established(now, packet);
                self.push(now, Flags { ack: true, ..Flags::default() }, 0, 0);
                self.poll(now);
                Ok(())
            }
            State::Passive if packet.flags.ack && !packet.flags.syn => {
                self.established(now, packet);
                self.on_established(now, packet)
            }
            State::Established if !packet.flags.syn => self.on_established(now, packet),
            _ => Err("opens a connection in an unusual way, or more than one".into()),
        }
    }

    fn on_syn(&mut self, now: Instant, packet: &TcpPacket) {
        self.agree(packet);
        self.config.ecn = packet.flags.echo && packet.flags.reduced && self.settings.accepts_ecn;
        self.open(now, State::Passive);
    }

    /// Takes over what both ends offer.
    fn agree(&mut self, packet: &TcpPacket) {
        let offer = offer(packet);
        self.config.timestamps = offer.timestamps && self.settings.timestamps;
        let sack = offer.sack && self.settings.sack;
        self.config.recovery = match (sack, self.settings.rack) {
            (false, _) => Recovery::NewReno,
            (true, false) => Recovery::Sack,
            (true, true) => Recovery::Rack,
        };
        self.receiving.recovery = self.config.recovery;
        self.scale = offer.scale.filter(|_| self.settings.window_scaling).unwrap_or(0);
        let stamp = if self.config.timestamps { 12 } else { 0 };
        self.written.mss = (offer.mss.min(self.largest_mss)).saturating_sub(stamp).max(1);
    }

    /// The peer answers our SYN.
    fn established(&mut self, now: Instant, packet: &TcpPacket) {
        self.state = State::Established;
        let config = &self.config;
        let Some(sender) = &mut self.sender else { return };
        let ack = Ack {
            cumulative: BASE,
            echo: self.syn_sent,
            echo_retransmission: sender.statistics.syns > 1,
            congestion_echo: false,
            syn: true,
            sack: Default::default(),
        };
        sender.on_ack(config, now, &ack);
        self.note_window(packet, if packet.flags.syn { 0 } else { self.scale });
    }

    fn note_window(&mut self, packet: &TcpPacket, scale: u8) {
        let Some(sender) = &self.sender else { return };
        if let Some(window) = packet.window {
            let bytes = u64::from(window) << scale.min(14);
            self.config.receive_window = Some(self.written.packets_within(sender.una(), bytes));
            self.last_window = Some(bytes);
        }
    }

    fn on_established(&mut self, now: Instant, packet: &TcpPacket) -> Result<(), Inapplicable> {
        if packet.flags.ack && !self.on_ack(now, packet)? {
            return Ok(());
        }
        let reply = if packet.length > 0 || packet.flags.fin { self.on_data(now, packet)? } else { None };
        let before = self.sent.len();
        self.poll(now);
        let with_data = self.sent.len() > before;
        if let Some(ack) = reply.filter(|_| !with_data) {
            self.acknowledge(now, &ack);
        }
        Ok(())
    }

    /// Whether the packet is acceptable: one that acknowledges what was never sent is discarded. RFC 9293 §3.10.7.4
    fn on_ack(&mut self, now: Instant, packet: &TcpPacket) -> Result<bool, Inapplicable> {
        let Some((una, max)) = self.sender.as_ref().map(|sender| (sender.una(), sender.max())) else {
            return Ok(false);
        };
        let number = packet.ack.unwrap_or(0);
        let offset = u64::from(number.wrapping_sub(self.origins.ours.wrapping_add(1)));
        let end = self.written.stream.end();
        let offset = if self.fin_sent && offset == end + 1 { end } else { offset };
        if offset > self.written.stream.start(max) {
            return Ok(false);
        }
        let Some(cumulative) = self.written.stream.packet_at(offset) else {
            return Err(format!("has ack {number}, which ends within a packet"));
        };
        let (sack, has_blocks) = self.blocks(packet)?;
        let window = packet.window.map(|window| u64::from(window) << self.scale.min(14));
        let advances = cumulative > una;
        // RFC 5681 §2: what is a duplicate ACK.
        let duplicate = packet.length == 0 && !packet.flags.fin && (window == self.last_window || has_blocks);
        self.last_window = window;
        let ack = Ack {
            cumulative,
            echo: self.echo(packet).min(now),
            echo_retransmission: false,
            congestion_echo: packet.flags.echo && self.config.ecn,
            syn: false,
            sack,
        };
        if let Some(bytes) = window {
            self.config.receive_window = Some(self.written.packets_within(cumulative.max(una), bytes));
        }
        if let Some(sender) = self.sender.as_mut().filter(|_| advances || duplicate || has_blocks) {
            sender.on_ack(&self.config, now, &ack);
        }
        Ok(true)
    }

    /// When the packet was sent whose timestamp is echoed.
    fn echo(&self, packet: &TcpPacket) -> Instant {
        let echoed = packet.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamps { echo, .. } => Some(*echo),
            _ => None,
        });
        let Some(echoed) = echoed.filter(|_| self.config.timestamps) else { return self.last_sent };
        let nearest = self.stamps.iter().rev().min_by_key(|(value, _)| value.abs_diff(echoed));
        let Some(&(value, time)) = nearest else { return self.last_sent };
        let difference = Duration::from_millis(u64::from(value.abs_diff(echoed))); // Linux's clock of timestamps: 1 ms
        if echoed >= value {
            time + difference
        } else {
            Instant::from_ps(time.as_ps().saturating_sub(difference.as_ps()))
        }
    }

    /// A line of the script has named the timestamp of a packet that we sent.
    pub fn note_stamp(&mut self, value: u32, time: Instant) {
        self.stamps.push((value, time));
    }

    /// SACK blocks as packets: three at most, so those first that say something new. Whether there are any.
    fn blocks(&mut self, packet: &TcpPacket) -> Result<([Range; 3], bool), Inapplicable> {
        let given = packet.options.iter().flatten().find_map(|option| match option {
            TcpOption::Sack(blocks) => Some(blocks.clone()),
            _ => None,
        });
        let Some(mut given) = given.filter(|_| self.config.recovery.uses_sack()) else {
            return Ok((Default::default(), false));
        };
        let is_known = |block: &(u32, u32)| self.reported.contains(block);
        if let Some(rest) = given.get_mut(1..) {
            rest.sort_by_key(is_known);
        }
        if given.iter().skip(3).any(|block| !is_known(block)) {
            return Err("reports four blocks of packets in one ACK".into());
        }
        let offset = |number: u32| u64::from(number.wrapping_sub(self.origins.ours.wrapping_add(1)));
        let max = self.sender.as_ref().map_or(BASE, Sender::max);
        let mut blocks = [Range::default(); 3];
        let whole =
            given.iter().map(|&(left, right)| self.written.stream.within(offset(left), offset(right)));
        for (block, (start, end)) in blocks.iter_mut().zip(whole.filter(|&(start, end)| start < end.min(max)))
        {
            *block = Range { start, end: end.min(max) };
        }
        let any = !blocks[0].is_empty();
        self.reported = given;
        Ok((blocks, any))
    }

    fn on_data(&mut self, now: Instant, packet: &TcpPacket) -> Result<Option<Ack>, Inapplicable> {
        let offset = u64::from(packet.seq.wrapping_sub(self.origins.theirs.wrapping_add(1)));
        let end = offset + u64::from(packet.length);
        let mut reply = None;
        if packet.length > 0 {
            let (first, next) = self.arriving.within(offset, end);
            if next != first + 1 || self.arriving.packet_at(offset) != Some(first) {
                return Err("receives segments that overlap".into());
            }
            let segment = Segment {
                seq: first,
                sent: now,
                retransmission: false,
                syn: false,
                cwr: packet.flags.reduced,
                congestion_experienced: packet.ip.as_deref() == Some("ce") && self.config.ecn,
            };
            if let Some(ack) = self.receiver.on_changed_mark(&self.receiving, &segment) {
                self.acknowledge(now, &ack);
            }
            reply = self.receiver.on_segment(&self.receiving, now, &segment).ack;
        }
        if packet.flags.fin && self.received() == end {
            self.their_fin = true;
            let waiting = self.receiver.deadline();
            if waiting != Instant::MAX {
                self.receiver.on_timer(waiting);
            }
            reply = Some(Ack {
                cumulative: self.receiver.next(),
                echo: now,
                echo_retransmission: false,
                congestion_echo: false,
                syn: false,
                sack: Default::default(),
            });
        }
        Ok(reply)
    }
}

fn offer(packet: &TcpPacket) -> Offer {
    let mut offer = Offer { mss: 536, sack: false, timestamps: false, scale: None };
    for option in packet.options.iter().flatten() {
        match option {
            TcpOption::Mss(mss) => offer.mss = u64::from(*mss),
            TcpOption::SackPermitted => offer.sack = true,
            TcpOption::Timestamps { .. } => offer.timestamps = true,
            TcpOption::WindowScale(scale) => offer.scale = Some(*scale),
            _ => {}
        }
    }
    offer
}

/// How long ACKs wait in Linux (`TCP_DELACK_MIN`), and how long its loss probes suppose that those of others may (`TCP_RTO_MIN`).
const DELAYED_ACK: Duration = Duration::from_millis(40);
const LONGEST_DELAY: Duration = Duration::from_millis(200);

/// The endpoint as Linux has it, as far as there are keys for it.
fn as_linux(settings: &Settings) -> TcpConfig {
    let dctcp = settings.control == "dctcp";
    TcpConfig {
        initial_window: settings.initial_window,
        initial_ssthresh: None,
        slow_start: SlowStart::Standard,
        receive_window: None,
        recovery: Recovery::Rack,
        prr: true,
        limited_transmit: true,
        delayed_ack: Some(LONGEST_DELAY.as_ps()),
        min_rto: Duration::from_millis(settings.min_rto_ms).as_ps(),
        rto_floor: RtoFloor::Variation,
        max_rto: Duration::from_secs(120).as_ps(),
        initial_rto: Duration::from_secs(1).as_ps(),
        rto_granularity: Duration::from_millis(1).as_ps(),
        timestamps: true,
        ecn: false,
        accurate_ecn: dctcp,
        pacing: settings.paced,
        handshake: true,
        ssthresh_cached: SsthreshCache::Off,
        persistent: true,
        byte_counting: true,
        ack_size: 40,
    }
}
