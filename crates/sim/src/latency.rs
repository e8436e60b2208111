//! The times of packets from end to end, and of round trips, as a flow sees them.
//!
//! The one-way delay of a packet runs from its sending (the access link is part of it) to its arrival at the receiver, of each
//! packet that carries data and arrives after the warm-up, sent again or not. Round-trip times are the samples that the
//! sender takes (RFC 7323 §4). Jitter is the mean of |D(i-1, i)|, the difference between the delays of packets that
//! arrive one after another in a flow (RFC 3550 §6.4.1, eq. for D); RFC 3550's own J follows the same differences with a
//! gain of 1/16, so it tells of the last packets only.

use parshall_records::{DelayHistogram, GroupRow, LatencyHistogramRow, RecordsError, Tables};
use parshall_units::Duration;
use std::sync::Arc;

/// Flows that have histograms of their own: with more, the memory for them would be more than that of the flows.
const MOST_FLOWS: u64 = 1000;

/// The measured delays of all flows.
#[derive(Debug)]
pub(crate) struct Latency {
    groups: Vec<(Arc<str>, Jitter)>,
    /// The delays of each group's packets; then those of single flows, if they are few.
    histograms: Vec<Histograms>,
    /// True if the flows are so few that each has its own.
    by_flow: bool,
    /// By the flows' numbers in the records.
    flows: Vec<FlowLatency>,
}

/// Delays by their size.
#[derive(Debug, Default)]
struct Histograms {
    one_way: DelayHistogram,
    round_trip: DelayHistogram,
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
    group: u32,
    /// Which histograms its delays are counted in.
    histograms: u32,
}

/// The delays that half, 95 % and 99 % of them did not exceed, s; `None` without any.
pub(crate) type Percentiles = [Option<f64>; 3];

fn percentiles(histogram: &DelayHistogram) -> Percentiles {
    [0.5, 0.95, 0.99].map(|q| histogram.percentile(q).map(Duration::as_secs_f64))
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
    /// Of a flow that is not measured apart from its group's others.
    fn of_group(group: u32) -> Self {
        Self { group, histograms: group, ..Self::default() }
    }

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
    /// For groups of these names, in the order of the scenario, with `flows` flows in all.
    pub(crate) fn of_groups<'a>(names: impl Iterator<Item = &'a str>, flows: u64) -> Self {
        let groups: Vec<_> = names.map(|name| (name.into(), Jitter::default())).collect();
        let histograms = groups.iter().map(|_| Histograms::default()).collect();
        let by_flow = flows <= MOST_FLOWS;
        Self { groups, histograms, by_flow, flows: Vec::new() }
    }

    /// The next flow, which the scenario declares, is of this group: it is measured apart from the others, if the flows are few.
    pub(crate) fn add(&mut self, group: u32) {
        if !self.by_flow {
            return self.add_to_group(group);
        }
        let histograms = self.histograms.len() as u32;
        self.histograms.push(Histograms::default());
        self.flows.push(FlowLatency { group, histograms, ..FlowLatency::default() });
    }

    /// The next flow is of this group, and is not measured apart.
    pub(crate) fn add_to_group(&mut self, group: u32) {
        self.flows.push(FlowLatency::of_group(group));
    }

    /// Returns the measured delays of a flow.
    pub(crate) fn of(&self, flow: u32) -> &FlowLatency {
        &self.flows[flow as usize]
    }

    /// A packet of a flow took `delay` to its receiver.
    #[inline]
    pub(crate) fn arrived(&mut self, flow: u32, delay: Duration) {
        let flow = &mut self.flows[flow as usize];
        flow.arrived(delay);
        self.histograms[flow.histograms as usize].one_way.record(delay);
    }

    /// The sender of a flow took an RTT sample.
    #[inline]
    pub(crate) fn round_trip(&mut self, flow: u32, rtt: Duration) {
        self.histograms[self.flows[flow as usize].histograms as usize].round_trip.record(rtt);
    }

    /// Percentiles of a flow's one-way delays and of its RTT samples; none if it was not measured apart.
    pub(crate) fn percentiles(&self, flow: &FlowLatency) -> (Percentiles, Percentiles) {
        if flow.histograms == flow.group {
            return Default::default();
        }
        let Histograms { one_way, round_trip } = &self.histograms[flow.histograms as usize];
        (percentiles(one_way), percentiles(round_trip))
    }

    /// Writes a row a group, and the buckets of both histograms.
    pub(crate) fn write(mut self, tables: &mut Tables) -> Result<(), RecordsError> {
        self.join_flows();
        for ((name, jitter), histograms) in self.groups.iter().zip(&self.histograms) {
            tables.groups.push(group_row(name, *jitter, histograms))?;
            let Histograms { one_way, round_trip } = histograms;
            for (measure, histogram) in [("one_way_delay", one_way), ("rtt", round_trip)] {
                let measure: Arc<str> = measure.into();
                for (low, high, count) in histogram.buckets() {
                    tables.latency_histogram.push(LatencyHistogramRow {
                        group: name.clone(),
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

    /// What was measured of single flows belongs to their groups, too.
    fn join_flows(&mut self) {
        let (of_groups, of_flows) = self.histograms.split_at_mut(self.groups.len());
        for flow in &self.flows {
            let (sum, more) = (&mut self.groups[flow.group as usize].1, flow.jitter());
            sum.sum_ps += more.sum_ps;
            sum.differences += more.differences;
            if let Some(own) = (flow.histograms as usize).checked_sub(of_groups.len()) {
                let group = &mut of_groups[flow.group as usize];
                group.one_way.merge(&of_flows[own].one_way);
                group.round_trip.merge(&of_flows[own].round_trip);
            }
        }
    }
}

fn group_row(name: &Arc<str>, jitter: Jitter, Histograms { one_way, round_trip }: &Histograms) -> GroupRow {
    let [one_way_delay_p50_s, one_way_delay_p95_s, one_way_delay_p99_s] = percentiles(one_way);
    let [rtt_p50_s, rtt_p95_s, rtt_p99_s] = percentiles(round_trip);
    GroupRow {
        group: name.clone(),
        packets: one_way.count(),
        mean_one_way_delay_s: one_way.mean_s(),
        min_one_way_delay_s: one_way.min().map(Duration::as_secs_f64),
        one_way_delay_p50_s,
        one_way_delay_p95_s,
        one_way_delay_p99_s,
        max_one_way_delay_s: one_way.max().map(Duration::as_secs_f64),
        jitter_s: jitter.mean_s(),
        rtt_samples: round_trip.count(),
        mean_rtt_s: round_trip.mean_s(),
        rtt_p50_s,
        rtt_p95_s,
        rtt_p99_s,
        max_rtt_s: round_trip.max().map(Duration::as_secs_f64),
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

    /// Two flows of datagrams among `flows` flows, with delays of 10, 20, 10, 20 and of 30, 30 ms.
    fn two_flows(flows: u64) -> Latency {
        let mut latency = Latency::of_groups(["calls"].into_iter(), flows);
        for (flow, delays) in [(0, vec![10, 20, 10, 20]), (1, vec![30, 30])] {
            latency.add(0);
            for delay in delays {
                latency.arrived(flow, Duration::from_millis(delay));
            }
        }
        latency
    }

    #[test]
    fn a_group_weighs_its_flows_by_their_packets_measured_apart_or_not() {
        for flows in [2, MOST_FLOWS + 1] {
            let mut latency = two_flows(flows);
            latency.join_flows();
            let row = group_row(&latency.groups[0].0, latency.groups[0].1, &latency.histograms[0]);
            assert_eq!(
                (row.packets, row.mean_one_way_delay_s, row.max_one_way_delay_s),
                (6, Some(0.02), Some(0.03))
            );
            assert!((row.jitter_s.unwrap() - 0.0075).abs() < 1e-15, "(10 + 10 + 10 + 0) / 4 ms");
            assert_eq!((row.rtt_samples, row.rtt_p99_s), (0, None));
        }
    }

    #[test]
    fn few_flows_have_percentiles_of_their_own() {
        let few = two_flows(2);
        let (one_way, round_trip) = few.percentiles(few.of(0));
        let milliseconds = one_way.map(|found| (found.unwrap() * 1e3).round());
        assert_eq!((milliseconds, round_trip), ([10.0, 20.0, 20.0], [None; 3]));
        let many = two_flows(MOST_FLOWS + 1);
        assert_eq!(many.percentiles(many.of(0)), ([None; 3], [None; 3]));
    }
}
