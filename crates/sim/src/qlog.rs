//! Logs of single TCP flows in qlog, which qvis draws (`probes.qlog`): what the sender sends and hears, and its windows.
//!
//! qlog is made for QUIC. The version is that which qvis reads: qlog 0.3, draft-ietf-quic-qlog-main-schema-02 (§6.2, JSON text
//! sequences) and draft-ietf-quic-qlog-quic-events-02. Of TCP, this does not fit:
//!
//! | TCP | in the log |
//! | --- | --- |
//! | a packet sent again keeps its sequence numbers | each copy has a number of its own, and its bytes as those of stream 0 |
//! | an ACK does not say which copy arrived | it is taken for the last one |
//! | a cumulative ACK, SACK blocks | `acked_ranges` lists what an ACK is the first to acknowledge; a duplicate ACK has none |
//! | no event tells that a packet is taken for lost | `packet_lost` when it is sent again, with what led to that as its trigger |
//! | no kinds of packets | SYN and its answer are "initial", all others "1RTT" |
//! | windows of fractions of packets | bytes, rounded |
//! | the state after a timeout | `congestion_state_updated` says "loss"; the others are those of the draft |
//!
//! A connection's first event is `connection_started`, with the addresses that it has in captures. One log holds all
//! connections of a flow.

mod event;

use crate::capture::{Ends, Numbering};
use crate::groups::TcpGroup;
use crate::output::{check_name, Output};
use crate::wire;
use crate::{Scenario, SimError};
use event::Text;
use parshall_congestion::CongestionControl;
use parshall_engine::Packet;
use parshall_records::Tables;
use parshall_tcp::ranges::{Range, RangeSet};
use parshall_tcp::sender::Phase;
use parshall_tcp::{Ack, Recovery, Sender};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::path::Path;

/// Logs that a run may write: each is a file that stays open.
const MOST_LOGS: u64 = 500;

/// The logs of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Logs(Vec<FlowLog>);

/// The log of one flow.
#[derive(Debug)]
pub(crate) struct FlowLog {
    output: Output,
    text: Text,
    ends: Ends,
    numbering: Numbering,
    group: Facts,
    /// The number of the last copy of each packet that is not acknowledged, from packet `first` on.
    copies: VecDeque<u64>,
    first: u64,
    acknowledged: RangeSet,
    /// Numbers of the next packets sent and heard, and of the last SYN.
    next_sent: u64,
    next_heard: u64,
    syn: u64,
    metrics: Metrics,
    state: &'static str,
    min_rtt: Duration,
    /// A timeout is being repaired.
    timed_out: bool,
}

/// What the flows of a group have in common.
#[derive(Clone, Copy, Debug)]
struct Facts {
    header_bytes: u32,
    payload: u32,
    packet_bytes: u32,
    ack_bytes: u32,
    initial_window: u64,
    granularity_ms: u64,
    by_time: bool,
}

/// What is said when it changes. Bytes, bit/s; times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Metrics {
    window: u64,
    in_flight: u64,
    packets_in_flight: u64,
    ssthresh: Option<u64>,
    pacing_rate: Option<u64>,
    smoothed_rtt: Option<Duration>,
    min_rtt: Option<Duration>,
    latest_rtt: Option<Duration>,
}

/// Refuses more logs than a run may write.
pub(crate) fn check(scenario: &Scenario) -> Result<(), SimError> {
    if !scenario.probes.qlog {
        return Ok(());
    }
    let of_tcp = scenario.flows.iter().filter(|group| group.tcp.is_some());
    let logs: u64 = of_tcp.map(|group| u64::from(group.count.min(scenario.probes.flows_sampled))).sum();
    if logs > MOST_LOGS {
        let problem =
            format!("would write {logs} logs, and {MOST_LOGS} is the most; let probes.flows be smaller");
        return Err(SimError::invalid("probes.qlog", problem));
    }
    for (index, group) in scenario.flows.iter().enumerate() {
        check_name(&format!("flows.{index}.name"), &group.name)?;
    }
    Ok(())
}

impl Logs {
    /// A log for a TCP flow of this number in the records; the log's own number.
    pub(crate) fn add(&mut self, tables: &Tables, group: &TcpGroup, flow: u32) -> Result<u32, SimError> {
        let name = format!("{}-{flow}.sqlog", group.name);
        let directory = tables.directory().unwrap_or(Path::new(""));
        self.0.push(FlowLog::new(Output::create(directory.join("qlog").join(name))?, group, flow));
        Ok(self.0.len() as u32 - 1)
    }

    pub(crate) fn of(&mut self, log: u32) -> &mut FlowLog {
        &mut self.0[log as usize]
    }

    /// Refuses to go on if a file cannot be continued.
    pub(crate) fn check(&mut self, now: Instant) -> Result<(), SimError> {
        self.0.iter_mut().try_for_each(|log| log.output.check("probes.qlog", now))
    }

    /// The simulation ended.
    pub(crate) fn finish(mut self, end: Instant) -> Result<(), SimError> {
        self.check(end)?;
        self.0.into_iter().try_for_each(|log| log.output.finish()).map_err(SimError::from)
    }
}

impl FlowLog {
    fn new(mut output: Output, group: &TcpGroup, flow: u32) -> Self {
        let mut text = Text::default();
        text.header(&format!("{} flow {flow}", group.name));
        text.flush(&mut output);
        let group_facts = Facts {
            header_bytes: group.header_bytes,
            payload: group.payload_bytes(),
            packet_bytes: group.packet_bytes,
            ack_bytes: group.tcp.ack_size.0 as u32,
            initial_window: group.tcp.initial_window.0,
            granularity_ms: group.tcp.rto_granularity.as_ps() / 1_000_000_000,
            by_time: group.tcp.recovery == Recovery::Rack,
        };
        Self {
            output,
            text,
            ends: Ends::of(flow, group.number),
            numbering: Numbering::default(),
            group: group_facts,
            copies: VecDeque::new(),
            first: 0,
            acknowledged: RangeSet::default(),
            next_sent: 0,
            next_heard: 0,
            syn: 0,
            metrics: Metrics::default(),
            state: "",
            min_rtt: Duration::MAX,
            timed_out: false,
        }
    }

    /// A transfer begins with packet `first`, on a connection of its own or on the one that lives on.
    pub(crate) fn begin(&mut self, now: Instant, first: u64, bytes: Option<u64>, own_connection: bool) {
        self.numbering.begin(first, bytes, own_connection);
        if !own_connection {
            return;
        }
        (self.first, self.acknowledged) = (first, RangeSet::default());
        self.copies.clear();
        (self.metrics, self.state, self.min_rtt) = (Metrics::default(), "", Duration::MAX);
        self.timed_out = false;
        self.text.connection(now, self.ends, self.numbering.position(first, 0).port);
        let Facts { payload, initial_window, granularity_ms, .. } = self.group;
        self.text.parameters(now, payload, initial_window * u64::from(payload), granularity_ms);
        self.text.flush(&mut self.output);
    }

    /// The transfer that began without an end has so many bytes.
    pub(crate) fn end(&mut self, bytes: u64) {
        self.numbering.end(bytes);
    }

    /// An ACK is heard; what it acknowledges is told before what the sender makes of it.
    pub(crate) fn heard(&mut self, now: Instant, ack: &Ack) {
        let number = self.next_heard;
        self.next_heard += 1;
        self.text.begin_heard(now, number, self.group.ack_bytes, ack.syn);
        let mut newly = Vec::new();
        if ack.syn {
            newly.push(self.syn);
        } else {
            let duplicate = ack.duplicate().is_some();
            let known = ack.sack.iter().skip(usize::from(duplicate)).filter(|block| !block.is_empty());
            let below = Range { start: self.first, end: ack.cumulative };
            for &range in known.chain([&below]) {
                let (first, copies) = (self.first, &self.copies);
                self.acknowledged.insert(range, |part| {
                    let places = part.start.saturating_sub(first)..part.end.saturating_sub(first);
                    newly.extend(places.filter_map(|place| copies.get(place as usize)));
                });
            }
            let done = ack.cumulative.saturating_sub(self.first).min(self.copies.len() as u64);
            self.copies.drain(..done as usize);
            self.first = self.first.max(ack.cumulative);
        }
        newly.sort_unstable();
        self.text.end_heard(&newly, ack.congestion_echo);
    }

    /// The state that the sender has come to; `expired`: by a timeout.
    pub(crate) fn turned(&mut self, now: Instant, sender: &Sender, expired: bool) {
        if expired {
            self.text.timer_expired(now);
            self.timed_out = sender.phase() != Phase::Connecting;
        }
        self.timed_out &= sender.phase() != Phase::Open;
        let control = sender.control();
        let state = match sender.phase() {
            Phase::Connecting => return,
            Phase::Recovery => "recovery",
            Phase::Loss => "loss",
            Phase::Open if control.window() < control.ssthresh() => "slow_start",
            Phase::Open => "congestion_avoidance",
        };
        if state != self.state {
            self.text.state(now, self.state, state);
            self.state = state;
        }
    }

    /// The windows and times that the sender has come to; `rtt`: the sample that it took.
    pub(crate) fn measured(&mut self, now: Instant, sender: &Sender, rtt: Option<Duration>) {
        self.min_rtt = rtt.map_or(self.min_rtt, |rtt| rtt.min(self.min_rtt));
        let (control, payload) = (sender.control(), f64::from(self.group.payload));
        let bytes = |packets: f64| (packets * payload).round() as u64;
        let in_network = sender.in_network();
        let metrics = Metrics {
            window: bytes(control.window()),
            in_flight: in_network * u64::from(self.group.payload),
            packets_in_flight: in_network,
            ssthresh: Some(control.ssthresh()).filter(|packets| packets.is_finite()).map(bytes),
            pacing_rate: control
                .pacing_rate()
                .map(|packets| (packets * 8.0 * f64::from(self.group.packet_bytes)).round() as u64),
            smoothed_rtt: sender.srtt(),
            min_rtt: (self.min_rtt < Duration::MAX).then_some(self.min_rtt),
            latest_rtt: rtt.or(self.metrics.latest_rtt),
        };
        if metrics != self.metrics {
            self.text.metrics(now, &metrics, &self.metrics);
            self.metrics = metrics;
        }
        self.text.flush(&mut self.output);
    }

    /// A packet is sent.
    pub(crate) fn sent(&mut self, packet: &Packet, phase: Phase) {
        let (now, seq, flags) = (packet.sent, packet.seq(), packet.flags());
        let number = self.next_sent;
        self.next_sent += 1;
        let bytes = packet.bytes();
        if flags.has(wire::SYN) {
            self.syn = number;
            return self.text.sent(now, (number, true), bytes, None, None);
        }
        let again = flags.has(wire::RETRANSMISSION);
        let place = seq.saturating_sub(self.first) as usize;
        if self.copies.len() <= place {
            self.copies.resize(place + 1, number);
        }
        let copy_before = std::mem::replace(&mut self.copies[place], number);
        let (loss, trigger) = match (phase, self.timed_out, self.group.by_time) {
            (Phase::Open, ..) => (None, "pto_probe"), // nothing is taken for lost
            (_, true, _) => (Some("pto_expired"), "retransmit_timeout"),
            (_, false, true) => (Some("time_threshold"), "retransmit_reordered"),
            (_, false, false) => (Some("reordering_threshold"), "retransmit_reordered"),
        };
        if let Some(loss) = loss.filter(|_| again) {
            self.text.lost(now, copy_before, loss);
        }
        let offset = self.numbering.position(seq, self.group.payload).byte;
        let payload = bytes.saturating_sub(self.group.header_bytes);
        self.text.sent(now, (number, false), bytes, Some((offset, payload)), again.then_some(trigger));
    }
}
