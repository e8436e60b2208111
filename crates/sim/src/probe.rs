//! What is sampled while a simulation runs. Entities without a probe pay one test for a null pointer.

use crate::feedback::Feedback;
use crate::shared::Core;
use parshall_congestion::CongestionControl;
use parshall_net::link::{ClassCounts, Counts, Link};
use parshall_records::{DelayHistogram, FlowSampleRow, LinkSampleRow, RoundRow};
use parshall_tcp::{Sender, Statistics};
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// Samples one flow.
#[derive(Debug, Default)]
pub(crate) struct FlowProbe {
    samples: Option<Samples>,
    rounds: Option<Rounds>,
    /// Retransmissions before the warm-up ended.
    retransmissions_before: u64,
}

#[derive(Debug)]
struct Samples {
    interval: Duration,
    next: Instant,
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
    pub(crate) fn new(interval: Option<Duration>, rounds: bool) -> Self {
        Self {
            samples: interval.map(|interval| Samples { interval, next: Instant::ZERO }),
            rounds: rounds.then(Rounds::default),
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
        while samples.next < until {
            let ssthresh = sender.control().ssthresh();
            let row = FlowSampleRow {
                flow,
                time_s: samples.next.as_secs_f64(),
                cwnd_packets: Some(sender.control().window()),
                rate_pps: sender.control().pacing_rate(),
                ssthresh_packets: ssthresh.is_finite().then_some(ssthresh),
                in_flight_packets: Some(sender.flight()),
                srtt_s: sender.srtt().map(Duration::as_secs_f64),
                delivered_bytes: Some(delivered),
                retransmissions: Some(self.retransmissions_before + sender.statistics.retransmissions),
                largest_slope: sender.control().largest_slope(),
            };
            core.record(|tables| tables.flow_samples.push(row));
            samples.next += samples.interval;
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

    /// The simulation ended: the rounds that are complete are written, the one under way is not.
    pub(crate) fn end_rounds(&mut self, core: &mut Core, flow: u32) {
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
    interval: Duration,
    next: Instant,
    /// Payload that arrived, bytes, and that of samples that are not written yet.
    delivered: u64,
    noted: VecDeque<(Instant, u64)>,
}

impl DatagramProbe {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, next: Instant::ZERO, delivered: 0, noted: VecDeque::new() }
    }

    /// Payload arrives `at`.
    pub(crate) fn arrive(&mut self, at: Instant, payload: u64) {
        while self.next < at {
            self.noted.push_back((self.next, self.delivered));
            self.next += self.interval;
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
                largest_slope: feedback.control().largest_slope(),
            };
            core.record(|tables| tables.flow_samples.push(row));
        }
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
}

impl LinkProbe {
    pub(crate) fn new() -> Self {
        Self {
            delays: DelayHistogram::new(),
            bin_start: Instant::ZERO,
            counts: Counts::default(),
            packet_seconds: 0.0,
            waited: 0.0,
            waited_packets: 0,
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

    /// A bin ends at `now`. (The bin in which the warm-up ends holds only what came after.) `classed`: whether the
    /// classes of packets are counted apart.
    pub(crate) fn end_bin(
        &mut self,
        core: &mut Core,
        name: &Arc<str>,
        classed: bool,
        link: &mut Link,
        now: Instant,
    ) {
        let width = now.since(self.bin_start).as_secs_f64();
        if width <= 0.0 {
            return;
        }
        let (counts, occupancy) = link.measured(now);
        let packet_seconds = occupancy.packet_seconds();
        let waited = self.waited_packets;
        let within = classed.then_some((counts.within, self.counts.within));
        let beyond = classed.then(|| (counts.beyond(), self.counts.beyond()));
        let arrivals = |(now, before): (ClassCounts, ClassCounts)| now.arrivals - before.arrivals;
        let dropped = |(now, before): (ClassCounts, ClassCounts)| {
            now.dropped + now.medium_losses - before.dropped - before.medium_losses
        };
        let row = LinkSampleRow {
            link: name.clone(),
            time_s: self.bin_start.as_secs_f64(),
            bin_s: width,
            arrivals_packets: counts.arrivals - self.counts.arrivals,
            dropped_packets: counts.dropped + counts.medium_losses
                - self.counts.dropped
                - self.counts.medium_losses,
            forwarded_bytes: counts.forwarded_bytes - self.counts.forwarded_bytes,
            mean_queue_packets: (packet_seconds - self.packet_seconds).max(0.0) / width,
            mean_queueing_delay_s: (waited > 0).then(|| self.waited / waited as f64 / 1e12),
            arrivals_in_packets: within.map(arrivals),
            arrivals_out_packets: beyond.map(arrivals),
            dropped_in_packets: within.map(dropped),
            dropped_out_packets: beyond.map(dropped),
        };
        self.counts = counts.clone();
        self.packet_seconds = packet_seconds;
        (self.waited, self.waited_packets) = (0.0, 0);
        self.bin_start = now;
        core.record(|tables| tables.link_samples.push(row));
    }
}
