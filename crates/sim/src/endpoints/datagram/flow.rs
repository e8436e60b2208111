//! A flow of datagrams: sent at their time and never answered, or at a rate that follows reports of the receiver
//! ([`feedback`](super::feedback)).

use super::feedback::{Feedback, Pace};
use super::probe::DatagramProbe;
use crate::edge::Edge;
use crate::groups::{DatagramGroup, Place};
use crate::jitter::OwnJitter;
use crate::measured::Measured;
use crate::shared::Core;
use parshall_engine::random::SmallStream;
use parshall_engine::{Flags, Packet, MAX_BYTES};
use parshall_records::FlowRow;
use parshall_units::{Duration, Instant};

/// A flow of datagrams.
#[derive(Debug)]
pub(crate) struct DatagramFlow {
    pub(crate) id: u32,
    /// Its place among the flows of datagrams.
    pub(crate) index: u32,
    pub(crate) group: u32,
    pace: Pace,
    /// When the next datagram is sent, when the host is through with it, and when its access link is free.
    departs: Instant,
    processed: Instant,
    access_free: Instant,
    processing: SmallStream,
    to_first_link: Duration,
    pub(crate) to_receiver: Duration,
    pub(crate) rtt: Duration,
    pub(crate) started: Instant,
    /// The datagram that reaches the first link next.
    pub(crate) next: Packet,
    /// Counts since the warm-up.
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) received: u64,
    pub(crate) dropped: u64,
    pub(crate) edge: Option<Box<Edge>>,
    /// Of its own part of the path.
    pub(crate) jitter: Option<Box<OwnJitter>>,
    /// Of controlled flows only.
    pub(crate) probe: Option<Box<DatagramProbe>>,
}

impl DatagramFlow {
    pub(crate) fn new(
        Place { id, index, group, processing, .. }: Place,
        edge: Option<Box<Edge>>,
        pace: Pace,
        (to_first_link, to_receiver): (Duration, Duration),
        rtt: Duration,
        started: Instant,
    ) -> Self {
        Self {
            id,
            index,
            group,
            pace,
            departs: started,
            processed: Instant::ZERO,
            access_free: Instant::ZERO,
            processing,
            to_first_link,
            to_receiver,
            rtt,
            started,
            next: Packet::new(Instant::MAX, Instant::MAX, 0, 0, Flags::default()),
            sent: 0,
            delivered: 0,
            received: 0,
            dropped: 0,
            edge,
            jitter: None,
            probe: None,
        }
    }

    /// Draws the next datagram.
    #[inline]
    pub(crate) fn draw(&mut self, group: &DatagramGroup, warm_up: Instant) {
        let (datagram, number) = self.pace.next();
        self.departs += datagram.gap;
        let bytes = datagram.bytes.min(MAX_BYTES);
        if let Pace::Controlled(_) = self.pace {
            self.departs = self.departs.max(self.access_free); // decided when it can leave, no earlier
        }
        let mut leaves = self.departs;
        if group.processing_time > Duration::ZERO {
            leaves = self.processed.max(leaves + self.processing.below(group.processing_time));
            self.processed = leaves;
        }
        if let Some(link) = &group.access {
            leaves = leaves.max(self.access_free) + link.transmission(bytes);
            self.access_free = leaves;
        }
        self.sent += u64::from(self.departs >= warm_up);
        let packet = Packet::new(leaves + self.to_first_link, self.departs, number, bytes, Flags::default());
        self.next = match &mut self.edge {
            Some(edge) => packet.of_class(edge.enter(leaves, bytes, self.departs >= warm_up)),
            None => packet,
        };
    }

    /// A datagram will reach the receiver `at`.
    #[inline]
    pub(crate) fn receive(&mut self, group: &DatagramGroup, core: &mut Core, at: Instant, packet: &Packet) {
        let payload = u64::from(packet.bytes().saturating_sub(group.header_bytes));
        if let Some(probe) = self.probe.as_mut().filter(|_| at < core.end) {
            probe.arrive(at, payload);
        }
        if let Some(delivered) = core.sink.delivered.as_mut().filter(|_| at < core.end) {
            delivered.add(group.number, (at, self.to_receiver), payload);
        }
        if at >= core.warm_up && at < core.end {
            self.received += u64::from(packet.bytes());
            if let Some(latency) = &mut core.sink.latency {
                latency.arrived(self.id, at.since(packet.sent));
            }
            self.delivered += payload;
            if let Some(edge) = &mut self.edge {
                edge.delivered(core, packet, true);
            }
        }
        if let Pace::Controlled(feedback) = &mut self.pace {
            feedback.receive(at, packet.sent, packet.seq());
        }
    }

    /// The loop of a controlled flow.
    pub(crate) fn feedback(&self) -> Option<&Feedback> {
        match &self.pace {
            Pace::Controlled(feedback) => Some(feedback),
            Pace::Source(..) => None,
        }
    }

    /// A report reaches the sender; when the next one will be an event.
    pub(crate) fn on_report(&mut self, core: &mut Core) -> Option<Instant> {
        let Pace::Controlled(feedback) = &mut self.pace else { return None };
        if let Some(probe) = &mut self.probe {
            let until = feedback.report_arrives().min(core.end);
            probe.sample_until(core, until, (self.id, self.started), feedback);
        }
        feedback.on_report(core.warm_up);
        Some(feedback.report_due())
    }

    /// Brings the flow to the end of the simulation: the datagram drawn last may not have been sent by then.
    pub(crate) fn end(&mut self, core: &mut Core) {
        let unsent = self.next.sent >= core.end && self.next.sent >= core.warm_up;
        self.sent -= u64::from(unsent);
        if let (Some(probe), Pace::Controlled(feedback)) = (&mut self.probe, &self.pace) {
            probe.sample_until(core, core.end, (self.id, self.started), feedback);
            probe.end(core);
        }
        if let Some(edge) = &mut self.edge {
            edge.end(core);
        }
    }

    /// The totals of the flow.
    pub(super) fn totals(&self, group: &DatagramGroup, measured: &Measured<'_>) -> FlowRow {
        let heard = self.feedback().map(|feedback| &feedback.heard);
        FlowRow {
            group: group.name.clone(),
            flow: self.id,
            rtt_base_s: Some(self.rtt.as_secs_f64()),
            start_s: measured.started_s(self.started),
            goodput_bps: Some(measured.rate_bps(self.delivered)),
            throughput_bps: Some(measured.rate_bps(self.received)),
            packets_sent: Some(self.sent),
            retransmissions: Some(0),
            packets_dropped: Some(self.dropped),
            loss_rate: (self.sent > 0).then(|| self.dropped as f64 / self.sent as f64),
            loss_events: Some(heard.map_or(0, |heard| heard.with_losses)),
            timeouts: Some(heard.map_or(0, |heard| heard.timeouts)),
            ecn_reductions: Some(0),
            mean_rtt_s: heard
                .filter(|heard| heard.reports > 0)
                .map(|heard| heard.rtt_sum_s / heard.reports as f64),
            min_rtt_s: heard.and_then(|heard| heard.min_rtt).map(Duration::as_secs_f64),
            ..measured.common_row(self.id, self.edge.as_deref())
        }
    }

    /// A link lost a datagram of this flow. It counts if it was counted when it was sent.
    pub(crate) fn on_drop(&mut self, warm_up: Instant, packet: &Packet) {
        let measured = packet.sent >= warm_up;
        self.dropped += u64::from(measured);
        if let Some(edge) = &mut self.edge {
            edge.dropped(packet, measured);
        }
    }
}
