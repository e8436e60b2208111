//! Events for a control under test: random ones, and the path that they come from.

use crate::path_model::Choices;
use crate::{AckEvent, CongestionControl, CongestionEvent, Control, Needs, Phase, RateSample, Signal};
use parshall_units::{Duration, Instant};
use std::fmt;

/// Something that happens to a control.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // of fields: those of the events, or a unit in the name
pub enum Happening {
    /// An ACK, so long after the event before. `used`: the window limited the sender.
    Ack { gap_us: u32, acked: u8, rtt_us: u32, in_flight: u32, used: bool, round_ended: bool },
    /// A loss, or a mark.
    Congestion { in_flight: u32, ecn: bool },
    /// The retransmission timer.
    Timeout { in_flight: u32 },
    /// The end of loss recovery.
    Recovered,
    /// Data after a pause.
    IdleRestart { window: u8 },
}

/// Packets in flight at an event, as a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flight {
    /// Anything up to 100,000 packets, whatever the window is: a control of the catalog bears it.
    Any,
    /// What the window allows, and the two packets of limited transmit (RFC 3042).
    Sent,
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ack { acked, rtt_us, used, .. } => {
                let unused = if used { "" } else { ", the window not used" };
                write!(f, "an ACK of up to {acked} packets, RTT {} ms{unused}", f64::from(rtt_us) / 1000.0)
            }
            Self::Congestion { ecn: false, .. } => write!(f, "a loss"),
            Self::Congestion { ecn: true, .. } => write!(f, "a mark"),
            Self::Timeout { .. } => write!(f, "a timeout"),
            Self::Recovered => write!(f, "the end of a recovery"),
            Self::IdleRestart { window } => write!(f, "a restart after a pause with {window} packets"),
        }
    }
}

/// Random numbers of one seed.
pub(super) struct Draws(Choices);

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(Choices::new(seed))
    }

    pub(super) fn any(&mut self) -> u64 {
        self.0.below(u64::MAX)
    }

    /// From 0 to below 1.
    pub(super) fn share(&mut self) -> f64 {
        self.0.below(1 << 53) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, most: u32) -> u32 {
        self.0.below(u64::from(most)) as u32
    }

    fn toss(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// So many random events: of 25, 20 are ACKs, two congestion, and one each a timeout, the end of a recovery, and a
/// pause.
pub fn random_events(seed: u64, count: u32) -> Vec<Happening> {
    let mut draws = Draws::new(seed);
    let mut event = || match draws.below(25) {
        0..20 => Happening::Ack {
            gap_us: draws.below(5_000_000),
            acked: 1 + draws.below(63) as u8,
            rtt_us: 1 + draws.below(3_000_000),
            in_flight: draws.below(MOST),
            used: draws.toss(),
            round_ended: draws.toss(),
        },
        20 | 21 => Happening::Congestion { in_flight: draws.below(MOST), ecn: draws.toss() },
        22 => Happening::Timeout { in_flight: draws.below(MOST) },
        23 => Happening::Recovered,
        _ => Happening::IdleRestart { window: 1 + draws.below(10) as u8 },
    };
    (0..count).map(|_| event()).collect()
}

/// Packets in flight.
const MOST: u32 = 100_000;
/// Packets a round trip that the path takes in [`Path::round_trips`].
pub(super) const TAKEN: u64 = 1000;

/// The path as a control sees it: time, and the measurements so far.
#[derive(Clone, Debug)]
pub struct Path {
    needs: Needs,
    flight: Flight,
    now: Instant,
    srtt: Duration,
    min_rtt: Duration,
    delivered: u64,
}

impl Path {
    /// A path for a control with these needs, at the beginning.
    pub fn new(needs: Needs, flight: Flight) -> Self {
        let (now, srtt, min_rtt) = (Instant::ZERO, Duration::ZERO, Duration::MAX);
        Self { needs, flight, now, srtt, min_rtt, delivered: 0 }
    }

    /// Lets something happen to a control. Not every ACK has an RTT sample, if the control does not need that.
    pub fn apply(&mut self, control: &mut Control, what: Happening) {
        match what {
            Happening::Ack { gap_us, acked, rtt_us, in_flight, used, round_ended } => {
                self.now += microseconds(gap_us);
                let rtt = (self.needs.takes_timestamps() || gap_us % 7 != 0).then(|| microseconds(rtt_us));
                let phase = [Phase::Recovery, Phase::Loss].get(gap_us as usize % 11).copied();
                let phase = phase.unwrap_or(Phase::Open);
                let window = control.window();
                let acked = match self.flight {
                    Flight::Any => u64::from(acked),
                    Flight::Sent => u64::from(acked).min(most_in_flight(window)),
                };
                let in_flight = self.in_flight(in_flight, window).max(acked);
                let lost = u64::from(gap_us % 5 == 0);
                if let Some(rtt) = rtt {
                    (self.srtt, self.min_rtt) = (rtt, self.min_rtt.min(rtt));
                }
                self.delivered += acked;
                let sample = RateSample {
                    delivered: self.delivered,
                    prior_delivered: self.delivered.saturating_sub(in_flight),
                    rate: (rtt_us > 10).then(|| acked as f64 / microseconds(rtt_us).as_secs_f64()),
                    newly_delivered: acked,
                    newly_lost: lost,
                    lost: 3 * lost,
                    in_flight,
                    sent_in_flight: in_flight / 2 + 1,
                    next_send: Duration::ZERO,
                    app_limited: !used,
                };
                control.on_ack(&AckEvent {
                    now: self.now,
                    phase,
                    acked,
                    credit: if phase == Phase::Loss { 1.0 } else { acked as f64 },
                    rtt,
                    one_way_delay: self.one_way_delay(rtt),
                    srtt: self.srtt,
                    min_rtt: self.min_rtt,
                    in_flight,
                    may_grow: used && phase != Phase::Recovery,
                    round_ended,
                    ecn_echo: gap_us % 3 == 0,
                    sample: self.needs.rate_samples.then_some(sample),
                });
            }
            Happening::Congestion { in_flight, ecn } => {
                let signal = if ecn { Signal::Ecn } else { Signal::Loss };
                let in_flight = self.in_flight(in_flight, control.window());
                control.on_congestion(&CongestionEvent { now: self.now, signal, in_flight });
            }
            Happening::Timeout { in_flight } => {
                let in_flight = self.in_flight(in_flight, control.window());
                control.on_timeout(&CongestionEvent { now: self.now, signal: Signal::Loss, in_flight });
            }
            Happening::Recovered => control.on_recovered(),
            Happening::IdleRestart { window } => control.on_idle_restart(f64::from(window)),
        }
    }

    /// Half of the RTT, for a control that needs it.
    fn one_way_delay(&self, rtt: Option<Duration>) -> Option<Duration> {
        rtt.filter(|_| self.needs.one_way_delay).map(|rtt| rtt.over(2))
    }

    fn in_flight(&self, drawn: u32, window: f64) -> u64 {
        match self.flight {
            Flight::Any => u64::from(drawn),
            Flight::Sent => u64::from(drawn) % most_in_flight(window) + 1,
        }
    }

    /// ACKs a whole window, a round trip of 50 ms at a time, on a path that takes 1000 packets a round trip.
    pub fn round_trips(&mut self, control: &mut Control, rounds: u32) {
        let rtt = Duration::from_millis(50);
        for _ in 0..rounds {
            self.now += rtt;
            let packets = (control.window() as u64).min(TAKEN);
            let before = self.delivered;
            for i in 0..packets {
                self.delivered += 1;
                let sample = RateSample {
                    delivered: self.delivered,
                    prior_delivered: before,
                    rate: Some(packets as f64 / rtt.as_secs_f64()),
                    newly_delivered: 1,
                    newly_lost: 0,
                    lost: 0,
                    in_flight: packets - i - 1,
                    sent_in_flight: packets,
                    next_send: Duration::ZERO,
                    app_limited: false,
                };
                control.on_ack(&AckEvent {
                    now: self.now,
                    phase: Phase::Open,
                    acked: 1,
                    credit: 1.0,
                    rtt: Some(rtt),
                    one_way_delay: self.one_way_delay(Some(rtt)),
                    srtt: rtt,
                    min_rtt: rtt,
                    in_flight: packets,
                    may_grow: true,
                    round_ended: i == 0,
                    ecn_echo: false,
                    sample: self.needs.rate_samples.then_some(sample),
                });
            }
        }
    }
}

/// Packets, with [`Flight::Sent`].
fn most_in_flight(window: f64) -> u64 {
    window as u64 + 2
}

fn microseconds(us: u32) -> Duration {
    Duration::from_ps(u64::from(us) * 1_000_000)
}
