//! BBR with bounds on bandwidth and packets in flight: what versions 2 ([`bbr2`](crate::bbr2)) and 3
//! ([`bbr3`](crate::bbr3)) do in the same way. Symbols, and sections are in the header of `bbr3.rs`; a
//! version has its differences in [`Rules`].

mod undo;

use crate::path_model::{variables, Choices, FirstRate, HeldBack, Plateau, PriorWindow, Rounds};
use crate::{
    AckEvent, CongestionControl, CongestionEvent, Needs, Phase, RateSample, Signal, Start, TransmissionStart,
};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};
use std::fmt::Debug;
use undo::BeforeLoss;

/// Where the versions differ.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Pacing gain and window gain of Startup.
    pub(crate) startup: (f64, f64),
    /// The same of Drain.
    pub(crate) drain: (f64, f64),
    /// Round trips after which Drain ends, if it is not done before.
    pub(crate) drain_rounds: u64,
    /// Pacing gain of Down.
    pub(crate) down: f64,
    /// Window gain of Up.
    pub(crate) up: f64,
    /// ACKs with losses in a round trip that end Startup, at least.
    pub(crate) startup_losses: u32,
    /// The end of Up, if losses do not end it.
    pub(crate) up_ends: UpEnds,
}

/// The further ends of Up, besides losses and the rate at which the last probing lost too much
/// ([`BoundedBbr::is_at_risk`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpEnds {
    /// The bandwidth grows no more.
    AtPlateau,
    /// 1.25 BDP are in flight after an RTT.
    AtQueue,
}

/// The parameters that a scenario can set in each version.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub(crate) loss_threshold: f64,
    pub(crate) beta: f64,
    pub(crate) probe_rtt_interval: Duration,
    pub(crate) probe_rtt_duration: Duration,
}

/// A version of BBR with bounds.
pub trait Version: Clone + Debug {
    /// Its parameters.
    type Config;
    /// How it answers marks.
    type Ecn: EcnResponse;

    /// One line for lists of controls.
    const SUMMARY: &'static str;
    /// Where it is specified.
    const REFERENCE: &'static str;
    /// Its inner variables.
    const VARIABLES: &'static [Variable];
    /// Where it differs.
    const RULES: Rules;

    /// What a scenario set.
    fn limits(config: &Self::Config) -> Limits;

    /// Its answer to marks at the start of a connection.
    fn ecn(config: &Self::Config) -> Self::Ecn;
}

/// The answer of a version to marks; none by default.
pub trait EcnResponse: Clone + Debug {
    /// True if receivers are to echo the marks of each ACK's own packets.
    fn is_on(&self) -> bool {
        false
    }

    /// An ACK; `round`: it starts a round trip.
    fn on_ack(&mut self, _ack: &AckEvent, _sample: &RateSample, _round: bool, _min_rtt: Duration) {}

    /// The part of bandwidth and packets in flight that this round trip's marks leave; `None`: there were none.
    fn kept(&self) -> Option<f64> {
        None
    }

    /// True if the ACK ends a round trip with too many marks for probing.
    fn too_many(&self) -> bool {
        false
    }

    /// True if so many round trips had too many marks that Startup ends.
    fn fills(&self) -> bool {
        false
    }

    /// The marks of the last round trip were answered.
    fn restart(&mut self) {}

    /// [`CongestionControl::read_variables`]
    fn read_variables(&self, _reader: &mut Reader<'_>) {}
}

impl EcnResponse for () {}

/// Inner variables of both versions.
pub(crate) const SHARED_VARIABLES: [Variable; 9] = [
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

/// Window over the bandwidth-delay product, but where a version has another.
const CWND_GAIN: f64 = 2.0;
const UP_GAIN: f64 = 1.25;
const PROBE_RTT_GAIN: f64 = 0.5;
const HEADROOM: f64 = 0.15;
/// Share of the bandwidth at which packets are paced.
const MARGIN: f64 = 0.99;
const MIN_WINDOW: f64 = 4.0;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Rounds after which probing does not wait for a larger window.
const MOST_ROUNDS: f64 = 63.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
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
pub(crate) enum Feedback {
    None,
    Refilling,
    Starting,
    Arriving,
    Stopping,
}

/// Bandwidth probing that answers to losses.
#[derive(Clone, Debug)]
pub struct BoundedBbr<V: Version> {
    pub(crate) limits: Limits,
    pub(crate) ecn: V::Ecn,
    pub(crate) state: State,
    pub(crate) feedback: Feedback,
    pub(crate) window: f64,
    pub(crate) initial_window: f64,
    pub(crate) pacing_rate: f64,
    pub(crate) pacing_gain: f64,
    pub(crate) cwnd_gain: f64,
    pub(crate) rounds: Rounds,
    /// Largest rates of the cycle before and of this one.
    pub(crate) max_bw: [f64; 2],
    pub(crate) bw_lo: f64,
    pub(crate) inflight_lo: f64,
    pub(crate) inflight_hi: f64,
    pub(crate) bw_latest: f64,
    pub(crate) inflight_latest: f64,
    pub(crate) loss_rounds: Rounds,
    pub(crate) loss_in_round: bool,
    /// ACKs that brought losses in this round.
    pub(crate) lossy_acks: u32,
    pub(crate) plateau: Plateau,
    pub(crate) full_bw_now: bool,
    pub(crate) filled: bool,
    pub(crate) min_rtt: Duration,
    pub(crate) min_rtt_at: Instant,
    pub(crate) probe_rtt_min: Duration,
    pub(crate) probe_rtt_min_at: Instant,
    pub(crate) probe_rtt_end: Instant,
    pub(crate) probe_rtt_round: bool,
    /// BBR.idle_restart: nothing was delivered since the idle time.
    pub(crate) restarts: bool,
    /// Packets delivered so far.
    pub(crate) delivered: u64,
    pub(crate) drain_start: u64,
    pub(crate) cycle_start: Instant,
    pub(crate) probe_wait: Duration,
    pub(crate) rounds_since_probe: u64,
    /// True if what arrives was sent while probing.
    pub(crate) probing_samples: bool,
    /// True if the last probing lost too much.
    pub(crate) lost_probing: bool,
    /// True if this one stopped where that one did.
    pub(crate) stopped_at_bound: bool,
    pub(crate) up_rounds: u32,
    pub(crate) up_acks: f64,
    pub(crate) up_per_packet: f64,
    pub(crate) prior: PriorWindow,
    pub(crate) before_loss: BeforeLoss,
    pub(crate) held_back: HeldBack,
    pub(crate) first_rate: FirstRate,
    pub(crate) choices: Choices,
}

impl<V: Version> BoundedBbr<V> {
    pub(crate) const SUMMARY: &'static str = V::SUMMARY;
    pub(crate) const REFERENCE: &'static str = V::REFERENCE;
    pub(crate) const NEEDS: Needs = Needs::MODEL_OF_THE_PATH;
    pub(crate) const STEERABLE: bool = false;
    pub(crate) const VARIABLES: &'static [Variable] = V::VARIABLES;

    /// A control at the start of a connection.
    pub fn new(config: &V::Config, start: Start) -> Self {
        let (pacing_gain, cwnd_gain) = V::RULES.startup;
        let first_rate = FirstRate::new(start.window, pacing_gain);
        Self {
            limits: V::limits(config),
            ecn: V::ecn(config),
            state: State::Startup,
            feedback: Feedback::None,
            window: start.window,
            initial_window: start.window,
            pacing_rate: first_rate.assumed(),
            pacing_gain,
            cwnd_gain,
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
            restarts: false,
            delivered: 0,
            drain_start: 0,
            cycle_start: Instant::ZERO,
            probe_wait: Duration::ZERO,
            rounds_since_probe: 0,
            probing_samples: false,
            lost_probing: false,
            stopped_at_bound: false,
            up_rounds: 0,
            up_acks: 0.0,
            up_per_packet: f64::INFINITY,
            prior: PriorWindow::default(),
            before_loss: BeforeLoss::default(),
            held_back: HeldBack::default(),
            first_rate,
            choices: Choices::new(start.random),
        }
    }

    // --- the model: §5.5 ---

    pub(crate) fn largest_bw(&self) -> f64 {
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

    fn update_signals(&mut self, ack: &AckEvent, sample: &RateSample) {
        self.delivered = sample.delivered;
        if sample.newly_lost > 0 {
            if !self.loss_in_round {
                self.save_bounds();
                self.loss_rounds.restart(sample.delivered); // a round trip from the first loss on
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
        self.ecn.on_ack(ack, sample, self.rounds.started, self.min_rtt);
        if let Some(rate) = sample.rate {
            if rate >= self.largest_bw() || !sample.app_limited {
                self.max_bw[1] = self.max_bw[1].max(rate);
            }
        }
        if self.loss_rounds.started {
            self.adapt_lower_bounds();
            self.check_startup_losses(ack.phase, sample);
            self.ecn.restart();
            self.loss_in_round = false;
            self.lossy_acks = 0;
        }
    }

    /// §5.5.10.3
    fn adapt_lower_bounds(&mut self) {
        if matches!(self.state, State::Startup | State::Refill | State::Up) {
            return;
        }
        let marked = self.ecn.kept();
        if !self.loss_in_round && marked.is_none() {
            return;
        }
        if self.bw_lo == f64::INFINITY {
            self.bw_lo = self.largest_bw();
        }
        if self.inflight_lo == f64::INFINITY {
            self.inflight_lo = self.window;
        }
        let (bw, inflight) = (self.bw_lo, self.inflight_lo);
        if self.loss_in_round {
            self.bw_lo = self.bw_latest.max(self.limits.beta * bw);
            self.inflight_lo = self.inflight_latest.max(self.limits.beta * inflight);
        }
        if let Some(kept) = marked {
            self.bw_lo = self.bw_lo.min(kept * bw);
            self.inflight_lo = self.inflight_lo.min(kept * inflight);
        }
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

    /// §5.3.1.2
    fn check_full_bw(&mut self, sample: &RateSample) {
        if self.full_bw_now || !self.rounds.started || sample.app_limited {
            return;
        }
        let Some(rate) = sample.rate else { return };
        self.full_bw_now = self.plateau.reached(rate);
        self.filled |= self.full_bw_now;
    }

    // --- Startup and Drain: §5.3.1, §5.3.2 ---

    /// After a round trip of recovery, too much of which was lost. §5.3.1.3
    fn check_startup_losses(&mut self, phase: Phase, sample: &RateSample) {
        let lossy = self.lossy_acks >= V::RULES.startup_losses && self.is_inflight_too_high(sample);
        let recovering = phase != Phase::Open;
        if self.state == State::Startup && (recovering && lossy || self.ecn.fills()) {
            self.note_ended_by_loss();
            self.filled = true;
            self.inflight_hi = self.bdp(self.largest_bw()).max(self.inflight_latest);
        }
    }

    fn check_drain(&mut self, now: Instant, sample: &RateSample) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
            self.drain_start = self.rounds.count;
            (self.pacing_gain, self.cwnd_gain) = V::RULES.drain;
        }
        let drained = sample.in_flight as f64 <= self.inflight(self.bw(), 1.0);
        let late = self.rounds.count - self.drain_start > V::RULES.drain_rounds;
        if self.state == State::Drain && (drained || late) {
            self.start_down(now);
        }
    }

    fn start_startup(&mut self) {
        self.state = State::Startup;
        (self.pacing_gain, self.cwnd_gain) = V::RULES.startup;
    }

    // --- ProbeBW: §5.3.3 ---

    fn update_cycle(&mut self, now: Instant, sample: &RateSample) {
        if !self.filled {
            return;
        }
        if self.adapt_upper_bounds(now, sample) {
            return;
        }
        let probes = matches!(self.state, State::Down | State::Cruise) && self.check_probe(now);
        if probes {
            return;
        }
        if self.state == State::Down && self.is_time_to_cruise(sample) {
            self.state = State::Cruise;
            (self.pacing_gain, self.cwnd_gain) = (1.0, CWND_GAIN);
        } else if self.state == State::Refill && self.rounds.started {
            self.probing_samples = true;
            self.start_up(now, sample);
        } else if self.state == State::Up && self.is_time_to_go_down(now, sample) {
            self.start_down(now);
        }
    }

    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        let in_flight = sample.in_flight as f64;
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.largest_bw(), 1.0)
    }

    fn is_time_to_go_down(&mut self, now: Instant, sample: &RateSample) -> bool {
        let at_risk = self.is_at_risk(sample);
        let over = match V::RULES.up_ends {
            _ if at_risk => true,
            UpEnds::AtQueue => self.is_queue_long(now, sample),
            UpEnds::AtPlateau if self.is_window_limited(sample) && self.window >= self.inflight_hi => {
                self.reset_full_bw(sample.rate.unwrap_or(self.plateau.base));
                false
            }
            UpEnds::AtPlateau => self.full_bw_now,
        };
        self.stopped_at_bound |= at_risk;
        self.lost_probing &= !over;
        over
    }

    /// Precautionary bandwidth probing: as much is in flight as the last probing lost too much with. If nothing is lost
    /// now, probing goes on at once. §5.3.3.6
    fn is_at_risk(&self, sample: &RateSample) -> bool {
        self.lost_probing && in_flight_before(sample) as f64 >= self.inflight_hi
    }

    fn is_queue_long(&self, now: Instant, sample: &RateSample) -> bool {
        let in_flight = in_flight_before(sample) as f64;
        now > self.cycle_start + self.min_rtt && in_flight >= self.inflight(self.largest_bw(), UP_GAIN)
    }

    fn is_window_limited(&self, sample: &RateSample) -> bool {
        in_flight_before(sample) as f64 + 1.0 > self.window
    }

    /// True if it is time to probe for bandwidth; then probing begins.
    fn check_probe(&mut self, now: Instant) -> bool {
        let reno_rounds = self.target_inflight().min(MOST_ROUNDS);
        let waited = now > self.cycle_start + self.probe_wait;
        if !waited && (self.rounds_since_probe as f64) < reno_rounds {
            return false;
        }
        self.start_refill();
        true
    }

    fn start_refill(&mut self) {
        self.reset_lower_bounds();
        self.stopped_at_bound = false;
        (self.up_rounds, self.up_acks) = (0, 0.0);
        self.feedback = Feedback::Refilling;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
        (self.pacing_gain, self.cwnd_gain) = (1.0, CWND_GAIN);
    }

    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw()).min(self.window)
    }

    fn start_up(&mut self, now: Instant, sample: &RateSample) {
        self.feedback = Feedback::Starting;
        self.rounds.restart(sample.delivered);
        self.reset_full_bw(sample.rate.unwrap_or(0.0));
        self.cycle_start = now;
        self.state = State::Up;
        (self.pacing_gain, self.cwnd_gain) = (UP_GAIN, V::RULES.up);
        self.raise_slope();
    }

    fn start_down(&mut self, now: Instant) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
        self.up_per_packet = f64::INFINITY;
        self.rounds_since_probe = self.choices.below(2);
        self.probe_wait = Duration::from_secs(2) + Duration::from_millis(self.choices.below(1001));
        self.cycle_start = now;
        self.feedback = Feedback::Stopping;
        self.rounds.restart(self.delivered);
        self.state = State::Down;
        (self.pacing_gain, self.cwnd_gain) = (V::RULES.down, CWND_GAIN);
    }

    /// True if the next state is decided with that.
    fn adapt_upper_bounds(&mut self, now: Instant, sample: &RateSample) -> bool {
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
                    if self.is_probe_bw() && self.stopped_at_bound && !self.lost_probing {
                        self.start_refill();
                        return true;
                    }
                }
                _ => {}
            }
        }
        if self.is_inflight_too_high(sample) {
            if self.probing_samples {
                self.handle_inflight_too_high(now, sample);
            }
            return false;
        }
        if self.inflight_hi == f64::INFINITY {
            return false;
        }
        self.inflight_hi = self.inflight_hi.max(sample.sent_in_flight as f64);
        if self.state == State::Up {
            self.probe_upward(sample);
        }
        false
    }

    fn is_inflight_too_high(&self, sample: &RateSample) -> bool {
        sample.lost as f64 > self.limits.loss_threshold * sample.sent_in_flight as f64 || self.ecn.too_many()
    }

    fn handle_inflight_too_high(&mut self, now: Instant, sample: &RateSample) {
        self.probing_samples = false;
        self.lost_probing = true;
        if !sample.app_limited {
            let sent = sample.sent_in_flight as f64;
            self.inflight_hi = sent.max(self.target_inflight() * self.limits.beta);
        }
        if self.state == State::Up {
            self.note_ended_by_loss();
            self.start_down(now);
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

    // --- ProbeRTT: §5.3.4 ---

    fn update_min_rtt(&mut self, ack: &AckEvent, sample: &RateSample) {
        let interval = self.limits.probe_rtt_interval;
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
        if expired && self.state != State::ProbeRtt && !self.restarts {
            self.state = State::ProbeRtt;
            self.held_back.begin(sample);
            (self.pacing_gain, self.cwnd_gain) = (1.0, PROBE_RTT_GAIN);
            self.prior.before_probe_rtt(self.window);
            self.probe_rtt_end = Instant::MAX;
            self.feedback = Feedback::Stopping;
            self.rounds.restart(sample.delivered);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack.now, sample);
        }
        if sample.rate.is_some() {
            self.restarts = false;
        }
    }

    fn probe_rtt_window(&self) -> f64 {
        (PROBE_RTT_GAIN * self.bdp(self.bw())).max(MIN_WINDOW)
    }

    fn probe_rtt(&mut self, now: Instant, sample: &RateSample) {
        self.held_back.mark(sample);
        if self.probe_rtt_end == Instant::MAX {
            if sample.in_flight as f64 <= self.probe_rtt_window() {
                self.probe_rtt_end = now + self.limits.probe_rtt_duration;
                self.probe_rtt_round = false;
                self.rounds.restart(sample.delivered);
            }
            return;
        }
        self.probe_rtt_round |= self.rounds.started;
        if self.probe_rtt_round {
            self.check_probe_rtt_done(now);
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if now <= self.probe_rtt_end {
            return;
        }
        self.probe_rtt_min_at = now;
        self.window = self.prior.restored(self.window);
        self.reset_lower_bounds();
        if self.filled {
            self.start_down(now);
            self.state = State::Cruise;
            self.pacing_gain = 1.0;
        } else {
            self.start_startup();
        }
    }

    // --- what is sent: §5.6 ---

    fn set_pacing_rate(&mut self, ack: &AckEvent) {
        if let Some(rate) = self.first_rate.measured(ack.srtt) {
            self.pacing_rate = rate;
        }
        self.pace(self.pacing_gain);
    }

    /// `SetPacingRateWithGain`
    fn pace(&mut self, gain: f64) {
        if self.largest_bw() == 0.0 {
            return;
        }
        let rate = gain * self.bw() * MARGIN;
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

    /// §5.6.4.7
    fn model_bound(&self) -> f64 {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_hi,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        long_term.min(self.inflight_lo).max(MIN_WINDOW)
    }
}

/// Packets in flight before the ACK.
fn in_flight_before(sample: &RateSample) -> u64 {
    sample.in_flight + sample.newly_delivered + sample.newly_lost
}

impl<V: Version> CongestionControl for BoundedBbr<V> {
    fn needs(&self) -> Needs {
        Needs { accurate_ecn: self.ecn.is_on(), ..Self::NEEDS }
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
        self.update_signals(ack, sample);
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
        self.ecn.read_variables(reader);
    }

    /// Losses act on the model, at ACKs; the window stays. §5.6.4.4
    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.signal == Signal::Loss {
            self.prior.before_recovery(self.window, self.state == State::ProbeRtt);
            self.save_bounds();
        }
    }

    fn on_timeout(&mut self, _event: &CongestionEvent) {
        self.prior.before_recovery(self.window, self.state == State::ProbeRtt);
        self.save_bounds();
        self.window = 1.0;
    }

    fn on_undo(&mut self, _window: f64, _ssthresh: f64) {
        self.undo();
    }

    /// `HandleRestartFromIdle`
    fn on_transmission_start(&mut self, start: &TransmissionStart) {
        if !start.app_limited {
            return;
        }
        self.restarts = true;
        if self.is_probe_bw() {
            self.pace(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(start.now);
        }
    }

    fn on_recovered(&mut self) {
        self.window = self.prior.after_recovery(self.window).min(self.model_bound());
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }
}
