//! The common reference of the totals of all flows.

use crate::edge::Edge;
use crate::latency::{FlowLatency, Latency};
use crate::shared::{Core, LinkState};
use parshall_engine::path_delay;
use parshall_records::FlowRow;
use parshall_units::{Duration, Instant};

/// The reference of the totals of flows.
pub(crate) struct Measured<'a> {
    links: &'a [LinkState],
    latency: Option<&'a Latency>,
    end: Instant,
    /// From the end of the warm-up to the end.
    span_s: f64,
}

impl<'a> Measured<'a> {
    pub(crate) fn of(core: &'a Core, links: &'a [LinkState]) -> Self {
        Self {
            links,
            latency: core.sink.latency.as_deref(),
            end: core.end,
            span_s: core.end.since(core.warm_up).as_secs_f64(),
        }
    }

    /// Propagation delay of the links of a path.
    pub(crate) fn path_delay(&self, path: &[u32]) -> Duration {
        path_delay(self.links, path)
    }

    pub(crate) fn started_s(&self, started: Instant) -> f64 {
        started.min(self.end).as_secs_f64()
    }

    /// The rate of so many bytes.
    pub(crate) fn rate_bps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / self.span_s
    }

    /// Returns the values of every flow: the fate of its packets by class, if it has a marker, and their delays, if they were
    /// measured.
    pub(crate) fn common_row(&self, flow: u32, edge: Option<&Edge>) -> FlowRow {
        let (within, beyond) = (edge.map(|edge| edge.within), edge.map(|edge| edge.beyond));
        let latency = self.latency.map(|all| all.of(flow));
        let (one_way, round_trip) = self.latency.map(|all| all.percentiles(all.of(flow))).unwrap_or_default();
        FlowRow {
            rtt_p50_s: round_trip[0],
            rtt_p95_s: round_trip[1],
            rtt_p99_s: round_trip[2],
            mean_one_way_delay_s: latency.and_then(FlowLatency::mean_s),
            one_way_delay_p50_s: one_way[0],
            one_way_delay_p95_s: one_way[1],
            one_way_delay_p99_s: one_way[2],
            max_one_way_delay_s: latency.and_then(FlowLatency::max_s),
            jitter_s: latency.and_then(FlowLatency::jitter_s),
            sent_in_packets: within.map(|class| class.sent),
            sent_out_packets: beyond.map(|class| class.sent),
            dropped_in_packets: within.map(|class| class.dropped),
            dropped_out_packets: beyond.map(|class| class.dropped),
            delivered_in_packets: within.map(|class| class.delivered),
            delivered_out_packets: beyond.map(|class| class.delivered),
            ..FlowRow::default()
        }
    }
}
