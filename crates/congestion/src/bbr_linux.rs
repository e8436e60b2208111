//! BBR as Linux 6.18 has it (net/ipv4/tcp_bbr.c), version 1.
//!
//! | function of the kernel | here |
//! | --- | --- |
//! | `bbr_main`, `bbr_update_model` | [`CongestionControl::on_ack`] |
//! | `bbr_update_bw` | [`BbrLinux::update_bandwidth`] |
//! | `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done` | [`policer`] |
//! | `bbr_update_ack_aggregation`, `bbr_ack_aggregation_cwnd` | [`aggregation`] |
//! | `bbr_bdp`, `bbr_quantization_budget`, `bbr_inflight` | [`BbrLinux::bdp`], [`BbrLinux::with_room_for_bursts`], [`BbrLinux::inflight`] |
//! | `bbr_packets_in_net_at_edt` | [`BbrLinux::in_network`] |
//! | `bbr_is_next_cycle_phase`, `bbr_check_full_bw_reached`, `bbr_check_drain` | [`BbrLinux::check_phase`], [`BbrLinux::check_full_pipe`], [`BbrLinux::check_drain`] |
//! | `bbr_update_min_rtt`, `bbr_check_probe_rtt_done` | [`BbrLinux::update_min_rtt`], [`BbrLinux::check_probe_rtt_done`] |
//! | `bbr_set_pacing_rate`, `bbr_tso_segs_goal` | [`BbrLinux::set_pacing_rate`], [`BbrLinux::burst`] |
//! | `bbr_set_cwnd`, `bbr_set_cwnd_to_recover_or_restore` | [`BbrLinux::update_window`] |
//! | `bbr_save_cwnd` | [`BbrLinux::save_window`] |
//! | `bbr_cwnd_event` | [`CongestionControl::on_transmission_start`] |
//!
//! How it differs from `bbr`, which is the published one: the window has room for three bursts of segmentation offload
//! and for ACKs that come aggregated, is even, and is two packets larger in the phase that probes; packets go at 99 %
//! of the bandwidth; what counts as in flight is what will be in the network when pacing lets the next packet go; a
//! path that loses a fifth or more in two intervals of about the same rate is taken for policed, and is sent at that
//! rate for 48 round trips; a window that the application does not use grows. Gains are whole 256ths.
//!
//! Left out: the clock of `min_rtt_stamp` and `probe_rtt_done_stamp` has ticks of a jiffy there; a smallest RTT that
//! expired is renewed there by an ACK that was not delayed only. Bursts are counted in packets of an MSS of 1448 bytes.
//!
//! Read for these facts: net/ipv4/tcp_bbr.c of Linux; held against recordings of 6.18 (docs/kernel_recordings.md).

mod aggregation;
mod policer;

use crate::path_model::{variables, Choices, FirstRate, HeldBack, Plateau, Rounds, WindowedMax};
use crate::{
    AckEvent, CongestionControl, CongestionEvent, Needs, Phase, RateSample, Signal, Start, TransmissionStart,
};
use aggregation::Aggregation;
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};
use policer::Policer;

parshall_units::configuration! {
    /// Parameters of [`BbrLinux`]; the kernel has them as constants.
    pub struct BbrLinuxConfig {
        /// Whether the window has room for ACKs that come aggregated (`bbr_extra_acked_gain`).
        ack_aggregation: bool, default "true";
        /// Whether a path that loses much at a steady rate is taken for policed (`bbr_lt_bw_sampling`).
        policer_detection: bool, default "true";
        /// Time without a new smallest RTT after which the queue is emptied to measure it (`bbr_min_rtt_win_sec`).
        probe_rtt_interval: Duration, default "10 s", min "1 ms";
    }
}

/// `bbr_high_gain`, `bbr_drain_gain`: 2885/1000 and its inverse in 256ths.
const HIGH_GAIN: f64 = 739.0 / 256.0;
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// `bbr_cwnd_gain`
const WINDOW_GAIN: f64 = 2.0;
/// `bbr_pacing_gain`
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `bbr_bw_rtts`
const BANDWIDTH_ROUNDS: u64 = 10;
/// `bbr_cwnd_min_target`
const MIN_WINDOW: f64 = 4.0;
/// `bbr_probe_rtt_mode_ms`
const PROBE_RTT: Duration = Duration::from_millis(200);
/// `bbr_pacing_margin_percent`
const PACED: f64 = 0.99;
/// `TCP_INIT_CWND`
const INITIAL_WINDOW: f64 = 10.0;
/// `sk_pacing_shift`: a burst is what is sent in 1/1024 s.
const BURSTS_PER_S: f64 = 1024.0;
/// `bbr_min_tso_rate`, 1.2 Mbit/s, in packets of 1448 bytes: a burst is of two packets at least from here on.
const SLOW: f64 = 1.2e6 / 8.0 / 1448.0;
/// `GSO_LEGACY_MAX_SIZE` less headers, in such packets.
const LARGEST_BURST: f64 = 45.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR of Linux.
#[derive(Clone, Debug)]
pub struct BbrLinux {
    config: BbrLinuxConfig,
    mode: Mode,
    /// Whole packets.
    window: f64,
    pacing_rate: f64,
    pacing_gain: f64,
    window_gain: f64,
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
    /// `prior_cwnd`
    saved: f64,
    /// `prev_ca_state`: where the connection stood at the last ACK.
    before: Phase,
    packet_conservation: bool,
    restarts: bool,
    held_back: HeldBack,
    first_rate: FirstRate,
    choices: Choices,
    aggregation: Aggregation,
    policer: Policer,
}

impl BbrLinux {
    pub(crate) const SUMMARY: &'static str =
        "BBR in the rules of Linux 6.18: room for bursts and aggregated ACKs, policers detected";
    pub(crate) const REFERENCE: &'static str = "Linux 6.18, net/ipv4/tcp_bbr.c";
    pub(crate) const NEEDS: Needs = Needs::MODEL_OF_THE_PATH;
    pub(crate) const STEERABLE: bool = false;
    pub(crate) const VARIABLES: &'static [Variable] = &[
        Variable::new("state", "", "0 Startup, 1 Drain, 2 ProbeBW, 3 ProbeRTT"),
        variables::BANDWIDTH,
        variables::MIN_RTT,
        variables::PACING_GAIN,
        variables::CWND_GAIN,
        variables::ROUND,
        Variable::new("extra_acked", "packets", "room for ACKs that come aggregated"),
        Variable::new("policed_rate", "packets/s", "rate at which the path is taken for policed"),
    ];

    /// A control at the start of a connection.
    pub fn new(config: &BbrLinuxConfig, start: Start) -> Self {
        let first_rate = FirstRate::new(start.window, HIGH_GAIN * PACED);
        Self {
            config: config.clone(),
            mode: Mode::Startup,
            window: start.window,
            pacing_rate: first_rate.assumed(),
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            bandwidth: WindowedMax::new(BANDWIDTH_ROUNDS),
            rounds: Rounds::default(),
            min_rtt: Duration::MAX,
            min_rtt_at: start.at,
            plateau: Plateau::default(),
            filled: false,
            phase: 0,
            phase_start: Instant::ZERO,
            probe_rtt_end: Instant::MAX,
            probe_rtt_round: false,
            saved: 0.0,
            before: Phase::Open,
            packet_conservation: false,
            restarts: false,
            held_back: HeldBack::default(),
            first_rate,
            choices: Choices::new(start.random),
            aggregation: Aggregation::new(start.at),
            policer: Policer::default(),
        }
    }

    /// The RTT of the handshake, or else of the first ACK (`bbr_init`, `bbr_init_pacing_rate_from_rtt`).
    fn learn_first_rtt(&mut self, now: Instant, srtt: Duration, min_rtt: Duration) {
        if let Some(rate) = self.first_rate.measured(srtt) {
            self.pacing_rate = rate;
            if min_rtt < self.min_rtt {
                (self.min_rtt, self.min_rtt_at) = (min_rtt, now);
            }
        }
    }

    /// The bandwidth that it sends by.
    fn rate(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.max())
    }

    /// Packets that segmentation offload sends at once.
    fn burst(&self) -> f64 {
        let least = if self.pacing_rate < SLOW { 1.0 } else { 2.0 };
        libm::floor(self.pacing_rate / BURSTS_PER_S).min(LARGEST_BURST).max(least)
    }

    fn bdp(&self, rate: f64, gain: f64) -> f64 {
        if self.min_rtt == Duration::MAX {
            return INITIAL_WINDOW;
        }
        libm::ceil(gain * rate * self.min_rtt.as_secs_f64())
    }

    fn with_room_for_bursts(&self, packets: f64) -> f64 {
        let even = 2.0 * libm::ceil(f64::midpoint(packets, 3.0 * self.burst()));
        let probes = self.mode == Mode::ProbeBw && self.phase == 0;
        even + if probes { 2.0 } else { 0.0 }
    }

    fn inflight(&self, gain: f64) -> f64 {
        self.with_room_for_bursts(self.bdp(self.bandwidth.max(), gain))
    }

    /// Of `in_flight` packets, those that will be in the network when pacing lets the next one go.
    fn in_network(&self, in_flight: u64, sample: &RateSample) -> f64 {
        let next = if self.pacing_gain > 1.0 { self.burst() } else { 0.0 };
        let delivered = libm::floor(self.rate() * sample.next_send.as_secs_f64());
        (in_flight as f64 + next - delivered).max(0.0)
    }

    fn update_bandwidth(&mut self, now: Instant, sample: &RateSample) {
        let Some(rate) = sample.rate else {
            self.rounds.started = false;
            return;
        };
        self.rounds.update(sample);
        if self.rounds.started {
            self.packet_conservation = false;
        }
        self.watch_for_policers(now, sample);
        if !sample.app_limited || rate >= self.bandwidth.max() {
            self.bandwidth.update(self.rounds.count, rate);
        }
    }

    fn watch_for_policers(&mut self, now: Instant, sample: &RateSample) {
        if self.config.policer_detection {
            let probes = self.mode == Mode::ProbeBw;
            if self.policer.update(now, sample, self.rounds.started, probes) {
                self.enter_probe_bw(now);
            }
        }
    }

    fn check_phase(&mut self, now: Instant, sample: &RateSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let whole = now.since(self.phase_start) > self.min_rtt;
        let before = self.in_network(sample.in_flight + sample.newly_delivered + sample.newly_lost, sample);
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
        }
    }

    fn check_full_pipe(&mut self, sample: &RateSample) {
        if !self.filled && self.rounds.started && !sample.app_limited {
            self.filled = self.plateau.reached(self.bandwidth.max());
        }
    }

    fn check_drain(&mut self, now: Instant, sample: &RateSample) {
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_network(sample.in_flight, sample) <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        // Any phase but that of gain 0.75.
        self.phase = (CYCLE.len() - self.choices.below(7) as usize) % CYCLE.len();
        self.phase_start = now;
    }

    fn update_min_rtt(&mut self, ack: &AckEvent, sample: &RateSample) {
        let expired = ack.now > self.min_rtt_at + self.config.probe_rtt_interval;
        if let Some(rtt) = ack.rtt {
            if rtt < self.min_rtt || expired {
                self.min_rtt = rtt;
                self.min_rtt_at = ack.now;
            }
        }
        if expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.held_back.begin(sample);
            self.save_window();
            self.probe_rtt_end = Instant::MAX;
        }
        if self.mode == Mode::ProbeRtt {
            self.held_back.mark(sample);
            if self.probe_rtt_end == Instant::MAX {
                if sample.in_flight as f64 <= MIN_WINDOW {
                    self.probe_rtt_end = ack.now + PROBE_RTT;
                    self.probe_rtt_round = false;
                    self.rounds.restart(sample.delivered);
                }
            } else {
                self.probe_rtt_round |= self.rounds.started;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(ack.now);
                }
            }
        }
        if sample.rate.is_some() {
            self.restarts = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if now <= self.probe_rtt_end {
            return;
        }
        self.min_rtt_at = now;
        self.window = self.window.max(self.saved);
        if self.filled {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_update_gains`
    fn set_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.rate().is_some() => (1.0, WINDOW_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.rate() * PACED;
        if self.filled || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn update_window(&mut self, phase: Phase, sample: &RateSample) {
        let (delivered, in_flight) = (sample.newly_delivered as f64, sample.in_flight as f64);
        let mut window = self.window;
        if sample.newly_lost > 0 {
            window = (window - sample.newly_lost as f64).max(1.0);
        }
        if phase == Phase::Recovery && self.before != Phase::Recovery {
            self.packet_conservation = true;
            self.rounds.restart(sample.delivered); // so that it lasts for a round trip
            window = in_flight + delivered;
        } else if phase == Phase::Open && self.before != Phase::Open {
            window = window.max(self.saved);
            self.packet_conservation = false;
        }
        self.before = phase;
        if self.packet_conservation {
            window = window.max(in_flight + delivered);
        } else {
            let target = self.window_target();
            if self.filled {
                window = (window + delivered).min(target);
            } else if window < target || (sample.delivered as f64) < INITIAL_WINDOW {
                window += delivered;
            }
            window = window.max(MIN_WINDOW);
        }
        self.window = if self.mode == Mode::ProbeRtt { window.min(MIN_WINDOW) } else { window };
    }

    fn window_target(&self) -> f64 {
        let extra = if self.filled { self.aggregation.room(self.rate()) } else { 0.0 };
        self.with_room_for_bursts(self.bdp(self.rate(), self.window_gain) + extra)
    }

    fn save_window(&mut self) {
        let cut = self.before != Phase::Open || self.mode == Mode::ProbeRtt;
        self.saved = if cut { self.saved.max(self.window) } else { self.window };
    }
}

impl CongestionControl for BbrLinux {
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
        let sample = &self.held_back.read(sample);
        self.update_bandwidth(ack.now, sample);
        if self.config.ack_aggregation && sample.rate.is_some() {
            let rate = self.rate();
            self.aggregation.update(ack.now, sample, rate, (self.rounds.started, self.window));
        }
        self.check_phase(ack.now, sample);
        self.check_full_pipe(sample);
        self.check_drain(ack.now, sample);
        self.update_min_rtt(ack, sample);
        self.set_gains();
        self.learn_first_rtt(ack.now, ack.srtt, ack.min_rtt);
        self.set_pacing_rate(self.pacing_gain);
        self.update_window(ack.phase, sample);
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("state", f64::from(self.mode as u8));
        reader("bandwidth", self.bandwidth.max());
        if self.min_rtt < Duration::MAX {
            reader("min_rtt", self.min_rtt.as_secs_f64());
        }
        reader("pacing_gain", self.pacing_gain);
        reader("cwnd_gain", self.window_gain);
        reader("round", self.rounds.count as f64);
        reader("extra_acked", self.aggregation.room(f64::INFINITY));
        if let Some(rate) = self.policer.rate() {
            reader("policed_rate", rate);
        }
    }

    /// Marks change nothing.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.signal == Signal::Loss {
            self.save_window();
        }
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.save_window();
        self.before = Phase::Loss;
        self.plateau.base = 0.0;
        self.rounds.started = true;
        if self.config.policer_detection {
            self.policer.on_timeout(event.now);
        }
        self.window = 1.0;
    }

    fn on_transmission_start(&mut self, start: &TransmissionStart) {
        self.learn_first_rtt(start.now, start.srtt, start.min_rtt);
        if !start.app_limited {
            return;
        }
        self.restarts = true;
        self.aggregation.restart(start.now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(start.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }

    /// The bandwidth may not have been that of the path (`bbr_undo_cwnd`).
    fn on_undo(&mut self, _window: f64, _ssthresh: f64) {
        self.plateau.restart(0.0);
        self.policer.restart_sampling();
    }

    fn set_window(&mut self, window: f64) {
        self.window = window;
    }

    fn set_phase(&mut self, phase: usize) {
        self.phase = phase % CYCLE.len();
        self.set_gains();
    }
}

#[cfg(test)]
mod tests;
