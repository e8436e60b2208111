//! The samples of a flow of datagrams while it runs.

use super::feedback::Feedback;
use crate::probe::{largest_slope, Samples};
use crate::series::Interval;
use crate::shared::Core;
use parshall_records::FlowSampleRow;
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

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
    /// `internals`: as of that of TCP flows.
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
            self.next += self.samples.interval();
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
            if time < self.samples.next() {
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
            self.samples.take(&mut core.sink.recorder, row, feedback.control());
        }
        self.next = self.next.max(self.samples.next());
    }

    /// The simulation ended.
    pub(crate) fn end(&mut self, core: &mut Core) {
        self.samples.end(&mut core.sink.recorder);
    }
}
