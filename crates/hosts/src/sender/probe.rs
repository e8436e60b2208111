//! The records of a TCP flow, from readings of its socket's TCP_INFO.
//!
//! | quantity | from |
//! | --- | --- |
//! | `packets_sent` | `tcpi_data_segs_out`, and a SYN a connection; SYNs sent again are in both counts |
//! | `retransmissions` | `tcpi_total_retrans` |
//! | `timeouts` | `tcpi_total_rto`; null before Linux 6.7, where those of transfers are readings that find the state Loss anew |
//! | `goodput_bps` | payload acknowledged, `tcpi_bytes_acked`, and packets that have arrived behind a hole, `tcpi_sacked` |
//! | `loss_events` | [`Recoveries`] |
//! | `mean_cwnd_packets`, `mean_rtt_s` | `tcpi_snd_cwnd` and `tcpi_rtt` (smoothed), each for the time since the reading before |
//! | `min_rtt_s` | the least `tcpi_min_rtt`, which may be of the warm-up |
//! | [`Limited`] | `tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited` |
//!
//! A flow is read four times a (smoothed) round trip, eight times for `rounds`; not more often than each millisecond,
//! nor than lets all flows together be read 20,000 times a second. While readings are further apart than half a round
//! trip, recoveries may be missed: if that is so for a tenth of the time, `loss_events` is null.

use super::context::Context;
use super::recoveries::Recoveries;
use super::rounds::Rounds;
use super::totals::{Limited, Totals};

use crate::clock::{seconds, span, Nanos};
use crate::datagram::Arrived;
use crate::error::{HostsError, Tried};
use crate::plan::{FlowPlan, Sampling, Transport};
use crate::row::Row;
use crate::tcp_info::{TcpInfo, LOSS};
use parshall_records::{FlowRow, FlowSampleRow};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Readings of a flow are no closer.
const SHORTEST_INTERVAL: Nanos = 1_000_000;

/// Nor further apart, while it has a connection.
const LONGEST_INTERVAL: Nanos = 100_000_000;

/// The outcome of a flow.
#[derive(Clone, Debug)]
pub struct FlowOutcome {
    /// Its row in `flows`. What only the network knows (drops, the packets' delays of TCP) is `None`.
    pub row: FlowRow,
    /// Its place in the plan; connections of an open loop have that of the loop.
    pub plan: u32,
    /// Payload that arrived since the warm-up, as far as ACKs and SACKs report; `None` of datagrams.
    pub arrived_bytes: Option<u64>,
    /// The limits since the warm-up, besides the network.
    pub limited: Limited,
    /// Datagrams that the kernel had no room for when they were sent.
    pub refused: u64,
    /// Datagrams that were due before the end and not sent, because the host was too slow.
    pub unsent: u64,
    /// Why it ended before the run did.
    pub failure: Option<String>,
    pub(crate) is_datagrams: bool,
    pub(crate) measured_s: f64,
}

impl FlowOutcome {
    /// Adds what the other host knows.
    pub(crate) fn add_received(&mut self, datagrams: &[Arrived]) {
        if !self.is_datagrams {
            return;
        }
        let arrived = &datagrams[self.plan as usize];
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

/// The recorder of one flow.
pub(super) struct Probe {
    group: Arc<str>,
    number: u32,
    /// True if the control sets a rate: only then the kernel's pacing rate is more than a ceiling.
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
    recoveries: Recoveries,
    /// Readings of all connections that find the state Loss anew: timeouts, where the kernel does not count them.
    loss_states: u64,
    /// Time in which readings were too far apart to see each recovery.
    blind: Nanos,
    /// What the kernel of these sockets cannot say.
    knows_timeouts: bool,
    knows_packets: bool,
    knows_arrived: bool,
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
    /// Of the flow of that number; `records`: whether it has samples and rounds, if the plan wants some.
    pub(super) fn new(flow: &FlowPlan, number: u32, records: bool) -> Self {
        let paces = match &flow.transport {
            Transport::Tcp(options) => options.sets_rate,
            Transport::Datagrams | Transport::Programs { .. } => false,
        };
        Self {
            group: flow.group.clone(),
            number,
            paces,
            sampling: flow.samples.filter(|_| records),
            next_sample: 0,
            rounds: (flow.rounds && records).then(|| Rounds::new(number)),
            closed: Totals::default(),
            measured_from: 0,
            before: Totals::default(),
            last: None,
            connection_packets: 0,
            means: Means::default(),
            starved: 0,
            min_rtt_us: None,
            recoveries: Recoveries::default(),
            loss_states: 0,
            blind: 0,
            knows_timeouts: true,
            knows_packets: true,
            knows_arrived: true,
            uses_ecn: false,
        }
    }

    /// A connection opens.
    pub(super) fn begin_connection(&mut self, now: Nanos) {
        self.last = None;
        self.recoveries.begin_connection();
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
                context.record(Row::Round(row));
            });
        }
        Ok(())
    }

    /// Returns the counts of all connections, the open one as of now.
    pub(super) fn totals(&mut self, socket: Option<&OwnedFd>) -> Result<Totals, HostsError> {
        let mut totals = self.closed;
        if let Some(socket) = socket {
            let info = TcpInfo::read(socket.as_fd()).tried("read TCP_INFO")?;
            self.note(&info);
            self.connection_packets = info.data_packets.unwrap_or(0);
            totals = totals.and(&Totals::of(&info));
        }
        if !self.knows_timeouts {
            totals.timeouts = self.loss_states;
        }
        Ok(totals)
    }

    fn note(&mut self, info: &TcpInfo) {
        self.knows_timeouts &= info.timeouts.is_some();
        self.knows_packets &= info.data_packets.is_some();
        self.knows_arrived &= info.acked.is_some();
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
        self.recoveries.count = 0;
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
        self.recoveries.look(info);
        self.loss_states += u64::from(info.ca_state == LOSS && was != LOSS);
        let closed = self.closed;
        if let Some(rounds) = &mut self.rounds {
            rounds.look(now, info, |row| context.record(Row::Round(row)));
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
            delivered_bytes: info.arrived().map(|arrived| closed.arrived + arrived),
            retransmissions: Some(closed.retransmissions + u64::from(info.retransmissions)),
            largest_slope: None,
        }
    }

    /// The run ends.
    pub(super) fn end(&mut self, context: &Context, totals: &Totals) -> FlowOutcome {
        if let Some(rounds) = &mut self.rounds {
            rounds.end(|row| context.record(Row::Round(row)));
        }
        let own = totals.since(&self.before);
        let measured_s = measured_s(self.measured_from.max(context.warm_up), context.clock.now());
        let row = FlowRow {
            group: self.group.clone(),
            flow: self.number,
            goodput_bps: self.knows_arrived.then(|| own.arrived as f64 * 8.0 / measured_s),
            packets_sent: self.knows_packets.then_some(own.packets),
            retransmissions: Some(own.retransmissions),
            loss_events: (10 * self.blind < self.means.time).then_some(self.recoveries.count),
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
            arrived_bytes: self.knows_arrived.then_some(own.arrived),
            limited: own.limited(seconds(self.starved)),
            refused: 0,
            unsent: 0,
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
