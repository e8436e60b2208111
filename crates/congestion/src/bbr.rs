//! BBR, version 1 (Cardwell et al., ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | BtlBw | `bandwidth` | packets/s, largest delivery rate of ten round trips |
//! | RTprop | `min_rtt` | smallest RTT of ten seconds |
//! | BDP | [`Bbr::inflight`] | packets: BtlBw RTprop |
//! | pacing_gain, cwnd_gain | `pacing_gain`, `cwnd_gain` | |
//! | full_bw | `plateau` | packets/s, BtlBw when it last grew by a quarter |
//! | cwnd | `window` | packets |
//!
//! Sends at the bandwidth that it measured, and keeps no more than two BDP in flight. Startup doubles the rate until
//! BtlBw has not grown by a quarter for three round trips; Drain empties the queue that this made; ProbeBW goes around
//! eight phases of one RTprop, of gain 1.25, 0.75 and six times 1; every ten seconds without a new smallest RTT,
//! ProbeRTT holds four packets in flight for 200 ms; what it sends does not count for BtlBw. Losses change the window
//! only while they are repaired (packet conservation in the first round trip).
//!
//! After an idle time there is no ProbeRTT, and the first packets go at the bandwidth, whatever the phase.
//!
//! Linux's version 1 also has a long-term bandwidth for token-bucket policers: see [`BbrLinux`](crate::BbrLinux).

use crate::path_model::{variables, Choices, FirstRate, HeldBack, Plateau, PriorWindow, Rounds, WindowedMax};
use crate::{
    AckEvent, CongestionControl, CongestionEvent, Needs, RateSample, Signal, Start, TransmissionStart,
};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Bbr`].
    pub struct BbrConfig {
        /// Gain of the window over the bandwidth-delay product in steady state.
        cwnd_gain: f64, default "2", min 1.0, max 10.0;
        /// Time without a new smallest RTT after which the queue is emptied to measure it.
        probe_rtt_interval: Duration, default "10 s", min "1 ms";
        /// Time for which the queue is emptied.
        probe_rtt_duration: Duration, default "200 ms", min "0 s";
    }
}

/// 2/ln 2: the smallest gain that doubles the rate each round trip.
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const BANDWIDTH_ROUNDS: u64 = 10;
/// Smallest window, which keeps ACKs coming in spite of delayed ones.
const MIN_WINDOW: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Packet conservation in the first round trip of a recovery: what is sent is no more than what was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conservation {
    Off,
    /// A loss was found; the ACK that reports it is still to come.
    Begins,
    On,
}

/// Bottleneck bandwidth and round-trip propagation time.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: BbrConfig,
    mode: Mode,
    window: f64,
    initial_window: f64,
    pacing_rate: f64,
    pacing_gain: f64,
    cwnd_gain: f64,
    bandwidth: WindowedMax,
    rounds: Rounds,
    min_rtt: Duration,
    min_rtt_at: Instant,
    plateau: Plateau,
    filled: bool,
    phase: usize,
    phase_start: Instant,
    /// [`Instant::MAX`] until few enough packets are in flight.
    probe_rtt_end: Instant,
    probe_rtt_round: bool,
    prior: PriorWindow,
    conservation: Conservation,
    /// BBR.idle_restart: nothing was delivered since the idle time.
    restarts: bool,
    held_back: HeldBack,
    first_rate: FirstRate,
    choices: Choices,
}

impl Bbr {
    pub(crate) const SUMMARY: &'static str =
        "sends at the measured bandwidth, with two bandwidth-delay products at most";
    pub(crate) const REFERENCE: &'static str = "Cardwell et al., ACM Queue 14(5), 2016";
    pub(crate) const NEEDS: Needs = Needs::MODEL_OF_THE_PATH;
    pub(crate) const STEERABLE: bool = false;
    pub(crate) const VARIABLES: &'static [Variable] = &[
        Variable::new("state", "", "0 Startup, 1 Drain, 2 ProbeBW, 3 ProbeRTT"),
        variables::BANDWIDTH,
        variables::MIN_RTT,
        variables::PACING_GAIN,
        variables::CWND_GAIN,
        variables::ROUND,
    ];

    /// A control at the start of a connection.
    pub fn new(config: &BbrConfig, start: Start) -> Self {
        let first_rate = FirstRate::new(start.window, HIGH_GAIN);
        Self {
            config: config.clone(),
            mode: Mode::Startup,
            window: start.window,
            initial_window: start.window,
            pacing_rate: first_rate.assumed(),
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            bandwidth: WindowedMax::new(BANDWIDTH_ROUNDS),
            rounds: Rounds::default(),
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
            plateau: Plateau::default(),
            filled: false,
            phase: 0,
            phase_start: Instant::ZERO,
            probe_rtt_end: Instant::MAX,
            probe_rtt_round: false,
            prior: PriorWindow::default(),
            conservation: Conservation::Off,
            restarts: false,
            held_back: HeldBack::default(),
            first_rate,
            choices: Choices::new(start.random),
        }
    }

    /// Packets in flight at a gain, with room for ACKs that are on their way.
    fn inflight(&self, gain: f64) -> f64 {
        if self.min_rtt == Duration::MAX || self.bandwidth.max() == 0.0 {
            return self.initial_window;
        }
        gain * self.bandwidth.max() * self.min_rtt.as_secs_f64() + 3.0
    }

    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.rounds.update(sample);
        if self.conservation == Conservation::Begins {
            let delivered = sample.newly_delivered.max(1);
            self.window = self.window.min((sample.in_flight + delivered) as f64);
            self.rounds.restart(sample.delivered); // so that it lasts for a round trip
            self.conservation = Conservation::On;
        } else if self.rounds.started {
            self.conservation = Conservation::Off;
        }
        if let Some(rate) = sample.rate {
            if rate >= self.bandwidth.max() || !sample.app_limited {
                self.bandwidth.update(self.rounds.count, rate);
            }
        }
    }

    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.filled || !self.rounds.started || sample.app_limited {
            return;
        }
        self.filled = self.plateau.reached(self.bandwidth.max());
    }

    fn check_drain(&mut self, now: Instant, sample: &RateSample) {
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
            self.pacing_gain = 1.0 / HIGH_GAIN;
            self.cwnd_gain = HIGH_GAIN;
        }
        if self.mode == Mode::Drain && sample.in_flight as f64 <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cwnd_gain = self.config.cwnd_gain;
        // Any phase but that of gain 0.75.
        let drawn = self.choices.below(7) as usize;
        self.phase = if drawn == 0 { 0 } else { drawn + 1 };
        self.phase_start = now;
        self.pacing_gain = CYCLE[self.phase];
    }

    fn check_phase(&mut self, now: Instant, sample: &RateSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let whole = now.since(self.phase_start) > self.min_rtt;
        let before = (sample.in_flight + sample.newly_delivered + sample.newly_lost) as f64;
        let over = if self.pacing_gain > 1.0 {
            whole && (sample.newly_lost > 0 || before >= self.inflight(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            whole || before <= self.inflight(1.0)
        } else {
            whole
        };
        if over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_start = now;
            self.pacing_gain = CYCLE[self.phase];
        }
    }

    fn update_min_rtt(&mut self, ack: &AckEvent, sample: &RateSample) {
        let interval = self.config.probe_rtt_interval;
        let expired = ack.now > self.min_rtt_at + interval && self.min_rtt < Duration::MAX;
        if let Some(rtt) = ack.rtt {
            if rtt <= self.min_rtt || expired {
                self.min_rtt = rtt;
                self.min_rtt_at = ack.now;
            }
        }
        if expired && self.mode != Mode::ProbeRtt && !self.restarts {
            self.mode = Mode::ProbeRtt;
            self.held_back.begin(sample);
            (self.pacing_gain, self.cwnd_gain) = (1.0, 1.0);
            self.prior.before_probe_rtt(self.window);
            self.probe_rtt_end = Instant::MAX;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(ack.now, sample);
        }
        if sample.rate.is_some() {
            self.restarts = false;
        }
    }

    fn probe_rtt(&mut self, now: Instant, sample: &RateSample) {
        self.held_back.mark(sample);
        if self.probe_rtt_end == Instant::MAX {
            if sample.in_flight as f64 <= MIN_WINDOW {
                self.probe_rtt_end = now + self.config.probe_rtt_duration;
                self.probe_rtt_round = false;
                self.rounds.restart(sample.delivered);
            }
            return;
        }
        self.probe_rtt_round |= self.rounds.started;
        if self.probe_rtt_round && now > self.probe_rtt_end {
            self.min_rtt_at = now;
            self.window = self.prior.restored(self.window);
            if self.filled {
                self.enter_probe_bw(now);
            } else {
                self.mode = Mode::Startup;
                (self.pacing_gain, self.cwnd_gain) = (HIGH_GAIN, HIGH_GAIN);
            }
        }
    }

    fn set_pacing_rate(&mut self, ack: &AckEvent) {
        if let Some(rate) = self.first_rate.measured(ack.srtt) {
            self.pacing_rate = rate;
        }
        self.pace(self.pacing_gain);
    }

    /// BBRSetPacingRateWithGain
    fn pace(&mut self, gain: f64) {
        let measured = self.bandwidth.max();
        if measured == 0.0 {
            return;
        }
        let rate = gain * measured;
        if self.filled || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn set_window(&mut self, sample: &RateSample) {
        let target = self.inflight(self.cwnd_gain);
        let delivered = sample.newly_delivered as f64;
        if sample.newly_lost > 0 {
            self.window = (self.window - sample.newly_lost as f64).max(1.0);
        }
        if self.conservation == Conservation::On {
            self.window = self.window.max(sample.in_flight as f64 + delivered);
        } else {
            if self.filled {
                self.window = (self.window + delivered).min(target);
            } else if self.window < target || (sample.delivered as f64) < self.initial_window {
                self.window += delivered;
            }
            self.window = self.window.max(MIN_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(MIN_WINDOW);
        }
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        Self::NEEDS
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
        self.update_bandwidth(sample);
        self.check_phase(ack.now, sample);
        self.check_full_pipe(sample);
        self.check_drain(ack.now, sample);
        self.update_min_rtt(ack, sample);
        self.set_pacing_rate(ack);
        let before = self.window;
        self.set_window(sample);
        if unused {
            self.window = self.window.min(before); // what was not used was not tested
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("state", f64::from(self.mode as u8));
        reader("bandwidth", self.bandwidth.max());
        if self.min_rtt < Duration::MAX {
            reader("min_rtt", self.min_rtt.as_secs_f64());
        }
        reader("pacing_gain", self.pacing_gain);
        reader("cwnd_gain", self.cwnd_gain);
        reader("round", self.rounds.count as f64);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.signal == Signal::Loss {
            self.prior.before_recovery(self.window, self.mode == Mode::ProbeRtt);
            self.conservation = Conservation::Begins;
            self.window = self.window.min(event.in_flight as f64 + 1.0).max(1.0);
        }
    }

    fn on_timeout(&mut self, _event: &CongestionEvent) {
        self.prior.before_recovery(self.window, self.mode == Mode::ProbeRtt);
        self.conservation = Conservation::Off;
        self.window = 1.0;
    }

    fn on_recovered(&mut self) {
        self.conservation = Conservation::Off;
        self.window = self.prior.after_recovery(self.window);
    }

    /// BBRHandleRestartFromIdle
    fn on_transmission_start(&mut self, start: &TransmissionStart) {
        if start.app_limited {
            self.restarts = true;
            if self.mode == Mode::ProbeBw {
                self.pace(1.0);
            }
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }

    fn set_window(&mut self, window: f64) {
        self.window = window;
    }
}

#[cfg(test)]
pub(crate) mod tests;
