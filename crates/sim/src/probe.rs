//! What is sampled while a simulation runs. Entities without a probe pay one test for a null pointer.

mod marker;

pub(crate) use marker::MarkerProbe;

use crate::feedback::Feedback;
use crate::series::{join_neighbours, last_factor, Interval, Sampled};
use crate::shared::Core;
use parshall_congestion::{CongestionControl, Control};
use parshall_net::link::{ClassCounts, Counts, Link};
use parshall_records::{DelayHistogram, FlowSampleRow, InternalRow, LinkSampleRow, RoundRow};
use parshall_tcp::{Sender, Statistics};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// Samples one flow.
#[derive(Debug, Default)]
pub(crate) struct FlowProbe {
    samples: Option<Samples>,
    rounds: Option<Rounds>,
    /// The flow's log, if it has one.
    pub(crate) log: Option<u32>,
    /// Retransmissions before the warm-up ended.
    retransmissions_before: u64,
}

/// The samples of a flow, and where they go.
#[derive(Debug)]
struct Samples {
    series: Sampled<FlowSample>,
    /// The flow's group, if the inner variables of its control are recorded too.
    internals: Option<Arc<str>>,
}

/// A sample, and the inner variables of the control then.
#[derive(Debug)]
struct FlowSample {
    row: FlowSampleRow,
    variables: Vec<(&'static str, f64)>,
}

impl Samples {
    fn new(interval: Interval, internals: Option<Arc<str>>) -> Self {
        Self { series: Sampled::new(interval), internals }
    }

    /// Takes the sample that was due.
    fn take(&mut self, core: &mut Core, row: FlowSampleRow, control: &Control) {
        let variables = self.internals.as_ref().map_or_else(Vec::new, |_| variables_of(control));
        if let Some(sample) = self.series.take(FlowSample { row, variables }) {
            sample.write(core, self.internals.as_ref());
        }
    }

    /// Writes what was kept.
    fn end(&mut self, core: &mut Core) {
        for sample in self.series.end(|_| true) {
            sample.write(core, self.internals.as_ref());
        }
    }
}

impl FlowSample {
    fn write(self, core: &mut Core, group: Option<&Arc<str>>) {
        let Self { row, variables } = self;
        let (flow, time_s) = (row.flow, row.time_s);
        core.record(|tables| tables.flow_samples.push(row));
        if let Some(group) = group {
            write_internals(core, group, Some(flow), time_s, &variables);
        }
    }
}

fn variables_of(control: &Control) -> Vec<(&'static str, f64)> {
    let mut variables = Vec::new();
    control.read_variables(&mut |name, value| variables.push((name, value)));
    variables
}

fn write_internals(
    core: &mut Core,
    owner: &Arc<str>,
    flow: Option<u32>,
    time_s: f64,
    variables: &[(&'static str, f64)],
) {
    for &(variable, value) in variables.iter().filter(|(_, value)| value.is_finite()) {
        let row = InternalRow { owner: owner.clone(), flow, time_s, variable: variable.into(), value };
        core.record(|tables| tables.internals.push(row));
    }
}

/// The round trips of a flow. A packet's fate is known within a round trip, so a round is written when the one after
/// it ends.
#[derive(Debug, Default)]
struct Rounds {
    index: u64,
    open: VecDeque<Round>,
    /// Packets sent before the round under way.
    sent_before: u64,
}

#[derive(Debug)]
struct Round {
    start: Instant,
    packets: u64,
    lost: bool,
}

impl FlowProbe {
    /// `internals`: the flow's group, if the inner variables of its control are recorded with its samples.
    pub(crate) fn new(interval: Option<Interval>, rounds: bool, internals: Option<Arc<str>>) -> Self {
        Self {
            samples: interval.map(|interval| Samples::new(interval, internals)),
            rounds: rounds.then(Rounds::default),
            log: None,
            retransmissions_before: 0,
        }
    }

    /// Writes the samples due before `until`; the flow has not changed since they were due.
    pub(crate) fn sample_until(
        &mut self,
        core: &mut Core,
        until: Instant,
        flow: u32,
        sender: &Sender,
        delivered: u64,
    ) {
        let Some(samples) = &mut self.samples else { return };
        while samples.series.next < until {
            let ssthresh = sender.control().ssthresh();
            let row = FlowSampleRow {
                flow,
                time_s: samples.series.next.as_secs_f64(),
                cwnd_packets: Some(sender.control().window()),
                rate_pps: sender.control().pacing_rate(),
                ssthresh_packets: ssthresh.is_finite().then_some(ssthresh),
                in_flight_packets: Some(sender.flight()),
                srtt_s: sender.srtt().map(Duration::as_secs_f64),
                delivered_bytes: Some(delivered),
                retransmissions: Some(self.retransmissions_before + sender.statistics().retransmissions),
                largest_slope: largest_slope(sender.control()),
            };
            samples.take(core, row, sender.control());
        }
    }

    /// A connection opens: its first round begins.
    pub(crate) fn begin_connection(&mut self, now: Instant, statistics: &Statistics) {
        if let Some(rounds) = &mut self.rounds {
            rounds.close(statistics);
            rounds.open.push_back(Round { start: now, packets: 0, lost: false });
        }
    }

    /// A round trip ended, and the next begins.
    pub(crate) fn end_round(&mut self, core: &mut Core, flow: u32, now: Instant, statistics: &Statistics) {
        let Some(rounds) = &mut self.rounds else { return };
        rounds.close(statistics);
        rounds.open.push_back(Round { start: now, packets: 0, lost: false });
        rounds.write(core, flow, 2);
    }

    /// The simulation ended: the samples are written, and the rounds that are complete; the one under way is not.
    pub(crate) fn end(&mut self, core: &mut Core, flow: u32) {
        if let Some(samples) = &mut self.samples {
            samples.end(core);
        }
        if let Some(rounds) = &mut self.rounds {
            rounds.write(core, flow, 1);
        }
    }

    /// A packet that was sent at `sent` is lost.
    pub(crate) fn mark_lost(&mut self, sent: Instant) {
        let Some(rounds) = &mut self.rounds else { return };
        if let Some(round) = rounds.open.iter_mut().rev().find(|round| round.start <= sent) {
            round.lost = true;
        }
    }

    /// The statistics are about to restart at the end of the warm-up.
    pub(crate) fn restart_counts(&mut self, statistics: &Statistics) {
        self.retransmissions_before += statistics.retransmissions;
        if let Some(rounds) = &mut self.rounds {
            rounds.sent_before = rounds.sent_before.wrapping_sub(data_packets(statistics));
        }
    }
}

/// A of the large time scale, if the control has one.
fn largest_slope(control: &Control) -> Option<f64> {
    let mut found = None;
    control.read_variables(&mut |name, value| {
        if name == "largest_slope" {
            found = Some(value);
        }
    });
    found
}

/// What belongs to windows.
fn data_packets(statistics: &Statistics) -> u64 {
    statistics.packets_sent - statistics.syns
}

impl Rounds {
    fn close(&mut self, statistics: &Statistics) {
        if let Some(round) = self.open.back_mut() {
            round.packets = data_packets(statistics).wrapping_sub(self.sent_before);
        }
        self.sent_before = data_packets(statistics);
    }

    /// Writes all but the last `keep` rounds.
    fn write(&mut self, core: &mut Core, flow: u32, keep: usize) {
        while self.open.len() > keep {
            let Some(round) = self.open.pop_front() else { return };
            let row = RoundRow {
                flow,
                round: self.index,
                start_s: round.start.as_secs_f64(),
                window_packets: u32::try_from(round.packets).unwrap_or(u32::MAX),
                lost: round.lost,
            };
            self.index += 1;
            core.record(|tables| tables.rounds.push(row));
        }
    }
}

/// Samples one flow of datagrams whose rate follows reports.
///
/// Receiver and sender are run at different moments of their time. What has arrived is noted as it arrives, and written
/// when the sender comes to that moment, with its rate of then.
#[derive(Debug)]
pub(crate) struct DatagramProbe {
    samples: Samples,
    /// When the next note is due at the receiver, which may be ahead of the sender's samples.
    next: Instant,
    /// Payload that arrived, bytes, and that of samples that are not taken yet.
    delivered: u64,
    noted: VecDeque<(Instant, u64)>,
}

impl DatagramProbe {
    /// `internals`: as of [`FlowProbe::new`].
    pub(crate) fn new(interval: Interval, internals: Option<Arc<str>>) -> Self {
        Self {
            samples: Samples::new(interval, internals),
            next: Instant::ZERO,
            delivered: 0,
            noted: VecDeque::new(),
        }
    }

    /// Payload arrives `at`.
    pub(crate) fn arrive(&mut self, at: Instant, payload: u64) {
        while self.next < at {
            self.noted.push_back((self.next, self.delivered));
            self.next += self.samples.series.interval;
        }
        self.delivered += payload;
    }

    /// The sender has been as it is since the last call, and all that arrived before `until` has been noted.
    pub(crate) fn sample_until(
        &mut self,
        core: &mut Core,
        until: Instant,
        (flow, started): (u32, Instant),
        feedback: &Feedback,
    ) {
        self.arrive(until, 0);
        while let Some(&(time, delivered)) = self.noted.front().filter(|(time, _)| *time < until) {
            self.noted.pop_front();
            if time < self.samples.series.next {
                continue; // noted before the samples became sparser
            }
            let row = FlowSampleRow {
                flow,
                time_s: time.as_secs_f64(),
                cwnd_packets: None,
                rate_pps: (time >= started).then(|| feedback.rate()),
                ssthresh_packets: None,
                in_flight_packets: None,
                srtt_s: feedback.srtt().map(Duration::as_secs_f64),
                delivered_bytes: Some(delivered),
                retransmissions: Some(0),
                largest_slope: largest_slope(feedback.control()),
            };
            self.samples.take(core, row, feedback.control());
        }
        self.next = self.next.max(self.samples.series.next);
    }

    /// The simulation ended.
    pub(crate) fn end(&mut self, core: &mut Core) {
        self.samples.end(core);
    }
}

/// Samples one link.
#[derive(Debug)]
pub(crate) struct LinkProbe {
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
    /// Whether the inner variables of the queue are recorded with the bins.
    internals: bool,
}

/// What a link did in an interval.
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

    fn write(&self, core: &mut Core, name: &Arc<str>) {
        core.record(|tables| tables.link_samples.push(self.row(name)));
        let end_s = self.start.as_secs_f64() + self.width_s;
        write_internals(core, name, None, end_s, &self.variables);
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
    pub(crate) fn new(internals: bool) -> Self {
        Self {
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

    /// A bin ends at `now` and is written. `classed`: whether the classes of packets are counted apart.
    pub(crate) fn write_bin(
        &mut self,
        core: &mut Core,
        name: &Arc<str>,
        classed: bool,
        link: &mut Link,
        now: Instant,
    ) {
        if let Some(bin) = self.bin(classed, link, now) {
            bin.write(core, name);
        }
    }

    /// A bin ends at `now` and is kept; how many there are.
    pub(crate) fn keep_bin(&mut self, classed: bool, link: &mut Link, now: Instant) -> usize {
        let bin = self.bin(classed, link, now);
        self.kept.extend(bin);
        self.kept.len()
    }

    /// Joins every `factor` of the bins that are kept.
    pub(crate) fn join_bins(&mut self, factor: usize) {
        join_neighbours(&mut self.kept, factor, LinkBin::join);
    }

    /// The simulation ended: writes the bins that were kept.
    pub(crate) fn write_kept(&mut self, core: &mut Core, name: &Arc<str>) {
        self.join_bins(last_factor(self.kept.len()));
        for bin in std::mem::take(&mut self.kept) {
            bin.write(core, name);
        }
    }

    /// What happened since the last bin. (The one in which the warm-up ends holds only what came after.)
    fn bin(&mut self, classed: bool, link: &mut Link, now: Instant) -> Option<LinkBin> {
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
            classes: classed.then(|| {
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
                variables: Vec::new(),
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
            let mut probe = LinkProbe::new(false);
            probe.kept.clone_from(&bins);
            probe.join_bins(factor);
            prop_assert_eq!(probe.kept.len(), bins.len().div_ceil(factor));
            prop_assert_eq!(sum(&probe.kept), sum(&bins)); // whole numbers: sums are exact
            let mean = |bins: &[LinkBin]| {
                let rows = bins.iter().map(|bin| bin.row(&"link".into()));
                rows.map(|row| row.mean_queue_packets * row.bin_s).sum::<f64>()
            };
            prop_assert!((mean(&probe.kept) - mean(&bins)).abs() <= 1e-9 * mean(&bins));
        }
    }
}
