//! Delivery rate samples (draft-ietf-ccwg-bbr-02 §4.5.2), for congestion controls that model the path.
//!
//! | draft | here |
//! | --- | --- |
//! | C.delivered, C.delivered_time, C.first_send_time, C.lost | [`RateSampler`]: `delivered`, `delivered_at`, `first_sent`, `lost` |
//! | P.delivered, P.delivered_time, P.first_send_time, P.tx_in_flight, P.lost | [`Sent`], kept for every packet in flight |
//! | C.app_limited | `app_limited_until` |
//!
//! The rate of a sample is what was delivered since its packet was sent, over the longer of the times that sending and
//! acknowledging took. Senders whose control sets no pacing rate have no sampler and keep nothing of this.

use crate::ranges::Range;
use parshall_congestion::RateSample;
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;

/// A packet in flight, as of its last transmission.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    first_at: Instant,
    delivered: u64,
    delivered_at: Instant,
    in_flight: u64,
    lost: u64,
    app_limited: bool,
    retransmission: bool,
    /// Whether it was reported as delivered.
    done: bool,
}

/// What a sender remembers to measure its delivery rate.
#[derive(Clone, Debug)]
pub(crate) struct RateSampler {
    /// Number of the connection's first packet.
    origin: u64,
    /// Number of the first packet in `packets`.
    base: u64,
    packets: VecDeque<Sent>,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// Packets that came to count as lost.
    pub(crate) lost: u64,
    lost_before: u64,
    /// Up to this count of deliveries, samples are limited by the application; 0: they are not.
    app_limited_until: u64,
}

/// What an ACK changed, as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// First unacknowledged packet before and after.
    pub(crate) before: u64,
    pub(crate) una: u64,
    /// Packets SACKed and not acknowledged cumulatively.
    pub(crate) sacked: u64,
    /// The block changed last.
    pub(crate) block: Range,
    /// Packets in the network now.
    pub(crate) in_flight: u64,
    pub(crate) min_rtt: Duration,
    pub(crate) recovering: bool,
}

impl RateSampler {
    pub(crate) fn new(base: u64) -> Self {
        Self {
            origin: base,
            base,
            packets: VecDeque::new(),
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            lost: 0,
            lost_before: 0,
            app_limited_until: 0,
        }
    }

    /// A packet is sent; `in_flight` counts it.
    pub(crate) fn on_send(&mut self, now: Instant, packet: u64, in_flight: u64) {
        if in_flight <= 1 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let index = (packet - self.base) as usize;
        let sent = Sent {
            at: now,
            first_at: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            in_flight,
            lost: self.lost,
            app_limited: self.app_limited_until > 0,
            retransmission: index < self.packets.len(),
            done: false,
        };
        match self.packets.get_mut(index) {
            Some(place) => *place = sent,
            None => self.packets.push_back(sent),
        }
    }

    /// The sender has nothing to send, and room for it.
    pub(crate) fn out_of_data(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// The sample of an ACK, with its RTT if that is not ambiguous; `None` if nothing was delivered.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        progress: &Progress,
    ) -> Option<(RateSample, Option<Duration>)> {
        let total = progress.una - self.origin + progress.sacked;
        let newly_delivered = total.saturating_sub(self.delivered);
        if newly_delivered == 0 {
            return None;
        }
        self.delivered = total;
        self.delivered_at = now;
        if self.app_limited_until > 0 && total > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let sampled = self.sampled(progress);
        let passed = (progress.una - self.base).min(self.packets.len() as u64);
        self.packets.drain(..passed as usize);
        self.base += passed;
        let newly_lost = self.lost - self.lost_before;
        self.lost_before = self.lost;
        let sent = sampled?;

        self.first_sent = sent.at;
        let interval = sent.at.since(sent.first_at).max(now.since(sent.delivered_at));
        let measured = interval >= progress.min_rtt && interval > Duration::ZERO;
        let rate = measured.then(|| (total - sent.delivered) as f64 / interval.as_secs_f64());
        let sample = RateSample {
            delivered: total,
            prior_delivered: sent.delivered,
            rate,
            newly_delivered,
            newly_lost,
            lost: self.lost - sent.lost,
            in_flight: progress.in_flight,
            sent_in_flight: sent.in_flight,
            app_limited: sent.app_limited,
            recovering: progress.recovering,
        };
        Some((sample, (!sent.retransmission).then(|| now.since(sent.at))))
    }

    /// The packet sent last of those that the ACK reports as delivered. One of three is it: the hole that a cumulative
    /// ACK fills, the last packet below it, or the end of the block changed last.
    fn sampled(&mut self, progress: &Progress) -> Option<Sent> {
        let advanced = progress.una > progress.before;
        let candidates = [
            advanced.then_some(progress.before),
            advanced.then(|| progress.una - 1),
            (!progress.block.is_empty()).then(|| progress.block.end - 1),
        ];
        let mut newest: Option<Sent> = None;
        for packet in candidates.into_iter().flatten().filter(|&packet| packet >= self.base) {
            let Some(sent) = self.packets.get_mut((packet - self.base) as usize) else { continue };
            if !sent.done && newest.is_none_or(|best| sent.at >= best.at) {
                newest = Some(*sent);
            }
            sent.done = true;
        }
        newest
    }
}
