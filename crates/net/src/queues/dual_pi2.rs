//! DualPI2: two queues with coupled control, one of low latency for scalable controls (RFC 9332, appendix A).
//!
//! | RFC 9332 | field | unit |
//! | --- | --- | --- |
//! | p' | `base` | base probability of the PI controller |
//! | p_C = p'^2 | [`DualPi2::classic_probability`] | drop or mark probability of the Classic queue |
//! | p_CL = k p' | [`DualPi2::coupled_probability`] | mark probability of the L4S queue, as far as the Classic queue asks for it |
//! | k | `coupling` | |
//! | target, Tupdate | `target`, `update_interval` | s |
//! | alpha, beta | `alpha`, `beta` | 1/s |
//! | minTh, range | `ramp_start`, `ramp_width` | s, L4S sojourn times between which its own marking rises from 0 to 1 |
//! | Th_len | `unmarked` | packets left in the L4S queue up to which its own marking rests |
//! | p_Cmax = 1/k^2, p_Lmax = 1 | in [`DualPi2::is_overloaded`] | |
//! | tshift | `time_shift` | s |
//!
//! Packets with ECT(1) or CE go to the L4S queue, all others to the Classic queue. The PI controller holds the longer
//! of the two queueing delays at the target. The window of a Classic flow goes with 1 / sqrt(p_C), that of a scalable
//! one with 1 / p_CL: so coupling a probability with the square of another one gives flows of both kinds about the same
//! rate (§2.1). In overload, when k p' reaches 1, both queues drop with p_C (§4.2.3; A.2).
//!
//! The L4S queue is served first, but it does not starve the other. The RFC names two schedulers. *Weighted*: while
//! both queues wait, the Classic one gets its share of the bytes. *Time-shifted*: the packet that has waited longest is
//! served, where those of L4S count as having waited `time_shift` longer.
//!
//! As in the RFC's `recur`, hits are spread evenly without a random number: the probabilities are added up, and a
//! packet is hit when the sum reaches 1. Here the sums of marking and of dropping in the L4S queue are kept apart. The
//! updates are made up for at the next arrival or departure, each with the delays of its own moment: in between, the
//! packet at the head of a queue does not change. The probability stays within 0 and 1.
//!
//! Th_len (`lq.len()` counts what is left behind) and the branch for overload were held against the RFC's pseudocode as
//! two other implementations quote it or write it out, a DualPI2 of ns-3 and the one in picoquic's tests. `recur` hits
//! above 1 there, and from 1 on here: a packet earlier, once.

use super::departure::Fifo;
use super::proportional_integral::Gains;
use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant, Packets};
use rand_core::RngCore;
use std::collections::VecDeque;

parshall_units::choice! {
    /// Which of the two queues is served while both wait.
    pub enum DualScheduler {
        /// L4S, but for the share of the Classic queue.
        Weighted = "weighted",
        /// The one whose first packet has waited longest, L4S with a head start.
        TimeShifted = "time_shifted",
    }
}

parshall_units::configuration! {
    /// Parameters of [`DualPi2`].
    pub struct DualPi2Config {
        /// How much fits in both queues together, the packet being transmitted included.
        limit: Limit, default "10000 packets";
        /// Queueing delay of the Classic queue to hold.
        target: Duration, default "15 ms", min "1 us";
        /// Time between two updates of the probability.
        update_interval: Duration, default "15 ms", min "1 us";
        /// Weight of the delay's distance from the target, in 1/s.
        alpha: f64, default "0.15", min 0.0, max 1000.0;
        /// Weight of the delay's change since the last update, in 1/s.
        beta: f64, default "3", min 0.0, max 1000.0;
        /// Coupling factor k: L4S packets are marked with k times the root of the Classic probability.
        coupling: f64, default "2", min 0.001, max 1000.0;
        /// Sojourn time in the L4S queue from which on packets are marked.
        ramp_start: Duration, default "800 us", min "0 s";
        /// How much longer it is where all are marked; 0 s: a step.
        ramp_width: Duration, default "400 us", min "0 s";
        /// No L4S packet is marked for its sojourn time if it leaves no more than this behind.
        unmarked: Packets, default "1 packet", min "0 packets";
        /// Which queue is served while both wait: L4S but for the share of the Classic queue, or the packet that has waited longest, L4S with a head start.
        scheduler: DualScheduler, default "weighted";
        /// Share of the bytes that the Classic queue gets while both wait, with `weighted`.
        classic_share: f64, default "0.1", min 0.0, max 1.0;
        /// Head start of L4S packets, with `time_shifted`.
        time_shift: Duration, default "50 ms", min "0 s";
    }
}

/// Two queues with coupled control.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: DualPi2Config,
    gains: Gains,
    classic: Side,
    l4s: Side,
    base: f64,
    delay_s: f64,
    /// [`Instant::MAX`] before the first arrival.
    next_update: Instant,
    /// Bytes that are due to the Classic queue.
    due_to_classic: f64,
}

/// One of the two queues.
#[derive(Clone, Debug, Default)]
struct Side {
    fifo: Fifo,
    marks: Evenly,
    drops: Evenly,
    /// Sojourn time of the last packet that left it.
    sojourn: Option<Duration>,
}

impl Side {
    /// How long the packet at its head has waited; zero: there is none.
    fn delay(&self, now: Instant) -> Duration {
        self.fifo.front().map_or(Duration::ZERO, |packet| now.since(packet.arrived))
    }

    fn pop(&mut self, now: Instant) -> Option<(Held, Duration)> {
        let packet = self.fifo.pop()?;
        let sojourn = now.since(packet.arrived);
        self.sojourn = Some(sojourn);
        Some((packet, sojourn))
    }
}

/// Hits a share of what comes, evenly spread: `recur` of A.1.
#[derive(Clone, Copy, Debug, Default)]
struct Evenly(f64);

impl Evenly {
    fn is_hit(&mut self, share: f64) -> bool {
        self.0 += share;
        let hit = self.0 >= 1.0;
        self.0 -= f64::from(u8::from(hit));
        hit
    }
}

impl DualPi2 {
    pub(crate) const SUMMARY: &'static str =
        "two queues with coupled control: low latency for scalable controls (L4S), PI2 for the others";
    pub(crate) const REFERENCE: &'static str = "RFC 9332";
    pub(crate) const TRAITS: Traits = Traits {
        title: "DualPI2",
        drops: Drops::Departure,
        separates: Separates::LowLatency,
        marks: true,
        own_rate: false,
        random: false,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "dualpi2",
            &[
                QdiscOption::new("limit", "limit", Form::Packets),
                QdiscOption::new("target", "target", Form::Time),
                QdiscOption::new("update_interval", "tupdate", Form::Time),
                QdiscOption::new("alpha", "alpha", Form::Number),
                QdiscOption::new("beta", "beta", Form::Number),
                QdiscOption::new("coupling", "coupling_factor", Form::Number),
            ],
        )),
    };

    /// Empty queues.
    pub fn new(config: &DualPi2Config) -> Self {
        Self {
            gains: Gains::new(config.alpha, config.beta, config.target),
            config: config.clone(),
            classic: Side::default(),
            l4s: Side::default(),
            base: 0.0,
            delay_s: 0.0,
            next_update: Instant::MAX,
            due_to_classic: 0.0,
        }
    }

    /// Drop or mark probability of the Classic queue.
    pub fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// Mark probability of the L4S queue, as far as the Classic queue asks for it.
    pub fn coupled_probability(&self) -> f64 {
        (self.config.coupling * self.base).min(1.0)
    }

    /// p_CL >= p_Lmax, or what is the same, p_C >= p_Cmax: marks do not help any more.
    fn is_overloaded(&self) -> bool {
        self.coupled_probability() >= 1.0
    }

    /// The updates that were due since the last arrival or departure.
    fn catch_up(&mut self, now: Instant) {
        let interval = self.config.update_interval;
        if self.next_update == Instant::MAX {
            self.next_update = now + interval;
        }
        while self.next_update <= now {
            if self.packets() == 0 && self.delay_s == 0.0 && self.base == 0.0 {
                // Nothing changes until a packet arrives, but for the time.
                let skipped = now.since(self.next_update).as_ps() / interval.as_ps() + 1;
                self.next_update += interval.times(skipped);
                break;
            }
            self.update(self.next_update);
            self.next_update += interval;
        }
    }

    /// A.2: the longer of the two delays counts.
    fn update(&mut self, at: Instant) {
        let delay_s = self.classic.delay(at).max(self.l4s.delay(at)).as_secs_f64();
        self.base = (self.base + self.gains.step(delay_s, self.delay_s)).clamp(0.0, 1.0);
        self.delay_s = delay_s;
    }

    /// True if the L4S queue is the next to be served.
    fn is_l4s_next(&mut self, now: Instant) -> bool {
        if self.l4s.fifo.len() == 0 || self.classic.fifo.len() == 0 {
            self.due_to_classic = 0.0;
            return self.l4s.fifo.len() > 0;
        }
        match self.config.scheduler {
            DualScheduler::Weighted => self.due_to_classic <= 0.0,
            DualScheduler::TimeShifted => {
                self.l4s.delay(now) + self.config.time_shift > self.classic.delay(now)
            }
        }
    }

    /// The native L4S AQM: a ramp on the sojourn time. A.1, `laqm`
    fn native_probability(&self, sojourn: Duration) -> f64 {
        let start = self.config.ramp_start;
        if sojourn <= start || self.l4s.fifo.len() <= self.config.unmarked.0 {
            0.0
        } else if sojourn >= start + self.config.ramp_width {
            1.0
        } else {
            (sojourn - start).as_ps_f64() / self.config.ramp_width.as_ps_f64()
        }
    }

    /// The next packet of the L4S queue, unless it is dropped. A.2
    fn serve_l4s(&mut self, now: Instant, lost: &mut VecDeque<Held>) -> Option<Turn> {
        let (packet, sojourn) = self.l4s.pop(now)?;
        if self.is_overloaded() && self.l4s.drops.is_hit(self.classic_probability()) {
            lost.push_back(packet);
            return None;
        }
        let probability = self.native_probability(sojourn).max(self.coupled_probability());
        let marked = self.l4s.marks.is_hit(probability);
        Some(Turn { packet, marked })
    }

    /// The next packet of the Classic queue, unless it is dropped. A.2
    fn serve_classic(&mut self, now: Instant, lost: &mut VecDeque<Held>) -> Option<Turn> {
        let (packet, _) = self.classic.pop(now)?;
        let hit = self.classic.drops.is_hit(self.classic_probability());
        if hit && (self.is_overloaded() || !packet.ecn.is_capable()) {
            lost.push_back(packet);
            return None;
        }
        Some(Turn { packet, marked: hit })
    }

    /// Keeps the account of the weighted scheduler.
    fn served(&mut self, l4s: bool, bytes: u32) {
        let share = self.config.classic_share;
        self.due_to_classic += f64::from(bytes) * if l4s { share } else { share - 1.0 };
    }
}

impl DepartureDiscipline for DualPi2 {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("base_probability", "", "p', the output of the PI controller"),
        Variable::new("classic_probability", "", "drop or mark probability of the Classic queue"),
        Variable::new("coupled_probability", "", "least mark probability of the L4S queue"),
        Variable::new("classic_delay", "s", "sojourn time of the last packet that left the Classic queue"),
        Variable::new("l4s_delay", "s", "sojourn time of the last packet that left the L4S queue"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("base_probability", self.base);
        reader("classic_probability", self.classic_probability());
        reader("coupled_probability", self.coupled_probability());
        for (name, side) in [("classic_delay", &self.classic), ("l4s_delay", &self.l4s)] {
            if let Some(sojourn) = side.sojourn {
                reader(name, sojourn.as_secs_f64());
            }
        }
    }

    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        _: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        self.catch_up(packet.arrived);
        let bytes = self.classic.fifo.bytes() + self.l4s.fifo.bytes() + beside.1;
        if !self.config.limit.has_room(self.packets() + beside.0, bytes, packet.bytes) {
            lost.push_back(packet);
        } else if packet.ecn.is_l4s() {
            self.l4s.fifo.push(packet);
        } else {
            self.classic.fifo.push(packet);
        }
    }

    fn dequeue<R: RngCore>(&mut self, now: Instant, _: &mut R, lost: &mut VecDeque<Held>) -> Option<Turn> {
        self.catch_up(now);
        while self.packets() > 0 {
            let l4s = self.is_l4s_next(now);
            let turn = if l4s { self.serve_l4s(now, lost) } else { self.serve_classic(now, lost) };
            if let Some(turn) = turn {
                self.served(l4s, turn.packet.bytes);
                return Some(turn);
            }
        }
        None
    }

    fn packets(&self) -> u64 {
        self.classic.fifo.len() + self.l4s.fifo.len()
    }
}

#[cfg(test)]
mod tests;
