//! SCReAM, version 2: self-clocked rate adaptation for media (draft-ietf-ccwg-rfc8298bis-screamv2-01, which obsoletes
//! RFC 8298).
//!
//! | draft | here | unit |
//! | --- | --- | --- |
//! | ref_wnd, ref_wnd_i | `reference`, `inflection` | packets; at the beginning of the last reduction |
//! | qdelay, qdelay_avg | `queueing`, `average` | s, one-way delay beyond the smallest of ten minutes; averaged up by 1/4, down at once |
//! | qdelay_target | `target` | s |
//! | s_rtt, VIRTUAL_RTT | `rtt_s`, [`VIRTUAL_RTT_S`] | s |
//! | target_bitrate | `rate` | packets/s |
//!
//! The rate is that of a window: (5/6) ref_wnd/s_rtt, less where the window is small. Each packet that is reported adds
//! ref_wnd^-1 packets: less in short RTTs, less near `inflection`, more the longer congestion is ago (a fiftieth of the
//! window a round trip at most). Once in min(25 ms, s_rtt) a loss leaves 0.7; qdelay_avg above half of its target takes
//! up to a half of the window, in proportion to how far it is on the way to the target, and less in long RTTs. Beside
//! flows that fill the queue the target rises, to 400 ms at most (§4.5.4): if losses come, or the queue is long and
//! steady.
//!
//! Readings. §4.5.4 has a sample of the delay every 50 ms; of round trips with losses, the mean of the last 64 or so
//! counts. A silence halves the window. All packets are full, so MSS is one packet, and MIN_REF_WND two.
//!
//! *What was found.* Alone it uses 78 to 99 % of 1 to 20 Mbit/s, with 18 to 35 ms queued. §4.5.4 does not keep it from
//! being starved by Reno (9 % of 10 Mbit/s with a buffer of a BDP, 1 % with four): a target that follows the delay is
//! not twice the delay, from which reductions begin.
//!
//! Left out: marks (datagrams carry none here), jitter (REDUCE_JITTER, off in the draft), clocks that drift, policers,
//! and the margins for frames of varying size: media come as an even stream at the rate asked for, which the sender's
//! queue never holds back. The window limits what is sent over TCP only (three times ref_wnd, as in the draft), where
//! RTTs stand for the delays and what is lost is sent again.
//!
//! Read: the draft. RFC 8298 was not.

use crate::report::Report;
use crate::windowed_rtt::SmallestRtt;
use crate::{AckEvent, CongestionControl, CongestionEvent, Needs, Start, MIN_SSTHRESH};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Scream`].
    pub struct ScreamConfig {
        /// Queueing delay that is aimed at (QDELAY_TARGET_LO).
        target: Duration, default "60 ms", min "1 ms", max "10 s";
        /// The same at most, beside flows that fill the queue (QDELAY_TARGET_HI); as `target`: these are not looked for.
        largest_target: Duration, default "400 ms", min "1 ms", max "10 s";
        /// Factor of the window kept at a loss (BETA_LOSS).
        kept: f64, default "0.7", min 0.01, max 0.999;
    }
}

/// How long a smallest delay counts (RFC 6817, BASE_HISTORY).
const BASE_HISTORY: Duration = Duration::from_secs(600);
const VIRTUAL_RTT_S: f64 = 0.025;
/// QDELAY_AVG_G
const NEWEST: f64 = 0.25;
/// MIN_REF_WND
const LEAST_WINDOW: f64 = 2.0;
/// BYTES_IN_FLIGHT_HEAD_ROOM and REF_WND_OVERHEAD_MAX
const HEADROOM: f64 = 1.5;
const OVERHEAD: f64 = 3.0;
/// POST_CONGESTION_DELAY_RTT and MUL_INCREASE_FACTOR
const CAUTIOUS_RTTS: f64 = 100.0;
const GROWTH: f64 = 0.02;
/// Smallest rate after silences, packets/s.
const LEAST_RATE: f64 = 0.1;
/// What the rate leaves of the window's.
const MARGIN: f64 = 1.2;
/// How often the delay is noted for the target, and how many notes its variance and its mean have.
const NOTE_S: f64 = 0.05;
const NOTES: usize = 200;
const RECENT_NOTES: usize = 50;
/// Share of round trips with losses above which others fill the queue, and the weight of the newest.
const LOSSY: f64 = 0.002;
const NEWEST_ROUND: f64 = 1.0 / 64.0;
/// Variance of the delay, in targets, below which a long queue is somebody else's.
const STEADY: f64 = 0.2;

/// A window by delays and losses, and the rate that it has.
#[derive(Clone, Debug)]
pub struct Scream {
    least_target: f64,
    largest_target: f64,
    kept: f64,
    has_arrivals: bool,
    base: SmallestRtt,
    queueing: f64,
    average: f64,
    averaged_at: Instant,
    target: f64,
    reference: f64,
    inflection: f64,
    may_inflect: bool,
    congested_at: Instant,
    reacted_at: Instant,
    report: Report,
    /// True if a loss was not answered yet.
    lost: bool,
    /// Largest number of packets in flight in the round trip before and in this one, which began at `round_at`.
    in_flight: [f64; 2],
    round_at: Instant,
    round_lost: bool,
    lossy_rounds: f64,
    notes: Notes,
    rtt_s: f64,
    rate: f64,
    window: f64,
}

impl Scream {
    pub(crate) const SUMMARY: &'static str =
        "media: the rate of a window that keeps queueing delays below a target";
    pub(crate) const REFERENCE: &'static str = "draft-ietf-ccwg-rfc8298bis-screamv2-01";
    pub(crate) const NEEDS: Needs =
        Needs { from_reports: true, arrival_times: true, ..Needs::MODEL_OF_THE_PATH };
    pub(crate) const STEERABLE: bool = false;
    pub(crate) const VARIABLES: &'static [Variable] = &[
        Variable::new("rate", "packets/s", "the rate (target_bitrate)"),
        Variable::new("reference_window", "packets", "window of which that is the rate (ref_wnd)"),
        Variable::new("queueing_delay", "s", "averaged (qdelay_avg)"),
        Variable::new("delay_target", "s", "queueing delay that is aimed at (qdelay_target)"),
    ];

    /// A control at the start of a connection.
    pub fn new(config: &ScreamConfig, start: Start) -> Self {
        let reference = start.window.max(LEAST_WINDOW);
        let least_target = config.target.as_secs_f64();
        Self {
            least_target,
            largest_target: config.largest_target.as_secs_f64().max(least_target),
            kept: config.kept,
            has_arrivals: false,
            base: SmallestRtt::new(),
            queueing: 0.0,
            average: 0.0,
            averaged_at: start.at,
            target: least_target,
            reference,
            inflection: 1.0,
            may_inflect: true,
            congested_at: start.at,
            reacted_at: start.at,
            report: Report::NONE,
            lost: false,
            in_flight: [0.0; 2],
            round_at: start.at,
            round_lost: false,
            lossy_rounds: 0.0,
            notes: Notes { all: [0.0; NOTES], count: 0, at: start.at },
            rtt_s: 0.0,
            rate: 0.0,
            window: start.window,
        }
    }

    fn arrive(&mut self, arrived: Instant, delay_s: f64) {
        // A clock that differs or no delay at all must not be 0.
        self.base.update(arrived, delay_s.max(1e-9), BASE_HISTORY);
        self.queueing = self.base.get().map_or(0.0, |base| (delay_s - base).max(0.0));
    }

    /// A report, of `packets`, lost ones included.
    fn update(&mut self, now: Instant, packets: f64, in_flight: f64) {
        self.watch(now, in_flight);
        let interval_s = VIRTUAL_RTT_S.min(self.rtt_s);
        if since(now, self.averaged_at) >= interval_s {
            self.average = if self.queueing < self.average {
                self.queueing
            } else {
                NEWEST * self.queueing + (1.0 - NEWEST) * self.average
            };
            self.averaged_at = now;
        }
        if since(now, self.notes.at) >= NOTE_S {
            self.notes.add(now, self.queueing / self.least_target);
            self.aim();
        }
        let near = self.nearness();
        self.reduce(now, interval_s);
        self.increase(now, packets, near);
        self.set_rate();
    }

    /// Packets in flight and losses, round trip by round trip.
    fn watch(&mut self, now: Instant, in_flight: f64) {
        if since(now, self.round_at) >= self.rtt_s {
            self.in_flight = [self.in_flight[1], 0.0];
            self.lossy_rounds += NEWEST_ROUND * (f64::from(u8::from(self.round_lost)) - self.lossy_rounds);
            (self.round_at, self.round_lost) = (now, false);
        }
        self.in_flight[1] = self.in_flight[1].max(in_flight);
        self.round_lost |= self.lost;
    }

    /// `scl_t`: 0.1 near the window at which congestion began last, 1 far from it.
    fn nearness(&self) -> f64 {
        let distance = 8.0 * (self.reference - self.inflection) / self.inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// §4.2.2.1
    fn reduce(&mut self, now: Instant, interval_s: f64) {
        if self.lost {
            self.congested_at = now;
        }
        let beyond = ((self.average - self.target / 2.0) / (self.target / 2.0)).min(1.0);
        if since(now, self.reacted_at) < interval_s || !(self.lost || beyond > 0.0) {
            return;
        }
        if self.may_inflect {
            (self.inflection, self.may_inflect) = (self.reference, false);
        }
        let kept =
            if self.lost { self.kept } else { 1.0 - beyond / 2.0 / (self.rtt_s / VIRTUAL_RTT_S).max(1.0) };
        self.reference = (kept * self.reference).max(LEAST_WINDOW);
        self.lost = false;
        self.reacted_at = now;
    }

    /// §4.2.2.2
    fn increase(&mut self, now: Instant, packets: f64, near: f64) {
        let cautious_s = CAUTIOUS_RTTS * self.rtt_s.max(VIRTUAL_RTT_S);
        let long_ago = (since(now, self.congested_at) / cautious_s).min(1.0);
        let additive = packets / self.reference * (self.rtt_s / VIRTUAL_RTT_S).min(1.0) * near.max(0.25);
        let increment = additive * (1.0 + GROWTH * self.reference * long_ago * near);
        let most = 1.0 + self.in_flight[0].max(self.in_flight[1]) * HEADROOM;
        if increment > 0.0 && self.reference + increment <= most {
            self.reference += increment;
            self.may_inflect = true;
        }
    }

    /// §4.4
    fn set_rate(&mut self) {
        let small = (1.0 / self.reference - 0.1).clamp(0.0, 0.2);
        self.rate = (1.0 - small) / MARGIN * self.reference / self.rtt_s;
        self.window = OVERHEAD * self.reference;
    }

    /// §4.5.4
    fn aim(&mut self) {
        let (mean, variance) = self.notes.judge();
        let new = (mean + libm::sqrt(variance)) * self.least_target;
        self.target = if self.lossy_rounds > LOSSY {
            1.5 * new
        } else if variance < STEADY {
            new
        } else if new < self.least_target {
            (self.target * 0.5).max(new)
        } else {
            self.target * 0.9
        };
        self.target = self.target.clamp(self.least_target, self.largest_target);
    }
}

/// Seconds from `earlier` on.
fn since(now: Instant, earlier: Instant) -> f64 {
    now.since(earlier).as_secs_f64()
}

/// Queueing delays of late, in targets.
#[derive(Clone, Debug)]
struct Notes {
    all: [f64; NOTES],
    count: usize,
    at: Instant,
}

impl Notes {
    fn add(&mut self, now: Instant, delay: f64) {
        self.all[self.count % NOTES] = delay;
        self.count += 1;
        self.at = now;
    }

    /// Mean of the most recent ones, and variance of all.
    fn judge(&self) -> (f64, f64) {
        let known = self.count.clamp(1, NOTES);
        let recent = self.count.clamp(1, RECENT_NOTES);
        let newest = (1..=recent).map(|back| self.all[(self.count + NOTES - back) % NOTES]);
        let mean = newest.sum::<f64>() / recent as f64;
        let all = &self.all[..known];
        let mean_of_all = all.iter().sum::<f64>() / known as f64;
        let squares = all.iter().map(|note| (note - mean_of_all) * (note - mean_of_all)).sum::<f64>();
        (mean, squares / known as f64)
    }
}

impl CongestionControl for Scream {
    fn needs(&self) -> Needs {
        Self::NEEDS
    }

    fn window(&self) -> f64 {
        self.window
    }

    /// There is no slow start.
    fn ssthresh(&self) -> f64 {
        MIN_SSTHRESH
    }

    fn on_arrival(&mut self, sent: Instant, arrived: Instant) {
        self.has_arrivals = true;
        self.arrive(arrived, arrived.since(sent).as_secs_f64());
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.srtt == Duration::ZERO {
            return;
        }
        self.rtt_s = ack.srtt.as_secs_f64();
        if let Some(rtt) = ack.rtt.filter(|_| !self.has_arrivals) {
            self.arrive(ack.now, rtt.as_secs_f64());
        }
        self.report.count(ack);
        self.lost |= self.report.lost > 0.0;
        let packets = self.report.packets();
        self.report.restart(ack.now);
        let before = self.window;
        let unused = ack.sample.as_ref().is_some_and(|sample| sample.app_limited);
        self.update(ack.now, if unused { 0.0 } else { packets }, ack.in_flight as f64);
        if unused {
            self.window = self.window.min(before);
        }
    }

    fn on_congestion(&mut self, _: &CongestionEvent) {
        self.lost = true;
    }

    /// No report came.
    fn on_timeout(&mut self, _: &CongestionEvent) {
        self.reference = (self.reference / 2.0).max(LEAST_WINDOW);
        self.window = 1.0;
        if self.rate > 0.0 {
            self.rate = (self.rate / 2.0).max(LEAST_RATE);
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        let unknown = self.rate <= 0.0;
        Some(if unknown { self.reference / VIRTUAL_RTT_S } else { self.rate })
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("rate", self.rate);
        reader("reference_window", self.reference);
        reader("queueing_delay", self.average);
        reader("delay_target", self.target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scream(reference: f64) -> Scream {
        let config = ScreamConfig {
            target: Duration::from_millis(60),
            largest_target: Duration::from_millis(400),
            kept: 0.7,
        };
        Scream::new(&config, Start { window: reference, ..Start::NEW })
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A report of a packet that was queued for so long, at an RTT of 50 ms.
    fn feed(control: &mut Scream, ms: u64, queued_ms: u64) {
        control.on_arrival(at(ms), at(ms + 20 + queued_ms));
        let rtt = Duration::from_millis(50);
        control.on_ack(&AckEvent { in_flight: 1000, ..AckEvent::of_one_packet(at(ms), rtt) });
    }

    #[test]
    fn a_round_trip_adds_a_packet_and_more_when_congestion_is_long_ago() {
        let mut control = scream(50.0);
        feed(&mut control, 10_000, 0);
        let before = control.reference;
        feed(&mut control, 10_001, 0);
        // Far from the inflection point, and 100 RTTs after the beginning: 1/W (1 + W/50).
        let expected = (1.0 + 0.02 * before) / before;
        assert!((control.reference - before - expected).abs() < 1e-9, "{}", control.reference - before);
        let mut control = scream(50.0);
        control.inflection = 50.0;
        feed(&mut control, 1, 0);
        assert!(
            (control.reference - 50.0 - 0.25 / 50.0).abs() < 1e-4,
            "near it a quarter: {}",
            control.reference
        );
    }

    #[test]
    fn a_loss_leaves_seven_tenths_once_in_25_ms() {
        let mut control = scream(100.0);
        feed(&mut control, 100, 0);
        let event = CongestionEvent { now: at(100), signal: crate::Signal::Loss, in_flight: 100 };
        for (ms, kept) in [(130, 0.7), (140, 1.0), (155, 0.7)] {
            control.on_congestion(&event);
            let before = control.reference;
            feed(&mut control, ms, 0);
            assert!(
                (control.reference / before - kept).abs() < 0.001,
                "{ms} ms: {}",
                control.reference / before
            );
        }
    }

    #[test]
    fn delays_beyond_half_of_the_target_reduce_in_proportion() {
        for (average, kept) in [(0.029, 1.0), (0.045, 0.875), (0.060, 0.75), (0.2, 0.75)] {
            let mut control = scream(100.0);
            control.rtt_s = 0.05;
            control.average = average;
            control.reduce(at(1000), 0.025);
            // At 50 ms, twice the virtual RTT, half as much is taken.
            assert!((control.reference - 100.0 * kept).abs() < 1e-9, "{average} s: {}", control.reference);
        }
    }

    #[test]
    fn the_average_rises_by_a_quarter_and_falls_at_once() {
        let mut control = scream(100.0);
        let mut found = Vec::new();
        for (ms, queued_ms) in [(100, 0), (130, 40), (160, 40), (190, 10)] {
            feed(&mut control, ms, queued_ms);
            found.push(control.average);
        }
        for (found, expected) in found.iter().zip([0.0, 0.010, 0.0175, 0.010]) {
            assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
        }
    }

    #[test]
    fn the_target_rises_where_a_long_queue_is_steady_and_not_beyond_its_bound() {
        let mut control = scream(100.0);
        control.notes = Notes { all: [2.0; NOTES], count: NOTES, at: at(0) };
        control.aim();
        assert!((control.target - 0.12).abs() < 1e-9, "{}", control.target);
        control.notes = Notes { all: [20.0; NOTES], count: NOTES, at: at(0) };
        control.aim();
        assert_eq!(control.target, 0.4);
        for (i, note) in control.notes.all.iter_mut().enumerate() {
            *note = if i % 2 == 0 { 0.0 } else { 2.0 };
        }
        control.aim();
        assert!((control.target - 0.36).abs() < 1e-9, "it swings: {}", control.target);
    }
}
