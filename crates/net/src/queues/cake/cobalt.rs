//! COBALT: CoDel and BLUE side by side, for one queue (Linux's `sch_cake`; Palmei et al. 2019, not read).
//!
//! CoDel is for flows that react. It differs from RFC 8289 in how it ends: when packets wait no longer than the target,
//! the count is not forgotten but falls by one at each time at which a drop would have been due, and the next dropping
//! state begins with what is left of it. BLUE is for flows that do not react: each time the queue overflows its drop
//! probability rises, each time it is found empty it falls, once a `target` at most. BLUE drops, and never marks. The
//! last packet of a queue is not dropped.

use super::super::departure::Fifo;
use super::super::{Held, Turn};
use crate::unit_interval;
use parshall_units::{Duration, Instant};
use rand_core::RngCore;
use std::collections::VecDeque;

/// What BLUE adds to its probability when the queue overflows, and takes from it when it is empty.
const BLUE_INCREMENT: f64 = 1.0 / 256.0;
const BLUE_DECREMENT: f64 = 1.0 / 4096.0;

/// Packets below which CoDel rests: what so many take to be transmitted at the tin's rate may always wait.
const RESTS_BELOW: u64 = 4;

/// The common parameters of all queues of a tin.
#[derive(Clone, Debug)]
pub(super) struct Law {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// The time of a full packet at the tin's rate.
    pub(super) packet_time: Duration,
}

impl Law {
    fn after(&self, time: Instant, count: u32) -> Instant {
        time + Duration::from_ps((self.interval.as_ps_f64() / f64::from(count.max(1)).sqrt()) as u64)
    }
}

/// The control of one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Cobalt {
    count: u32,
    drop_next: Instant,
    dropping: bool,
    blue: f64,
    /// When the probability of BLUE changed last.
    blue_changed: Instant,
}

impl Cobalt {
    /// CoDel's count.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The drop probability of BLUE.
    pub(super) fn probability(&self) -> f64 {
        self.blue
    }

    /// True if an idle queue has nothing to remember: else it is kept for its flow.
    pub(super) fn is_at_rest(&self, now: Instant) -> bool {
        self.count == 0 && self.blue == 0.0 && now >= self.drop_next
    }

    /// A packet of this queue was dropped as all queues together are too long.
    pub(super) fn overflow(&mut self, law: &Law, now: Instant) {
        if now.since(self.blue_changed) > law.target {
            self.blue = (self.blue + BLUE_INCREMENT).min(1.0);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue has been empty until now.
    pub(super) fn idle(&mut self, law: &Law, now: Instant) {
        while self.blue > 0.0 && now.since(self.blue_changed) > law.target {
            self.blue = (self.blue - BLUE_DECREMENT).max(0.0);
            self.blue_changed += law.target;
        }
        self.dropping = false;
        self.relax(law, now);
    }

    /// The count falls at each time at which a drop would have been due.
    fn relax(&mut self, law: &Law, now: Instant) {
        while self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = law.after(self.drop_next, self.count);
        }
    }

    /// The next packet of `fifo`, after those that are dropped at `now`.
    pub(super) fn dequeue<R: RngCore>(
        &mut self,
        law: &Law,
        now: Instant,
        (fifo, random): (&mut Fifo, &mut R),
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn> {
        loop {
            let packet = fifo.pop()?;
            let (dropped, marked) = self.judge(law, now, &packet, random);
            if !dropped || fifo.len() == 0 {
                return Some(Turn { packet, marked });
            }
            lost.push_back(packet);
        }
    }

    /// Returns two decisions on a packet: to drop it, and to mark it.
    fn judge<R: RngCore>(&mut self, law: &Law, now: Instant, packet: &Held, random: &mut R) -> (bool, bool) {
        let sojourn = now.since(packet.arrived);
        let due = self.count > 0 && now >= self.drop_next;
        if sojourn > law.target && sojourn > law.packet_time.times(RESTS_BELOW) {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = law.after(now, self.count);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let hit = due && self.dropping;
        if hit {
            self.count = self.count.saturating_add(1);
            self.drop_next = law.after(self.drop_next, self.count);
        } else if due {
            self.relax(law, now);
        }
        let marked = hit && packet.ecn.is_capable();
        let blue = self.blue > 0.0 && unit_interval(random.next_u64()) < self.blue;
        let dropped = (hit && !marked) || blue;
        if self.count == 0 {
            self.drop_next = now + law.interval; // a queue is kept for its flow for so long
        } else if now > self.drop_next && !dropped {
            self.drop_next = now;
        }
        (dropped, marked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::Ecn;
    use crate::markers::Class;
    use crate::queues::departure::NoRandom;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn law() -> Law {
        Law {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            packet_time: Duration::from_millis(1),
        }
    }

    fn packet(arrived: Instant, ecn: Ecn) -> Held {
        let class = Class::Out;
        Held { arrived, bytes: 1000, ecn, class, flow: 0, ticket: 0, period: 0, marked: false, dscp: 0 }
    }

    /// Asks each millisecond for a packet that has waited for so many; the times of the drops.
    fn drops(cobalt: &mut Cobalt, turns: std::ops::Range<u64>, waited: u64) -> Vec<u64> {
        let hit = |now: &u64| {
            let packet = packet(ms(now - waited), Ecn::NotCapable);
            cobalt.judge(&law(), ms(*now), &packet, &mut NoRandom).0
        };
        turns.filter(hit).collect()
    }

    #[test]
    fn drops_come_closer_and_the_count_falls_as_it_rose() {
        let mut cobalt = Cobalt::default();
        // Above the target since 10 ms: the first drop an interval later, then after 100 / sqrt(2), 100 / sqrt(3), ...
        // ms.
        assert_eq!(drops(&mut cobalt, 10..300, 6), [110, 181, 239, 289]);
        assert_eq!(cobalt.count(), 5);
        // Below it: 5 falls to 4 when the next drop would be due, at 333.2 ms, to 3 after 50 ms more, to 2 after 57.7.
        assert_eq!(drops(&mut cobalt, 300..450, 4), Vec::<u64>::new());
        assert_eq!(cobalt.count(), 2);
        // Above again at 450: the next drop is due after 100 / sqrt(2).
        assert_eq!(drops(&mut cobalt, 450..560, 6)[0], 521);
    }

    #[test]
    fn four_packets_may_always_wait() {
        let law = Law { packet_time: Duration::from_millis(10), ..law() };
        let mut cobalt = Cobalt::default();
        let mut hit = |now: u64, waited: u64| {
            cobalt.judge(&law, ms(now), &packet(ms(now - waited), Ecn::NotCapable), &mut NoRandom).0
        };
        assert!((50..1000).all(|now| !hit(now, 40)));
        assert!((1000..1200).any(|now| hit(now, 41)));
    }

    #[test]
    fn blue_rises_with_overflows_and_falls_while_idle() {
        let mut cobalt = Cobalt::default();
        for now in 10..30 {
            cobalt.overflow(&law(), ms(now)); // at 10, 16, 22, 28 ms: more than a target apart
        }
        assert_eq!(cobalt.probability(), 4.0 / 256.0);
        cobalt.idle(&law(), ms(28 + 101));
        assert_eq!(cobalt.probability(), 4.0 / 256.0 - 20.0 / 4096.0);
        assert!(!cobalt.is_at_rest(ms(129)));
        cobalt.idle(&law(), ms(1000));
        assert!(cobalt.is_at_rest(ms(1000)));
    }

    #[test]
    fn codel_marks_and_the_last_packet_stays() {
        let mut cobalt = Cobalt { count: 1, dropping: true, drop_next: ms(50), ..Cobalt::default() };
        let mut lost = VecDeque::new();
        let mut serve = |cobalt: &mut Cobalt, now, ecn, packets: usize| {
            let mut fifo = Fifo::default();
            (0..packets).for_each(|_| fifo.push(packet(ms(now - 20), ecn)));
            let turn = cobalt.dequeue(&law(), ms(now), (&mut fifo, &mut NoRandom), &mut lost).unwrap();
            (turn.marked, lost.drain(..).count())
        };
        assert_eq!(serve(&mut cobalt, 60, Ecn::Ect0, 3), (true, 0));
        assert_eq!(serve(&mut cobalt, 500, Ecn::NotCapable, 1), (false, 0));
        assert_eq!(
            serve(&mut cobalt, 501, Ecn::NotCapable, 3).1,
            2,
            "one for each time that was due, but the last"
        );
    }
}
