//! What is recorded of a TCP flow, from readings of its socket's TCP_INFO.
//!
//! | quantity | from |
//! | --- | --- |
//! | `packets_sent` | `tcpi_data_segs_out`, and a SYN a connection; SYNs sent again are in both counts |
//! | `retransmissions`, `timeouts` | `tcpi_total_retrans`, `tcpi_total_rto` (Linux 6.7) |
//! | `goodput_bps` | payload acknowledged, `tcpi_bytes_acked` |
//! | `loss_events` | readings that find the state Recovery after one that did not |
//! | `mean_cwnd_packets`, `mean_rtt_s` | `tcpi_snd_cwnd` and `tcpi_rtt`, the smoothed RTT, each reading for the time since the one before |
//! | `min_rtt_s` | the least `tcpi_min_rtt`, which may be of the warm-up |
//! | [`Limited`] | `tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited` |
//!
//! A flow is read four times a (smoothed) round trip, eight times for `rounds`, and not more often than each millisecond nor than all flows together
//! may be. While readings are further apart than half a round trip, recoveries may be missed: if that is so for a tenth of the time,
//! `loss_events` is null.
//!
//! *Rounds.* A round begins with the first packet sent after the round before has ended, and ends when a byte that was sent in it is
//! acknowledged. A reading comes later than that; what had been sent by then is interpolated between both
//! readings, in proportion to the bytes acknowledged, so that windows are not too large on average. While the sender recovers, the
//! first byte that is not acknowledged belongs to a lost packet: the round in which it was sent had a loss.

use super::Context;
use crate::clock::{seconds, span, Nanos};
use crate::error::{HostsError, Tried};
use crate::hosts::Row;
use crate::plan::{FlowPlan, Sampling, Transport};
use crate::receiver::Received;
use crate::tcp_info::{TcpInfo, LOSS, RECOVERY};
use parshall_records::{FlowRow, FlowSampleRow, RoundRow};
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Readings of a flow are no closer.
const SHORTEST_INTERVAL: Nanos = 1_000_000;

/// Nor further apart, while it has a connection.
const LONGEST_INTERVAL: Nanos = 100_000_000;

/// What became of a flow.
#[derive(Clone, Debug)]
pub struct FlowOutcome {
    /// Its row in `flows`. What only the network knows (drops, the packets' delays of TCP) is `None`.
    pub row: FlowRow,
    /// Its place in the plan; connections of an open loop have that of the loop.
    pub plan: u32,
    /// Payload acknowledged since the warm-up; `None` of datagrams.
    pub acked_bytes: Option<u64>,
    /// What held it back since the warm-up, besides the network.
    pub limited: Limited,
    /// Datagrams that the kernel had no room for when they were sent.
    pub refused: u64,
    /// Why it ended before the run did.
    pub failure: Option<String>,
    pub(crate) is_datagrams: bool,
    pub(crate) measured_s: f64,
}

/// For how long a flow's connections were busy, and what limited them; `None`: the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limited {
    /// Time with data to send, in seconds.
    pub busy_s: Option<f64>,
    /// Of that, limited by the receive window.
    pub receive_window_s: Option<f64>,
    /// Of that, limited by the send buffer. The kernel counts what writers that block wait for, and hardly sees others: this is its count, or
    /// the time in which readings found an open window, nothing to send, and an application that had more.
    pub send_buffer_s: Option<f64>,
}

impl FlowOutcome {
    /// Adds what the other host knows.
    pub(crate) fn add_received(&mut self, received: &Received) {
        if !self.is_datagrams {
            return;
        }
        let arrived = &received.datagrams[self.plan as usize];
        self.row.goodput_bps = Some(arrived.bytes as f64 * 8.0 / self.measured_s);
        self.row.throughput_bps = Some(arrived.wire_bytes() as f64 * 8.0 / self.measured_s);
        self.row.mean_one_way_delay_s = arrived.mean_delay_s();
        self.row.max_one_way_delay_s = arrived.max_delay_s();
        self.row.jitter_s = arrived.jitter_s();
    }
}

/// The time measured, from the end of the warm-up to the end; above zero.
pub(super) fn measured_s(from: Nanos, end: Nanos) -> f64 {
    seconds((end - from).max(1))
}

/// What only grows, of all connections of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) packets: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    acked: u64,
    busy_us: Option<u64>,
    receive_window_us: Option<u64>,
    send_buffer_us: Option<u64>,
}

impl Totals {
    fn of(info: &TcpInfo) -> Self {
        Self {
            packets: info.data_packets.map_or(0, u64::from) + 1,
            retransmissions: info.retransmissions.into(),
            timeouts: info.timeouts.map_or(0, u64::from),
            acked: info.acked.unwrap_or(0),
            busy_us: info.busy_us,
            receive_window_us: info.receive_window_limited_us,
            send_buffer_us: info.send_buffer_limited_us,
        }
    }

    fn combined(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let both = |ours: Option<u64>, theirs: Option<u64>| {
            (ours.is_some() || theirs.is_some()).then(|| combine(ours.unwrap_or(0), theirs.unwrap_or(0)))
        };
        Self {
            packets: combine(self.packets, other.packets),
            retransmissions: combine(self.retransmissions, other.retransmissions),
            timeouts: combine(self.timeouts, other.timeouts),
            acked: combine(self.acked, other.acked),
            busy_us: both(self.busy_us, other.busy_us),
            receive_window_us: both(self.receive_window_us, other.receive_window_us),
            send_buffer_us: both(self.send_buffer_us, other.send_buffer_us),
        }
    }

    fn and(&self, other: &Self) -> Self {
        self.combined(other, u64::wrapping_add)
    }

    pub(super) fn since(&self, before: &Self) -> Self {
        self.combined(before, u64::saturating_sub)
    }

    fn limited(&self, starved_s: f64) -> Limited {
        let s = |us: Option<u64>| us.map(|us| us as f64 / 1e6);
        Limited {
            busy_s: s(self.busy_us),
            receive_window_s: s(self.receive_window_us),
            send_buffer_s: s(self.send_buffer_us).map(|counted| counted.max(starved_s)),
        }
    }
}

/// The recorder of one flow.
pub(super) struct Probe {
    group: Arc<str>,
    number: u32,
    /// Whether the control sets a rate: only then the kernel's pacing rate is more than a ceiling.
    paces: bool,
    sampling: Option<Sampling>,
    next_sample: Nanos,
    rounds: Option<Rounds>,
    /// Of connections that were closed.
    closed: Totals,
    /// When the warm-up ended, or a little later, when that was noticed.
    measured_from: Nanos,
    before: Totals,
    last: Option<Reading>,
    /// Packets with data of the open connection, when its totals were asked for last.
    connection_packets: u32,
    means: Means,
    /// Time in which the window was open, nothing was left to send, and the application had more.
    starved: Nanos,
    min_rtt_us: Option<u32>,
    loss_events: u64,
    /// Time in which readings were too far apart to see each recovery.
    blind: Nanos,
    /// What the kernel of these sockets cannot say.
    knows_timeouts: bool,
    knows_packets: bool,
    knows_acked: bool,
    uses_ecn: bool,
}

#[derive(Clone, Copy)]
struct Reading {
    at: Nanos,
    info: TcpInfo,
}

/// Means over time.
#[derive(Default)]
struct Means {
    time: Nanos,
    cwnd: f64,
    rtt_time: Nanos,
    rtt_us: f64,
}

impl Probe {
    pub(super) fn new(flow: &FlowPlan, number: u32) -> Self {
        let paces = match &flow.transport {
            Transport::Tcp(options) => options.congestion_control.starts_with("bbr"),
            Transport::Datagrams => false,
        };
        Self {
            group: flow.group.clone(),
            number,
            paces,
            sampling: flow.samples,
            next_sample: 0,
            rounds: flow.rounds.then(Rounds::default),
            closed: Totals::default(),
            measured_from: 0,
            before: Totals::default(),
            last: None,
            connection_packets: 0,
            means: Means::default(),
            starved: 0,
            min_rtt_us: None,
            loss_events: 0,
            blind: 0,
            knows_timeouts: true,
            knows_packets: true,
            knows_acked: true,
            uses_ecn: false,
        }
    }

    /// A connection opens.
    pub(super) fn begin_connection(&mut self, now: Nanos) {
        self.last = None;
        if let Some(rounds) = &mut self.rounds {
            rounds.begin_connection(now);
        }
    }

    /// A connection is about to be closed; what it counted is kept.
    pub(super) fn end_connection(&mut self, context: &Context, socket: &OwnedFd) -> Result<(), HostsError> {
        self.closed = self.totals(Some(socket))?;
        self.last = None;
        if let Some(rounds) = &mut self.rounds {
            rounds.end_connection(self.connection_packets.into(), |row| {
                context.record(Row::Round(RoundRow { flow: self.number, ..row }));
            });
        }
        Ok(())
    }

    /// What all connections have counted, the open one as of now.
    pub(super) fn totals(&mut self, socket: Option<&OwnedFd>) -> Result<Totals, HostsError> {
        let Some(socket) = socket else { return Ok(self.closed) };
        let info = TcpInfo::read(socket.as_fd()).tried("read TCP_INFO")?;
        self.note(&info);
        self.connection_packets = info.data_packets.unwrap_or(0);
        Ok(self.closed.and(&Totals::of(&info)))
    }

    fn note(&mut self, info: &TcpInfo) {
        self.knows_timeouts &= info.timeouts.is_some();
        self.knows_packets &= info.data_packets.is_some();
        self.knows_acked &= info.acked.is_some();
        self.uses_ecn |= info.ecn;
        self.min_rtt_us = match (self.min_rtt_us, info.min_rtt_us) {
            (Some(least), Some(now)) => Some(least.min(now)),
            (least, now) => least.or(now),
        };
    }

    /// The warm-up has ended: totals start from here.
    pub(super) fn begin_measurement(
        &mut self,
        now: Nanos,
        socket: Option<&OwnedFd>,
    ) -> Result<(), HostsError> {
        self.measured_from = now;
        self.before = self.totals(socket)?;
        self.means = Means::default();
        self.starved = 0;
        self.loss_events = 0;
        self.blind = 0;
        Ok(())
    }

    /// When TCP_INFO is to be read next.
    pub(super) fn next_look(&self, context: &Context, now: Nanos) -> Nanos {
        let a_round_trip = if self.rounds.is_some() { 8 } else { 4 };
        let srtt = self.last.map_or(0, |last| last.info.srtt_ns());
        let interval =
            (srtt / a_round_trip).clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL).max(context.least_interval);
        let next = now + interval;
        if self.sampling.is_some() {
            next.min(self.next_sample.max(now + SHORTEST_INTERVAL))
        } else {
            next
        }
    }

    /// TCP_INFO was read; `has_more`: the application has data that the socket did not take.
    pub(super) fn look(&mut self, context: &Context, info: &TcpInfo, has_more: bool, now: Nanos) {
        self.note(info);
        let before = self.last.replace(Reading { at: now, info: *info });
        if let Some(before) = before {
            let time = now - before.at.max(context.warm_up);
            if time > 0 {
                self.means.add(time, info);
                let starved = has_more && info.unsent == Some(0) && info.in_flight() < info.cwnd.into();
                self.starved += if starved { time } else { 0 };
                self.blind += if 2 * time > info.srtt_ns() { time } else { 0 };
            }
        }
        let was = before.map_or(0, |before| before.info.ca_state);
        self.loss_events += u64::from(info.ca_state == RECOVERY && was != RECOVERY);
        let closed = self.closed;
        if let Some(rounds) = &mut self.rounds {
            rounds.look(now, info, |row| context.record(Row::Round(RoundRow { flow: self.number, ..row })));
        }
        if let Some(sampling) = self.sampling.filter(|_| now >= self.next_sample) {
            context.record(Row::FlowSample(self.sample(info, &closed, now)));
            self.next_sample = next_sample(sampling, info, now);
        }
    }

    fn sample(&self, info: &TcpInfo, closed: &Totals, now: Nanos) -> FlowSampleRow {
        let rate = info.pacing_rate.filter(|_| self.paces && info.mss > 0);
        FlowSampleRow {
            flow: self.number,
            time_s: seconds(now),
            cwnd_packets: Some(info.cwnd.into()),
            rate_pps: rate.map(|bytes_per_s| bytes_per_s as f64 / f64::from(info.mss)),
            ssthresh_packets: info.ssthresh.map(f64::from),
            in_flight_packets: Some(info.in_flight()),
            srtt_s: info.srtt_us.map(|us| f64::from(us) / 1e6),
            delivered_bytes: info.acked.map(|acked| closed.acked + acked),
            retransmissions: Some(closed.retransmissions + u64::from(info.retransmissions)),
            largest_slope: None,
        }
    }

    /// The run ends.
    pub(super) fn end(&mut self, context: &Context, totals: &Totals) -> FlowOutcome {
        if let Some(rounds) = &mut self.rounds {
            rounds.end(|row| context.record(Row::Round(RoundRow { flow: self.number, ..row })));
        }
        let own = totals.since(&self.before);
        let measured_s = measured_s(self.measured_from.max(context.warm_up), context.clock.now());
        let row = FlowRow {
            group: self.group.clone(),
            flow: self.number,
            goodput_bps: self.knows_acked.then(|| own.acked as f64 * 8.0 / measured_s),
            packets_sent: self.knows_packets.then_some(own.packets),
            retransmissions: Some(own.retransmissions),
            loss_events: (10 * self.blind < self.means.time).then_some(self.loss_events),
            timeouts: self.knows_timeouts.then_some(own.timeouts),
            ecn_reductions: (!self.uses_ecn).then_some(0),
            mean_cwnd_packets: self.means.cwnd(),
            mean_rtt_s: self.means.rtt_s(),
            min_rtt_s: self.min_rtt_us.map(|us| f64::from(us) / 1e6),
            ..FlowRow::default()
        };
        FlowOutcome {
            row,
            plan: 0,
            acked_bytes: self.knows_acked.then_some(own.acked),
            limited: own.limited(seconds(self.starved)),
            refused: 0,
            failure: None,
            is_datagrams: false,
            measured_s,
        }
    }
}

/// When the sample after the one at `now` is due.
fn next_sample(sampling: Sampling, info: &TcpInfo, now: Nanos) -> Nanos {
    match sampling {
        Sampling::Every(interval) => {
            let interval = span(interval).max(SHORTEST_INTERVAL);
            (now / interval + 1) * interval
        }
        Sampling::EachRoundTrip => now + info.srtt_ns().max(SHORTEST_INTERVAL),
    }
}

impl Means {
    fn add(&mut self, time: Nanos, info: &TcpInfo) {
        self.time += time;
        self.cwnd += f64::from(info.cwnd) * time as f64;
        if let Some(us) = info.srtt_us {
            self.rtt_time += time;
            self.rtt_us += f64::from(us) * time as f64;
        }
    }

    fn cwnd(&self) -> Option<f64> {
        (self.time > 0).then(|| self.cwnd / self.time as f64)
    }

    fn rtt_s(&self) -> Option<f64> {
        (self.rtt_time > 0).then(|| self.rtt_us / 1e6 / self.rtt_time as f64)
    }
}

/// The round trips of a flow. A packet's fate is known within a round trip, so a round is written when the one after
/// it ends.
#[derive(Default)]
struct Rounds {
    index: u64,
    open: VecDeque<Round>,
    /// The reading before, or the beginning of the connection.
    before: Point,
}

struct Round {
    start: Nanos,
    /// Number of its first byte within the connection.
    first: u64,
    /// Packets sent on the connection before it, and, once it has ended, in it.
    sent_before: f64,
    packets: f64,
    lost: bool,
}

/// Where a connection was at a time.
#[derive(Clone, Copy, Default)]
struct Point {
    at: Nanos,
    acked: u64,
    sent: u64,
    packets: f64,
}

impl Point {
    /// What there was when a byte that was sent at `boundary` was acknowledged, between `self` and `next`.
    fn toward(&self, next: &Self, boundary: u64) -> Self {
        let step = (next.acked - self.acked).max(1) as f64;
        let part = ((boundary.saturating_sub(self.acked)) as f64 / step).clamp(0.0, 1.0);
        Self {
            at: self.at + ((next.at - self.at) as f64 * part) as Nanos,
            acked: boundary,
            sent: self.sent + ((next.sent - self.sent) as f64 * part) as u64,
            packets: self.packets + (next.packets - self.packets) * part,
        }
    }
}

impl Rounds {
    fn begin_connection(&mut self, now: Nanos) {
        self.before = Point { at: now, ..Point::default() };
        self.open.push_back(Round { start: now, first: 0, sent_before: 0.0, packets: 0.0, lost: false });
    }

    /// A connection has sent so many packets, and will send no more; what became of them is known.
    fn end_connection(&mut self, packets: f64, write: impl FnMut(RoundRow)) {
        if let Some(last) = self.open.back_mut() {
            last.packets = packets - last.sent_before;
            if last.packets < 1.0 {
                self.open.pop_back();
            }
        }
        self.write(0, write);
    }

    fn look(&mut self, now: Nanos, info: &TcpInfo, write: impl FnMut(RoundRow)) {
        let (Some(acked), Some(sent), Some(packets)) = (info.acked, info.sent, info.data_packets) else {
            return;
        };
        let point = Point { at: now, acked, sent, packets: packets.into() };
        let recovers = info.ca_state == RECOVERY || info.ca_state == LOSS;
        if recovers && info.lost + info.retransmitted > 0 {
            if let Some(round) = self.open.iter_mut().rev().find(|round| round.first <= acked) {
                round.lost = true;
            }
        }
        let before = std::mem::replace(&mut self.before, point);
        let Some(last) = self.open.back_mut().filter(|last| acked > last.first) else { return };
        let end = before.toward(&point, last.first);
        last.packets = end.packets - last.sent_before;
        self.open.push_back(Round {
            start: end.at,
            first: end.sent.max(acked),
            sent_before: end.packets,
            packets: 0.0,
            lost: false,
        });
        self.write(2, write);
    }

    /// Writes all but the last `keep` rounds.
    fn write(&mut self, keep: usize, mut write: impl FnMut(RoundRow)) {
        while self.open.len() > keep {
            let Some(round) = self.open.pop_front() else { return };
            write(RoundRow {
                flow: 0,
                round: self.index,
                start_s: seconds(round.start),
                window_packets: round.packets.round() as u32,
                lost: round.lost,
            });
            self.index += 1;
        }
    }

    /// The run ended: the round under way is not complete.
    fn end(&mut self, write: impl FnMut(RoundRow)) {
        self.write(1, write);
    }
}
