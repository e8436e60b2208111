//! The core of a sender: what it knows of its connection, whatever repairs its losses.
//!
//! | RFC name | field |
//! | --- | --- |
//! | SND.UNA | `una` |
//! | SND.NXT | `nxt`: next packet to send; below `max` while going back after a timeout without SACK |
//! | `HighData` + 1 | `max` |
//! | `recover`, `RecoveryPoint` | `recover` (one past, as all ends of ranges here) |
//!
//! cwnd and ssthresh belong to the congestion control; what a recovery adds to the window is kept apart from it.

mod handshake;

use crate::pacing::Pacing;
use crate::policies::{RttSampling, Rules, WindowGrowth, WindowUse};
use crate::ranges::Range;
use crate::rto::{RetransmissionTimeout, RtoFloor};
use crate::segment::Ack;
use crate::signals::{Deviation, RateSampler, Rounds, RttEstimate};
use crate::statistics::Statistics;
use crate::TcpConfig;
use parshall_congestion::{CongestionControl, CongestionEvent, Control, Signal};
use parshall_units::{Duration, Instant};
use std::mem::offset_of;
use std::num::NonZeroU64;

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

/// A sender's knowledge of its connection.
///
/// The order of the fields is the order of memory, as [`Sender`](crate::Sender) says: what follows
/// [`HOT_BYTES`](Self::HOT_BYTES) is for special events.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Connection {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) max: u64,
    /// One past the last packet the application has given; [`ENDLESS`](crate::sender::ENDLESS) for a source without
    /// end.
    pub(crate) end: u64,
    rounds: Rounds,
    /// When the earliest of its timers expires; [`Instant::MAX`]: none is running.
    pub(crate) deadline: Instant,
    pub(crate) phase: Phase,
    /// True if the window was what stopped the last transmission.
    pub(crate) window_limited: bool,
    /// Congestion window reduced: an ECN reduction covers what is in flight, and the window does not grow meanwhile.
    pub(crate) reduced: bool,
    /// True if its ends have agreed on ECN.
    pub(crate) ecn: bool,
    pub(crate) send_cwr: bool,
    /// True if packets are paced at all.
    pub(crate) paces: bool,
    /// True if pacing was what stopped the last transmission.
    pub(crate) paced: bool,
    /// True if each transmission is noted: for pacing, rate samples or RACK.
    pub(crate) noted: bool,
    /// For controls that need rate samples.
    pub(crate) sampler: Option<Box<RateSampler>>,
    /// What only policies of Linux's form have.
    linux: Option<Box<OfLinux>>,
    pub(crate) control: Control,
    pub(crate) rtt: RttEstimate,
    pub(crate) rto: RetransmissionTimeout,
    /// For a control that needs one-way delays.
    pub(crate) measures_one_way: bool,
    send_syn: bool,
    /// The timer had the first unacknowledged packet sent again.
    timer_retransmitted: bool,
    /// True if `reduced_until` is of a reduction for a loss.
    reduced_for_loss: bool,
    /// The counts so far.
    pub(crate) statistics: Statistics,
    /// Without timestamps: the packet being timed (none is number 0), and when it was sent.
    timed: Option<(NonZeroU64, Instant)>,
    pub(crate) recover: u64,
    /// An ECN reduction covers what was sent below this.
    reduced_until: u64,
    /// If packets are paced at all.
    pub(crate) pacing: Option<Box<Pacing>>,
}

/// What only policies of Linux's form remember.
#[derive(Debug)]
struct OfLinux {
    /// How far the window is used.
    window_use: WindowUse,
    /// How far the RTT varies.
    deviation: Deviation,
    /// One past the last packet that the receiver takes, if it has said so since packets are missing there.
    window_end: Option<u64>,
    /// When the first SYN was sent.
    first_syn: Instant,
    /// The window was cut for timeouts of SYNs, and the answer to the first SYN has come.
    cut_is_needless: bool,
}

impl OfLinux {
    /// True if a policy of these has Linux's form.
    fn is_needed(rules: &Rules) -> bool {
        rules.window_growth.is_linux()
            || rules.rtt_estimate.is_linux()
            || rules.receive_buffer.is_linux()
            || rules.opening.is_linux()
    }
}

impl Connection {
    /// Bytes from the beginning that every ACK may touch.
    pub(crate) const HOT_BYTES: usize = offset_of!(Self, statistics) + Statistics::HOT_BYTES;

    /// A connection whose packets are numbered from `base`, with no data yet; `noted`: its recovery hears of each
    /// transmission.
    pub(crate) fn new(
        config: &TcpConfig,
        control: Control,
        base: u64,
        noted: bool,
        statistics: Statistics,
    ) -> Self {
        let needs = control.needs();
        let mut sampler = needs.rate_samples.then(|| Box::new(RateSampler::new(base)));
        if let Some(sampler) = sampler.as_mut().filter(|_| config.rules.opening.is_linux()) {
            if config.handshake {
                sampler.count_handshake();
            }
            sampler.out_of_data(0); // while it opened, there was nothing to send (`tcp_rate_check_app_limited`)
        }
        let paces = config.pacing || needs.pacing;
        Self {
            una: base,
            nxt: base,
            max: base,
            end: base,
            rounds: Rounds::new(base),
            deadline: Instant::MAX,
            phase: if config.handshake { Phase::Connecting } else { Phase::Open },
            window_limited: false,
            reduced: false,
            ecn: config.ecn && !config.handshake,
            send_cwr: false,
            paces,
            reduced_for_loss: false,
            paced: false,
            noted: noted || paces || needs.rate_samples,
            sampler,
            control,
            rtt: RttEstimate::default(),
            rto: RetransmissionTimeout::default(),
            measures_one_way: needs.one_way_delay,
            timed: None,
            statistics,
            recover: base - 1,
            reduced_until: base,
            pacing: paces.then(|| Box::new(Pacing::new(config.rules.bursts))),
            linux: OfLinux::is_needed(&config.rules).then(|| {
                Box::new(OfLinux {
                    window_use: WindowUse::new(base),
                    deviation: Deviation::default(),
                    window_end: None,
                    first_syn: Instant::ZERO,
                    cut_is_needless: false,
                })
            }),
            send_syn: config.handshake,
            timer_retransmitted: false,
        }
    }

    /// Packets sent and not cumulatively acknowledged (FlightSize).
    #[inline]
    pub(crate) fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// True if the window is being reduced, by a recovery or for an ECN echo: without that, nothing need be asked of what
    /// reduces it.
    #[inline]
    pub(crate) fn reduces(&self) -> bool {
        self.phase == Phase::Recovery || self.reduced
    }

    /// cwnd, whole packets.
    pub(crate) fn whole_window(&self) -> u64 {
        (self.control.window().max(0.0) as i64).cast_unsigned() // a signed number is one instruction
    }

    /// One past the last packet that the application and the receiver allow.
    #[inline]
    pub(crate) fn send_limit(&self, config: &TcpConfig) -> u64 {
        match config.receive_window {
            Some(window) => self.end.min(self.una.saturating_add(window.0)),
            None => self.end,
        }
    }

    /// The same while packets are missing: the receiver may take fewer then.
    pub(crate) fn send_limit_behind_holes(&self, config: &TcpConfig) -> u64 {
        let limit = self.send_limit(config);
        self.window_end().map_or(limit, |end| limit.min(end))
    }

    /// One past the last packet that the receiver has said it takes, if the last ACK said so.
    pub(crate) fn window_end(&self) -> Option<u64> {
        self.linux.as_ref().and_then(|linux| linux.window_end)
    }

    /// An ACK came that says how many packets the receiver takes, or the first one after such ACKs that does not. What
    /// a receiver has once said that it takes, it takes.
    pub(crate) fn take_window(&mut self, ack: &Ack) {
        let Some(linux) = &mut self.linux else { return };
        linux.window_end = ack.window_end().map(|end| linux.window_end.map_or(end, |known| known.max(end)));
    }

    /// Brings the statistics up to `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: Instant) {
        self.statistics.window_until(now, self.control.window());
    }

    /// The retransmission timeout as it stands.
    #[inline]
    pub(crate) fn timeout(&self, config: &TcpConfig) -> Duration {
        self.rto.timeout(config, &self.rtt)
    }

    /// Takes one of `expected` RTT samples of a round trip, at an ACK that ends one or not.
    #[inline]
    pub(crate) fn take_sample(&mut self, config: &TcpConfig, rtt: Duration, expected: u64, ends_round: bool) {
        match config.rules.rtt_estimate {
            RttSampling::Rfc => self.rtt.sample(rtt, expected),
            RttSampling::Linux => self.take_sample_as_linux(config, rtt, ends_round),
        }
        self.rto.sampled();
        self.statistics.rtt_sample(rtt);
    }

    #[inline(never)]
    fn take_sample_as_linux(&mut self, config: &TcpConfig, rtt: Duration, ends_round: bool) {
        let Some(linux) = &mut self.linux else { return };
        let varies = config.rto_floor == RtoFloor::Variation;
        let least = if varies { config.min_rto } else { Duration::ZERO };
        self.rtt.sample_as_linux(&mut linux.deviation, rtt, ends_round, least);
    }

    /// Starts the retransmission timer anew, or stops it if nothing is outstanding. RFC 6298 (5.1)-(5.3)
    #[inline]
    pub(crate) fn arm_timer(&mut self, config: &TcpConfig, now: Instant) {
        self.deadline = if self.max > self.una { now + self.timeout(config) } else { Instant::MAX };
    }

    /// For how long pacing holds the next packet back.
    pub(crate) fn held_back(&self, now: Instant) -> Duration {
        self.pacing.as_ref().map_or(Duration::ZERO, |pacing| pacing.next().since(now))
    }

    /// All below `una` is acknowledged; whether that ends a round trip.
    #[inline]
    pub(crate) fn advance(&mut self, una: u64) -> bool {
        self.timer_retransmitted = false;
        self.una = una;
        self.nxt = self.nxt.max(una);
        self.rounds.on_ack(una, self.nxt)
    }

    /// The RTT sample of an ACK of new data, if it gives one.
    #[inline]
    pub(crate) fn rtt_sample(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) -> Option<Duration> {
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

    /// A packet is sent; whether it was sent before.
    #[inline]
    pub(crate) fn count_transmission(&mut self, config: &TcpConfig, now: Instant, packet: u64) -> bool {
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
        retransmission
    }

    // --- what a recovery tells ---

    /// True if the window was reduced for this round trip by as much as a loss asks: by a loss, or by a mark that counts as one
    /// (RFC 3168 §6.1.2). One that DCTCP or Prague has answered by its share does not (RFC 8257 §3.5, RFC 9331 §4.3); Linux
    /// halves then too (`dctcp_state`).
    fn has_answered_loss(&self) -> bool {
        self.una < self.reduced_until && (self.reduced_for_loss || !self.control.needs().accurate_ecn)
    }

    /// Fast recovery begins. The control hears of the loss, unless it has answered it.
    pub(crate) fn begin_recovery(&mut self, now: Instant) {
        if !self.has_answered_loss() {
            self.control.on_congestion(&self.congestion(now, Signal::Loss));
        }
        self.statistics.loss_events += 1;
        self.begin_repair(Phase::Recovery);
    }

    /// A loss is answered as a timeout is: all goes again from the first hole, in slow start.
    pub(crate) fn begin_again(&mut self, now: Instant) {
        self.control.on_timeout(&self.congestion(now, Signal::Loss));
        self.statistics.loss_events += 1;
        self.nxt = self.una;
        self.begin_repair(Phase::Loss);
    }

    /// The window was reduced for a loss: until all that was sent is acknowledged, it is repaired.
    fn begin_repair(&mut self, phase: Phase) {
        self.phase = phase;
        self.recover = self.max;
        self.reduced = false;
        self.timed = None;
        self.send_cwr = self.ecn; // RFC 3168 §6.1.2: whatever the reason for a reduction
    }

    /// A loss is answered, once a round trip, that is repaired already.
    pub(crate) fn reduce_at_once(&mut self, now: Instant) {
        if self.has_answered_loss() {
            return;
        }
        self.statistics.loss_events += 1;
        self.control.on_congestion(&self.congestion(now, Signal::Loss));
        self.control.on_recovered();
        (self.reduced_until, self.reduced_for_loss) = (self.max, true);
        self.send_cwr = self.ecn;
    }

    /// True if the retransmission timer has expired since an ACK of new data.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timer_retransmitted
    }

    /// The last reduction answered no loss: window and ssthresh before it, packets.
    pub(crate) fn undo_reduction(&mut self, window: f64, ssthresh: f64) {
        if ssthresh > self.control.ssthresh() {
            self.send_cwr = false; // `tcp_ecn_withdraw_cwr`
        }
        self.control.on_undo(window, ssthresh);
    }

    /// All that was lost is repaired.
    pub(crate) fn end_recovery(&mut self) {
        self.phase = Phase::Open;
        self.control.on_recovered();
    }

    /// The retransmission timer expired: what every recovery does. RFC 6298 §5, RFC 5681 §3.1
    pub(crate) fn on_timeout(&mut self, config: &TcpConfig, now: Instant) {
        self.statistics.timeouts += 1;
        if !self.timer_retransmitted {
            self.timer_retransmitted = true;
            let reduced = config.rules.loss_response.reduced_on_timeout(self.flight(), self.whole_window());
            let ssthresh = self.control.ssthresh();
            self.control
                .on_timeout(&CongestionEvent { in_flight: reduced, ..self.congestion(now, Signal::Loss) });
            if config.rules.loss_response.is_linux() && self.phase == Phase::Recovery {
                self.control.set_ssthresh(ssthresh); // which the recovery has reduced
            }
        }
        self.rto.back_off();
        self.begin_repair(Phase::Loss);
    }

    fn congestion(&self, now: Instant, signal: Signal) -> CongestionEvent {
        CongestionEvent { now, signal, in_flight: self.flight() }
    }

    /// Packets are SACKed for the first time.
    pub(crate) fn on_sacked(&mut self, packets: Range) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_sacked(packets.start..packets.end);
        }
    }

    /// So many packets more count as lost.
    pub(crate) fn count_lost(&mut self, packets: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.count_lost(packets);
        }
    }

    /// The window lets nothing go.
    pub(crate) fn out_of_window(&mut self) {
        self.window_limited = true;
        self.note_use(0);
    }

    /// So many packets are to be sent at once now: Linux's form of the growth of the window remembers it.
    #[inline]
    pub(crate) fn note_use(&mut self, packets: u64) {
        if let Some(linux) = &mut self.linux {
            linux.window_use.note((self.una, self.nxt + packets), self.window_limited);
        }
    }

    /// Application-limited: the window has room, but there is no data. Where the receiver takes no more, rate samples
    /// are not limited (`tcp_rate_check_app_limited`).
    pub(crate) fn out_of_data(&mut self, in_network: u64) {
        self.window_limited = false;
        if let Some(sampler) = self.sampler.as_mut().filter(|_| self.nxt >= self.end) {
            sampler.out_of_data(in_network);
        }
    }

    // --- ECN ---

    #[inline(never)]
    fn uses_window(&self) -> bool {
        let (window, ssthresh) = (self.control.window(), self.control.ssthresh());
        self.linux.as_ref().is_some_and(|linux| linux.window_use.may_grow(window, window < ssthresh))
    }

    /// True if the window may grow by an ACK: if it is used (RFC 5681 §3.1), and not reduced in this round trip (RFC 3168
    /// §6.1.2).
    #[inline]
    pub(crate) fn may_grow(&self, config: &TcpConfig, ack: &Ack) -> bool {
        let used = match config.rules.window_growth {
            WindowGrowth::Rfc => self.window_limited,
            WindowGrowth::Linux => self.uses_window(),
        };
        used && !self.reduced && !ack.congestion_echo
    }

    /// One reduction a round trip. RFC 3168 §6.1.2. If one begins: the window before it, whole packets.
    #[inline(never)]
    pub(crate) fn on_congestion_echo(&mut self, now: Instant, ack: &Ack) -> Option<u64> {
        if self.phase != Phase::Open || ack.cumulative <= self.reduced_until {
            return None;
        }
        let before = self.control.window();
        self.control.on_congestion(&self.congestion(now, Signal::Ecn));
        let grows = self.control.needs().growth_in_cwr;
        if grows && self.control.window() >= before {
            return None; // not answered yet: the next echo may be
        }
        self.statistics.ecn_reductions += 1;
        (self.reduced_until, self.reduced_for_loss) = (self.max, false);
        self.reduced = !grows;
        self.send_cwr = true;
        Some(before as u64)
    }

    /// The round trip of an ECN reduction ends with the packets that it covers.
    #[inline]
    pub(crate) fn update_reduction(&mut self, cumulative: u64) {
        if self.reduced {
            self.reduced = cumulative <= self.reduced_until;
        }
    }
}
