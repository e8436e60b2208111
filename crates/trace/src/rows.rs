//! Rows of the records, made from what was seen of a flow.

use crate::connection::{Connection, Key};
use crate::direction::Direction;
use crate::events::Event;
use crate::limits::{Limit, Limits, Period};
use crate::packet::Endpoint;
use crate::path_times::{Nanos, Vantage};
use crate::rounds::Round;
use parshall_records::{
    FlowRow, FlowSampleRow, RecordsError, RoundRow, Tables, TraceEventRow, TraceFlowRow, TraceLimitRow,
    TracePeriodRow, TraceWindowRow,
};
use std::sync::Arc;

/// The rate of a path shows in so many round trips with a standing queue.
const LEAST_SLOTS: u32 = 5;

pub(crate) fn seconds(time: Nanos) -> f64 {
    time as f64 * 1e-9
}

/// `address:port`, an IPv6 address in brackets.
fn endpoint(end: Endpoint) -> String {
    std::net::SocketAddr::new(end.address(), end.port).to_string()
}

/// The name of the flow that end `side` sends.
pub(crate) fn name(key: &Key, side: usize) -> String {
    format!("{} > {}", endpoint(key.end(side)), endpoint(key.end(1 - side)))
}

/// The tags of its VLANs, as `7` or `7.9`, the outer one first; empty without.
fn vlan(tags: Option<u32>) -> String {
    match tags.map(|tags| (tags >> 12, tags & 0xfff)) {
        None | Some((0, 0)) => String::new(),
        Some((0, tag)) => tag.to_string(),
        Some((outer, tag)) => format!("{outer}.{tag}"),
    }
}

pub(crate) fn round(tables: &mut Tables, flow: u32, round: &Round) -> Result<(), RecordsError> {
    tables.rounds.push(RoundRow {
        flow,
        round: round.index,
        start_s: seconds(round.start),
        window_packets: u32::try_from(round.packets).unwrap_or(u32::MAX),
        lost: round.lost > 0,
    })
}

pub(crate) fn sample(
    tables: &mut Tables,
    flow: u32,
    now: Nanos,
    direction: &Direction,
) -> Result<(), RecordsError> {
    if let Some((window, outstanding)) = direction.offered() {
        tables.trace_windows.push(TraceWindowRow {
            flow,
            time_s: seconds(now),
            receive_window_bytes: window,
            outstanding_bytes: outstanding,
        })?;
    }
    tables.flow_samples.push(FlowSampleRow {
        flow,
        time_s: seconds(now),
        cwnd_packets: None, // what the sender thinks is not in its packets
        rate_pps: None,
        ssthresh_packets: None,
        in_flight_packets: direction.in_flight(),
        srtt_s: direction.times.smoothed().map(seconds),
        delivered_bytes: Some(direction.delivered()),
        retransmissions: Some(direction.counts.retransmissions),
        largest_slope: None,
    })
}

pub(crate) fn event(tables: &mut Tables, flow: u32, event: &Event) -> Result<(), RecordsError> {
    tables.trace_events.push(TraceEventRow {
        flow,
        time_s: seconds(event.at),
        event: event.kind.name().into(),
        lasted_s: event.lasted.map(seconds),
    })
}

pub(crate) fn period(tables: &mut Tables, flow: u32, period: &Period) -> Result<(), RecordsError> {
    tables.trace_periods.push(TracePeriodRow {
        flow,
        start_s: seconds(period.start),
        end_s: seconds(period.end),
        limited_by: period.limit.name().into(),
    })
}

/// What limited a flow, all in all; `overhead`: bytes on the wire over those of its payload.
fn limits(flow: u32, group: Arc<str>, limits: &Limits, overhead: Option<f64>) -> TraceLimitRow {
    let time = |limit| Some(seconds(limits.total(limit)));
    let (window, rate) = (&limits.by_window, &limits.at_rate);
    let per_slot = |sum: f64| (window.slots > 0).then(|| sum / f64::from(window.slots));
    let mean_wait = seconds(limits.wait_at_losses) / f64::from(limits.queue_losses.max(1));
    TraceLimitRow {
        group,
        flow,
        limited_by_handshake_s: time(Limit::Handshake),
        limited_by_slow_start_s: time(Limit::SlowStart),
        limited_by_application_s: time(Limit::Application),
        limited_by_receiver_s: time(Limit::Receiver),
        limited_by_sender_s: time(Limit::Sender),
        limited_by_full_queue_s: time(Limit::FullQueue),
        limited_by_random_loss_s: time(Limit::RandomLoss),
        limited_by_outage_s: time(Limit::Outage),
        limited_by_unknown_s: time(Limit::Unknown),
        receive_window_bytes: per_slot(window.bytes as f64),
        window_limited_packets: per_slot(window.packets as f64),
        window_limited_rtt_s: per_slot(seconds(window.time)),
        path_rate_bps: overhead
            .filter(|_| rate.slots >= LEAST_SLOTS && rate.time > 0)
            .map(|overhead| rate.bytes as f64 * overhead * 8.0 / seconds(rate.time)),
        queue_losses: Some(u64::from(limits.queue_losses)),
        random_losses: Some(u64::from(limits.random_losses)),
        queueing_delay_at_loss_s: (limits.queue_losses > 0).then_some(mean_wait),
    }
}

/// The rows of one direction of a connection that is over, or is not followed further.
pub(crate) fn flow(
    tables: &mut Tables,
    flow: u32,
    key: &Key,
    side: usize,
    connection: &mut Connection,
) -> Result<(), RecordsError> {
    let ending = connection.ending();
    let copies = connection.copies;
    let offers = connection.offers;
    let tags = vlan(connection.vlans[side]);
    let direction = &mut connection.directions[side];
    for finished in direction.rounds.drain() {
        round(tables, flow, &finished)?;
    }
    direction.limits_end();
    for finished in direction.limits.finished.drain(..) {
        period(tables, flow, &finished)?;
    }
    for happened in direction.events.pending.drain(..) {
        event(tables, flow, &happened)?;
    }
    let (source, destination) = (key.end(side), key.end(1 - side));
    let group: Arc<str> = name(key, side).into();
    let counts = &direction.counts;
    let began = direction.began.unwrap_or(connection.last);
    let lasted = seconds(direction.ended.saturating_sub(began));
    let rate = |bytes: u64| (lasted > 0.0).then(|| bytes as f64 * 8.0 / lasted);
    let mean_packet = if counts.packets > 0 { counts.wire_bytes as f64 / counts.packets as f64 } else { 0.0 };
    // What was lost before the capture point is not in the bytes seen.
    let lost_beyond = counts.lost.saturating_sub(counts.lost_before) as f64 * mean_packet;
    let arrived = (counts.wire_bytes as f64 - lost_beyond).max(0.0) as u64;
    let delivered = direction.delivered();
    tables.flows.push(FlowRow {
        group: group.clone(),
        flow,
        start_s: seconds(began),
        goodput_bps: rate(delivered),
        throughput_bps: if direction.seen { rate(arrived) } else { None },
        packets_sent: Some(counts.packets),
        retransmissions: Some(counts.retransmissions),
        packets_dropped: Some(counts.lost),
        loss_rate: (counts.packets > 0).then(|| counts.lost as f64 / counts.packets as f64),
        loss_events: Some(counts.loss_events),
        timeouts: Some(counts.timeouts),
        ecn_reductions: Some(counts.ecn_reductions),
        mean_cwnd_packets: direction.rounds.mean_window(),
        mean_rtt_s: direction.times.mean_s(),
        min_rtt_s: direction.times.least().map(seconds),
        rtt_p50_s: direction.times.quantile_s(0.5),
        rtt_p95_s: direction.times.quantile_s(0.95),
        rtt_p99_s: direction.times.quantile_s(0.99),
        ..FlowRow::default()
    })?;
    let payload = direction.payload_bytes();
    let overhead = (payload > 0).then(|| counts.wire_bytes as f64 / payload as f64);
    tables.trace_limits.push(limits(flow, group.clone(), &direction.limits, overhead))?;
    let vantage = direction.times.vantage();
    let offer = offers[side];
    tables.trace_flows.push(TraceFlowRow {
        group,
        flow,
        source: source.address().to_string().into(),
        source_port: u32::from(source.port),
        destination: destination.address().to_string().into(),
        destination_port: u32::from(destination.port),
        vlan: tags.into(),
        vantage: if direction.acked { vantage.name() } else { Vantage::Unknown.name() }.into(),
        rtt_source: direction.times.source().into(),
        rtt_samples: direction.times.samples(),
        rtt_is_lower_bound: direction.times.are_lower_bounds(),
        least_before_s: direction.times.least_before().map(seconds),
        least_beyond_s: direction.times.least_beyond().map(seconds),
        handshake_rtt_s: direction.times.of_handshake().map(seconds),
        opened: offer.is_some(),
        syn_retransmissions: offer.map_or(0, |offer| offer.sent.saturating_sub(1)),
        mss_bytes: offer.and_then(|offer| offer.mss).map(u64::from),
        window_scale: offer.and_then(|offer| offer.window_scale).map(u64::from),
        sack_permitted: offers.iter().flatten().filter(|offer| offer.sack_permitted).count() == 2,
        timestamps: offers.iter().flatten().filter(|offer| offer.timestamps).count() == 2,
        ending: ending.into(),
        end_s: seconds(direction.ended.max(began)),
        delivered_bytes: delivered,
        segment_bytes: u64::from(direction.size.bytes()),
        segments_captured: counts.segments,
        merged_segments: counts.merged,
        acknowledgements: counts.acknowledgements,
        lost_before_capture_packets: counts.lost_before,
        spurious_retransmissions: counts.spurious,
        out_of_order_packets: counts.out_of_order,
        uncaptured_packets: counts.uncaptured,
        acknowledged_first: counts.acknowledged_first,
        discarded_by_receiver: counts.discarded,
        captured_twice: copies,
        tail_loss_probes: counts.tail_probes,
        duplicates_reported: counts.duplicates_reported,
        zero_windows: counts.zero_windows,
        zero_window_probes: counts.zero_window_probes,
        max_receive_window_bytes: (direction.largest_window > 0).then_some(direction.largest_window),
        odd_segments: counts.odd,
    })
}
