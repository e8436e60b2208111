//! The sending end.
//!
//! | RFC name | field |
//! | --- | --- |
//! | SND.UNA | `una` |
//! | SND.NXT | `nxt`: next packet to send; below `max` while going back after a timeout without SACK |
//! | `HighData` + 1 | `max` |
//! | `recover`, `RecoveryPoint` | `recover` (one past, as all ends of ranges here) |
//!
//! cwnd and ssthresh belong to the congestion control; what a recovery adds to the window (`inflation`) is kept
//! apart from it. How losses are found and repaired is in [`crate::recovery`].

use crate::ranges::Range;
use crate::rate::{Progress, RateSampler};
use crate::recovery::{Recovery, SackState};
use crate::rto::RttEstimate;
use crate::segment::{Ack, Segment};
use crate::ssthresh_cache::Ending;
use crate::statistics::Statistics;
use crate::TcpConfig;
use parshall_congestion::{AckEvent, CongestionControl, CongestionEvent, Control, Signal};
use parshall_units::{Duration, Instant};
use std::mem::offset_of;
use std::num::NonZeroU64;

/// Endless data.
pub const ENDLESS: u64 = u64::MAX;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The SYN is not answered yet.
    Connecting,
    /// No loss outstanding.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout (for Tahoe: any loss), until all that was sent before is acknowledged.
    Loss,
}

impl Phase {
    /// What a control hears of it.
    #[inline]
    fn heard(self) -> parshall_congestion::Phase {
        match self {
            Self::Connecting | Self::Open => parshall_congestion::Phase::Open,
            Self::Recovery => parshall_congestion::Phase::Recovery,
            Self::Loss => parshall_congestion::Phase::Loss,
        }
    }
}

/// The sending end of a connection.
///
/// The order of the fields is the order of memory: what every ACK needs comes first, so that a packet touches as few
/// cache lines of its flow as can be. With hundreds of flows that is most of what a packet costs. What follows
/// [`HOT_BYTES`](Self::HOT_BYTES) is for special events.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) max: u64,
    /// One past the last packet the application has given; [`ENDLESS`] for a source without end.
    end: u64,
    /// The round trip ends when this packet is acknowledged.
    round_end: u64,
    /// The earliest of its timers, with RACK; else the retransmission timer's.
    pub(crate) rto_deadline: Instant,
    pub(crate) inflation: f64,
    pub(crate) dupacks: u32,
    pub(crate) phase: Phase,
    pub(crate) first_partial: bool,
    /// The first unacknowledged packet goes next, whatever the window.
    pub(crate) retransmit_first: bool,
    /// The timer had the first unacknowledged packet sent again.
    pub(crate) timer_retransmitted: bool,
    /// Whether the window was what stopped the last transmission.
    pub(crate) window_limited: bool,
    /// Congestion window reduced: an ECN reduction covers what is in flight, and the window does not grow meanwhile.
    pub(crate) reduced: bool,
    /// Whether pacing was.
    paced: bool,
    /// Whether packets are paced at all.
    paces: bool,
    /// Whether the window grows then all the same.
    grows_reduced: bool,
    /// Whether each transmission is noted: for pacing, rate samples or RACK.
    noted: bool,
    send_syn: bool,
    send_cwr: bool,
    /// Whether the scoreboard holds SACKed packets (RACK: or lost ones, or a probe is due).
    pub(crate) has_sacked: bool,
    pub(crate) sack: Option<Box<SackState>>,
    /// For controls that need rate samples.
    pub(crate) sampler: Option<Box<RateSampler>>,
    pub(crate) control: Control,
    pub(crate) rtt: RttEstimate,
    /// Without timestamps: the packet being timed (none is number 0), and when it was sent.
    pub(crate) timed: Option<(NonZeroU64, Instant)>,
    /// What happened so far.
    pub statistics: Statistics,
    pub(crate) recover: u64,
    /// Duplicate ACKs at or below this do not start a recovery.
    pub(crate) guard: u64,
    /// An ECN reduction covers what was sent below this.
    pub(crate) reduced_until: u64,
    /// Pacing: no packet before this.
    next_send: Instant,
    /// Whether loss recovery sends by proportional rate reduction.
    pub(crate) proportional: bool,
}

impl Sender {
    /// Bytes from the beginning that every ACK may touch.
    pub const HOT_BYTES: usize = offset_of!(Self, statistics) + Statistics::HOT_BYTES;

    /// A connection whose packets are numbered from `base` (at least 1), with no data yet.
    pub fn new(config: &TcpConfig, control: Control, base: u64, now: Instant) -> Self {
        debug_assert!(base >= 1, "packet 0 is never data: recover = base - 1 must exist");
        let mut statistics = Statistics::default();
        statistics.restart(now);
        let needs = control.needs();
        let sampler = needs.rate_samples.then(|| Box::new(RateSampler::new(base)));
        Self {
            paces: config.pacing || needs.pacing,
            noted: config.pacing || needs.pacing || needs.rate_samples || config.recovery == Recovery::Rack,
            proportional: config.prr && !needs.recovery_window,
            grows_reduced: needs.growth_in_cwr,
            sampler,
            control,
            una: base,
            nxt: base,
            max: base,
            end: base,
            recover: base - 1,
            guard: base - 1,
            reduced_until: base,
            round_end: base,
            rtt: RttEstimate::default(),
            rto_deadline: Instant::MAX,
            next_send: Instant::ZERO,
            timed: None,
            inflation: 0.0,
            dupacks: 0,
            phase: if config.handshake { Phase::Connecting } else { Phase::Open },
            first_partial: false,
            retransmit_first: false,
            timer_retransmitted: false,
            window_limited: false,
            reduced: false,
            paced: false,
            send_syn: config.handshake,
            send_cwr: false,
            has_sacked: false,
            sack: SackState::at_start(config.recovery, base),
            statistics,
        }
    }

    /// The next connection between the same ends: everything is new but the statistics and the numbering, which goes
    /// on; its control takes over what the last one learnt for all. Returns the number of its first packet.
    pub fn reopen(&mut self, config: &TcpConfig, mut control: Control, now: Instant) -> u64 {
        let base = self.max + 1;
        control.inherit(&mut self.control);
        let mut statistics = std::mem::take(&mut self.statistics);
        statistics.skip_until(now);
        let sack = self.sack.take().map(|mut state| {
            state.reset(base);
            state
        });
        *self = Self { sack, statistics, ..Self::new(config, control, base, now) };
        base
    }

    /// The application gives `packets` more ([`ENDLESS`]: without end).
    pub fn supply(&mut self, packets: u64) {
        self.end = self.end.saturating_add(packets);
    }

    /// Whether everything supplied is acknowledged.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.una >= self.end
    }

    /// Whether `packet` is the last one supplied.
    #[inline]
    pub fn is_last(&self, packet: u64) -> bool {
        packet + 1 == self.end
    }

    /// Another control takes over: a connection whose SYN was lost begins with one packet (RFC 5681 §3.1), and who
    /// opened it knows how its controls are made.
    pub fn replace_control(&mut self, now: Instant, mut control: Control) {
        self.settle(now);
        control.inherit(&mut self.control);
        self.control = control;
    }

    /// Data is to be sent again on a connection that was idle for a retransmission timeout. RFC 5681 §4.1
    pub fn restart_after_idle(&mut self, now: Instant, restart_window: f64) {
        self.settle(now);
        self.control.on_idle_restart(restart_window);
    }

    /// The congestion control.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// First unacknowledged packet.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// One past the highest packet sent.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Packets sent and not cumulatively acknowledged (FlightSize).
    #[inline]
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Smoothed RTT; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        let srtt = self.rtt.srtt();
        (srtt > Duration::ZERO).then_some(srtt)
    }

    /// The application gives data again after a pause, which does not count for the mean window.
    pub fn resume(&mut self, now: Instant) {
        self.statistics.skip_until(now);
    }

    /// The retransmission timeout as it stands.
    pub fn timeout(&self, config: &TcpConfig) -> Duration {
        self.rtt.timeout(config)
    }

    /// Where the connection stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When the retransmission timer expires; [`Instant::MAX`] if it is off.
    #[inline]
    pub fn rto_deadline(&self) -> Instant {
        self.rto_deadline
    }

    /// When pacing lets the next packet go; [`Instant::MAX`] if pacing is not what holds it back.
    #[inline]
    pub fn pacing_deadline(&self) -> Instant {
        if self.paced {
            self.next_send
        } else {
            Instant::MAX
        }
    }

    /// How the connection ends, if it does now.
    pub fn ending(&self) -> Ending {
        Ending {
            window: self.control.window(),
            ssthresh: self.control.ssthresh(),
            open: self.phase == Phase::Open,
            timed: self.srtt().is_some() && self.rtt.backoff() == 0,
        }
    }

    /// Brings the statistics up to `now` (before they are read, or restarted).
    #[inline]
    pub fn settle(&mut self, now: Instant) {
        self.statistics.window_until(now, self.control.window());
    }

    /// Time has come to [`rto_deadline`](Self::rto_deadline).
    pub fn on_timer(&mut self, config: &TcpConfig, now: Instant) {
        if now < self.rto_deadline {
            return;
        }
        self.settle(now);
        if self.phase == Phase::Connecting {
            self.statistics.timeouts += 1;
            self.rtt.back_off();
            self.send_syn = true;
            self.rto_deadline = Instant::MAX;
        } else if config.recovery == Recovery::Rack {
            self.on_rack_timer(config, now);
        } else {
            self.on_timeout(config, now);
        }
    }

    /// An ACK arrived; whether it ended a round trip.
    #[inline]
    pub fn on_ack(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) -> bool {
        if self.phase == Phase::Connecting {
            self.on_syn_ack(now, ack);
            return false;
        }
        if ack.cumulative < self.una {
            self.on_overtaken(config, now, ack);
            return false;
        }
        self.settle(now);
        if self.reduced {
            self.reduced = ack.cumulative <= self.reduced_until;
        }
        if ack.congestion_echo {
            self.on_congestion_echo(now, ack);
        }
        if ack.cumulative > self.una {
            return self.on_new_data(config, now, ack);
        }
        self.on_old_data(config, now, ack);
        false
    }

    /// An ACK that a later one has overtaken. What it SACKs may be news all the same, since an ACK has room for a few blocks only
    /// (RFC 2018 §3); Linux takes it too.
    #[cold]
    fn on_overtaken(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) {
        let una = self.una;
        let mut sack = ack.sack.map(|block| if block.end > una { block } else { Range::default() });
        sack.sort_by_key(|block| block.is_empty());
        if !sack[0].is_empty() {
            self.settle(now);
            self.on_old_data(config, now, &Ack { cumulative: una, sack, ..*ack });
        }
    }

    /// An ACK that acknowledges nothing new cumulatively.
    #[inline]
    fn on_old_data(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) {
        if self.max > self.una && !ack.syn {
            match config.recovery {
                Recovery::Sack => {
                    self.on_sack(config, now, ack);
                }
                Recovery::Rack => {
                    self.on_rack(config, now, ack, false);
                }
                _ => self.on_duplicate(config, now),
            }
        }
        if self.sampler.is_some() {
            self.tell_with_sample(config, self.event(now, ack, self.phase));
        }
    }

    #[inline]
    fn on_new_data(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) -> bool {
        let in_flight = self.flight();
        let acked = ack.cumulative - self.una;
        let was_open = self.phase == Phase::Open;
        let rtt = self.rtt_sample(config, now, ack);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, expected_samples(config, in_flight));
            self.statistics.rtt_sample(rtt);
        }
        self.timer_retransmitted = false;
        self.una = ack.cumulative;
        self.nxt = self.nxt.max(self.una);
        let round_ended = ack.cumulative > self.round_end;
        if round_ended {
            self.round_end = self.nxt;
        }

        let may_count = if config.recovery == Recovery::Sack {
            self.arm_timer(config, now);
            self.on_sack(config, now, ack)
        } else if config.recovery == Recovery::Rack {
            self.on_rack(config, now, ack, true)
        } else if self.phase == Phase::Recovery {
            if self.una >= self.recover || config.recovery != Recovery::NewReno {
                self.arm_timer(config, now); // a partial ACK of NewReno decides itself: RFC 6582 §4
            }
            self.on_recovery_ack(config, now, acked);
            false
        } else {
            self.arm_timer(config, now);
            true
        };
        if self.phase == Phase::Loss && self.una >= self.recover {
            self.end_recovery();
        }
        let phase = if may_count { self.phase } else { Phase::Recovery };
        if may_count {
            self.dupacks = 0;
        }
        // RFC 3465 §2.3: no more than one packet an ACK while repairing after a timeout.
        let credit = if config.byte_counting && was_open { acked as f64 } else { 1.0 };
        let event = AckEvent { acked, credit, rtt, in_flight, round_ended, ..self.event(now, ack, phase) };
        if self.sampler.is_some() {
            self.tell_with_sample(config, event);
        } else {
            self.control.on_ack(&event);
        }
        round_ended
    }

    /// An ACK that leaves the connection in `phase`: what is the same whether it acknowledges new data or not.
    #[inline]
    fn event(&self, now: Instant, ack: &Ack, phase: Phase) -> AckEvent {
        AckEvent {
            now,
            phase: phase.heard(),
            acked: 0,
            credit: 0.0,
            rtt: None,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            in_flight: self.flight(),
            may_grow: phase != Phase::Recovery && self.may_grow(ack),
            round_ended: false,
            ecn_echo: ack.congestion_echo,
            sample: None,
        }
    }

    /// For a control that needs rate samples: told of the ACK if it reports packets as delivered, in SACK blocks too. The
    /// sample's RTT is that of the packet sent last, with or without timestamps.
    #[inline(never)]
    fn tell_with_sample(&mut self, config: &TcpConfig, event: AckEvent) {
        let progress = Progress {
            una: self.una,
            sacked: self.sack.as_ref().map_or(0, |state| state.sacked_count()),
            in_flight: self.in_network(config),
            min_rtt: self.rtt.min(),
        };
        let Some(sampler) = &mut self.sampler else { return };
        let Some((sample, rtt)) = sampler.on_ack(event.now, &progress) else { return };
        self.control.on_ack(&AckEvent { rtt, sample: Some(sample), ..event });
    }

    /// Packets in the network, as far as the sender knows.
    fn in_network(&self, config: &TcpConfig) -> u64 {
        if let Some(rack) = self.sack.as_ref().and_then(|state| state.rack.as_ref()) {
            return rack.pipe();
        }
        match &self.sack {
            Some(state) if config.recovery.uses_sack() && state.board.floor() == self.una => {
                state.board.pipe(self.max)
            }
            _ => self.flight(),
        }
    }

    #[inline]
    fn rtt_sample(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) -> Option<Duration> {
        if config.timestamps {
            return Some(now.since(ack.echo));
        }
        let (packet, sent) = self.timed?;
        if ack.cumulative <= packet.get() {
            return None;
        }
        self.timed = None;
        Some(now.since(sent))
    }

    fn on_syn_ack(&mut self, now: Instant, ack: &Ack) {
        if !ack.syn {
            return;
        }
        if !ack.echo_retransmission {
            let rtt = now.since(ack.echo);
            self.rtt.sample(rtt, 1);
            self.statistics.rtt_sample(rtt);
        }
        if self.rtt.backoff() > 0 {
            self.rtt.syn_was_lost();
        }
        self.phase = Phase::Open;
        self.send_syn = false;
        self.rto_deadline = Instant::MAX;
    }

    /// Whether the window may grow by an ACK. RFC 3168 §6.1.2
    #[inline]
    fn may_grow(&self, ack: &Ack) -> bool {
        self.window_limited && !self.reduced && !ack.congestion_echo
    }

    /// ECN: one reduction a round trip. RFC 3168 §6.1.2
    #[inline(never)]
    fn on_congestion_echo(&mut self, now: Instant, ack: &Ack) {
        if self.phase == Phase::Open && ack.cumulative > self.reduced_until {
            let event = CongestionEvent { now, signal: Signal::Ecn, in_flight: self.flight() };
            let before = self.control.window();
            self.control.on_congestion(&event);
            if self.grows_reduced && self.control.window() >= before {
                return; // not answered yet: the next echo may be
            }
            self.statistics.ecn_reductions += 1;
            self.reduced_until = self.max;
            self.reduced = !self.grows_reduced;
            self.send_cwr = true;
        } else if self.phase != Phase::Open {
            self.send_cwr = true;
        }
    }

    /// Starts the retransmission timer anew, or stops it if nothing is outstanding. RFC 6298 (5.1)-(5.3)
    #[inline]
    pub(crate) fn arm_timer(&mut self, config: &TcpConfig, now: Instant) {
        self.rto_deadline = if self.max > self.una { now + self.rtt.timeout(config) } else { Instant::MAX };
    }

    /// One past the last packet that the application and the receiver allow.
    #[inline]
    pub(crate) fn send_limit(&self, config: &TcpConfig) -> u64 {
        match config.receive_window {
            Some(window) => self.end.min(self.una.saturating_add(window)),
            None => self.end,
        }
    }

    /// The next segment to send at `now`; `None` when there is none: then wait for an ACK,
    /// [`rto_deadline`](Self::rto_deadline) or [`pacing_deadline`](Self::pacing_deadline).
    pub fn poll_transmit(&mut self, config: &TcpConfig, now: Instant) -> Option<Segment> {
        if self.phase == Phase::Connecting {
            return self.next_syn(config, now);
        }
        self.paced = false;
        if self.paces && now < self.next_send {
            // Whether anything is due is found out at that time.
            self.paced =
                self.nxt < self.send_limit(config) || self.phase != Phase::Open || self.retransmit_first;
            return None;
        }
        let packet = match &self.sack {
            Some(_) if self.phase != Phase::Open || self.has_sacked => self.next_by_scoreboard(config)?,
            _ => self.next_in_order(config)?,
        };
        Some(self.transmit(config, now, packet))
    }

    /// How many packets may go now in order, one after another by [`transmit_next`](Self::transmit_next); `None` if that must
    /// be asked packet by packet of [`poll_transmit`](Self::poll_transmit). Most ACKs are answered so, at half the cost.
    #[inline]
    pub fn burst(&mut self, config: &TcpConfig) -> Option<u64> {
        let by_scoreboard = self.sack.is_some() && (self.phase != Phase::Open || self.has_sacked);
        if self.phase == Phase::Connecting || self.paces || by_scoreboard || self.retransmit_first {
            return None;
        }
        Some(self.room(config))
    }

    /// The next packet in order, of which [`burst`](Self::burst) said that it may go.
    #[inline]
    pub fn transmit_next(&mut self, config: &TcpConfig, now: Instant) -> Segment {
        self.nxt += 1;
        self.transmit(config, now, self.nxt - 1)
    }

    fn next_in_order(&mut self, config: &TcpConfig) -> Option<u64> {
        if self.retransmit_first {
            self.retransmit_first = false;
            return Some(self.una);
        }
        if self.room(config) == 0 {
            if !self.window_limited {
                let in_flight = self.flight();
                if let Some(sampler) = &mut self.sampler {
                    sampler.out_of_data(in_flight);
                }
            }
            return None;
        }
        self.nxt += 1;
        Some(self.nxt - 1)
    }

    /// How many packets the window, the receiver and the application let go now; notes which of them sets the end.
    #[inline]
    fn room(&mut self, config: &TcpConfig) -> u64 {
        let limited =
            if self.phase == Phase::Open && config.limited_transmit { self.dupacks.min(2) } else { 0 };
        // By way of a signed number, which is one instruction.
        let window = (self.control.window() + self.inflation).max(0.0) as i64;
        let window = window.cast_unsigned() + u64::from(limited);
        let in_window = window.saturating_sub(self.flight());
        let supplied = self.send_limit(config).saturating_sub(self.nxt);
        self.window_limited = in_window <= supplied;
        in_window.min(supplied)
    }

    #[inline]
    fn transmit(&mut self, config: &TcpConfig, now: Instant, packet: u64) -> Segment {
        let retransmission = packet < self.max;
        self.statistics.packets_sent += 1;
        if retransmission {
            self.statistics.retransmissions += 1;
            // Karn: the ACK of the packet timed would not say which copy arrived, or would wait for this one.
            self.timed = self.timed.filter(|&(timed, _)| timed.get() < packet);
        } else {
            self.max = packet + 1;
            if !config.timestamps && self.timed.is_none() {
                self.timed = NonZeroU64::new(packet).map(|packet| (packet, now));
            }
        }
        if self.rto_deadline == Instant::MAX {
            self.start_timer(config, now);
        }
        if self.noted {
            self.note_transmission(config, now, packet);
        }
        let cwr = self.send_cwr;
        self.send_cwr = false;
        Segment { seq: packet, sent: now, retransmission, syn: false, cwr, congestion_experienced: false }
    }

    #[inline(never)]
    fn start_timer(&mut self, config: &TcpConfig, now: Instant) {
        self.arm_timer(config, now);
    }

    #[inline(never)]
    fn note_transmission(&mut self, config: &TcpConfig, now: Instant, packet: u64) {
        if config.recovery == Recovery::Rack {
            self.note_for_rack(config, now, packet);
        }
        if self.sampler.is_some() {
            let in_flight = self.in_network(config);
            if let Some(sampler) = &mut self.sampler {
                sampler.on_send(now, packet, in_flight);
            }
        }
        if self.paces {
            self.next_send = now + self.pacing_gap();
        }
    }

    /// Time between packets: the control's, or the RTT over the window with room to grow (twice the rate in slow
    /// start, a fifth more afterwards, as Linux paces).
    fn pacing_gap(&self) -> Duration {
        if let Some(rate) = self.control.pacing_rate() {
            return Duration::from_secs_f64(1.0 / rate);
        }
        let window = self.control.window();
        let gain = if window < self.control.ssthresh() { 2.0 } else { 1.2 };
        Duration::from_secs_f64(self.rtt.srtt().as_secs_f64() / (gain * window))
    }

    fn next_syn(&mut self, config: &TcpConfig, now: Instant) -> Option<Segment> {
        if !self.send_syn {
            return None;
        }
        self.send_syn = false;
        self.rto_deadline = now + self.rtt.timeout(config);
        let retransmission = self.rtt.backoff() > 0;
        self.statistics.packets_sent += 1;
        self.statistics.syns += 1;
        self.statistics.retransmissions += u64::from(retransmission);
        Some(Segment {
            seq: self.una,
            sent: now,
            retransmission,
            syn: true,
            cwr: false,
            congestion_experienced: false,
        })
    }
}

/// RTT samples that a round trip brings: `ExpectedSamples` of RFC 7323 Appendix G, whose 2 stands for delayed ACKs.
#[inline]
fn expected_samples(config: &TcpConfig, in_flight: u64) -> u64 {
    if !config.timestamps {
        1
    } else if config.delayed_ack.is_some() {
        in_flight.div_ceil(2)
    } else {
        in_flight
    }
}
