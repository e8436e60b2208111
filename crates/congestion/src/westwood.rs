//! Westwood+: Reno's increase; after a loss, the window that the measured bandwidth needs (Grieco & Mascolo, CCR 34(2),
//! 2004).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | d_k, T_k | `delivered`, since `began` | packets delivered in a sample, and its length: an RTT |
//! | b_k | d_k / T_k | packets/s |
//! | BWE | `bandwidth` | packets/s, averaged: alpha BWE + (1 - alpha) b_k |
//! | alpha | `memory` | weight of what was known before |
//! | RTT_min | `AckEvent::min_rtt` | smallest RTT seen |
//!
//! A loss sets ssthresh to BWE RTT_min, what fits on the path without a queue: it takes what is queued, and nothing
//! where a loss is no sign of congestion. Each RTT has one sample; samples by ACK, as in the Westwood of 2001,
//! overestimate where ACKs come in bunches. Packets that duplicate ACKs report count as delivered.
//!
//! In the mean the window stays where the packet that an RTT adds is what losses take, W = sqrt((1-p)/p RTT/T_q), T_q
//! being the queueing delay: without a queue it grows at any loss rate, until there is one.
//!
//! Readings. A sample is never shorter than `shortest_sample`, as in the authors' implementation in Linux; the first
//! sample is the first BWE. The window never grows at a loss. Before the first sample a loss halves. A mark counts as a
//! loss. An ACK counts for all packets that it acknowledges, whatever `byte_counting` says. Linux averages twice, with
//! alpha = 7/8, and takes the smallest *smoothed* RTT.
//!
//! Read: Linux' net/ipv4/tcp_westwood.c (2.6.22 and earlier). alpha = 0.9 and the mean window are as the paper is
//! commonly quoted; it was not read itself.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Westwood`].
    pub struct WestwoodConfig {
        /// Weight of the bandwidth known before, against a new sample's.
        memory: f64, default "0.9", min 0.0, max 0.999;
        /// Shortest time over which a sample of the bandwidth is taken.
        shortest_sample: Duration, default "50 ms", min "0 s", max "100 s";
    }
}

/// A loss leaves the window of the bandwidth measured from ACKs.
pub type Westwood = WindowBased<WestwoodRule>;

/// Reno's increase, and a decrease to BWE RTT_min.
#[derive(Clone, Debug)]
pub struct WestwoodRule {
    memory: f64,
    shortest_sample: Duration,
    /// The sample under way: its beginning ([`Instant::MAX`]: none), and packets delivered since.
    began: Instant,
    delivered: f64,
    /// BWE; `None` before the first sample.
    bandwidth: Option<f64>,
    min_rtt_s: f64,
}

impl WestwoodRule {
    fn end_sample(&mut self, now: Instant, length: Duration) {
        let sample = self.delivered / length.as_secs_f64();
        self.bandwidth = Some(match self.bandwidth {
            Some(before) => self.memory * before + (1.0 - self.memory) * sample,
            None => sample,
        });
        self.began = now;
        self.delivered = 0.0;
    }
}

impl WindowRule for WestwoodRule {
    type Config = WestwoodConfig;

    const SUMMARY: &'static str = "Reno that falls back to the measured bandwidth times the smallest RTT";
    const REFERENCE: &'static str = "Grieco & Mascolo, CCR 34(2), 2004";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[Variable::new("bandwidth", "packets/s", "averaged rate of deliveries (BWE)")];
    /// What is delivered during loss recovery counts too.
    const NEEDS: Needs = Needs { rate_samples: true, ..Needs::NONE };

    fn new(config: &WestwoodConfig, _: &Start) -> Self {
        Self {
            memory: config.memory,
            shortest_sample: config.shortest_sample,
            began: Instant::MAX,
            delivered: 0.0,
            bandwidth: None,
            min_rtt_s: 0.0,
        }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        if self.began == Instant::MAX {
            self.began = ack.now; // these packets were sent before: no time to divide them by
            return;
        }
        self.delivered += ack.sample.as_ref().map_or(ack.acked, |sample| sample.newly_delivered) as f64;
        if ack.min_rtt < Duration::MAX {
            self.min_rtt_s = ack.min_rtt.as_secs_f64();
        }
        let length = ack.now.since(self.began);
        if length > ack.srtt.max(self.shortest_sample) {
            self.end_sample(ack.now, length);
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        windows.window += slope * acked / windows.window; // RFC 5681 eq. (3)
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(bandwidth) = self.bandwidth {
            reader("bandwidth", bandwidth);
        }
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        match self.bandwidth {
            Some(bandwidth) => (bandwidth * self.min_rtt_s / used.max(1.0)).min(1.0),
            None => 0.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_model::Choices;
    use crate::{CongestionControl, Phase, RateSample, Signal};

    fn westwood(window: f64) -> Westwood {
        let config = WestwoodConfig { memory: 0.9, shortest_sample: Duration::from_millis(50) };
        Westwood::new(&config, Start { window, ssthresh: 2.0, ..Start::NEW })
    }

    /// Reports `delivered` packets at `at_ms`; the smallest RTT is 100 ms.
    fn ack(at_ms: f64, rtt_ms: f64, delivered: u64) -> AckEvent {
        let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
        AckEvent {
            acked: delivered,
            credit: delivered as f64,
            min_rtt: Duration::from_millis(100),
            sample: Some(RateSample {
                delivered,
                prior_delivered: 0,
                rate: None,
                newly_delivered: delivered,
                newly_lost: 0,
                lost: 0,
                in_flight: 100,
                sent_in_flight: 100,
                next_send: Duration::ZERO,
                app_limited: false,
            }),
            ..AckEvent::of_one_packet(Instant::ZERO + Duration::from_secs_f64(at_ms / 1e3), rtt)
        }
    }

    fn lose(control: &mut Westwood) {
        let in_flight = control.window() as u64 + 1;
        control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight });
    }

    #[test]
    fn the_bandwidth_is_the_average_of_one_sample_an_rtt() {
        let mut control = westwood(100.0);
        control.on_ack(&ack(0.0, 200.0, 5));
        control.on_ack(&ack(100.0, 200.0, 60));
        assert_eq!(control.rule.bandwidth, None, "half an RTT is no sample");
        control.on_ack(&ack(250.0, 200.0, 40));
        assert_eq!(control.rule.bandwidth, Some(400.0), "100 packets in 250 ms");
        control.on_ack(&ack(500.0, 200.0, 150));
        assert!((control.rule.bandwidth.unwrap() - (0.9 * 400.0 + 0.1 * 600.0)).abs() < 1e-9);
    }

    #[test]
    fn a_loss_takes_what_is_queued_and_no_more() {
        let mut control = westwood(100.0);
        lose(&mut control);
        assert_eq!(control.window(), 50.0, "nothing is known yet");
        let mut control = westwood(100.0);
        control.on_ack(&ack(0.0, 200.0, 1));
        control.on_ack(&ack(250.0, 200.0, 100));
        lose(&mut control);
        assert!((control.window() - 40.0).abs() < 1e-9, "400 packets/s, 100 ms: {}", control.window());
        lose(&mut control);
        assert!((control.window() - 40.0).abs() < 1e-9, "losses of no congestion take nothing");
    }

    #[test]
    fn repairs_count_as_delivered_and_do_not_grow_the_window() {
        let mut control = westwood(100.0);
        control.on_ack(&ack(0.0, 100.0, 1));
        let before = control.window();
        let mut repair = ack(50.0, 100.0, 30);
        (repair.phase, repair.may_grow) = (Phase::Recovery, false);
        control.on_ack(&repair);
        assert_eq!((control.window(), control.rule.delivered), (before, 30.0));
        let event = CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 100 };
        control.on_timeout(&event);
        control.on_ack(&AckEvent { phase: Phase::Loss, may_grow: true, credit: 1.0, ..repair });
        assert_eq!(control.window(), 2.0, "slow start after a timeout, a packet an ACK");
    }

    /// The mean window of Grieco & Mascolo 2004, for independent losses and a queueing delay that does not depend on
    /// the window.
    #[test]
    fn the_mean_window_is_the_sources() {
        for (p, rtt_ms) in [(1e-3, 150.0), (1e-3, 125.0), (1e-3, 110.0), (1e-4, 150.0), (1e-4, 125.0)] {
            let expected = libm::sqrt((1.0 - p) / p * rtt_ms / (rtt_ms - 100.0));
            let mut control = westwood(expected);
            let mut random = Choices::new(7);
            let (mut now, mut mean, rounds) = (0.0, 0.0, 40_000);
            for _ in 0..rounds {
                let packets = control.window() as u64;
                mean += control.window() / f64::from(rounds);
                for _ in 0..packets {
                    now += rtt_ms / packets as f64;
                    control.on_ack(&ack(now, rtt_ms * 0.999, 1));
                }
                // At most one congestion event a round trip.
                if (0..packets).any(|_| (random.below(1 << 32) as f64) < p * f64::from(u32::MAX)) {
                    lose(&mut control);
                }
            }
            assert!(
                (mean / expected - 1.0).abs() < 0.1,
                "p = {p}, RTT {rtt_ms} ms: {mean}, expected {expected}"
            );
        }
    }
}
