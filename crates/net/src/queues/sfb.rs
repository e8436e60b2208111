//! SFB: stochastic fair BLUE (Feng, Kandlur, Saha & Shin, INFOCOM 2001; Linux's `sch_sfb`).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | L, N | `levels`, `bins` | |
//! | q_len of a bin | [`Bin::packets`] | packets that wait, of the flows hashed to it |
//! | p_m | [`Bin::probability`] | |
//! | d1, d2 | `increment`, `decrement` | |
//! | freeze_time | `freeze_time` | least time between two changes of a bin's probability |
//! | bin_size | `bin_size` | packets |
//!
//! One FIFO queue, and no state of flows: a flow's packets are counted in one bin of each of L levels, by L hash
//! functions. An arriving packet raises the probability of those of its bins that hold `bin_size` packets or more, and
//! lowers that of empty ones. It is marked or dropped with the smallest of its L probabilities: two flows share all L
//! bins with probability N^-L only, so that what a non-responsive flow does to its bins hardly hurts others. A flow
//! whose probabilities are all 1 does not react: it is held to `penalty_rate`, by a token bucket that all such flows
//! share.
//!
//! Flows that are unlucky with the hash functions are so for `rehash_interval` at most: then others are taken. For the
//! last `warm_up` of an interval, packets of non-responsive flows train the bins of the next one too, so that it knows
//! these flows from its beginning.
//!
//! From Linux are the defaults, the drop of a packet whose bins all hold `bin_limit`, and that above a probability of
//! 1/2 some packets are dropped even if they could be marked (2 p - 1 of them). `freeze_time` is 0 s by default, as
//! Linux has none; all packets that wait are counted in the bins of both sets from the beginning of the warm-up on.
//!
//! Read: what `sch_sfb.c` of Linux does. Not read: the paper (`freeze_time` is that of BLUE).

use super::departure::Fifo;
use super::flow_queues::mixed;
use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use crate::markers::{Class, PacketMarker, TokenBucket, TokenBucketConfig};
use crate::unit_interval;
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, ConfigError, Duration, Instant, Packets, Rate};
use rand_core::RngCore;
use std::collections::VecDeque;

parshall_units::configuration! {
    /// Parameters of [`Sfb`].
    pub struct SfbConfig {
        /// How much fits, the packet being transmitted included.
        limit: Limit, default "1000 packets";
        /// Hash functions, each with bins of its own.
        levels: u64, default "8", min 1, max 8;
        /// Bins of each level.
        bins: u64, default "16", min 1, max 256;
        /// Packets in a bin from which on its probability rises.
        bin_size: Packets, default "20 packets", min "1 packet";
        /// A packet is dropped if all its bins hold so many.
        bin_limit: Packets, default "25 packets", min "1 packet";
        /// What a packet adds to the probability of a bin that is too long.
        increment: f64, default "0.001", min 0.0, max 1.0;
        /// What a packet takes from the probability of a bin that is empty.
        decrement: f64, default "0.000167", min 0.0, max 1.0;
        /// Least time between two changes of a bin's probability.
        freeze_time: Duration, default "0 s", min "0 s";
        /// Rate at which all non-responsive flows together may send, headers included.
        penalty_rate: Rate, default "120 kbit/s", min "1 bit/s", max "1000 Tbit/s";
        /// What they may send at once.
        penalty_burst: Bytes, default "30 kB", min "1 B", max "1 GB";
        /// How long hash functions are in use.
        rehash_interval: Duration, default "600 s", min "1 ms";
        /// The last part of that time, in which the next ones are prepared.
        warm_up: Duration, default "60 s", min "0 s";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, default "true";
    }
}

/// Packets of the flows that one hash function takes to one number.
#[derive(Clone, Debug, Default)]
struct Bin {
    packets: u64,
    probability: f64,
    /// When its probability may change again.
    thaws: Instant,
}

/// The bins of one set of hash functions.
#[derive(Clone, Debug)]
struct Bins {
    /// Which set of hash functions it is.
    set: u64,
    per_level: usize,
    all: Box<[Bin]>,
}

impl Bins {
    fn new(set: u64, config: &SfbConfig) -> Self {
        let per_level = config.bins as usize;
        Self { set, per_level, all: vec![Bin::default(); config.levels as usize * per_level].into() }
    }

    /// The bins of a flow, one a level: eight bits of a hash each.
    fn of(&mut self, flow: u32) -> impl Iterator<Item = &mut Bin> {
        let hash = mixed(self.set << 32 | u64::from(flow)).to_le_bytes();
        let per_level = self.per_level;
        let levels = self.all.chunks_exact_mut(per_level).zip(hash);
        levels.map(move |(level, byte)| &mut level[usize::from(byte) % per_level])
    }

    fn count(&mut self, flow: u32) {
        self.of(flow).for_each(|bin| bin.packets += 1);
    }

    fn discount(&mut self, flow: u32) {
        self.of(flow).for_each(|bin| bin.packets -= 1);
    }

    /// A packet arrives: the fewest packets in one of its bins, and the smallest probability.
    fn update(&mut self, flow: u32, now: Instant, law: &Law) -> (u64, f64) {
        self.of(flow).fold((u64::MAX, 1.0), |(packets, probability), bin| {
            law.update(bin, now);
            (packets.min(bin.packets), bin.probability.min(probability))
        })
    }

    fn largest<T>(&self, value: impl Fn(&Bin) -> T, larger: impl Fn(T, T) -> T) -> Option<T> {
        self.all.iter().map(value).reduce(larger)
    }
}

/// How probabilities change.
#[derive(Clone, Debug)]
struct Law {
    bin_size: u64,
    increment: f64,
    decrement: f64,
    freeze_time: Duration,
}

impl Law {
    fn update(&self, bin: &mut Bin, now: Instant) {
        let change = match bin.packets {
            0 => -self.decrement,
            packets if packets >= self.bin_size => self.increment,
            _ => return,
        };
        if now >= bin.thaws {
            bin.probability = (bin.probability + change).clamp(0.0, 1.0);
            bin.thaws = now + self.freeze_time;
        }
    }
}

/// A queue whose probabilities are kept by bins of flows.
#[derive(Clone, Debug)]
pub struct Sfb {
    config: SfbConfig,
    law: Law,
    fifo: Fifo,
    current: Bins,
    /// Those that are prepared, if the time has come.
    next: Option<Bins>,
    rehash_at: Instant,
    penalty: TokenBucket,
}

/// Probability above which packets are dropped even if they could be marked: some of them.
const MARK_UP_TO: f64 = 0.5;

impl Sfb {
    pub(crate) const SUMMARY: &'static str =
        "one FIFO queue with drop probabilities by bins of flows; holds non-responsive flows to a rate";
    pub(crate) const REFERENCE: &'static str = "Feng et al., INFOCOM 2001";
    pub(crate) const TRAITS: Traits = Traits {
        title: "SFB",
        drops: Drops::Early,
        separates: Separates::Responsiveness,
        marks: true,
        own_rate: false,
        random: true,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "sfb",
            &[
                QdiscOption::new("limit", "limit", Form::Packets),
                QdiscOption::new("bin_size", "target", Form::Packets),
                QdiscOption::new("bin_limit", "max", Form::Packets),
                QdiscOption::new("increment", "increment", Form::Number),
                QdiscOption::new("decrement", "decrement", Form::Number),
            ],
        )),
    };

    /// An empty queue.
    pub fn new(config: &SfbConfig) -> Self {
        let bucket = TokenBucketConfig { rate: config.penalty_rate, burst: config.penalty_burst };
        Self {
            law: Law {
                bin_size: config.bin_size.0,
                increment: config.increment,
                decrement: config.decrement,
                freeze_time: config.freeze_time,
            },
            fifo: Fifo::default(),
            current: Bins::new(0, config),
            next: None,
            rehash_at: Instant::ZERO + config.rehash_interval,
            penalty: TokenBucket::new(&bucket),
            config: config.clone(),
        }
    }

    /// Takes the next hash functions if it is time, or begins to prepare them.
    fn rehash(&mut self, now: Instant) {
        let interval = self.config.rehash_interval;
        if now >= self.rehash_at {
            let missed = now.since(self.rehash_at).as_ps() / interval.as_ps();
            let next = self.next.take().filter(|_| missed == 0);
            self.current = next.unwrap_or_else(|| self.prepared(1 + missed));
            self.rehash_at += interval.times(1 + missed);
        }
        if self.next.is_none() && now + self.config.warm_up >= self.rehash_at {
            self.next = Some(self.prepared(1));
        }
    }

    /// The bins of the hash functions so many sets further, with what waits.
    fn prepared(&self, further: u64) -> Bins {
        let mut bins = Bins::new(self.current.set.wrapping_add(further), &self.config);
        self.fifo.iter().for_each(|packet| bins.count(packet.flow));
        bins
    }

    /// Returns the mark of an arriving packet that is accepted; `None`: it is not.
    fn judge<R: RngCore>(&mut self, packet: &Held, random: &mut R) -> Option<bool> {
        let now = packet.arrived;
        let (fewest, probability) = self.current.update(packet.flow, now, &self.law);
        if fewest >= self.config.bin_limit.0 {
            return None;
        }
        if probability >= 1.0 {
            if let Some(next) = &mut self.next {
                next.update(packet.flow, now, &self.law);
            }
            return (self.penalty.mark(now, packet.bytes) == Class::In).then_some(false);
        }
        let draw = unit_interval(random.next_u64());
        if draw >= probability {
            return Some(false);
        }
        let marks = self.config.ecn && packet.ecn.is_capable();
        let too_many = draw < 2.0 * (probability - MARK_UP_TO);
        (marks && !too_many).then_some(true)
    }
}

impl DepartureDiscipline for Sfb {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("largest_probability", "", "the largest drop or mark probability of a bin"),
        Variable::new("mean_probability", "", "the mean over all bins"),
        Variable::new("longest_bin", "packets", "packets in the bin that holds most"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let bins = &self.current;
        let sum: f64 = bins.all.iter().map(|bin| bin.probability).sum();
        reader("largest_probability", bins.largest(|bin| bin.probability, f64::max).unwrap_or(0.0));
        reader("mean_probability", sum / bins.all.len() as f64);
        reader("longest_bin", bins.largest(|bin| bin.packets, u64::max).unwrap_or(0) as f64);
    }

    fn enqueue<R: RngCore>(
        &mut self,
        mut packet: Held,
        beside: (u64, u64),
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        self.rehash(packet.arrived);
        let (packets, bytes) = (self.fifo.len() + beside.0, self.fifo.bytes() + beside.1);
        if !self.config.limit.has_room(packets, bytes, packet.bytes) {
            return lost.push_back(packet);
        }
        let Some(marked) = self.judge(&packet, random) else { return lost.push_back(packet) };
        packet.marked = marked;
        self.current.count(packet.flow);
        if let Some(next) = &mut self.next {
            next.count(packet.flow);
        }
        self.fifo.push(packet);
    }

    fn dequeue<R: RngCore>(&mut self, _: Instant, _: &mut R, _: &mut VecDeque<Held>) -> Option<Turn> {
        let packet = self.fifo.pop()?;
        self.current.discount(packet.flow);
        if let Some(next) = &mut self.next {
            next.discount(packet.flow);
        }
        Some(Turn { packet, marked: packet.marked })
    }

    fn packets(&self) -> u64 {
        self.fifo.len()
    }

    fn check(&self) -> Result<(), ConfigError> {
        let (whole, part) = (self.config.rehash_interval, self.config.warm_up);
        if part <= whole {
            return Ok(());
        }
        let accepted = format!("a duration up to the rehash_interval, {whole}");
        Err(ConfigError::new("warm_up", part, accepted))
    }
}

#[cfg(test)]
mod tests;
