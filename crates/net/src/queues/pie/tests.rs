//! PIE beside the RFC's own program: a queue of packets with times, a server, and a timer, run event by event.

use super::*;
use crate::ecn::Ecn;
use crate::markers::Class;
use crate::unit_interval;
use parshall_units::Instant;
use proptest::prelude::*;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

const TRANSMISSION_PS: u64 = 1_000_000_000;
const LIMIT: usize = 200;

fn config(derandomized: bool, ecn: bool) -> PieConfig {
    PieConfig {
        limit: Limit::Packets(LIMIT as u64),
        target: Duration::from_millis(15),
        update_interval: Duration::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: Duration::from_millis(150),
        derandomized,
        ecn,
    }
}

/// RFC 8033 appendix A and B as events; times in seconds, equal packets of one transmission time.
struct Program {
    derandomized: bool,
    /// Moments at which the packets held will have left.
    queue: VecDeque<u64>,
    timer: Option<u64>,
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance: f64,
    accu_prob: f64,
}

impl Program {
    fn delay_at(&self, now: u64) -> f64 {
        // The last one's departure is when a packet that arrives now would be served.
        self.queue.back().map_or(0.0, |&last| last.saturating_sub(now) as f64 / 1e12)
    }

    fn timer_fires(&mut self, now: u64) {
        let qdelay = self.delay_at(now);
        let mut p = 0.125 * (qdelay - 0.015) + 1.25 * (qdelay - self.qdelay_old);
        for (below, by) in
            [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)]
        {
            if self.drop_prob < below {
                p /= by;
                break;
            }
        }
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = qdelay;
        self.burst_allowance = (self.burst_allowance - 0.015).max(0.0);
        if self.burst_allowance < 1e-9 {
            self.burst_allowance = 0.0;
        }
    }

    /// True if the packet that arrives at `now` is dropped.
    fn enqueue(&mut self, now: u64, random: &mut Xoshiro256PlusPlus) -> bool {
        let mut due = self.timer.unwrap_or(now + 15_000_000_000);
        while due <= now {
            self.queue.retain(|&left| left >= due);
            self.timer_fires(due);
            due += 15_000_000_000;
        }
        self.timer = Some(due);
        self.queue.retain(|&left| left >= now);
        if self.queue.len() >= LIMIT {
            return true;
        }
        let qdelay = self.delay_at(now);
        if self.drop_prob == 0.0 && qdelay < 0.0075 && self.qdelay_old < 0.0075 {
            self.burst_allowance = 0.150;
        }
        if self.burst_allowance == 0.0 && self.drop_early(random) {
            return true;
        }
        let start = self.queue.back().copied().unwrap_or(now).max(now);
        self.queue.push_back(start + TRANSMISSION_PS);
        false
    }

    fn drop_early(&mut self, random: &mut Xoshiro256PlusPlus) -> bool {
        if self.qdelay_old < 0.0075 && self.drop_prob < 0.2 {
            return false;
        }
        if self.queue.len() <= 2 {
            return false;
        }
        if self.derandomized {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += self.drop_prob;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                self.accu_prob = 0.0;
                return true;
            }
        }
        let dropped = unit_interval(random.next_u64()) < self.drop_prob;
        if dropped {
            self.accu_prob = 0.0;
        }
        dropped
    }
}

/// What PIE decides on a FIFO link of its own.
struct Fifo {
    pie: Pie,
    departures: VecDeque<Instant>,
    free: Instant,
}

impl Fifo {
    fn new(config: &PieConfig) -> Self {
        Self { pie: Pie::new(config), departures: VecDeque::new(), free: Instant::ZERO }
    }

    fn offer(&mut self, now: Instant, ecn: Ecn, random: &mut Xoshiro256PlusPlus) -> Verdict {
        while self.departures.front().is_some_and(|&left| left < now) {
            self.departures.pop_front();
        }
        let packets = self.departures.len() as u64;
        let backlog = Backlog {
            packets,
            bytes: packets * 1500,
            idle_since: (packets == 0).then_some(self.free),
            delay: self.free.since(now),
            packets_in: 0,
        };
        let transmission = Duration::from_ps(TRANSMISSION_PS);
        let arrival = Arrival { now, bytes: 1500, ecn, class: Class::Out, transmission };
        let verdict = self.pie.on_arrival(&arrival, &backlog, random);
        if verdict != Verdict::Drop {
            self.free = self.free.max(now) + transmission;
            self.departures.push_back(self.free);
        }
        verdict
    }
}

proptest! {
    #[test]
    fn decides_as_the_rfcs_program(
        phases in prop::collection::vec((1u64..600, 1u64..4_000_000_000), 1..25),
        derandomized: bool,
        seed: u64,
    ) {
        let mut fifo = Fifo::new(&config(derandomized, false));
        let mut program = Program {
            derandomized,
            queue: VecDeque::new(),
            timer: None,
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: 0.150,
            accu_prob: 0.0,
        };
        let (mut one, mut two) =
            (Xoshiro256PlusPlus::seed_from_u64(seed), Xoshiro256PlusPlus::seed_from_u64(seed));
        let mut now = 0;
        for (packets, gap) in phases {
            for _ in 0..packets {
                now += gap;
                let ours = fifo.offer(Instant::from_ps(now), Ecn::NotCapable, &mut one);
                prop_assert_eq!(ours == Verdict::Drop, program.enqueue(now, &mut two));
                prop_assert!((fifo.pie.probability() - program.drop_prob).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn holds_the_delay_at_its_target() {
    // A load 10 % above the capacity that does not react: a tenth must go, and the queue waits 15 ms.
    let mut fifo = Fifo::new(&config(true, false));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut now, mut drops, mut waited) = (Instant::ZERO, 0, 0.0);
    let packets = 200_000;
    for i in 0..packets {
        now += Duration::from_ps(TRANSMISSION_PS * 10 / 11);
        let verdict = fifo.offer(now, Ecn::NotCapable, &mut random);
        if i >= packets / 2 {
            drops += u64::from(verdict == Verdict::Drop);
            waited += fifo.free.since(now).as_secs_f64();
        }
    }
    let (share, delay) = (drops as f64 / 1e5, waited / 1e5);
    assert!((share - 1.0 / 11.0).abs() < 0.002, "{share}");
    assert!((delay - 0.015).abs() < 0.002, "{delay}");
}

#[test]
fn marks_up_to_a_tenth_and_drops_beyond() {
    let mut fifo = Fifo::new(&config(true, true));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut now = Instant::ZERO;
    // Marks do not relieve this load, so the probability goes on rising and the drops begin.
    let (mut marked, mut dropped) = (0, 0);
    for _ in 0..100_000 {
        now += Duration::from_ps(TRANSMISSION_PS * 20 / 21);
        let full = fifo.departures.len() >= LIMIT;
        match fifo.offer(now, Ecn::Ect0, &mut random) {
            Verdict::Mark => {
                assert!(fifo.pie.probability() <= 0.1);
                marked += 1;
            }
            Verdict::Drop if !full => {
                assert!(fifo.pie.probability() > 0.1);
                dropped += 1;
            }
            _ => {}
        }
    }
    assert!(marked > 20 && dropped > 1000, "{marked} marks, {dropped} drops");
}
