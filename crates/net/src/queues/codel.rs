//! CoDel: controlled delay (RFC 8289).
//!
//! | RFC 8289 | field | unit |
//! | --- | --- | --- |
//! | TARGET | `target` | sojourn time that may stand |
//! | INTERVAL | `interval` | how long it may be exceeded: a usual worst-case RTT |
//! | `first_above_time_` | `first_above` | when an interval above the target will have passed; `None`: not above |
//! | `drop_next_` | `drop_next` | next drop |
//! | `count_`, `lastcount_` | `count`, `last_count` | drops in this dropping state; where it began |
//! | `dropping_` | `dropping` | |
//! | `maxpacket_` | `largest` | bytes, largest packet seen |
//!
//! A packet's sojourn time is known when its turn comes. Once it has been above the target for an interval, packets are
//! dropped at times that come closer with the inverse square root of their count, until it is below. A queue of no more
//! than one largest packet is left alone.
//!
//! RFC 8289 leaves marking open. Here, as in Linux, a mark takes the place of a drop in the law, and the packet is
//! transmitted: so there is at most one mark a turn.
//!
//! On a link that follows a trace, a packet's turn comes when the one before it has left: the wait for its own
//! opportunity is not part of the sojourn time.

use super::departure::Fifo;
use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{ConfigError, Duration, Instant};
use rand_core::RngCore;
use std::collections::VecDeque;

parshall_units::configuration! {
    /// Parameters of [`Codel`].
    pub struct CodelConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "1000 packets";
        /// Sojourn time that may stand.
        target: Duration, default "5 ms", min "1 us";
        /// Time for which it may be exceeded; a usual worst-case RTT.
        interval: Duration, default "100 ms", min "1 us";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, default "false";
    }
}

/// Controlled delay.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: Limit,
    law: Law,
    fifo: Fifo,
    controller: Controller,
}

impl Codel {
    pub(crate) const SUMMARY: &'static str =
        "drops at departure while packets have waited longer than a target for an interval";
    pub(crate) const REFERENCE: &'static str = "RFC 8289";
    pub(crate) const TRAITS: Traits = Traits {
        title: "CoDel",
        drops: Drops::Departure,
        separates: Separates::Nothing,
        marks: true,
        own_rate: false,
        random: false,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "codel",
            &[
                QdiscOption::new("limit", "limit", Form::Packets),
                QdiscOption::new("target", "target", Form::Time),
                QdiscOption::new("interval", "interval", Form::Time),
                QdiscOption::new("ecn", "ecn", Form::Flag),
            ],
        )),
    };

    /// An empty queue.
    pub fn new(config: &CodelConfig) -> Self {
        Self {
            limit: config.limit,
            law: Law::new(config.target, config.interval, config.ecn),
            fifo: Fifo::default(),
            controller: Controller::default(),
        }
    }
}

impl DepartureDiscipline for Codel {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("count", "packets", "packets dropped or marked since it began to drop"),
        Variable::new("dropping", "", "1 while it drops, else 0"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        self.controller.read_variables(reader);
    }

    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        _: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        let (packets, bytes) = (self.fifo.len() + beside.0, self.fifo.bytes() + beside.1);
        if self.limit.has_room(packets, bytes, packet.bytes) {
            self.law.see(packet.bytes);
            self.fifo.push(packet);
        } else {
            lost.push_back(packet);
        }
    }

    fn dequeue<R: RngCore>(&mut self, now: Instant, _: &mut R, lost: &mut VecDeque<Held>) -> Option<Turn> {
        self.controller.dequeue(&self.law, now, &mut self.fifo, lost)
    }

    fn packets(&self) -> u64 {
        self.fifo.len()
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.law.check()
    }
}

/// The common parameters of all queues under one control.
#[derive(Clone, Debug)]
pub(super) struct Law {
    target: Duration,
    interval: Duration,
    ecn: bool,
    largest: u32,
}

impl Law {
    pub(super) fn new(target: Duration, interval: Duration, ecn: bool) -> Self {
        Self { target, interval, ecn, largest: 0 }
    }

    /// A packet was accepted.
    pub(super) fn see(&mut self, bytes: u32) {
        self.largest = self.largest.max(bytes);
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.target <= self.interval {
            return Ok(());
        }
        let accepted = format!("a duration up to the interval, {}", self.interval);
        Err(ConfigError::new("target", self.target, accepted))
    }

    fn marks(&self, packet: &Held) -> bool {
        self.ecn && packet.ecn.is_capable()
    }

    /// The control law. RFC 8289 §5.4
    fn after(&self, time: Instant, count: u32) -> Instant {
        time + Duration::from_ps((self.interval.as_ps_f64() / f64::from(count).sqrt()) as u64)
    }
}

/// Dropping states that follow each other within so many intervals are one and the same. RFC 8289 §5.5
const SAME_STATE_INTERVALS: u64 = 16;

/// The control of one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Controller {
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Controller {
    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("count", f64::from(self.count));
        reader("dropping", f64::from(u8::from(self.dropping)));
    }

    /// Its count, while it drops.
    pub(super) fn drops(&self) -> Option<u32> {
        self.dropping.then_some(self.count)
    }

    /// The next packet of `fifo`, after those that are dropped at `now`. RFC 8289 §5.5
    pub(super) fn dequeue(
        &mut self,
        law: &Law,
        now: Instant,
        fifo: &mut Fifo,
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn> {
        let (mut packet, mut above) = self.judge(law, now, fifo)?;
        if self.dropping {
            self.dropping = above;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if law.marks(&packet) {
                    self.drop_next = law.after(self.drop_next, self.count);
                    return Some(Turn { packet, marked: true });
                }
                lost.push_back(packet);
                self.dropping = false;
                (packet, above) = self.judge(law, now, fifo)?;
                if above {
                    self.dropping = true;
                    self.drop_next = law.after(self.drop_next, self.count);
                }
            }
        } else if above {
            self.enter(law, now);
            if law.marks(&packet) {
                return Some(Turn { packet, marked: true });
            }
            lost.push_back(packet);
            (packet, _) = self.judge(law, now, fifo)?;
        }
        Some(Turn { packet, marked: false })
    }

    /// A dropping state begins, with a drop: at the rate that controlled the queue last, if that was not long ago.
    fn enter(&mut self, law: &Law, now: Instant) {
        self.dropping = true;
        let drops = self.count - self.last_count;
        let recent = now.since(self.drop_next) < law.interval.times(SAME_STATE_INTERVALS);
        self.count = if drops > 1 && recent { drops } else { 1 };
        self.drop_next = law.after(now, self.count);
        self.last_count = self.count;
    }

    /// Takes the first packet, and returns whether the sojourn time has been above the target for an interval.
    fn judge(&mut self, law: &Law, now: Instant, fifo: &mut Fifo) -> Option<(Held, bool)> {
        let Some(packet) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        if now.since(packet.arrived) < law.target || fifo.bytes() <= u64::from(law.largest) {
            self.first_above = None;
            return Some((packet, false));
        }
        let first_above = *self.first_above.get_or_insert(now + law.interval);
        Some((packet, now >= first_above))
    }
}

#[cfg(test)]
mod tests;
