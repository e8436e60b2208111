//! The rows that are written when a simulation ends: those of `flows`, `links` and `delay_histogram`, and a summary.

use crate::measured::Measured;
use crate::network::Network;
use crate::shared::LinkState;
use crate::stopwatch::Spent;
use crate::SimError;
use parshall_records::{DelayHistogramRow, LinkRow, Tables};
use parshall_units::{Duration, Instant};
use serde::Serialize;

/// The totals of a simulation.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Which repetition.
    pub repetition: u32,
    /// Simulated time.
    pub simulated_s: f64,
    /// CPU time of the event loop; none on a platform without that clock.
    pub cpu_s: Option<f64>,
    /// Wall-clock time of the event loop; none on a platform without a clock.
    pub wall_s: Option<f64>,
    /// Events handled.
    pub events: u64,
    /// Flows, connections of open loops included.
    pub flows: u32,
    /// Packets that left all links since the warm-up.
    pub packets_forwarded: u64,
    /// Packets lost on all links since the warm-up.
    pub packets_dropped: u64,
    /// Each link.
    pub links: Vec<LinkTotals>,
}

/// The totals of a link since the warm-up.
#[derive(Clone, Debug, Serialize)]
pub struct LinkTotals {
    /// Its name.
    pub name: String,
    /// Packets offered.
    pub arrivals: u64,
    /// Packets that left.
    pub forwarded: u64,
    /// Packets lost, by the queue or on the medium.
    pub dropped: u64,
    /// Packets held at the end, less those held when the warm-up ended that were transmitted since.
    pub queued: i64,
}

pub(crate) fn write(network: &mut Network, tables: &mut Tables, spent: &Spent) -> Result<Summary, SimError> {
    let (warm_up, end) = (network.core.warm_up, network.core.end);
    let repetition = network.core.sink.repetition;
    if tables.flows.is_active() {
        write_flows(network, tables)?;
    }
    write_latency(network, tables)?;
    if let Some(delivered) = network.core.sink.delivered.take() {
        delivered.write(end, tables)?;
    }
    let mut links = Vec::new();
    for state in &mut network.links {
        let row = link_row(state, warm_up, end);
        links.push(LinkTotals {
            name: row.link.to_string(),
            arrivals: row.arrivals_packets,
            forwarded: row.forwarded_packets,
            dropped: row.dropped_packets + row.medium_losses_packets,
            queued: row.arrivals_packets.cast_signed()
                - (row.forwarded_packets + row.dropped_packets + row.medium_losses_packets).cast_signed(),
        });
        tables.links.push(row)?;
        for (low, high, packets) in state.notes.delays.buckets() {
            tables.delay_histogram.push(DelayHistogramRow {
                link: state.notes.name.clone(),
                low_s: low.as_secs_f64(),
                high_s: high.as_secs_f64(),
                packets,
            })?;
        }
    }
    Ok(Summary {
        repetition,
        simulated_s: end.as_secs_f64(),
        cpu_s: spent.cpu_s,
        wall_s: spent.wall_s,
        events: network.events,
        flows: network.core.sink.flows,
        packets_forwarded: links.iter().map(|link| link.forwarded).sum(),
        packets_dropped: links.iter().map(|link| link.dropped).sum(),
        links,
    })
}

/// Writes the flows in the order of their numbers: those of each kind are in that order.
fn write_flows(network: &Network, tables: &mut Tables) -> Result<(), SimError> {
    let measured = Measured::of(&network.core, &network.links);
    let kinds = network.endpoints.kinds();
    let mut places = kinds.map(|_| 0);
    let next = |places: &[usize]| {
        let ids = kinds.iter().zip(places).enumerate();
        ids.filter_map(|(kind, (flows, &place))| Some((flows.id(place)?, kind))).min()
    };
    while let Some((_, kind)) = next(&places) {
        if let Some(row) = kinds[kind].totals(places[kind], &measured) {
            tables.flows.push(row)?;
        }
        places[kind] += 1;
    }
    Ok(())
}

fn write_latency(network: &mut Network, tables: &mut Tables) -> Result<(), SimError> {
    let Some(latency) = network.core.sink.latency.take() else { return Ok(()) };
    latency.write(tables).map_err(SimError::from)
}

pub(crate) fn link_row(state: &mut LinkState, warm_up: Instant, end: Instant) -> LinkRow {
    let capacity_bits = state.link.capacity_bits(warm_up, end);
    let span_s = end.since(warm_up).as_secs_f64();
    let delays = &state.notes.delays;
    let percentile = |q: f64| delays.percentile(q).map(Duration::as_secs_f64);
    let classed = state.notes.classed;
    let (counts, occupancy) = state.link.measured(end);
    let reached = counts.arrivals - counts.medium_losses;
    let within = classed.then_some(counts.within);
    let beyond = classed.then(|| counts.beyond());
    LinkRow {
        link: state.notes.name.clone(),
        rate_bps: capacity_bits / span_s,
        arrivals_packets: counts.arrivals,
        arrivals_bytes: counts.arrivals_bytes,
        dropped_packets: counts.dropped,
        medium_losses_packets: counts.medium_losses,
        marked_packets: counts.marked,
        forwarded_packets: counts.forwarded,
        forwarded_bytes: counts.forwarded_bytes,
        // A packet counts when its last bit leaves, the first one whole: up to a packet too many.
        utilisation: (counts.forwarded_bytes as f64 * 8.0 / capacity_bits.max(f64::MIN_POSITIVE)).min(1.0),
        loss_rate: (counts.arrivals > 0)
            .then(|| (counts.dropped + counts.medium_losses) as f64 / counts.arrivals as f64),
        mean_queue_packets: occupancy.mean().unwrap_or(0.0),
        sd_queue_packets: occupancy.standard_deviation().unwrap_or(0.0),
        max_queue_packets: occupancy.max(),
        mean_queue_at_arrival_packets: (reached > 0).then(|| counts.waiting_found as f64 / reached as f64),
        mean_queueing_delay_s: delays.mean_s(),
        queueing_delay_p50_s: percentile(0.5),
        queueing_delay_p90_s: percentile(0.9),
        queueing_delay_p95_s: percentile(0.95),
        queueing_delay_p99_s: percentile(0.99),
        queueing_delay_p999_s: percentile(0.999),
        max_queueing_delay_s: delays.max().map(Duration::as_secs_f64),
        arrivals_in_packets: within.map(|class| class.arrivals),
        arrivals_out_packets: beyond.map(|class| class.arrivals),
        dropped_in_packets: within.map(|class| class.dropped),
        dropped_out_packets: beyond.map(|class| class.dropped),
        medium_losses_in_packets: within.map(|class| class.medium_losses),
        medium_losses_out_packets: beyond.map(|class| class.medium_losses),
        forwarded_in_packets: within.map(|class| class.forwarded),
        forwarded_out_packets: beyond.map(|class| class.forwarded),
    }
}

#[cfg(test)]
mod tests;
