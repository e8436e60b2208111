//! BBR, version 3 (draft-ietf-ccwg-bbr-02).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | BBR.max_bw | `max_bw` | packets/s, largest delivery rate of this and the last cycle of probing |
//! | BBR.bw_shortterm, BBR.inflight_shortterm | `bw_lo`, `inflight_lo` | packets/s, packets: what the last losses suggest |
//! | BBR.inflight_longterm | `inflight_hi` | packets: what was in flight when probing lost too much |
//! | BBR.min_rtt, BBR.probe_rtt_min_delay | `min_rtt`, `probe_rtt_min` | smallest RTT of 10 s, and of 5 s |
//! | BBR.LossThresh | `loss_threshold` | share of losses above which probing is too much: 2 % |
//! | BBR.Beta | `beta` | factor kept at a loss |
//! | BBR.Headroom | `HEADROOM` | share of `inflight_hi` left to others |
//!
//! Against version 1: a round trip that loses lowers the bandwidth and the packets in flight for a while; probing for more
//! comes every 2 to 3 s, or as often as a Reno flow of the same window would lose, whichever is sooner, begins by refilling the pipe and
//! ends when the bandwidth grows no more or more than 2 % are lost; ProbeRTT keeps half a BDP and comes every 5 s.
//! The states are Startup, Drain, the four of ProbeBW (down, cruise, refill, up) and ProbeRTT.
//!
//! Choices where the draft contradicts itself: Drain paces at a gain of 0.5, as its table in §4.6.1 and later drafts have it (the text of
//! §4.3.2 says 0.35); one round trip after Up, the phase of ACKs ends with the cycle of the bandwidth filter, as in the drafts before.
//!
//! Deviations: random waits are drawn from the time of the moment, since controls have no random numbers. The six separate ranges that
//! must be lost to end Startup are counted as ACKs that bring losses, as Linux does. Losses are judged at ACKs, by the packet delivered
//! last, and not packet by packet as they are found (`BBRHandleLostPacket`): nothing is reordered here, so a loss is found by packets sent
//! right behind it, with as much in flight. ACK aggregation is not estimated and there is no segmentation offload, whose budget the
//! draft adds. A window that the application does not use does not grow. After an idle time there is no ProbeRTT, as in the draft, but the
//! first packets go at the pacing gain of the moment, since controls are not told of transmissions. ECN is not used (as in the draft).

use crate::path_model::{
    restarts_from_idle, variables, Choices, FirstRate, HeldBack, Plateau, PriorWindow, Rounds,
};
use crate::{AckEvent, CongestionControl, CongestionEvent, Needs, Phase, RateSample, Signal, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Bbr3`].
    pub struct Bbr3Config {
        /// Share of lost packets above which probing is too much.
        loss_threshold: f64, default "0.02", min 0.0, max 1.0;
        /// Factor of bandwidth and packets in flight that a round trip with losses keeps.
        beta: f64, default "0.7", min 0.01, max 0.999;
        /// Time without a new smallest RTT after which the queue is drained to measure it.
        probe_rtt_interval: Duration, default "5 s", min "1 ms";
        /// Time for which the queue is drained.
        probe_rtt_duration: Duration, default "200 ms", min "0 s";
    }
}

/// 4 ln 2: the smallest pacing gain that doubles the rate each round trip with a window of two BDP.
const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;
const DRAIN_GAIN: f64 = 0.5;
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_GAIN: f64 = 0.5;
const HEADROOM: f64 = 0.15;
/// Share of the bandwidth at which packets are paced.
const MARGIN: f64 = 0.99;
const MIN_WINDOW: f64 = 4.0;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// ACKs with losses in a round trip that end Startup, at least.
const STARTUP_LOSSES: u32 = 6;
/// Rounds after which probing does not wait for a larger window.
const MOST_ROUNDS: f64 = 63.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Where the ACKs stand to the last probing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    None,
    Refilling,
    Starting,
    Arriving,
    Stopping,
}

/// Bandwidth probing that answers to losses.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    config: Bbr3Config,
    state: State,
    feedback: Feedback,
    window: f64,
    initial_window: f64,
    pacing_rate: f64,
    pacing_gain: f64,
    cwnd_gain: f64,
    rounds: Rounds,
    /// Largest rates of the cycle before and of this one.
    max_bw: [f64; 2],
    bw_lo: f64,
    inflight_lo: f64,
    inflight_hi: f64,
    bw_latest: f64,
    inflight_latest: f64,
    loss_rounds: Rounds,
    loss_in_round: bool,
    /// ACKs that brought losses in this round.
    lossy_acks: u32,
    plateau: Plateau,
    full_bw_now: bool,
    filled: bool,
    min_rtt: Duration,
    min_rtt_at: Instant,
    probe_rtt_min: Duration,
    probe_rtt_min_at: Instant,
    probe_rtt_end: Instant,
    probe_rtt_round: bool,
    cycle_start: Instant,
    probe_wait: Duration,
    rounds_since_probe: u64,
    /// Whether what arrives was sent while probing.
    probing_samples: bool,
    up_rounds: u32,
    up_acks: f64,
    up_per_packet: f64,
    prior: PriorWindow,
    held_back: HeldBack,
    first_rate: FirstRate,
    choices: Choices,
}

impl Bbr3 {
    pub(crate) const SUMMARY: &'static str = "BBR that answers to losses above 2 % and leaves headroom";
    pub(crate) const REFERENCE: &'static str = "draft-ietf-ccwg-bbr-02";
    pub(crate) const VARIABLES: &'static [Variable] = &[
        Variable::new("state", "", "0 Startup, 1 Drain, 2 Down, 3 Cruise, 4 Refill, 5 Up, 6 ProbeRTT"),
        variables::BANDWIDTH,
        variables::MIN_RTT,
        variables::PACING_GAIN,
        variables::CWND_GAIN,
        variables::ROUND,
        Variable::new(
            "bw_shortterm",
            "packets/s",
            "bound of the bandwidth by losses since the last probing; without a value if there is none",
        ),
        Variable::new(
            "inflight_shortterm",
            "packets",
            "bound of what is in flight by losses since the last probing",
        ),
        Variable::new("inflight_longterm", "packets", "bound of what is in flight by losses while probing"),
    ];

    /// A control at the start of a connection.
    pub fn new(config: &Bbr3Config, start: Start) -> Self {
        let first_rate = FirstRate::new(start.window, STARTUP_GAIN);
        Self {
            config: config.clone(),
            state: State::Startup,
            feedback: Feedback::None,
            window: start.window,
            initial_window: start.window,
            pacing_rate: first_rate.assumed(),
            pacing_gain: STARTUP_GAIN,
            cwnd_gain: CWND_GAIN,
            rounds: Rounds::default(),
            max_bw: [0.0; 2],
            bw_lo: f64::INFINITY,
            inflight_lo: f64::INFINITY,
            inflight_hi: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_rounds: Rounds::default(),
            loss_in_round: false,
            lossy_acks: 0,
            plateau: Plateau::default(),
            full_bw_now: false,
            filled: false,
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
            probe_rtt_min: Duration::MAX,
            probe_rtt_min_at: Instant::ZERO,
            probe_rtt_end: Instant::MAX,
            probe_rtt_round: false,
            cycle_start: Instant::ZERO,
            probe_wait: Duration::ZERO,
            rounds_since_probe: 0,
            probing_samples: false,
            up_rounds: 0,
            up_acks: 0.0,
            up_per_packet: f64::INFINITY,
            prior: PriorWindow::default(),
            held_back: HeldBack::default(),
            first_rate,
            choices: Choices::new(start.random),
        }
    }

    // --- the model: §4.5 ---

    fn largest_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    fn bw(&self) -> f64 {
        self.largest_bw().min(self.bw_lo)
    }

    fn bdp(&self, bw: f64) -> f64 {
        if self.min_rtt == Duration::MAX || bw == 0.0 {
            self.initial_window
        } else {
            bw * self.min_rtt.as_secs_f64()
        }
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        let more = if self.state == State::Up { 2.0 } else { 0.0 };
        (gain * self.bdp(bw)).max(MIN_WINDOW) + more
    }

    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_hi == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.inflight_hi).max(1.0);
        (self.inflight_hi - headroom).max(MIN_WINDOW)
    }

    fn is_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    fn update_signals(&mut self, phase: Phase, sample: &RateSample) {
        if sample.newly_lost > 0 {
            if !self.loss_in_round {
                self.loss_rounds.restart(sample); // a round trip from the first loss on
            }
            self.loss_in_round = true;
            self.lossy_acks += 1;
        }
        if let Some(rate) = sample.rate {
            self.bw_latest = self.bw_latest.max(rate);
        }
        let delivered = (sample.delivered - sample.prior_delivered) as f64;
        self.inflight_latest = self.inflight_latest.max(delivered);
        self.loss_rounds.update(sample);
        self.rounds.update(sample);
        if self.rounds.started {
            self.rounds_since_probe += 1;
        }
        if let Some(rate) = sample.rate {
            if rate >= self.largest_bw() || !sample.app_limited {
                self.max_bw[1] = self.max_bw[1].max(rate);
            }
        }
        if self.loss_rounds.started {
            self.adapt_lower_bounds();
            self.check_startup_losses(phase, sample);
            self.loss_in_round = false;
            self.lossy_acks = 0;
        }
    }

    /// §4.5.10.3
    fn adapt_lower_bounds(&mut self) {
        if !self.loss_in_round || matches!(self.state, State::Startup | State::Refill | State::Up) {
            return;
        }
        if self.bw_lo == f64::INFINITY {
            self.bw_lo = self.largest_bw();
        }
        if self.inflight_lo == f64::INFINITY {
            self.inflight_lo = self.window;
        }
        self.bw_lo = self.bw_latest.max(self.config.beta * self.bw_lo);
        self.inflight_lo = self.inflight_latest.max(self.config.beta * self.inflight_lo);
    }

    fn advance_signals(&mut self, sample: &RateSample) {
        if self.loss_rounds.started {
            self.bw_latest = sample.rate.unwrap_or(0.0);
            self.inflight_latest = (sample.delivered - sample.prior_delivered) as f64;
        }
    }

    fn reset_lower_bounds(&mut self) {
        (self.bw_lo, self.inflight_lo) = (f64::INFINITY, f64::INFINITY);
    }

    fn reset_full_bw(&mut self, rate: f64) {
        self.plateau.restart(rate);
        self.full_bw_now = false;
    }

    /// §4.3.1.2
    fn check_full_bw(&mut self, sample: &RateSample) {
        if self.full_bw_now || !self.rounds.started || sample.app_limited {
            return;
        }
        let Some(rate) = sample.rate else { return };
        self.full_bw_now = self.plateau.reached(rate);
        self.filled |= self.full_bw_now;
    }

    // --- Startup and Drain: §4.3.1, §4.3.2 ---

    /// After a round trip of recovery, too much of which was lost. §4.3.1.3
    fn check_startup_losses(&mut self, phase: Phase, sample: &RateSample) {
        let lossy = self.lossy_acks >= STARTUP_LOSSES && self.is_inflight_too_high(sample);
        if self.state == State::Startup && phase != Phase::Open && lossy {
            self.filled = true;
            self.inflight_hi = self.bdp(self.largest_bw()).max(self.inflight_latest);
        }
    }

    fn check_drain(&mut self, now: Instant, sample: &RateSample) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
            (self.pacing_gain, self.cwnd_gain) = (DRAIN_GAIN, CWND_GAIN);
        }
        if self.state == State::Drain && sample.in_flight as f64 <= self.inflight(self.bw(), 1.0) {
            self.start_down(now, sample);
        }
    }

    // --- ProbeBW: §4.3.3 ---

    fn update_cycle(&mut self, now: Instant, sample: &RateSample) {
        if !self.filled {
            return;
        }
        self.adapt_upper_bounds(now, sample);
        let probes = matches!(self.state, State::Down | State::Cruise) && self.check_probe(now, sample);
        if probes {
            return;
        }
        if self.state == State::Down && self.is_time_to_cruise(sample) {
            self.state = State::Cruise;
            (self.pacing_gain, self.cwnd_gain) = (1.0, CWND_GAIN);
        } else if self.state == State::Refill && self.rounds.started {
            self.probing_samples = true;
            self.start_up(now, sample);
        } else if self.state == State::Up && self.is_time_to_go_down(sample) {
            self.start_down(now, sample);
        }
    }

    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        let in_flight = sample.in_flight as f64;
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.largest_bw(), 1.0)
    }

    fn is_time_to_go_down(&mut self, sample: &RateSample) -> bool {
        if self.is_window_limited(sample) && self.window >= self.inflight_hi {
            self.reset_full_bw(sample.rate.unwrap_or(self.plateau.base));
            return false;
        }
        self.full_bw_now
    }

    fn is_window_limited(&self, sample: &RateSample) -> bool {
        (sample.in_flight + sample.newly_delivered + sample.newly_lost) as f64 + 1.0 > self.window
    }

    /// Whether it is time to probe for bandwidth; then probing begins.
    fn check_probe(&mut self, now: Instant, sample: &RateSample) -> bool {
        let reno_rounds = self.target_inflight().min(MOST_ROUNDS);
        let waited = now > self.cycle_start + self.probe_wait;
        if !waited && (self.rounds_since_probe as f64) < reno_rounds {
            return false;
        }
        self.reset_lower_bounds();
        (self.up_rounds, self.up_acks) = (0, 0.0);
        self.feedback = Feedback::Refilling;
        self.rounds.restart(sample);
        self.state = State::Refill;
        (self.pacing_gain, self.cwnd_gain) = (1.0, CWND_GAIN);
        true
    }

    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw()).min(self.window)
    }

    fn start_up(&mut self, now: Instant, sample: &RateSample) {
        self.feedback = Feedback::Starting;
        self.rounds.restart(sample);
        self.reset_full_bw(sample.rate.unwrap_or(0.0));
        self.cycle_start = now;
        self.state = State::Up;
        (self.pacing_gain, self.cwnd_gain) = (1.25, UP_CWND_GAIN);
        self.raise_slope();
    }

    fn start_down(&mut self, now: Instant, sample: &RateSample) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
        self.up_per_packet = f64::INFINITY;
        self.rounds_since_probe = self.choices.below(2);
        self.probe_wait = Duration::from_secs(2) + Duration::from_millis(self.choices.below(1001));
        self.cycle_start = now;
        self.feedback = Feedback::Stopping;
        self.rounds.restart(sample);
        self.state = State::Down;
        (self.pacing_gain, self.cwnd_gain) = (0.9, CWND_GAIN);
    }

    fn adapt_upper_bounds(&mut self, now: Instant, sample: &RateSample) {
        if self.rounds.started {
            match self.feedback {
                Feedback::Starting => self.feedback = Feedback::Arriving,
                Feedback::Stopping => {
                    self.probing_samples = false;
                    self.feedback = Feedback::None;
                    let measured = self.max_bw[1] > 0.0;
                    if self.is_probe_bw() && !sample.app_limited && measured {
                        self.max_bw = [self.max_bw[1], 0.0]; // the filter advances by a cycle
                    }
                }
                _ => {}
            }
        }
        if self.is_inflight_too_high(sample) {
            if self.probing_samples {
                self.handle_inflight_too_high(now, sample);
            }
            return;
        }
        if self.inflight_hi == f64::INFINITY {
            return;
        }
        self.inflight_hi = self.inflight_hi.max(sample.sent_in_flight as f64);
        if self.state == State::Up {
            self.probe_upward(sample);
        }
    }

    fn is_inflight_too_high(&self, sample: &RateSample) -> bool {
        sample.lost as f64 > self.config.loss_threshold * sample.sent_in_flight as f64
    }

    fn handle_inflight_too_high(&mut self, now: Instant, sample: &RateSample) {
        self.probing_samples = false;
        if !sample.app_limited {
            let sent = sample.sent_in_flight as f64;
            self.inflight_hi = sent.max(self.target_inflight() * self.config.beta);
        }
        if self.state == State::Up {
            self.start_down(now, sample);
        }
    }

    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_per_packet = (self.window / growth).max(1.0);
    }

    fn probe_upward(&mut self, sample: &RateSample) {
        if !self.is_window_limited(sample) || self.window < self.inflight_hi {
            return;
        }
        self.up_acks += sample.newly_delivered as f64;
        let grown = libm::floor(self.up_acks / self.up_per_packet);
        if grown >= 1.0 {
            self.up_acks -= grown * self.up_per_packet;
            self.inflight_hi += grown;
        }
        if self.rounds.started {
            self.raise_slope();
        }
    }

    // --- ProbeRTT: §4.3.4 ---

    fn update_min_rtt(&mut self, ack: &AckEvent, sample: &RateSample) {
        let interval = self.config.probe_rtt_interval;
        let expired = self.probe_rtt_min < Duration::MAX && ack.now > self.probe_rtt_min_at + interval;
        if let Some(rtt) = ack.rtt {
            if rtt < self.probe_rtt_min || expired {
                self.probe_rtt_min = rtt;
                self.probe_rtt_min_at = ack.now;
            }
        }
        if self.probe_rtt_min < self.min_rtt || ack.now > self.min_rtt_at + MIN_RTT_WINDOW {
            self.min_rtt = self.probe_rtt_min;
            self.min_rtt_at = self.probe_rtt_min_at;
        }
        if expired && self.state != State::ProbeRtt && !restarts_from_idle(sample) {
            self.state = State::ProbeRtt;
            (self.pacing_gain, self.cwnd_gain) = (1.0, PROBE_RTT_GAIN);
            self.prior.before_probe_rtt(self.window);
            self.probe_rtt_end = Instant::MAX;
            self.feedback = Feedback::Stopping;
            self.rounds.restart(sample);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack.now, sample);
        }
    }

    fn probe_rtt_window(&self) -> f64 {
        (PROBE_RTT_GAIN * self.bdp(self.bw())).max(MIN_WINDOW)
    }

    fn probe_rtt(&mut self, now: Instant, sample: &RateSample) {
        self.held_back.mark(sample);
        if self.probe_rtt_end == Instant::MAX {
            if sample.in_flight as f64 <= self.probe_rtt_window() {
                self.probe_rtt_end = now + self.config.probe_rtt_duration;
                self.probe_rtt_round = false;
                self.rounds.restart(sample);
            }
            return;
        }
        self.probe_rtt_round |= self.rounds.started;
        if self.probe_rtt_round && now > self.probe_rtt_end {
            self.probe_rtt_min_at = now;
            self.window = self.prior.restored(self.window);
            self.reset_lower_bounds();
            if self.filled {
                self.start_down(now, sample);
                self.state = State::Cruise;
                self.pacing_gain = 1.0;
            } else {
                self.state = State::Startup;
                (self.pacing_gain, self.cwnd_gain) = (STARTUP_GAIN, CWND_GAIN);
            }
        }
    }

    // --- what is sent: §4.6 ---

    fn set_pacing_rate(&mut self, ack: &AckEvent) {
        if let Some(rate) = self.first_rate.measured(ack.srtt) {
            self.pacing_rate = rate;
        }
        if self.largest_bw() == 0.0 {
            return;
        }
        let rate = self.pacing_gain * self.bw() * MARGIN;
        if self.filled || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn set_window(&mut self, sample: &RateSample) {
        let most = self.inflight(self.bw(), self.cwnd_gain);
        let delivered = sample.newly_delivered as f64;
        if self.filled {
            self.window = (self.window + delivered).min(most);
        } else if self.window < most || (sample.delivered as f64) < self.initial_window {
            self.window += delivered;
        }
        self.window = self.window.max(MIN_WINDOW);
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.window = self.window.min(self.model_bound());
    }

    /// §4.6.4.7
    fn model_bound(&self) -> f64 {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_hi,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        long_term.min(self.inflight_lo).max(MIN_WINDOW)
    }
}

impl CongestionControl for Bbr3 {
    fn needs(&self) -> Needs {
        Needs::MODEL_OF_THE_PATH
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let Some(sample) = &ack.sample else { return };
        let unused = sample.app_limited;
        let sample = &self.held_back.read(sample);
        self.update_signals(ack.phase, sample);
        self.check_full_bw(sample);
        self.check_drain(ack.now, sample);
        self.update_cycle(ack.now, sample);
        self.update_min_rtt(ack, sample);
        self.advance_signals(sample);
        self.set_pacing_rate(ack);
        let before = self.window;
        self.set_window(sample);
        if unused {
            self.window = self.window.min(before); // what was not used was not tested
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("state", f64::from(self.state as u8));
        reader("bandwidth", self.max_bw[0].max(self.max_bw[1]));
        if self.min_rtt < Duration::MAX {
            reader("min_rtt", self.min_rtt.as_secs_f64());
        }
        reader("pacing_gain", self.pacing_gain);
        reader("cwnd_gain", self.cwnd_gain);
        reader("round", self.rounds.count as f64);
        let bounds = [
            ("bw_shortterm", self.bw_lo),
            ("inflight_shortterm", self.inflight_lo),
            ("inflight_longterm", self.inflight_hi),
        ];
        for (name, bound) in bounds.into_iter().filter(|(_, bound)| bound.is_finite()) {
            reader(name, bound);
        }
    }

    /// Losses act on the model, at ACKs; the window stays. §4.6.4.4
    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.signal == Signal::Loss {
            self.prior.before_recovery(self.window, self.state == State::ProbeRtt);
        }
    }

    fn on_timeout(&mut self, _event: &CongestionEvent) {
        self.prior.before_recovery(self.window, self.state == State::ProbeRtt);
        self.window = 1.0;
    }

    fn on_recovered(&mut self) {
        self.window = self.prior.after_recovery(self.window).min(self.model_bound());
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }
}

#[cfg(test)]
mod tests;
