//! The project's own endpoints over a link with a queue, captured where a test wants it, with what really happened.

use super::wire::{self, Segment as Wire};
use parshall_congestion::{CongestionControl, ControlConfig, RenoConfig, Start};
use parshall_tcp::sender::{Phase, ENDLESS};
use parshall_tcp::{Ack, Receiver, Recovery, Rules, Segment, Sender, TcpConfig};
use parshall_units::testing::defaults_with;
use parshall_units::{Bytes, Duration, Instant};
use serde_json::json;
use std::collections::{HashSet, VecDeque};

pub const MSS: u32 = 1448;
const CLIENT_ISS: u32 = 0xffff_0000; // wraps soon
const SERVER_ISS: u32 = 7;
/// Simulated time 0, in nanoseconds since 1970.
pub const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// At the sender.
    Sender,
    /// Between sender and link.
    Before,
    /// Between link and receiver.
    After,
    /// At the receiver.
    Receiver,
}

pub struct Setup {
    pub seconds: u64,
    pub recovery: Recovery,
    pub timestamps: bool,
    pub delayed_ack: bool,
    /// Sender to link, and link to receiver; the way back is as long as both.
    pub segments_ms: (u64, u64),
    pub packets_per_s: u64,
    pub queue: usize,
    /// Every packet is lost with this probability.
    pub loss: f64,
    pub lost_acks: f64,
    pub seed: u64,
}

pub const SETUP: Setup = Setup {
    seconds: 120,
    recovery: Recovery::Sack,
    timestamps: true,
    delayed_ack: false,
    segments_ms: (10, 20),
    packets_per_s: 1000,
    queue: 40,
    loss: 0.0,
    lost_acks: 0.0,
    seed: 1,
};

/// What really happened.
#[derive(Default)]
pub struct Truth {
    pub lost: u64,
    pub retransmissions: u64,
    pub sent: u64,
    pub timeouts: u64,
    pub loss_events: u64,
    pub mean_rtt_s: f64,
    pub delivered_packets: u64,
    /// When packets that were lost were sent, in order.
    pub lost_at: Vec<f64>,
    /// Packets that were sent again although the copy before was not lost.
    pub needless: u64,
    /// The congestion window whenever it may have changed, outside recovery: from when, to when, packets.
    pub windows: Vec<(f64, f64, f64)>,
}

pub struct Simulated {
    pub truth: Truth,
    segments: Vec<(Point, Wire)>,
}

impl Simulated {
    /// What was captured at a point, in order of time.
    pub fn captured(&self, point: Point) -> Vec<Wire> {
        let mut seen: Vec<Wire> =
            self.segments.iter().filter(|at| at.0 == point).map(|at| at.1.clone()).collect();
        seen.sort_by_key(|segment| segment.time_ns);
        seen
    }
}

struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn config(setup: &Setup) -> TcpConfig {
    TcpConfig {
        recovery: setup.recovery,
        delayed_ack: setup.delayed_ack.then_some(Duration::from_millis(40)),
        timestamps: setup.timestamps,
        handshake: true,
        ack_size: Bytes(52),
        ..defaults_with(TcpConfig::PARAMETERS, |each| (each.name == "rules").then(|| json!(Rules::RFC)))
    }
}

fn seq_of(packet: u64) -> u32 {
    CLIENT_ISS.wrapping_add(1).wrapping_add(((packet - 1) as u32).wrapping_mul(MSS))
}

fn milliseconds(at: Instant) -> u32 {
    (at.as_ps() / 1_000_000_000) as u32
}

pub fn simulate(setup: &Setup) -> Simulated {
    let config = config(setup);
    let control = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 });
    let start = Start { window: config.initial_window.0 as f64, ssthresh: f64::INFINITY, ..Start::NEW };
    let mut sender = Sender::new(&config, control.build(start), 1, Instant::ZERO);
    sender.supply(ENDLESS);
    let mut run = Running {
        random: Random(setup.seed),
        receiver: Receiver::new(1),
        sender,
        config,
        setup,
        now: Instant::ZERO,
        arriving: VecDeque::new(),
        acks: VecDeque::new(),
        departures: VecDeque::new(),
        segments: Vec::new(),
        truth: Truth::default(),
        lost: HashSet::new(),
        echo: 0,
        ip_id: 0,
        opened: false,
    };
    let end = Instant::from_ps(setup.seconds * 1_000_000_000_000);
    run.pump();
    while run.step(end) {}
    let statistics = run.sender.statistics();
    run.truth.retransmissions = statistics.retransmissions;
    run.truth.sent = statistics.packets_sent - statistics.syns; // a capture counts data
    run.truth.timeouts = statistics.timeouts;
    run.truth.loss_events = statistics.loss_events;
    run.truth.mean_rtt_s = statistics.mean_rtt_s().unwrap();
    run.truth.delivered_packets = run.sender.una() - 1;
    Simulated { truth: run.truth, segments: run.segments }
}

struct Running<'a> {
    setup: &'a Setup,
    config: TcpConfig,
    random: Random,
    sender: Sender,
    receiver: Receiver,
    now: Instant,
    arriving: VecDeque<(Instant, Segment, Wire)>,
    acks: VecDeque<(Instant, Ack)>,
    departures: VecDeque<Instant>,
    segments: Vec<(Point, Wire)>,
    truth: Truth,
    /// Packets of which the last copy was lost.
    lost: HashSet<u64>,
    echo: u32,
    ip_id: u16,
    opened: bool,
}

impl Running<'_> {
    fn segment(&self, first: bool) -> Duration {
        Duration::from_millis(if first { self.setup.segments_ms.0 } else { self.setup.segments_ms.1 })
    }

    fn offer_sack(&self, wire: Wire) -> Wire {
        if self.setup.recovery.uses_sack() {
            wire.with(&wire::SACK_PERMITTED)
        } else {
            wire
        }
    }

    fn see(&mut self, point: Point, at: Instant, segment: &Wire) {
        let time_ns = EPOCH_NS + at.as_ps() / 1000;
        self.segments.push((point, Wire { time_ns, ..segment.clone() }));
    }

    fn pump(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(&self.config, self.now) {
            self.transmit(segment);
        }
    }

    fn transmit(&mut self, segment: Segment) {
        self.ip_id = self.ip_id.wrapping_add(1).max(1);
        let payload = if segment.syn { 0 } else { MSS as usize };
        let seq = if segment.syn { CLIENT_ISS } else { seq_of(segment.seq) };
        let mut wire = Wire::new(0, true, seq, SERVER_ISS + 1, payload);
        wire.ip_id = self.ip_id;
        if segment.syn {
            wire = wire.flags(wire::SYN).with(&wire::mss(1460));
            wire = self.offer_sack(wire);
        }
        if self.setup.timestamps {
            wire = wire.with(&wire::timestamps(milliseconds(segment.sent), self.echo));
        }
        let now = self.now;
        // Each copy is judged by the one before it.
        self.truth.needless += u64::from(!self.lost.remove(&segment.seq) && segment.retransmission);
        self.see(Point::Sender, now, &wire);
        let half = self.segment(true).over(2);
        self.see(Point::Before, now + half, &wire);
        let at_link = now + self.segment(true);
        while self.departures.front().is_some_and(|departure| *departure <= at_link) {
            self.departures.pop_front();
        }
        let dropped = self.departures.len() > self.setup.queue || self.random.uniform() < self.setup.loss;
        if dropped && !segment.syn {
            self.truth.lost += 1;
            self.truth.lost_at.push(now.as_secs_f64());
            self.lost.insert(segment.seq);
            return;
        }
        let service = Duration::from_ps(1_000_000_000_000 / self.setup.packets_per_s);
        let departure = self.departures.back().copied().unwrap_or(at_link).max(at_link) + service;
        self.departures.push_back(departure);
        let half = self.segment(false).over(2);
        self.see(Point::After, departure + half, &wire);
        self.arriving.push_back((departure + self.segment(false), segment, wire));
    }

    fn acknowledge(&mut self, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        let seq_no = if ack.syn { SERVER_ISS } else { SERVER_ISS + 1 };
        let number = if ack.syn { CLIENT_ISS.wrapping_add(1) } else { seq_of(ack.cumulative) };
        self.ip_id = self.ip_id.wrapping_add(1).max(1);
        let mut wire = Wire::new(0, false, seq_no, number, 0);
        wire.ip_id = self.ip_id;
        if ack.syn {
            wire = wire.flags(wire::SYN | wire::ACK).with(&wire::mss(1460));
            wire = self.offer_sack(wire);
        }
        if self.setup.timestamps {
            wire = wire.with(&wire::timestamps(milliseconds(self.now), milliseconds(ack.echo)));
        }
        let blocks: Vec<(u32, u32)> = ack
            .sack
            .iter()
            .filter(|block| !block.is_empty())
            .map(|b| (seq_of(b.start), seq_of(b.end)))
            .collect();
        if !blocks.is_empty() {
            wire = wire.with(&wire::sack(&blocks));
        }
        let now = self.now;
        self.see(Point::Receiver, now, &wire);
        if !ack.syn && self.random.uniform() < self.setup.lost_acks {
            return;
        }
        self.see(Point::After, now + self.segment(false).over(2), &wire);
        let back = Duration::from_millis(self.setup.segments_ms.0 + self.setup.segments_ms.1);
        let half = self.segment(true).over(2);
        let arrival = now + back;
        self.see(Point::Before, Instant::from_ps(arrival.as_ps() - half.as_ps()), &wire);
        self.see(Point::Sender, arrival, &wire);
        self.acks.push_back((arrival, ack));
    }

    fn step(&mut self, end: Instant) -> bool {
        let head = |time: Option<Instant>| time.unwrap_or(Instant::MAX);
        let arrival = head(self.arriving.front().map(|event| event.0));
        let ack = head(self.acks.front().map(|event| event.0));
        let delayed = self.receiver.deadline();
        let next = arrival.min(ack).min(self.sender.rto_deadline()).min(delayed);
        if next >= end {
            return false;
        }
        self.now = next;
        if delayed == next {
            let reply = self.receiver.on_timer(&self.config, next);
            self.acknowledge(reply);
        } else if arrival == next {
            let (_, segment, wire) = self.arriving.pop_front().unwrap();
            self.see(Point::Receiver, next, &wire);
            let reception = self.receiver.on_segment(&self.config, next, &segment);
            self.acknowledge(reception.ack);
        } else if ack == next {
            let (_, ack) = self.acks.pop_front().unwrap();
            if self.setup.timestamps {
                self.echo = milliseconds(Instant::from_ps(
                    next.as_ps() - (self.setup.segments_ms.0 + self.setup.segments_ms.1) * 1_000_000_000,
                ));
            }
            self.sender.on_ack(&self.config, next, &ack);
            if ack.syn && !self.opened {
                self.opened = true;
                let mut wire = Wire::new(0, true, CLIENT_ISS.wrapping_add(1), SERVER_ISS + 1, 0);
                if self.setup.timestamps {
                    wire = wire.with(&wire::timestamps(milliseconds(next), self.echo));
                }
                let (first, second) = (self.segment(true), self.segment(false));
                self.see(Point::Sender, next, &wire);
                self.see(Point::Before, next + first.over(2), &wire);
                self.see(Point::After, next + first + second.over(2), &wire);
                self.see(Point::Receiver, next + first + second, &wire);
            }
        } else {
            self.sender.on_timer(&self.config, next);
        }
        self.pump();
        let window = self.sender.control().window();
        let now = self.now.as_secs_f64();
        if self.sender.phase() == Phase::Open {
            match self.truth.windows.last_mut() {
                Some(last) if last.2 == window => last.1 = now,
                _ => self.truth.windows.push((now, now, window)),
            }
        }
        true
    }
}
