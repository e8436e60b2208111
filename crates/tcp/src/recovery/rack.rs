//! Loss recovery by time: RACK-TLP (RFC 8985) on a connection.
//!
//! | RFC 8985 | here |
//! | --- | --- |
//! | RACK: what is outstanding, what is lost | [`segments`] |
//! | reordering window, `RACK.reo_wnd` | [`reordering`] |
//! | TLP: the probe at the tail | [`probe`] |
//!
//! In Linux's form of [`Undo`](crate::policies::Undo) a reduction that answered no loss is undone: [`undo`].
//!
//! One deadline serves the three timers (§8): retransmission, reordering, loss probe. The window during recovery and
//! the reduction are those of SACK recovery; a loss that a probe alone repaired reduces too (§7.4.2), without a
//! recovery.

mod probe;
mod reordering;
mod segments;
mod undo;

use super::prr::{has_room, window_now, Prr, Report};
use super::{Account, Repair};
use crate::connection::{Connection, Phase};
use crate::policies::{segments_together, Rules, SLACK};
use crate::segment::Ack;
use crate::TcpConfig;
use parshall_congestion::CongestionControl;
use parshall_units::{Duration, Instant};
use probe::{LossProbe, ProbeAnswer};
use reordering::ReorderingWindow;
use segments::{Losses, Segments};
use undo::{AfterTimeout, Undo};

/// Loss recovery by time.
#[derive(Debug)]
pub(crate) struct Rack {
    /// True if packets are SACKed or lost, or a probe is due.
    has_holes: bool,
    /// A lost packet goes next whatever the window.
    retransmit_first: bool,
    state: Box<State>,
}

/// The order of the fields is the order of memory: what every packet needs comes first, and begins a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
struct State {
    timers: Timers,
    probe: LossProbe,
    segments: Segments,
    reordering: ReorderingWindow,
    prr: Option<Prr>,
    undo: Undo,
    /// Packets of the last ACK without new data by which the window grows.
    grows_by: u64,
}

impl State {
    fn new(segments: Segments, prr: Option<Prr>) -> Self {
        Self {
            timers: Timers::OFF,
            probe: LossProbe::NONE,
            segments,
            reordering: ReorderingWindow::FIRST,
            prr,
            undo: Undo::NONE,
            grows_by: 0,
        }
    }

    /// True if what goes next is not simply the next packet in order.
    fn has_holes(&self) -> bool {
        self.segments.has_holes() || self.probe.due
    }
}

/// Deadlines; [`Instant::MAX`]: off.
#[derive(Clone, Copy, Debug)]
struct Timers {
    /// Retransmission timeout.
    retransmission: Instant,
    /// Loss probe (PTO).
    probe: Instant,
    /// A packet in doubt becomes lost.
    reordering: Instant,
    /// When the probe's started last, or was found not to be needed.
    probe_started: Instant,
    /// True if a transmission has [limited](Rack::limit_probe) the probe's since it started.
    limited: bool,
}

impl Timers {
    const OFF: Self = Self {
        retransmission: Instant::MAX,
        probe: Instant::MAX,
        reordering: Instant::MAX,
        probe_started: Instant::MAX,
        limited: false,
    };

    fn first(&self) -> Instant {
        self.retransmission.min(self.probe).min(self.reordering)
    }

    /// Fast path of [`schedule`](Rack::schedule), at an ACK of new data without losses. The probe's deadline is the first.
    #[inline]
    fn restart(&mut self, now: Instant, connection: &Connection, config: &TcpConfig) {
        let outstanding = connection.max > connection.una;
        self.reordering = Instant::MAX;
        self.retransmission = if outstanding { now + connection.timeout(config) } else { Instant::MAX };
        let probe = now + probe_timeout(connection, config);
        self.probe = if outstanding { probe.min(self.retransmission) } else { Instant::MAX };
        self.probe_started = now;
        self.limited = false;
    }
}

/// Whether an ACK undoes a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undone {
    No,
    Yes,
    /// It will be undone once nothing is under way for another time.
    NotYet,
}

/// Which timers start anew. The probe's does with new data and with ACKs of new data only (RFC 8985 §7.2): ACKs that
/// say nothing new do not put it off.
#[derive(Clone, Copy, Debug)]
struct Restart {
    retransmission: bool,
    probe: bool,
}

impl Rack {
    pub(crate) fn new(base: u64, proportional: bool, rules: &Rules) -> Self {
        let state =
            Box::new(State::new(Segments::new(base, rules), Prr::of(proportional, rules.recovery_rate)));
        Self { has_holes: false, retransmit_first: false, state }
    }

    /// Fast path of [`on_ack`](Self::on_ack): nothing is lost, SACKed, sent again or probed for. Returns the packets
    /// that the ACK reports as delivered; `None` if the path does not apply.
    #[inline]
    fn on_plain_ack(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
    ) -> Option<u64> {
        let State { segments, probe, .. } = &mut *self.state;
        let plain = !self.has_holes
            && connection.phase == Phase::Open
            && ack.sack[0].is_empty()
            && !probe.is_under_way();
        if !plain {
            return None;
        }
        let delivered = segments.deliver_in_order(now, connection.una)?;
        probe.sampled();
        if connection.reduced {
            self.count_delivered(connection, Report { delivered, safe: true });
        }
        let State { timers, .. } = &mut *self.state;
        timers.restart(now, connection, config);
        connection.deadline = timers.probe;
        Some(delivered)
    }

    /// An ACK; `advances`: of new data. The packets that it reports as delivered, `None` if the window may not grow by
    /// them.
    #[inline(never)] // one copy for both kinds of ACKs: Linux's forms are more than first caches of instructions hold
    fn on_ack(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
        advances: bool,
    ) -> Option<u64> {
        connection.take_window(ack);
        let State { segments, reordering, probe, undo, .. } = &mut *self.state;
        let una = connection.una;
        let echo = config.timestamps.then_some(ack.echo);
        let min_rtt = connection.rtt.min();
        let mut sacks = false;
        let delivered = segments.on_ack(now, una, &ack.sack, (echo, min_rtt), |part| {
            sacks = true;
            connection.on_sacked(part);
        });
        let duplicate = ack.duplicate();
        if let Some(packets) = duplicate {
            reordering.widen(una, connection.max);
            undo.on_duplicate(packets);
        }
        if advances {
            probe.sampled();
        }
        let answer = probe.answer(una, duplicate, !advances && ack.sack[0].is_empty());
        if std::mem::take(&mut probe.due) {
            self.retransmit_first = connection.phase != Phase::Open; // pacing held it back, and it has become needless
        }
        let undone = match self.undo(connection, config, echo, advances, sacks) {
            Undone::NotYet => {
                self.count_delivered(connection, Report { delivered, safe: advances });
                self.schedule(connection, config, now, Restart { retransmission: advances, probe: advances });
                return None;
            }
            Undone::Yes => true,
            Undone::No => false,
        };
        if connection.phase != Phase::Open && una >= connection.recover {
            self.retransmit_first = false;
            connection.end_recovery();
            if duplicate.is_none() && !undone {
                self.state.reordering.recovered();
            }
        }
        if answer == ProbeAnswer::Repaired && connection.phase == Phase::Open {
            connection.reduce_at_once(now);
        }
        let found = self.find_losses(connection, config, now);
        let report = Report { delivered, safe: advances && found.packets == 0 };
        let restarts = advances
            || config.rules.loss_timers.is_linux() && self.state.segments.is_first_resent_since_sacked();
        let may_start = match connection.phase {
            Phase::Open => true,
            Phase::Loss => config.rules.loss_response.answers_anew(found.retransmissions),
            Phase::Recovery | Phase::Connecting => false,
        };
        if !(may_start && self.start_if_lost(connection, config, now, report)) {
            self.count_delivered(connection, report);
        }
        self.schedule(connection, config, now, Restart { retransmission: restarts, probe: restarts });
        (connection.phase != Phase::Recovery).then_some(delivered)
    }

    /// An ACK may show that the last reduction answered no loss, which Linux then undoes (`tcp_fastretrans_alert`);
    /// `sacks`: it reports packets by SACK.
    fn undo(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        echo: Option<Instant>,
        advances: bool,
        sacks: bool,
    ) -> Undone {
        let State { segments, undo, .. } = &mut *self.state;
        if !config.rules.undo.is_linux() {
            return Undone::No;
        }
        let ends = connection.una >= connection.recover;
        let needless = undo.by_duplicates();
        let late = advances && undo.by_echo(echo);
        let (yes, unmark) = match connection.phase {
            Phase::Connecting => (false, false),
            Phase::Open if connection.reduced => {
                undo.forget();
                (false, false)
            }
            Phase::Open => (needless, false),
            Phase::Recovery if ends => (needless || late, false),
            Phase::Recovery if late && segments.retransmitted() > 0 => return Undone::NotYet,
            Phase::Recovery => (needless || late, late),
            Phase::Loss => {
                let original = segments.lowest_original() < connection.recover;
                let ack = AfterTimeout { advances, original, disordered: sacks || !advances };
                (advances && needless || late || undo.by_original(connection, ack), true)
            }
        };
        if !yes {
            return Undone::No;
        }
        if unmark {
            segments.unmark_lost();
        }
        undo.apply(connection);
        if connection.phase != Phase::Open {
            self.retransmit_first = false;
            connection.end_recovery();
        }
        Undone::Yes
    }

    /// Looks for losses at `now`.
    fn find_losses(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) -> Losses {
        let State { segments, reordering, timers, .. } = &mut *self.state;
        let recovering = connection.phase != Phase::Open;
        let found =
            segments.detect_losses(now, |segments| reordering.length(segments, &connection.rtt, recovering));
        timers.reordering = config.rules.loss_detection.lost_at(found.in_doubt_until);
        if found.packets > 0 {
            connection.count_lost(found.packets);
        }
        found
    }

    /// Whether there are losses, which fast recovery then begins to repair.
    fn start_if_lost(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        report: Report,
    ) -> bool {
        let State { segments, prr, undo, .. } = &mut *self.state;
        if segments.to_answer() == 0 {
            return false;
        }
        if let Some(prr) = prr {
            prr.start(connection);
        }
        if config.rules.undo.is_linux() {
            undo.begin(connection, segments.retransmitted());
        }
        connection.begin_recovery(now);
        if let Some(prr) = prr {
            prr.on_first_ack(report, segments.pipe(), connection.whole_window());
        }
        self.retransmit_first = segments.lost_count() > 0;
        true
    }

    /// Recovery goes on, or an ECN reduction.
    fn count_delivered(&mut self, connection: &Connection, report: Report) {
        let State { segments, prr, .. } = &mut *self.state;
        if let Some(prr) = prr.as_mut().filter(|prr| prr.governs(connection)) {
            prr.on_ack(report, segments.pipe(), connection.whole_window());
        }
    }

    /// Sets the timers after an ACK, a transmission or a timer.
    fn schedule(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, restart: Restart) {
        self.has_holes = self.state.has_holes();
        let State { probe, timers, .. } = &mut *self.state;
        let outstanding = connection.max > connection.una;
        if !outstanding {
            timers.retransmission = Instant::MAX;
        } else if restart.retransmission || timers.retransmission == Instant::MAX {
            timers.retransmission = now + connection.timeout(config);
        }
        let open = connection.phase == Phase::Open;
        if !(outstanding && open && probe.may_be_scheduled() && !self.has_holes) {
            timers.probe = Instant::MAX;
        } else if restart.probe {
            timers.probe = (now + probe_timeout(connection, config)).min(timers.retransmission);
        }
        if restart.probe {
            timers.probe_started = now;
            timers.limited = false;
        }
        connection.deadline = timers.first();
    }

    /// After a transmission Linux's probe waits no longer than the retransmission timeout of the first packet, counted
    /// from when that was sent (`tcp_schedule_loss_probe`, `tcp_rto_delta_us`): with long RTTs that is less than two of
    /// them.
    #[inline]
    fn limit_probe(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) {
        let State { segments, timers, .. } = &mut *self.state;
        timers.limited = true;
        let limit = segments.first_sent().map_or(Instant::MAX, |first| first + connection.timeout(config));
        if limit > now && limit < timers.probe && timers.probe != Instant::MAX {
            timers.probe = limit;
            connection.deadline = timers.first();
        }
    }

    /// The retransmission timer expired: what is lost, and the timers.
    fn on_timeout(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) {
        let State { segments, reordering, probe, timers, undo, .. } = &mut *self.state;
        if connection.phase == Phase::Open {
            segments.doubt_reordering();
        }
        if config.rules.undo.is_linux() {
            let (open, again) = (connection.phase == Phase::Open, connection.has_timed_out());
            if open || connection.phase == Phase::Loss && !again {
                undo.begin(connection, segments.retransmitted());
            }
            undo.on_timeout(open || again);
        }
        connection.on_timeout(config, now);
        let window = reordering.length(segments, &connection.rtt, true);
        connection.count_lost(segments.mark_lost_on_timeout(now, window));
        if let Some(window) = config.rules.loss_response.window_after_timeout(segments.pipe()) {
            connection.control.set_window(window as f64);
        }
        probe.give_up();
        *timers = Timers::OFF;
        self.retransmit_first = true;
        self.schedule(connection, config, now, Restart { retransmission: true, probe: false });
    }
}

/// How long a probe waits that is scheduled now.
fn probe_timeout(connection: &Connection, config: &TcpConfig) -> Duration {
    config.rules.loss_timers.probe_timeout(config, connection.rtt.srtt(), connection.flight() <= 1)
}

impl Repair for Rack {
    #[inline(never)]
    fn on_new_data(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
        _acked: u64,
    ) -> Option<u64> {
        match self.on_plain_ack(connection, config, now, ack) {
            None => self.on_ack(connection, config, now, ack, true),
            delivered => delivered,
        }
    }

    fn on_old_data(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, ack: &Ack) {
        let delivered = self.on_ack(connection, config, now, ack, false);
        let far = self.state.segments.reorders_far();
        self.state.grows_by = config.rules.window_growth.credit_out_of_order(delivered, far);
    }

    fn on_timer(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) {
        if self.state.timers.reordering <= now {
            let found = self.find_losses(connection, config, now);
            // Linux lets one packet go for a recovery that the timer begins (`tcp_rack_reo_timeout`).
            let report = Report { delivered: 1, safe: false };
            let may_start = connection.phase == Phase::Open
                || connection.phase == Phase::Loss && config.rules.loss_response.answers_anew(found.packets);
            let started = may_start && self.start_if_lost(connection, config, now, report);
            if connection.phase == Phase::Recovery && !started {
                self.count_delivered(connection, Report { delivered: 0, safe: false });
            }
            self.schedule(connection, config, now, Restart { retransmission: started, probe: false });
        } else if self.state.timers.probe <= now {
            // RFC 8985 §7.3
            self.state.probe.due = true;
            self.state.timers.probe = Instant::MAX;
            self.retransmit_first = true;
            self.schedule(connection, config, now, Restart { retransmission: true, probe: false });
        } else {
            self.on_timeout(connection, config, now);
        }
    }

    fn timer_lasts(&self, connection: &Connection, config: &TcpConfig, now: Instant) -> Duration {
        let timers = &self.state.timers;
        if timers.reordering <= now {
            SLACK // a part of an RTT more, which is not kept: a few ticks in all
        } else if timers.probe <= now {
            now.since(timers.probe_started)
        } else {
            connection.timeout(config)
        }
    }

    fn put_off_timers(&mut self, now: Instant, until: Instant) {
        let Timers { retransmission, probe, reordering, .. } = &mut self.state.timers;
        for timer in [retransmission, probe, reordering] {
            if *timer <= now {
                *timer = until;
            }
        }
    }

    #[inline]
    fn chooses_next(&self, phase: Phase) -> bool {
        phase != Phase::Open || self.has_holes
    }

    /// A probe, the lowest lost packet, or the next packet in order.
    #[inline]
    fn next(&mut self, connection: &mut Connection, config: &TcpConfig) -> Option<u64> {
        let State { segments, probe, prr, undo, .. } = &mut *self.state;
        let first = std::mem::take(&mut self.retransmit_first);
        let new_data = connection.nxt < connection.send_limit_behind_holes(config);
        if probe.due {
            let packet = if new_data { connection.nxt } else { connection.max - 1 };
            connection.nxt = connection.nxt.max(packet + 1);
            probe.sent(connection.nxt.max(connection.max), !new_data);
            return Some(packet);
        }
        let lost = segments.next_lost();
        let room = || has_room(prr.as_ref(), connection, config, || segments.pipe());
        if undo.probes && connection.nxt <= connection.recover && !(new_data && room()) {
            undo.cannot_probe();
        }
        let lost = lost.filter(|_| !undo.probes);
        if !(first && lost.is_some() || room()) {
            connection.out_of_window();
            return None;
        }
        let Some(packet) = lost.or(new_data.then_some(connection.nxt)) else {
            if !undo.probes {
                connection.out_of_data(segments.pipe());
            }
            return None;
        };
        connection.nxt = connection.nxt.max(packet + 1);
        Some(packet)
    }

    fn on_reduction(&mut self, before: u64) {
        if let Some(prr) = &mut self.state.prr {
            prr.start_for_ecn(before);
        }
    }

    fn reducing_window(&self, connection: &Connection) -> Option<u64> {
        let State { segments, prr, .. } = &*self.state;
        let prr = prr.as_ref().filter(|prr| prr.governs(connection))?;
        Some(prr.window_now(segments.pipe(), false))
    }

    fn is_urgent(&self) -> bool {
        self.retransmit_first
    }

    /// The retransmission timer starts anew with the first packet in flight, as in Linux: a retransmission that was
    /// lost is found an RTT later and acknowledged two RTTs later, and the timer would not wait that long.
    fn on_transmission(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        packet: u64,
    ) {
        let State { segments, undo, prr, .. } = &mut *self.state;
        if segments.on_send(now, packet) {
            undo.resent(now);
        }
        if connection.reduces() {
            if let Some(prr) = prr.as_mut().filter(|prr| prr.governs(connection)) {
                prr.sent();
            }
        }
        let restart =
            Restart { retransmission: packet == connection.una, probe: packet + 1 == connection.max };
        // The next packet of a burst finds the timers as the one before has set them; the probe waits longer behind a
        // single packet.
        let set = restart.probe && self.state.timers.probe_started == now && connection.flight() > 2;
        if !set || restart.retransmission || self.has_holes {
            self.schedule(connection, config, now, restart);
        }
        if restart.probe && config.rules.loss_timers.is_linux() && !self.state.timers.limited {
            self.limit_probe(connection, config, now);
        }
    }

    #[inline]
    fn is_segmented_with_next(&mut self, packet: u64, retransmission: bool) -> bool {
        match self.state.segments.next_lost() {
            Some(next) => retransmission && next == packet + 1,
            None => !retransmission && segments_together(packet, packet + 1),
        }
    }

    #[inline]
    fn end_round(&mut self) {
        self.state.segments.trim();
    }

    #[inline]
    fn in_network(&self, _connection: &Connection) -> u64 {
        self.state.segments.pipe()
    }

    #[inline]
    fn sacked(&self) -> u64 {
        self.state.segments.sacked_count()
    }

    #[inline]
    fn grows_by(&self) -> u64 {
        self.state.grows_by
    }

    #[inline]
    fn newest_rtt(&self) -> Option<Duration> {
        self.state.segments.newest_rtt()
    }

    #[inline]
    fn first_sent(&self) -> Option<Instant> {
        self.state.segments.first_sent()
    }

    #[inline]
    fn last_sent(&self) -> Option<Instant> {
        self.state.segments.last_sent()
    }

    fn account(&self, _connection: &Connection) -> Account {
        let State { segments, .. } = &*self.state;
        Account {
            arrived: segments.sacked_count(),
            lost: segments.repaired_count(),
            retransmitted: segments.retransmitted(),
        }
    }

    fn window(&self, connection: &Connection) -> f64 {
        let State { segments, prr, .. } = &*self.state;
        window_now(prr.as_ref(), connection, segments.pipe(), self.retransmit_first)
    }

    fn restart(&mut self, base: u64) {
        let State { segments, prr, .. } = &mut *self.state;
        *self.state = State::new(segments.restarted(base), prr.take());
        self.has_holes = false;
        self.retransmit_first = false;
    }
}
