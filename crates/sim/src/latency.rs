//! How long packets are under way from end to end, and how long round trips take, as a flow sees it.
//!
//! The one-way delay of a packet runs from its sending (the access link is part of it) to its arrival at the receiver, of each
//! packet that carries data and arrives after the warm-up, sent again or not. Round-trip times are the samples that the
//! sender takes (RFC 7323 §4). Jitter is the mean of |D(i-1, i)|, the difference between the delays of packets that
//! arrive one after another in a flow (RFC 3550 §6.4.1, eq. for D); RFC 3550's own J follows the same differences with a
//! gain of 1/16, so it tells of the last packets only.

use parshall_records::{DelayHistogram, GroupRow, LatencyHistogramRow, RecordsError, Tables};
use parshall_units::Duration;
use std::sync::Arc;

/// What was measured of all flows.
#[derive(Debug)]
pub(crate) struct Latency {
    groups: Vec<GroupLatency>,
    /// By the number of the flow among those of TCP, and among those of datagrams.
    pub(crate) tcp: Vec<FlowLatency>,
    pub(crate) datagrams: Vec<FlowLatency>,
}

/// The delays of a group's packets, by their size.
#[derive(Debug)]
struct GroupLatency {
    name: Arc<str>,
    one_way: DelayHistogram,
    round_trip: DelayHistogram,
    jitter: Jitter,
}

/// The delays of a flow's packets. One cache line.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowLatency {
    packets: u64,
    sum_ps: f64,
    max: Duration,
    last: Duration,
    /// Sum of the differences between neighbours, ps.
    variation_ps: f64,
}

/// Differences between delays that follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Jitter {
    sum_ps: f64,
    differences: u64,
}

impl Jitter {
    fn mean_s(self) -> Option<f64> {
        (self.differences > 0).then(|| self.sum_ps / self.differences as f64 / 1e12)
    }
}

impl FlowLatency {
    #[inline]
    fn arrived(&mut self, delay: Duration) {
        if self.packets > 0 {
            self.variation_ps += delay.as_ps().abs_diff(self.last.as_ps()) as f64;
        }
        self.packets += 1;
        self.sum_ps += delay.as_ps_f64();
        self.max = self.max.max(delay);
        self.last = delay;
    }

    fn jitter(&self) -> Jitter {
        Jitter { sum_ps: self.variation_ps, differences: self.packets.saturating_sub(1) }
    }

    /// Mean one-way delay; `None` if no packet arrived, as for all.
    pub(crate) fn mean_s(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum_ps / self.packets as f64 / 1e12)
    }

    /// Longest one-way delay.
    pub(crate) fn max_s(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.max.as_secs_f64())
    }

    /// Mean difference between the delays of neighbours; `None` of one packet, too.
    pub(crate) fn jitter_s(&self) -> Option<f64> {
        self.jitter().mean_s()
    }
}

impl Latency {
    /// For groups of these names, in the order of the scenario.
    pub(crate) fn of_groups<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let groups = names.map(|name| GroupLatency {
            name: name.into(),
            one_way: DelayHistogram::new(),
            round_trip: DelayHistogram::new(),
            jitter: Jitter::default(),
        });
        Self { groups: groups.collect(), tcp: Vec::new(), datagrams: Vec::new() }
    }

    /// A packet of a TCP flow took `delay` to its receiver.
    #[inline]
    pub(crate) fn tcp_arrived(&mut self, group: u32, flow: u32, delay: Duration) {
        self.groups[group as usize].one_way.record(delay);
        self.tcp[flow as usize].arrived(delay);
    }

    /// A datagram took `delay` to its receiver.
    #[inline]
    pub(crate) fn datagram_arrived(&mut self, group: u32, flow: u32, delay: Duration) {
        self.groups[group as usize].one_way.record(delay);
        self.datagrams[flow as usize].arrived(delay);
    }

    /// A sender took an RTT sample.
    #[inline]
    pub(crate) fn round_trip(&mut self, group: u32, rtt: Duration) {
        self.groups[group as usize].round_trip.record(rtt);
    }

    /// Adds the differences of a flow's delays to those of its group, when all is over.
    pub(crate) fn join(&mut self, group: u32, flow: &FlowLatency) {
        let (sum, more) = (&mut self.groups[group as usize].jitter, flow.jitter());
        sum.sum_ps += more.sum_ps;
        sum.differences += more.differences;
    }

    /// Writes a row a group, and the buckets of both histograms.
    pub(crate) fn write(&self, tables: &mut Tables) -> Result<(), RecordsError> {
        for group in &self.groups {
            tables.groups.push(group.row())?;
            for (measure, histogram) in [("one_way_delay", &group.one_way), ("rtt", &group.round_trip)] {
                let measure: Arc<str> = measure.into();
                for (low, high, count) in histogram.buckets() {
                    tables.latency_histogram.push(LatencyHistogramRow {
                        group: group.name.clone(),
                        measure: measure.clone(),
                        low_s: low.as_secs_f64(),
                        high_s: high.as_secs_f64(),
                        samples: count,
                    })?;
                }
            }
        }
        Ok(())
    }
}

impl GroupLatency {
    fn row(&self) -> GroupRow {
        let one_way = |q: f64| self.one_way.percentile(q).map(Duration::as_secs_f64);
        let round_trip = |q: f64| self.round_trip.percentile(q).map(Duration::as_secs_f64);
        GroupRow {
            group: self.name.clone(),
            packets: self.one_way.count(),
            mean_one_way_delay_s: self.one_way.mean_s(),
            min_one_way_delay_s: self.one_way.min().map(Duration::as_secs_f64),
            one_way_delay_p50_s: one_way(0.5),
            one_way_delay_p95_s: one_way(0.95),
            one_way_delay_p99_s: one_way(0.99),
            max_one_way_delay_s: self.one_way.max().map(Duration::as_secs_f64),
            jitter_s: self.jitter.mean_s(),
            rtt_samples: self.round_trip.count(),
            mean_rtt_s: self.round_trip.mean_s(),
            rtt_p50_s: round_trip(0.5),
            rtt_p95_s: round_trip(0.95),
            rtt_p99_s: round_trip(0.99),
            max_rtt_s: self.round_trip.max().map(Duration::as_secs_f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_the_mean_difference_between_neighbours() {
        let mut flow = FlowLatency::default();
        assert_eq!((flow.mean_s(), flow.max_s(), flow.jitter_s()), (None, None, None));
        flow.arrived(Duration::from_millis(10));
        assert_eq!(flow.jitter_s(), None, "one packet differs from none");
        flow.arrived(Duration::from_millis(14));
        flow.arrived(Duration::from_millis(12));
        assert_eq!((flow.mean_s(), flow.max_s()), (Some(0.012), Some(0.014)));
        assert!((flow.jitter_s().unwrap() - 0.003).abs() < 1e-15, "(4 + 2) / 2 ms");
    }

    #[test]
    fn a_group_weighs_its_flows_by_their_packets() {
        let mut latency = Latency::of_groups(["calls"].into_iter());
        latency.datagrams = vec![FlowLatency::default(); 2];
        for (flow, delays) in [(0, vec![10, 20, 10, 20]), (1, vec![30, 30])] {
            for delay in delays {
                latency.datagram_arrived(0, flow, Duration::from_millis(delay));
            }
        }
        for flow in latency.datagrams.clone() {
            latency.join(0, &flow);
        }
        let row = latency.groups[0].row();
        assert_eq!(
            (row.packets, row.mean_one_way_delay_s, row.max_one_way_delay_s),
            (6, Some(0.02), Some(0.03))
        );
        assert!((row.jitter_s.unwrap() - 0.0075).abs() < 1e-15, "(10 + 10 + 10 + 0) / 4 ms");
        assert_eq!((row.rtt_samples, row.rtt_p99_s), (0, None));
    }
}
