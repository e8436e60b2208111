//! Our sender and receiver as one end of a connection, in the bytes and flags of scripts.
//!
//! What the two do not have is done here, and is none of what is tested: options and flags of the set-up, FIN, the
//! cutting of bytes into packets.

mod arrivals;

use crate::bytes::{Stream, Written, BASE};
use crate::common::default_config;
use crate::linux;
use crate::script::{segment, Flags};
use crate::settings::Settings;
use parshall_congestion::catalog::CATALOG;
use parshall_congestion::{CongestionControl, ControlConfig, Start};
use parshall_tcp::sender::Phase;
use parshall_tcp::{Ack, Receiver, Recovery, Segment, Sender, TcpConfig};
use parshall_units::Instant;
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

/// One end of the connection of a script.
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
    largest_mss: u64,
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
        let config = linux::config(&settings);
        let mut control = default_config(entry);
        if let ControlConfig::CubicLinux(cubic) = &mut control {
            cubic.hystart = settings.hystart;
        }
        Self {
            receiving: TcpConfig { delayed_ack: Some(linux::DELAYED_ACK), ..config.clone() },
            config,
            control,
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
        self.config.ecn = self.settings.asks_for_ecn || self.config.accurate_ecn;
        self.open(now, State::Active);
    }

    /// Bytes of the application.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        if let Some(sender) = &mut self.sender {
            let idle = sender.una() == sender.max() && sender.max() > BASE;
            let silence = now.since(self.last_sent);
            if idle && self.settings.restarts_after_idle && silence > sender.timeout(&self.config) {
                sender.restart_after_idle(&self.config, now, silence);
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
        let start = Start { window: self.config.initial_window.0 as f64, ..Start::NEW };
        let control = self.control.build_with(start, self.config.slow_start());
        self.config.pacing |= control.needs().pacing;
        self.sender = Some(Sender::new(&self.config, control, BASE, now));
        self.state = state;
        self.poll(now);
    }

    /// The peer's answer to our SYN has said which recovery there is, and a sender has one from its beginning.
    fn start_anew(&mut self) {
        let Some(old) = &self.sender else { return };
        let start = Start { window: old.control().window(), ..Start::NEW };
        let control = self.control.build_with(start, self.config.slow_start());
        let mut sender = Sender::new(&self.config, control, BASE, self.syn_sent);
        sender.poll_transmit(&self.config, self.syn_sent);
        *sender.statistics_mut() = old.statistics().clone();
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
        if let Some(ack) = self.receiver.on_timer(&self.receiving, now) {
            self.acknowledge(now, &ack);
        }
        let mut was_open = false;
        if let Some(sender) = self.sender.as_mut().filter(|sender| sender.rto_deadline() <= now) {
            was_open = sender.phase() == Phase::Open;
            if sender.syn_timeout_cuts_window(&self.config) {
                let start = Start { window: 1.0, ..Start::NEW };
                let control = self.control.build_with(start, self.config.slow_start());
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
            let passive = self.state == State::Passive;
            let (echo, reduced) = if passive { (self.config.ecn, false) } else { (segment.cwr, segment.cwr) };
            let flags = Flags { syn: true, ack: passive, echo, reduced, ..Flags::default() };
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
        if let Some(sent) = self.sent.back_mut() {
            sent.ecn_capable = segment.ecn_capable && size > 0;
        }
        self.receiver.hurry(now); // it went with the data
    }

    fn push(&mut self, time: Instant, flags: Flags, start: u64, size: u64) {
        let sent = Sent {
            time,
            flags,
            seq: self.our_number(start),
            length: size as u32,
            ack: self.ack_number(),
            sack: Vec::new(),
            ecn_capable: false,
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

    /// Returns whether a packet of this number without data is a probe of the receiver's window, which is closed: it
    /// begins one byte early.
    pub fn would_probe_window(&self, seq: u32) -> bool {
        let una = self.sender.as_ref().map_or(BASE, Sender::una);
        self.last_window == Some(0) && seq.wrapping_add(1) == self.our_number(self.written.stream.start(una))
    }

    /// Whether windows are scaled.
    pub fn is_scaled(&self) -> bool {
        self.scale > 0
    }
}
