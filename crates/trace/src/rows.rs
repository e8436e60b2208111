//! Rows of the records, made from what was seen of a flow.

use crate::connection::{Connection, Key};
use crate::direction::Direction;
use crate::packet::Endpoint;
use crate::path_times::{Nanos, Vantage};
use crate::rounds::Round;
use parshall_records::{FlowRow, FlowSampleRow, RecordsError, RoundRow, Tables, TraceFlowRow};
use std::sync::Arc;

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
