//! Delivery rate samples (draft-ietf-ccwg-bbr-06 §4.1), for congestion controls that model the path.
//!
//! | draft | here |
//! | --- | --- |
//! | C.delivered, .delivered_time, .first_send_time, .lost | [`RateSampler`]: `delivered`, `delivered_at`, ... |
//! | P.delivered, .delivered_time, .first_send_time, .tx_in_flight, .lost | [`Sent`], of every packet in flight |
//! | C.app_limited | `app_limited_until` |
//!
//! The rate of a sample is what was delivered since its packet was sent, over the longer of the times that sending and
//! acknowledging took. Senders whose control needs no rate samples have no sampler and keep nothing of this.

use parshall_congestion::RateSample;
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::ops::Range;

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
    /// True if it was reported as delivered.
    done: bool,
}

/// A sender's memory for its delivery rate.
#[derive(Clone, Debug)]
pub struct RateSampler {
    /// Number of the connection's first packet.
    origin: u64,
    /// Number of the first packet in `packets`.
    base: u64,
    packets: VecDeque<Sent>,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// Packets that came to count as lost.
    lost: u64,
    /// Packets delivered, and lost, up to the last sample.
    delivered_before: u64,
    lost_before: u64,
    /// The packet sent last of those that the ACK at hand reports as delivered.
    newest: Option<Sent>,
    /// Up to this count of deliveries, samples are limited by the application; 0: they are not.
    app_limited_until: u64,
}

/// The changes by an ACK, as the sender sees them.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// First unacknowledged packet.
    pub una: u64,
    /// Packets SACKed and not acknowledged cumulatively.
    pub sacked: u64,
    /// Packets in the network now.
    pub in_flight: u64,
    /// Smallest RTT of the connection.
    pub min_rtt: Duration,
    /// For how long pacing holds the next packet back.
    pub next_send: Duration,
}

impl RateSampler {
    /// Of a connection whose first packet is `base`.
    pub fn new(base: u64) -> Self {
        Self {
            origin: base,
            base,
            packets: VecDeque::new(),
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            lost: 0,
            delivered_before: 0,
            lost_before: 0,
            newest: None,
            app_limited_until: 0,
        }
    }

    /// The handshake counts as a packet delivered, as in Linux (`tcp_clean_rtx_queue`). Before anything is sent.
    pub fn count_handshake(&mut self) {
        self.origin -= 1;
        (self.delivered, self.delivered_before) = (1, 1);
    }

    /// A packet is sent; `in_flight` counts it.
    #[inline]
    pub fn on_send(&mut self, now: Instant, packet: u64, in_flight: u64) {
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
            Some(place) => *place = Sent { done: place.done, ..sent },
            None => self.packets.push_back(sent),
        }
    }

    /// True if the sender has run out of data, and what is sent now counts as limited by it.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// So many packets more count as lost.
    #[inline]
    pub fn count_lost(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// The sender has nothing to send, and room for it.
    pub fn out_of_data(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// An ACK reports packets as delivered for the first time, beyond what it acknowledges cumulatively.
    pub fn on_sacked(&mut self, packets: Range<u64>) {
        for packet in packets.start.max(self.base)..packets.end {
            if let Some(sent) = self.packets.get_mut((packet - self.base) as usize) {
                sent.done = true;
                let sent = *sent;
                self.consider(sent);
            }
        }
    }

    /// A packet is delivered: is it the one sent last?
    fn consider(&mut self, sent: Sent) {
        if self.newest.is_none_or(|newest| sent.at >= newest.at) {
            self.newest = Some(sent);
        }
    }

    /// The sample of an ACK, with its RTT if that is not ambiguous; `None` if nothing was delivered. What it newly
    /// reports as SACKed came before, by [`on_sacked`](Self::on_sacked).
    pub fn on_ack(&mut self, now: Instant, progress: &Progress) -> Option<(RateSample, Option<Duration>)> {
        while self.base < progress.una {
            let Some(sent) = self.packets.pop_front() else { break };
            self.base += 1;
            if !sent.done {
                self.consider(sent);
            }
        }
        let total = progress.una - self.origin + progress.sacked;
        if total <= self.delivered {
            return None;
        }
        self.delivered = total;
        self.delivered_at = now;
        if self.app_limited_until > 0 && total > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let sent = self.newest.take()?;
        let newly_delivered = total - std::mem::replace(&mut self.delivered_before, total);
        let newly_lost = self.lost - std::mem::replace(&mut self.lost_before, self.lost);

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
            next_send: progress.next_send,
            app_limited: sent.app_limited,
        };
        Some((sample, (!sent.retransmission).then(|| now.since(sent.at))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn progress(una: u64, sacked: u64) -> Progress {
        Progress { una, sacked, in_flight: 10, min_rtt: Duration::from_millis(1), next_send: Duration::ZERO }
    }

    fn packet(number: u64) -> Range<u64> {
        number..number + 1
    }

    #[test]
    fn a_retransmission_that_fills_a_hole_inside_a_sacked_run_gives_a_sample() {
        let mut sampler = RateSampler::new(1);
        (1..=6).for_each(|number| sampler.on_send(at(number), number, number));
        for number in [3, 5, 6] {
            sampler.on_sacked(packet(number));
        }
        assert!(sampler.on_ack(at(100), &progress(1, 3)).is_some());
        // 1 and 2 are found lost, and 4 was sent again: it arrives.
        sampler.on_send(at(101), 4, 4);
        sampler.count_lost(2);
        sampler.on_sacked(packet(4));
        let (sample, rtt) = sampler.on_ack(at(200), &progress(1, 4)).expect("a packet was delivered");
        assert_eq!((sample.newly_delivered, sample.newly_lost, sample.prior_delivered), (1, 2, 3));
        assert_eq!(rtt, None, "sent twice");
    }

    /// `tcp_rate_check_app_limited`: what is sent before anything is acknowledged is limited by the application; with a
    /// handshake that ends with the first ACK, be it for a single packet.
    #[test]
    fn the_first_ack_ends_the_limit_of_a_connection_that_was_opened() {
        for (handshake, limited) in [(true, false), (false, true)] {
            let mut sampler = RateSampler::new(1);
            if handshake {
                sampler.count_handshake();
            }
            sampler.out_of_data(0);
            (1..=2).for_each(|number| sampler.on_send(at(0), number, number));
            let (sample, _) = sampler.on_ack(at(100), &progress(2, 0)).expect("a packet was delivered");
            let syn = u64::from(handshake);
            assert_eq!((sample.delivered, sample.newly_delivered, sample.prior_delivered), (1 + syn, 1, syn));
            assert!(sample.app_limited);
            assert_eq!(sampler.is_app_limited(), limited);
        }
    }

    proptest! {
        /// Whatever order packets arrive in: each delivery and each loss is reported once, with the packet sent last.
        #[test]
        fn nothing_is_reported_twice_or_never(
            events in prop::collection::vec((prop::collection::btree_set(1u64..40, 1..6), any::<bool>(), 0u64..3), 1..60),
        ) {
            let mut sampler = RateSampler::new(1);
            let mut sent: Vec<u64> = vec![0; 41];
            for number in 1..=40 {
                sampler.on_send(at(number), number, number);
                sent[number as usize] = number;
            }
            let (mut now, mut una, mut arrived) = (100, 1, BTreeSet::new());
            let (mut delivered, mut lost) = (0, 0);
            for (numbers, again, newly_lost) in events {
                now += 10;
                if again && !arrived.contains(&una) {
                    sampler.on_send(at(now), una, 1);
                    sent[una as usize] = now;
                }
                now += 1;
                sampler.count_lost(newly_lost);
                let fresh: Vec<u64> = numbers.into_iter().filter(|&n| n >= una && arrived.insert(n)).collect();
                while arrived.contains(&una) {
                    una += 1;
                }
                fresh.iter().filter(|&&n| n >= una).for_each(|&n| sampler.on_sacked(packet(n)));
                let sacked = arrived.range(una..).count() as u64;
                match sampler.on_ack(at(now), &progress(una, sacked)) {
                    Some((sample, _)) => {
                        delivered += sample.newly_delivered;
                        lost += sample.newly_lost;
                        prop_assert_eq!(sample.newly_delivered, fresh.len() as u64);
                        prop_assert_eq!(lost, sampler.lost);
                        let newest = fresh.iter().map(|&n| sent[n as usize]).max().unwrap();
                        prop_assert_eq!(sampler.first_sent, at(newest));
                    }
                    None => prop_assert!(fresh.is_empty()),
                }
                prop_assert_eq!(delivered, arrived.len() as u64);
            }
        }
    }
}
