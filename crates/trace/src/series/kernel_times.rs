//! The times that the sender's kernel itself counts: busy, and limited by the receiver's window or its own buffer.
//!
//! | counter of `struct tcp_info` (Linux since 4.10) | cause |
//! | --- | --- |
//! | time that passed, less `tcpi_busy_time` | application: nothing was under way |
//! | `tcpi_rwnd_limited` | receiver |
//! | `tcpi_sndbuf_limited` | sender |
//! | the rest of `tcpi_busy_time` | the congestion window: slow start below its threshold, else full queue where the smoothed RTT is above the least, random loss where data were sent again since the queue was there last, else the sender's control |

use super::flow::Sample;
use crate::limits::{Limit, LIMITS};
use parshall_records::{RecordsError, Tables, TraceLimitRow, TracePeriodRow};
use std::sync::Arc;

/// A smoothed round-trip time above the least one by this share, and by this time in seconds, is a queue.
const QUEUE_SHARE: f64 = 0.1;
const QUEUE_S: f64 = 1e-3;

/// The counters, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(clippy::struct_field_names)] // their unit
pub(super) struct Counters {
    pub(super) busy_s: f64,
    pub(super) receiver_s: f64,
    pub(super) buffer_s: f64,
}

/// A stretch of time that is mostly of one cause.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start_s: f64,
    end_s: f64,
    limit: Limit,
}

/// Attributes the time between the samples of a flow.
#[derive(Debug, Default)]
pub(super) struct KernelTimes {
    last: Option<(f64, Counters)>,
    totals: [f64; LIMITS],
    stretch: Option<Stretch>,
    retransmissions: f64,
    least_s: Option<f64>,
    random: bool,
}

impl KernelTimes {
    pub(super) fn push(
        &mut self,
        flow: u32,
        sample: &Sample,
        tables: &mut Tables,
    ) -> Result<(), RecordsError> {
        self.least_s = [self.least_s, sample.min_rtt_s, sample.srtt_s].into_iter().flatten().reduce(f64::min);
        let window = self.by_window(sample);
        let Some(now) = sample.counters else { return Ok(()) };
        let Some((at, before)) = self.last.replace((sample.time_s, now)) else { return Ok(()) };
        let passed = sample.time_s - at;
        let rise = |now: f64, before: f64| (now - before).clamp(0.0, passed);
        let busy = rise(now.busy_s, before.busy_s);
        let receiver = rise(now.receiver_s, before.receiver_s).min(busy);
        let buffer = rise(now.buffer_s, before.buffer_s).min(busy - receiver);
        let parts = [
            (Limit::Application, passed - busy),
            (Limit::Receiver, receiver),
            (Limit::Sender, buffer),
            (window, busy - receiver - buffer),
        ];
        for (limit, seconds) in parts {
            self.totals[limit as usize] += seconds;
        }
        let most = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Limit::Unknown, |part| part.0);
        match &mut self.stretch {
            Some(stretch) if stretch.limit == most => stretch.end_s = sample.time_s,
            _ => {
                self.write_stretch(flow, tables)?;
                self.stretch = Some(Stretch { start_s: at, end_s: sample.time_s, limit: most });
            }
        }
        Ok(())
    }

    /// What the congestion window is limited by now.
    fn by_window(&mut self, sample: &Sample) -> Limit {
        let queue = self
            .least_s
            .zip(sample.srtt_s)
            .is_some_and(|(least, srtt)| srtt > least + (least * QUEUE_SHARE).max(QUEUE_S));
        let again = sample.retransmissions.unwrap_or(self.retransmissions);
        self.random = !queue && (self.random || again > self.retransmissions);
        self.retransmissions = again;
        let below =
            sample.cwnd_packets.zip(sample.ssthresh_packets).map(|(window, threshold)| window < threshold);
        match (queue, below) {
            (_, Some(true)) => Limit::SlowStart,
            (true, _) => Limit::FullQueue,
            _ if self.random => Limit::RandomLoss,
            (_, Some(false)) => Limit::Sender,
            (_, None) => Limit::Unknown,
        }
    }

    fn write_stretch(&mut self, flow: u32, tables: &mut Tables) -> Result<(), RecordsError> {
        let Some(Stretch { start_s, end_s, limit }) = self.stretch.take() else { return Ok(()) };
        tables.trace_periods.push(TracePeriodRow { flow, start_s, end_s, limited_by: limit.name().into() })
    }

    /// Writes the flow's row, of nulls if the kernel did not say.
    pub(super) fn finish(
        mut self,
        group: Arc<str>,
        flow: u32,
        tables: &mut Tables,
    ) -> Result<(), RecordsError> {
        let known = self.stretch.is_some();
        self.write_stretch(flow, tables)?;
        let time = |limit: Limit| known.then(|| self.totals[limit as usize]);
        tables.trace_limits.push(TraceLimitRow {
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
            ..TraceLimitRow::default()
        })
    }
}
