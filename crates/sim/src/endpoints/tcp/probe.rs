//! The samples of a TCP flow while it runs.

use crate::probe::{largest_slope, Samples};
use crate::series::Interval;
use crate::shared::Core;
use parshall_congestion::CongestionControl;
use parshall_records::{FlowSampleRow, RoundRow};
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
        while samples.next() < until {
            let ssthresh = sender.control().ssthresh();
            let row = FlowSampleRow {
                flow,
                time_s: samples.next().as_secs_f64(),
                cwnd_packets: Some(sender.control().window()),
                rate_pps: sender.control().pacing_rate(),
                ssthresh_packets: ssthresh.is_finite().then_some(ssthresh),
                in_flight_packets: Some(sender.in_network()),
                srtt_s: sender.srtt().map(Duration::as_secs_f64),
                delivered_bytes: Some(delivered),
                retransmissions: Some(self.retransmissions_before + sender.statistics().retransmissions),
                largest_slope: largest_slope(sender.control()),
            };
            samples.take(&mut core.sink.recorder, row, sender.control());
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
            samples.end(&mut core.sink.recorder);
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
            core.sink.record(|tables| tables.rounds.push(row));
        }
    }
}
