//! A sender and a receiver on a path of constant delay, which loses what a test tells it to.
#![allow(dead_code)] // each file of tests uses a part

use parshall_congestion::{ControlConfig, RenoConfig, Start};
use parshall_tcp::segment::NO_WINDOW;
use parshall_tcp::{Ack, Receiver, Recovery, Rules, SackBlocks, Segment, Sender, TcpConfig};
use parshall_units::testing::defaults_with;
use parshall_units::{Duration, Instant, Packets};
use serde_json::json;
use std::collections::{BTreeSet, VecDeque};

pub const ONE_WAY: Duration = Duration::from_millis(50);

pub fn config(recovery: Recovery) -> TcpConfig {
    TcpConfig {
        initial_window: Packets(4),
        recovery,
        ..defaults_with(TcpConfig::PARAMETERS, |each| (each.name == "rules").then(|| json!(Rules::RFC)))
    }
}

/// The RFCs' rules, but for these policies, which have Linux's form.
pub fn only(policies: &[&str]) -> Rules {
    policies.iter().fold(Rules::RFC, |rules, name| rules.with(name, &Rules::LINUX).expect("a policy"))
}

/// An ACK that arrives as soon as it is sent, of a packet that was sent at `echo`.
pub fn ack(now: Instant, echo: Instant, cumulative: u64, sack: SackBlocks) -> Ack {
    let (echo_retransmission, congestion_echo, syn) = (false, false, false);
    let window = NO_WINDOW;
    Ack { cumulative, sent: now, echo, echo_retransmission, congestion_echo, syn, sack, window }
}

pub fn sender(config: &TcpConfig) -> Sender {
    let control = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 });
    let ssthresh = config.initial_ssthresh.map_or(f64::INFINITY, |packets| packets.0 as f64);
    let start = Start { window: config.initial_window.0 as f64, ssthresh, ..Start::NEW };
    Sender::new(config, control.build(start), 1, Instant::ZERO)
}

/// A path of constant delay; the n-th segment and the n-th ACK are lost if they are listed.
pub struct Path {
    pub config: TcpConfig,
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Instant,
    pub segments: VecDeque<(Instant, Segment)>,
    pub acks: VecDeque<(Instant, Ack)>,
    pub lost_segments: BTreeSet<u64>,
    pub lost_acks: BTreeSet<u64>,
    /// Each copy of this packet is lost that is sent before then.
    pub hole: Option<(u64, Instant)>,
    pub segments_sent: u64,
    pub acks_sent: u64,
    pub sent: Vec<Segment>,
    pub fresh: u64,
}

impl Path {
    pub fn new(config: TcpConfig, packets: u64) -> Self {
        let mut sender = sender(&config);
        sender.supply(packets);
        Self {
            sender,
            receiver: Receiver::new(1),
            config,
            now: Instant::ZERO,
            segments: VecDeque::new(),
            acks: VecDeque::new(),
            lost_segments: BTreeSet::new(),
            lost_acks: BTreeSet::new(),
            hole: None,
            segments_sent: 0,
            acks_sent: 0,
            sent: Vec::new(),
            fresh: 0,
        }
    }

    pub fn losing(mut self, segments: &[u64]) -> Self {
        self.lost_segments = segments.iter().copied().collect();
        self
    }

    pub fn pump(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(&self.config, self.now) {
            self.sent.push(segment);
            let in_hole = self.hole.is_some_and(|(packet, until)| segment.seq == packet && self.now < until);
            if !in_hole && !self.lost_segments.contains(&self.segments_sent) {
                self.segments.push_back((self.now + ONE_WAY, segment));
            }
            self.segments_sent += 1;
        }
    }

    pub fn acknowledge(&mut self, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        if !self.lost_acks.contains(&self.acks_sent) {
            self.acks.push_back((self.now + ONE_WAY, ack));
        }
        self.acks_sent += 1;
    }

    /// One event; `false` when nothing is left to happen.
    pub fn step(&mut self) -> bool {
        let head = |time: Option<&Instant>| time.copied().unwrap_or(Instant::MAX);
        let arrival = head(self.segments.front().map(|(at, _)| at));
        let ack = head(self.acks.front().map(|(at, _)| at));
        let timer = self.sender.rto_deadline().min(self.sender.pacing_deadline());
        let delayed = self.receiver.deadline();
        let next = arrival.min(ack).min(timer).min(delayed);
        if next == Instant::MAX {
            return false;
        }
        assert!(next >= self.now, "a deadline that has passed");
        self.now = next;
        if delayed == next {
            let reply = self.receiver.on_timer(&self.config, next);
            self.acknowledge(reply);
        } else if arrival == next {
            let (_, segment) = self.segments.pop_front().unwrap();
            let before = self.receiver.ack_before(&self.config, next, &segment);
            self.acknowledge(before);
            let reception = self.receiver.on_segment(&self.config, next, &segment);
            self.fresh += u64::from(reception.fresh);
            self.acknowledge(reception.ack);
        } else if ack == next {
            let (_, ack) = self.acks.pop_front().unwrap();
            self.sender.on_ack(&self.config, next, &ack);
        } else {
            self.sender.on_timer(&self.config, next);
        }
        self.pump();
        assert!(self.sender.una() <= self.receiver.next(), "acknowledged what never arrived");
        assert!(self.receiver.next() <= self.sender.max(), "received what was never sent");
        true
    }

    /// Runs to the end of the transfer.
    pub fn run(&mut self) {
        self.pump();
        let mut steps = 0;
        while !self.sender.is_complete() {
            assert!(self.step(), "nothing left to happen before the end: {:?}", self.sender);
            steps += 1;
            assert!(steps < 1_000_000, "no end in sight");
        }
    }

    pub fn retransmissions(&self) -> Vec<u64> {
        self.sent.iter().filter(|s| s.retransmission).map(|s| s.seq).collect()
    }
}

pub fn milliseconds(instant: Instant) -> u64 {
    instant.as_ps() / Duration::from_millis(1).as_ps()
}
