//! CAKE: common applications kept enhanced, a shaper, flow isolation and queue management in one (Høiland-Jørgensen,
//! Täht & Morton 2018; Linux's `sch_cake`).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | bandwidth | `rate` | bit/s; none: the link's |
//! | t_next of the shaper, of a tin | `next`, [`Tin::next`] | when the next packet may leave |
//! | tin's threshold rate | [`Tin::rate`] | bit/s up to which it is served before others |
//! | flow quantum | | bytes a queue may send in its turn |
//! | overhead, mpu, framing | `overhead`, `min_packet`, `framing` | bytes |
//!
//! *Shaper*: no bucket. A packet that leaves moves the time of the next one by its own transmission time at the rate,
//! what the link layer adds included, counted from when this one was due; after a pause from now on. So a pause gives
//! no burst.
//!
//! *Tins*: with `diffserv3` bulk (CS1, LE) has a sixteenth of the rate, latency-sensitive traffic (EF, VOICE-ADMIT,
//! CS6, CS7) a quarter, all other traffic the whole. A tin within its rate is served before the others,
//! latency-sensitive first, then bulk, then best effort; if none is within its rate, the one that will be soonest. So
//! each gets what it needs, and none can starve another. Without a `rate`, tins are served by deficit round robin with
//! these weights.
//!
//! *Flow isolation*: in each tin 1024 queues as in FQ-CoDel, in sets of eight. A flow has a set by its hash, and in it
//! the queue that has been its own, or a free one: two flows share a queue only if a set has no free one. A new queue
//! that falls empty with credit left is new again with its next packet. The quantum is what 1/4096 s (of the tin's rate
//! in bytes) transmits, 300 to 1514 bytes.
//!
//! *Queue management*: COBALT for each queue (`cake/cobalt.rs`); ECN-capable packets are marked. What exceeds `limit`
//! comes from the head of the queue with the most bytes.
//!
//! Missing, as there is nothing for it in a scenario: isolation of hosts (`triple-isolate`; a scenario's flows have no
//! hosts in common), NAT. Missing: the ACK filter, the ingress and autorate modes, the other sets of tins. A flow's
//! credit counts its packets without the overhead. Linux keeps idle queues in a list until their COBALT is at rest;
//! here that is made up for at the queue's next packet.
//!
//! Read: what `sch_cake.c` of Linux does. Not read: the paper.

mod cobalt;
mod tin;

use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{DepartureDiscipline, Held, Limit, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, Duration, Instant, Rate};
use rand_core::RngCore;
use std::collections::VecDeque;
use tin::Tin;

parshall_units::choice! {
    /// The division of traffic into tins.
    pub enum CakeTins {
        /// One for all.
        Besteffort = "besteffort",
        /// Bulk, best effort, and latency-sensitive traffic, by DSCP.
        Diffserv3 = "diffserv3",
    }
}

parshall_units::choice! {
    /// The framing of packets by a link layer.
    pub enum CakeFraming {
        /// Without more bytes.
        None = "none",
        /// ATM: cells of 53 bytes for 48 of data.
        Atm = "atm",
        /// PTM: 65 bytes for 64 of data.
        Ptm = "ptm",
    }
}

parshall_units::configuration! {
    /// Parameters of [`Cake`].
    pub struct CakeConfig {
        /// How much fits in all queues together, the packet being transmitted included.
        limit: Limit, default "4 MB";
        /// Rate at which packets may leave, headers and overhead included; none: that of the link.
        rate: Option<Rate>, default "unlimited", min "1 kbit/s", max "1000 Tbit/s";
        /// What the link layer adds to each packet.
        overhead: Bytes, default "0 B", max "256 B";
        /// The shortest packet on the link layer; shorter ones count as this.
        min_packet: Bytes, default "0 B", max "256 B";
        /// What the link layer makes of a packet: nothing else, ATM cells (48 of 53 bytes are data), or PTM (64 of 65).
        framing: CakeFraming, default "none";
        /// How traffic is divided: all alike, or bulk, best effort and latency-sensitive by the DSCP.
        tins: CakeTins, default "diffserv3";
        /// A usual worst-case RTT: the time for which the target may be exceeded.
        rtt: Duration, default "100 ms", min "1 us";
        /// Sojourn time that may stand.
        target: Duration, default "5 ms", min "1 us";
    }
}

/// A shaper without bursts, with tins of flow queues under COBALT.
#[derive(Clone, Debug)]
pub struct Cake {
    config: CakeConfig,
    rate: Option<Rate>,
    /// When the next packet may leave.
    next: Instant,
    tins: Vec<Tin>,
    /// The tin whose turn it is, without a rate.
    in_turn: usize,
}

/// Shares of the rate and weights of best effort, bulk, latency-sensitive: the order of the tins.
const DIFFSERV3: [(u64, i64); 3] = [(1, 1024), (16, 64), (4, 256)];

impl Cake {
    pub(crate) const SUMMARY: &'static str =
        "a shaper without bursts, classes by DSCP, a queue for each flow, each under COBALT (CoDel and BLUE)";
    pub(crate) const REFERENCE: &'static str = "Høiland-Jørgensen, Täht & Morton, LANMAN 2018";
    pub(crate) const TRAITS: Traits = Traits {
        title: "CAKE",
        drops: Drops::Departure,
        separates: Separates::Flows,
        marks: true,
        own_rate: true,
        random: true,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "cake",
            &[
                QdiscOption::new("rate", "bandwidth", Form::Rate),
                QdiscOption::new("overhead", "overhead", Form::Number),
                QdiscOption::new("min_packet", "mpu", Form::Number),
                QdiscOption::new("framing", "", Form::Word(&[("none", "noatm")])),
                QdiscOption::new("tins", "", Form::Word(&[])),
                QdiscOption::new("rtt", "rtt", Form::Time),
                QdiscOption::new("limit", "memlimit", Form::Bytes),
            ],
        )),
    };

    /// Empty queues.
    pub fn new(config: &CakeConfig) -> Self {
        let shares = match config.tins {
            CakeTins::Besteffort => &DIFFSERV3[..1],
            CakeTins::Diffserv3 => &DIFFSERV3[..],
        };
        let tins = shares.iter().map(|&(part, weight)| {
            let rate = config.rate.and_then(|rate| Rate::from_bps((rate.as_bps() / part).max(1)));
            Tin::new(config, rate, weight)
        });
        Self {
            rate: config.rate,
            next: Instant::ZERO,
            tins: tins.collect(),
            in_turn: 0,
            config: config.clone(),
        }
    }

    /// The tin of a DSCP.
    fn tin_of(&self, dscp: u8) -> usize {
        let tin = match dscp {
            1 | 8 => 1,
            4 | 44 | 46 | 48 | 56 => 2,
            _ => 0,
        };
        if tin < self.tins.len() {
            tin
        } else {
            0
        }
    }

    /// Bytes of a packet on the link layer.
    fn on_link(&self, bytes: u32) -> u64 {
        let bytes = (u64::from(bytes) + self.config.overhead.0).max(self.config.min_packet.0);
        match self.config.framing {
            CakeFraming::None => bytes,
            CakeFraming::Atm => bytes.div_ceil(48) * 53,
            CakeFraming::Ptm => bytes + bytes.div_ceil(64),
        }
    }

    fn bytes(&self) -> u64 {
        self.tins.iter().map(Tin::bytes).sum()
    }

    /// The tin that is served next, with a rate: the last one within its rate, or else the one that will be soonest.
    fn scheduled(&self, now: Instant) -> usize {
        let waiting = || self.tins.iter().enumerate().filter(|(_, tin)| tin.packets() > 0);
        let within = waiting().rfind(|(_, tin)| tin.next <= now);
        let chosen = within.or_else(|| waiting().rev().min_by_key(|(_, tin)| tin.next));
        chosen.map_or(0, |(index, _)| index)
    }

    /// The tin that is served next, without a rate: deficit round robin.
    fn in_turn(&mut self) -> usize {
        loop {
            let tin = &mut self.tins[self.in_turn];
            if tin.deficit >= 0 && tin.packets() > 0 {
                return self.in_turn;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
            self.in_turn = (self.in_turn + 1) % self.tins.len();
        }
    }

    /// Drops a packet of the queue with the most bytes.
    fn drop_from_fattest(&mut self, now: Instant, lost: &mut VecDeque<Held>) {
        let most = |tin: &Tin| tin.fattest().map(|(_, bytes)| bytes);
        if let Some(tin) = self.tins.iter_mut().max_by_key(|tin| most(tin)) {
            tin.drop_from_fattest(now, lost);
        }
    }
}

impl DepartureDiscipline for Cake {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("active_queues", "", "queues in the lists of new and old queues, of all tins"),
        Variable::new("new_queues", "", "of these, new ones"),
        Variable::new("longest_queue", "packets", "packets in the longest queue"),
        Variable::new("largest_count", "packets", "the largest CoDel count of an active queue"),
        Variable::new("largest_blue", "", "the largest drop probability of BLUE of an active queue"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let listed = self.tins.iter().map(Tin::listed);
        let (new, all) = listed.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
        let longest = self.tins.iter().map(Tin::longest).max().unwrap_or(0);
        let controls = || self.tins.iter().flat_map(Tin::controls);
        reader("active_queues", all as f64);
        reader("new_queues", new as f64);
        reader("longest_queue", longest as f64);
        reader("largest_count", f64::from(controls().map(cobalt::Cobalt::count).max().unwrap_or(0)));
        reader("largest_blue", controls().map(cobalt::Cobalt::probability).fold(0.0, f64::max));
    }

    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        _: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        let now = packet.arrived;
        if self.packets() == 0 {
            self.next = self.next.max(now);
        }
        let tin = self.tin_of(packet.dscp);
        self.tins[tin].enqueue(packet);
        while self.packets() > 0
            && !self.config.limit.has_room(self.packets() - 1 + beside.0, self.bytes() + beside.1, 0)
        {
            self.drop_from_fattest(now, lost);
        }
    }

    fn dequeue<R: RngCore>(
        &mut self,
        now: Instant,
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn> {
        if self.packets() == 0 || self.resumes().is_some_and(|resumes| resumes > now) {
            return None;
        }
        let index = if self.rate.is_some() { self.scheduled(now) } else { self.in_turn() };
        let turn = self.tins[index].dequeue(now, random, lost)?;
        let bytes = self.on_link(turn.packet.bytes);
        self.tins[index].charge(now, bytes);
        if let Some(rate) = self.rate {
            self.next += rate.time_for(bytes);
        }
        Some(turn)
    }

    fn packets(&self) -> u64 {
        self.tins.iter().map(Tin::packets).sum()
    }

    fn resumes(&self) -> Option<Instant> {
        (self.rate.is_some() && self.packets() > 0).then_some(self.next)
    }
}

#[cfg(test)]
mod tests;
