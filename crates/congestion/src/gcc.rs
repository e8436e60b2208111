//! GCC: Google congestion control, for media (draft-ietf-rmcat-gcc-02; Carlucci et al., MMSys 2016).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | d(i), m(i), del_var_th | [`overuse`] | ms: variation of the delay from group to group, its estimate, and the threshold |
//! | A_hat | `delay_rate` | packets/s, by delays |
//! | As_hat | `rate` | packets/s, by losses, A_hat at most: what is sent |
//! | R_hat | [`ArrivalRate`] | packets/s that arrived in half a second |
//! | beta | `decrease` | |
//!
//! Packets sent within 5 ms are a group; a Kalman filter estimates by how much more delay each has than the one before.
//! Above an adaptive threshold for 10 ms that is over-use: the rate becomes beta of what arrives. While delays shrink
//! it is held; then it grows by 8 % a second, or, within three deviations of the mean rate at which over-use came
//! before, by half a packet a response time (RTT + 100 ms). The threshold rises fast while m is beyond it and falls
//! slowly within, so that a flow beside those who fill the queue is not starved. Losses above 10 % take half of their
//! share of the rate, those below 2 % let it grow by 5 %.
//!
//! Readings. As in the implementations, m is multiplied by the number of groups (60 at most) before it is compared: by
//! the draft's words alone, delays would have to grow by 6 ms a group of 5 ms; and time counts 100 ms at most in the
//! threshold. K_u and K_d are the draft's. The deviation of the mean rate is 2 % at least (implementations have a bound
//! like that). Losses are judged once a second, as RTCP reports come. The report decides by the last group's use, or
//! over-use if any group had it. All packets are full: one is the expected packet. The way of the sender's start is not
//! specified: `initial_rate`. After a silence the rate is halved.
//!
//! *What was found.* Beside Reno the threshold saves half of 4 Mbit/s (a static one 1 %), but not of 3 Mbit/s and less:
//! where packets are more than some 10 ms apart, the queue grows between them by so much that m is beyond the threshold
//! by 15 ms at once, and it does not follow.
//!
//! Media come as an even stream at the rate asked for: no encoder, no frames, no bursts of 5 ms. Over TCP, RTTs stand
//! for the delays, what is lost is sent again at the same rate, and the window only keeps a silent network from being
//! flooded: it holds two round trips.
//!
//! Read: the draft; WebRTC's overuse_detector.cc and aimd_rate_control.cc (2018) for what it leaves open. The paper was
//! not read itself.

mod overuse;

use crate::report::Report;
use crate::{AckEvent, CongestionControl, CongestionEvent, Needs, Start, MIN_SSTHRESH};
use overuse::{OveruseDetector, Usage};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Gcc`].
    pub struct GccConfig {
        /// Packets/s to begin with.
        initial_rate: f64, default "25", min 0.1, max 1e9;
        /// Part of the rate that arrives to which over-use takes the rate (beta).
        decrease: f64, default "0.85", min 0.1, max 0.99;
        /// Gain of the threshold while the estimate is beyond it, 1/ms (K_u); 0 for both gains: a static threshold.
        threshold_up: f64, default "0.01", min 0.0, max 0.01;
        /// Gain of the threshold while the estimate is within it, 1/ms (K_d).
        threshold_down: f64, default "0.00018", min 0.0, max 0.01;
    }
}

/// Growth of the rate in a second, far from where it was too large.
const GROWTH: f64 = 1.08;
/// Packets that are added in a response time, near that, and what that is beside the RTT.
const STEP: f64 = 0.5;
const REACTION: Duration = Duration::from_millis(100);
/// Most that the rate may be of what arrives.
const LARGEST_EXCESS: f64 = 1.5;
/// Weight of the newest rate at over-use in their mean, and their deviation over that at least.
const NEWEST: f64 = 0.05;
const LEAST_DEVIATION: f64 = 0.02;
/// How often losses are judged, and the shares between which nothing happens.
const LOSS_INTERVAL: Duration = Duration::from_secs(1);
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.1;
const LOSS_GROWTH: f64 = 1.05;
/// Smallest rate in packets/s.
const LEAST_RATE: f64 = 0.1;
/// Taken for the RTT before there is one.
const UNKNOWN_RTT_S: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Increase,
    Decrease,
    Hold,
}

/// Rate by the variation of delays, and by losses.
#[derive(Clone, Debug)]
pub struct Gcc {
    decrease: f64,
    detector: OveruseDetector,
    /// True if a group had over-use since the last report.
    over_used: bool,
    /// True if the receiver reports arrivals.
    has_arrivals: bool,
    arrivals: ArrivalRate,
    state: State,
    rate: f64,
    delay_rate: f64,
    /// Mean and variance of the rates that arrived at over-use; `None`: there were none.
    known: Option<(f64, f64)>,
    updated_at: Instant,
    losses: Report,
    judged_at: Instant,
    rtt_s: f64,
    window: f64,
}

impl Gcc {
    pub(crate) const SUMMARY: &'static str =
        "media: a rate that falls when delays grow from packet to packet";
    pub(crate) const REFERENCE: &'static str = "draft-ietf-rmcat-gcc-02";
    pub(crate) const NEEDS: Needs =
        Needs { from_reports: true, arrival_times: true, ..Needs::MODEL_OF_THE_PATH };
    pub(crate) const STEERABLE: bool = false;
    pub(crate) const VARIABLES: &'static [Variable] = &[
        Variable::new("rate", "packets/s", "the rate (As_hat)"),
        Variable::new("state", "", "0 Increase, 1 Decrease, 2 Hold"),
        Variable::new("trend", "ms", "estimated variation of the delay of 60 groups (m)"),
        Variable::new("threshold", "ms", "what is compared with that (del_var_th)"),
    ];

    /// A control at the start of a connection.
    pub fn new(config: &GccConfig, start: Start) -> Self {
        Self {
            decrease: config.decrease,
            detector: OveruseDetector::new((config.threshold_up, config.threshold_down)),
            over_used: false,
            has_arrivals: false,
            arrivals: ArrivalRate::default(),
            state: State::Increase,
            rate: config.initial_rate,
            delay_rate: config.initial_rate,
            known: None,
            updated_at: start.at,
            losses: Report::NONE,
            judged_at: start.at,
            rtt_s: UNKNOWN_RTT_S,
            window: start.window,
        }
    }

    fn arrive(&mut self, sent: Instant, arrived: Instant, packets: u64) {
        self.arrivals.add(arrived, packets as f64);
        self.over_used |= self.detector.arrive(sent, arrived) == Some(Usage::Over);
    }

    /// §5.5
    fn update(&mut self, now: Instant) {
        let usage = if self.over_used { Usage::Over } else { self.detector.usage };
        self.over_used = false;
        self.state = match (usage, self.state) {
            (Usage::Over, _) => State::Decrease,
            (Usage::Normal, State::Hold | State::Increase) => State::Increase,
            (Usage::Normal, State::Decrease) | (Usage::Under, _) => State::Hold,
        };
        let arrived = self.arrivals.rate();
        let passed_s = now.since(self.updated_at).as_secs_f64().min(1.0);
        self.updated_at = now;
        match self.state {
            State::Increase => self.increase(arrived, passed_s),
            State::Decrease => {
                self.delay_rate = self.delay_rate.min(self.decrease * arrived);
                self.remember(arrived);
            }
            State::Hold => {}
        }
    }

    fn increase(&mut self, arrived: f64, passed_s: f64) {
        let near = self.known.is_some_and(|known| {
            let (mean, deviation) = (known.0, deviation(known));
            (arrived - mean).abs() <= 3.0 * deviation
        });
        if self.known.is_some_and(|known| arrived > known.0 + 3.0 * deviation(known)) {
            self.known = None;
        }
        let larger = if near {
            let response_s = self.rtt_s + REACTION.as_secs_f64();
            self.delay_rate + STEP * (passed_s / response_s).min(1.0)
        } else {
            self.delay_rate * libm::pow(GROWTH, passed_s)
        };
        self.delay_rate = larger.min(LARGEST_EXCESS * arrived).max(self.delay_rate);
    }

    fn remember(&mut self, arrived: f64) {
        self.known = Some(match self.known {
            None => (arrived, 0.0),
            Some((mean, variance)) => {
                let mean = mean + NEWEST * (arrived - mean);
                let off = arrived - mean;
                (mean, variance + NEWEST * (off * off - variance))
            }
        });
    }

    /// §6
    fn judge_losses(&mut self, now: Instant) {
        if now.since(self.judged_at) >= LOSS_INTERVAL {
            let packets = self.losses.packets();
            let share = if packets > 0.0 { self.losses.lost / packets } else { 0.0 };
            if share > HIGH_LOSS {
                self.rate *= 1.0 - 0.5 * share;
            } else if share < LOW_LOSS {
                self.rate *= LOSS_GROWTH;
            }
            self.losses.restart(now);
            self.judged_at = now;
        }
        self.apply();
    }

    fn apply(&mut self) {
        self.rate = self.rate.min(self.delay_rate).max(LEAST_RATE);
        self.delay_rate = self.delay_rate.max(LEAST_RATE);
        self.window = (2.0 * self.rate * self.rtt_s).max(MIN_SSTHRESH);
    }
}

/// Of rates of which mean and variance are known.
fn deviation((mean, variance): (f64, f64)) -> f64 {
    libm::sqrt(variance).max(LEAST_DEVIATION * mean)
}

impl CongestionControl for Gcc {
    fn needs(&self) -> Needs {
        Self::NEEDS
    }

    fn window(&self) -> f64 {
        self.window
    }

    /// There is no slow start of a window.
    fn ssthresh(&self) -> f64 {
        MIN_SSTHRESH
    }

    fn on_arrival(&mut self, sent: Instant, arrived: Instant) {
        self.has_arrivals = true;
        self.arrive(sent, arrived, 1);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.losses.count(ack);
        if ack.srtt > Duration::ZERO {
            self.rtt_s = ack.srtt.as_secs_f64();
        }
        if !self.has_arrivals {
            let packets = ack.sample.as_ref().map_or(ack.acked, |sample| sample.newly_delivered);
            if let Some(rtt) = ack.rtt.filter(|&rtt| rtt <= ack.now.since(Instant::ZERO)) {
                self.arrive(Instant::ZERO + ack.now.since(Instant::ZERO + rtt), ack.now, packets);
            }
        }
        if self.has_arrivals || ack.round_ended {
            let before = self.window;
            self.update(ack.now);
            self.judge_losses(ack.now);
            if ack.sample.as_ref().is_some_and(|sample| sample.app_limited) {
                self.window = self.window.min(before); // what was not used was not tested
            }
        }
    }

    fn on_congestion(&mut self, _: &CongestionEvent) {
        self.losses.lose();
    }

    /// No report came.
    fn on_timeout(&mut self, _: &CongestionEvent) {
        self.delay_rate /= 2.0;
        self.apply();
        self.window = 1.0;
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.rate)
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("rate", self.rate);
        reader("state", f64::from(self.state as u8));
        reader("trend", self.detector.trend());
        reader("threshold", self.detector.threshold);
    }
}

/// Packets that arrived of late, in bins.
#[derive(Clone, Debug, Default)]
struct ArrivalRate {
    bins: [f64; BINS],
    /// Number of the newest bin, from the first arrival on.
    newest: u64,
    began: Option<Instant>,
    last: Instant,
}

const BINS: usize = 10;
const BIN: Duration = Duration::from_millis(50);

impl ArrivalRate {
    fn add(&mut self, arrived: Instant, packets: f64) {
        let began = *self.began.get_or_insert(arrived);
        let bin = arrived.since(began).as_ps() / BIN.as_ps();
        for passed in self.newest + 1..=bin.min(self.newest + BINS as u64) {
            self.bins[(passed % BINS as u64) as usize] = 0.0;
        }
        if bin > self.newest + BINS as u64 {
            self.bins = [0.0; BINS];
        }
        self.newest = self.newest.max(bin);
        self.bins[(self.newest % BINS as u64) as usize] += packets;
        self.last = self.last.max(arrived);
    }

    /// Packets/s over the last half second; within the first one, since the first arrival.
    fn rate(&self) -> f64 {
        let Some(began) = self.began else { return 0.0 };
        let oldest = BIN.times(self.newest.saturating_sub(BINS as u64 - 1));
        let length_s = self.last.since(began + oldest).max(BIN).as_secs_f64();
        self.bins.iter().sum::<f64>() / length_s
    }
}

#[cfg(test)]
mod tests;
