//! Samples of a link, in bins.

use super::write_internals;
use crate::recorder::Recorder;
use crate::series::{join_neighbours, last_factor};
use parshall_net::link::{ClassCounts, Counts, Link};
use parshall_records::{DelayHistogram, LinkSampleRow};
use parshall_units::{Duration, Instant};
use std::sync::Arc;

/// Samples one link.
#[derive(Debug)]
pub(crate) struct LinkProbe {
    pub(crate) name: Arc<str>,
    /// True if the classes of packets are counted apart: the queue does, or a marked flow crosses the link.
    pub(crate) classed: bool,
    /// Waiting times since the warm-up.
    pub(crate) delays: DelayHistogram,
    /// Where the bin under way began, and the link's counts there.
    bin_start: Instant,
    counts: Counts,
    packet_seconds: f64,
    /// Sum of the waits, ps.
    waited: f64,
    waited_packets: u64,
    /// Bins that are kept until it is known how many there are.
    kept: Vec<LinkBin>,
    /// True if the inner variables of the queue are recorded with the bins.
    internals: bool,
}

/// The activity of a link in an interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkBin {
    start: Instant,
    width_s: f64,
    arrivals: u64,
    dropped: u64,
    forwarded_bytes: u64,
    /// Bits that could have been transmitted.
    capacity_bits: f64,
    packet_seconds: f64,
    waited_ps: f64,
    waited_packets: u64,
    /// Arrivals and drops of packets within their flow's profile, and of the others, if they are counted apart.
    classes: Option<[(u64, u64); 2]>,
    /// Inner variables of the queue when it ended.
    variables: Vec<(&'static str, f64)>,
}

impl LinkBin {
    /// Together with the bin after it.
    fn join(&mut self, next: &Self) {
        self.width_s += next.width_s;
        self.arrivals += next.arrivals;
        self.dropped += next.dropped;
        self.forwarded_bytes += next.forwarded_bytes;
        self.capacity_bits += next.capacity_bits;
        self.packet_seconds += next.packet_seconds;
        self.waited_ps += next.waited_ps;
        self.waited_packets += next.waited_packets;
        self.variables.clone_from(&next.variables);
        for (class, more) in self.classes.iter_mut().flatten().zip(next.classes.iter().flatten()) {
            class.0 += more.0;
            class.1 += more.1;
        }
    }

    fn write(&self, recorder: &mut Recorder, name: &Arc<str>) {
        recorder.record(|tables| tables.link_samples.push(self.row(name)));
        let end_s = self.start.as_secs_f64() + self.width_s;
        write_internals(recorder, name, None, end_s, &self.variables);
    }

    fn row(&self, name: &Arc<str>) -> LinkSampleRow {
        let [within, beyond] = self.classes.map_or([None; 2], |classes| classes.map(Some));
        LinkSampleRow {
            link: name.clone(),
            time_s: self.start.as_secs_f64(),
            bin_s: self.width_s,
            arrivals_packets: self.arrivals,
            dropped_packets: self.dropped,
            forwarded_bytes: self.forwarded_bytes,
            rate_bps: self.capacity_bits / self.width_s,
            mean_queue_packets: self.packet_seconds / self.width_s,
            mean_queueing_delay_s: (self.waited_packets > 0)
                .then(|| self.waited_ps / self.waited_packets as f64 / 1e12),
            arrivals_in_packets: within.map(|class| class.0),
            arrivals_out_packets: beyond.map(|class| class.0),
            dropped_in_packets: within.map(|class| class.1),
            dropped_out_packets: beyond.map(|class| class.1),
        }
    }
}

impl LinkProbe {
    /// `internals`: whether the inner variables of the queue are recorded with the bins.
    pub(crate) fn new(name: Arc<str>, classed: bool, internals: bool) -> Self {
        Self {
            name,
            classed,
            delays: DelayHistogram::new(),
            bin_start: Instant::ZERO,
            counts: Counts::default(),
            packet_seconds: 0.0,
            waited: 0.0,
            waited_packets: 0,
            kept: Vec::new(),
            internals,
        }
    }

    /// An accepted packet waits.
    #[inline]
    pub(crate) fn waited(&mut self, waiting: Duration, measured: bool) {
        if measured {
            self.delays.record(waiting);
        }
        self.waited += waiting.as_ps_f64();
        self.waited_packets += 1;
    }

    /// The link's counts restart at the end of the warm-up, and so do its delays.
    pub(crate) fn restart(&mut self) {
        self.delays = DelayHistogram::new();
        self.counts = Counts::default();
        self.packet_seconds = 0.0;
    }

    /// A bin ends at `now` and is written.
    pub(crate) fn write_bin(&mut self, recorder: &mut Recorder, link: &mut Link, now: Instant) {
        if let Some(bin) = self.bin(link, now) {
            bin.write(recorder, &self.name);
        }
    }

    /// A bin ends at `now` and is kept; how many there are.
    pub(crate) fn keep_bin(&mut self, link: &mut Link, now: Instant) -> usize {
        let bin = self.bin(link, now);
        self.kept.extend(bin);
        self.kept.len()
    }

    /// Joins every `factor` of the bins that are kept.
    pub(crate) fn join_bins(&mut self, factor: usize) {
        join_neighbours(&mut self.kept, factor, LinkBin::join);
    }

    /// The simulation ended: writes the bins that were kept.
    pub(crate) fn write_kept(&mut self, recorder: &mut Recorder) {
        self.join_bins(last_factor(self.kept.len()));
        for bin in std::mem::take(&mut self.kept) {
            bin.write(recorder, &self.name);
        }
    }

    /// What happened since the last bin. (The one in which the warm-up ends holds only what came after.)
    fn bin(&mut self, link: &mut Link, now: Instant) -> Option<LinkBin> {
        let width_s = now.since(self.bin_start).as_secs_f64();
        if width_s <= 0.0 {
            return None;
        }
        let capacity_bits = link.capacity_bits(self.bin_start, now);
        let mut variables = Vec::new();
        if self.internals {
            link.read_variables(&mut |name, value| variables.push((name, value)));
        }
        let (counts, occupancy) = link.measured(now);
        let packet_seconds = occupancy.packet_seconds();
        let of_class = |now: ClassCounts, before: ClassCounts| {
            let dropped = now.dropped + now.medium_losses - before.dropped - before.medium_losses;
            (now.arrivals - before.arrivals, dropped)
        };
        let bin = LinkBin {
            start: self.bin_start,
            width_s,
            arrivals: counts.arrivals - self.counts.arrivals,
            dropped: counts.dropped + counts.medium_losses - self.counts.dropped - self.counts.medium_losses,
            forwarded_bytes: counts.forwarded_bytes - self.counts.forwarded_bytes,
            capacity_bits,
            packet_seconds: (packet_seconds - self.packet_seconds).max(0.0),
            waited_ps: self.waited,
            waited_packets: self.waited_packets,
            classes: self.classed.then(|| {
                [of_class(counts.within, self.counts.within), of_class(counts.beyond(), self.counts.beyond())]
            }),
            variables,
        };
        self.counts = counts.clone();
        self.packet_seconds = packet_seconds;
        (self.waited, self.waited_packets) = (0.0, 0);
        self.bin_start = now;
        Some(bin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bins() -> impl Strategy<Value = Vec<LinkBin>> {
        let bin = (0u64..100, 0u64..10, 0u64..100_000, 0u32..1000, 0u32..1000).prop_map(
            |(arrivals, dropped, forwarded_bytes, queue, waited)| LinkBin {
                start: Instant::ZERO,
                width_s: 1.0,
                arrivals,
                dropped,
                forwarded_bytes,
                capacity_bits: 2.0 * forwarded_bytes as f64,
                packet_seconds: f64::from(queue),
                waited_ps: f64::from(waited) * 1e6,
                waited_packets: arrivals,
                classes: Some([(arrivals, dropped), (arrivals / 2, 0)]),
                variables: vec![("average", f64::from(queue))],
            },
        );
        prop::collection::vec(bin, 1..50)
    }

    fn sum(bins: &[LinkBin]) -> LinkBin {
        let (first, rest) = bins.split_first().unwrap();
        rest.iter().fold(first.clone(), |mut sum, next| {
            sum.join(next);
            sum
        })
    }

    proptest! {
        #[test]
        fn joined_bins_hold_what_their_parts_held(bins in bins(), factor in prop::sample::select(vec![1, 2, 5])) {
            let mut probe = LinkProbe::new("link".into(), false, false);
            probe.kept.clone_from(&bins);
            probe.join_bins(factor);
            prop_assert_eq!(probe.kept.len(), bins.len().div_ceil(factor));
            prop_assert_eq!(sum(&probe.kept), sum(&bins)); // whole numbers: sums are exact
            let counts = |bins: &[LinkBin]| {
                bins.iter().fold([0; 6], |sum, bin| {
                    let [within, beyond] = bin.classes.unwrap();
                    let [a, b, c, d, e, f] = sum;
                    let [g, h] = [within.0 + beyond.0, within.1 + beyond.1];
                    let bytes = bin.forwarded_bytes;
                    [a + bin.arrivals, b + bin.dropped, c + bytes, d + bin.waited_packets, e + g, f + h]
                })
            };
            prop_assert_eq!(counts(&probe.kept), counts(&bins));
            let last = |bins: &[LinkBin]| bins.last().unwrap().variables.clone();
            prop_assert_eq!(last(&probe.kept), last(&bins));
            let mean = |bins: &[LinkBin]| {
                let rows = bins.iter().map(|bin| bin.row(&"link".into()));
                rows.map(|row| row.mean_queue_packets * row.bin_s).sum::<f64>()
            };
            prop_assert!((mean(&probe.kept) - mean(&bins)).abs() <= 1e-9 * mean(&bins));
        }
    }
}
