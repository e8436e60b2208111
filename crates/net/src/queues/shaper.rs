//! A shaper: packets wait until a token bucket has enough for them (Linux's `tbf`; the bucket of RFC 2697, with a delay
//! instead of a drop).
//!
//! | `tbf` | field | unit |
//! | --- | --- | --- |
//! | R | `rate` | bit/s, headers included |
//! | B | `burst`, `depth` | bytes, and how long the bucket takes to fill |
//! | P | `peak_rate` | bit/s |
//! | S/R | `cost` | time in which as many tokens come as a packet needs |
//!
//! The packets that leave within any time t have at most B + R t. A packet of S bytes leaves when the bucket holds S;
//! the bucket is kept as the moment at which it will be full again, so that no token is lost to rounding: a packet of S
//! bytes may leave from `full_at` + S/R - B/R on. With a peak rate, a packet also waits until the one before it has
//! been transmitted at that rate (`tbf` has a second bucket of one packet for that).
//!
//! Tokens are taken when a packet's transmission begins. The packets behind wait in a queue of their own, which is
//! asked for the next one when the link is free and the one before has gone; what it gives waits for its tokens, and is
//! not overtaken any more (as in `tbf`). It still counts among the packets of that queue. What is larger than the burst
//! would never leave, and is lost at its arrival.
//!
//! Read: what `sch_tbf.c` of Linux does. The link should be faster than the shaper: else it is the link that limits.

use super::inner::{Inner, InnerConfig};
use super::traits::{Drops, Form, Linux, Qdisc, QdiscOption, Separates, Traits};
use super::{DepartureDiscipline, Held, Turn};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, ConfigError, Duration, Instant, Rate};
use rand_core::RngCore;
use std::collections::VecDeque;

parshall_units::configuration! {
    /// Parameters of [`Shaper`].
    pub struct ShaperConfig {
        /// Rate at which packets may leave, headers included.
        rate: Rate, default "10 Mbit/s", min "1 bit/s", max "1000 Tbit/s";
        /// What may leave at once after a pause; a packet larger than this is lost.
        burst: Bytes, default "30 kB", min "1 B", max "1 GB";
        /// Rate at which a burst may leave, headers included.
        peak_rate: Option<Rate>, default "unlimited", min "1 bit/s", max "1000 Tbit/s";
        /// The queue in which packets wait; its limit counts the packet being transmitted and the one that waits for tokens.
        queue: InnerConfig => Queue("drop_tail", "codel", "fq_codel", "fq_pie", "sfb", "drr", "dualpi2", "priority"), default "drop_tail";
    }
}

/// A queue whose packets wait for tokens.
#[derive(Clone, Debug)]
pub struct Shaper {
    config: ShaperConfig,
    bucket: Bucket,
    queue: Inner,
    /// What waits for its tokens, and since when.
    head: Option<(Turn, Instant)>,
    /// How long the last packet that left waited for its tokens.
    token_wait: Duration,
}

/// The token bucket, and the gap that the peak rate demands.
#[derive(Clone, Debug)]
struct Bucket {
    rate: Rate,
    peak: Option<Rate>,
    depth: Duration,
    full_at: Instant,
    /// When the last packet would have been transmitted at the peak rate.
    spaced: Instant,
    /// When the last packet left.
    left: Instant,
}

impl Bucket {
    fn cost(&self, bytes: u32) -> Duration {
        self.rate.time_for(u64::from(bytes))
    }

    /// When a packet of this size may leave, unless it is later already.
    fn ready(&self, bytes: u32) -> Instant {
        let enough = (self.full_at + self.cost(bytes)).as_ps().saturating_sub(self.depth.as_ps());
        Instant::from_ps(enough).max(self.spaced)
    }

    fn take(&mut self, now: Instant, bytes: u32) {
        self.full_at = self.full_at.max(now) + self.cost(bytes);
        if let Some(peak) = self.peak {
            self.spaced = now + peak.time_for(u64::from(bytes));
        }
        self.left = now;
    }
}

impl Shaper {
    pub(crate) const SUMMARY: &'static str = "delays what exceeds a rate and a burst (a token bucket)";
    pub(crate) const REFERENCE: &'static str = "RFC 2697";
    pub(crate) const TRAITS: Traits = Traits {
        title: "shaper",
        drops: Drops::Tail,
        separates: Separates::Nothing,
        marks: true,
        own_rate: true,
        random: false,
        thresholds: &[],
        linux: Linux::Has(Qdisc::new(
            "tbf",
            &[
                QdiscOption::new("rate", "rate", Form::Rate),
                QdiscOption::new("burst", "burst", Form::Bytes),
                QdiscOption::new("queue", "limit", Form::Queue),
            ],
        )),
    };

    /// An empty queue, and a full bucket.
    pub fn new(config: &ShaperConfig) -> Self {
        let bucket = Bucket {
            rate: config.rate,
            peak: config.peak_rate,
            depth: config.rate.time_for(config.burst.0),
            full_at: Instant::ZERO,
            spaced: Instant::ZERO,
            left: Instant::ZERO,
        };
        Self {
            config: config.clone(),
            bucket,
            queue: config.queue.build(),
            head: None,
            token_wait: Duration::ZERO,
        }
    }
}

impl DepartureDiscipline for Shaper {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("tokens", "bytes", "what the last packet that left has left in the bucket"),
        Variable::new("token_wait", "s", "how long that packet had waited for its tokens"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let missing = self.bucket.full_at.since(self.bucket.left).as_secs_f64()
            * self.config.rate.as_bps() as f64
            / 8.0;
        reader("tokens", self.config.burst.0 as f64 - missing);
        reader("token_wait", self.token_wait.as_secs_f64());
    }

    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        if u64::from(packet.bytes) > self.config.burst.0 {
            return lost.push_back(packet);
        }
        let head = self.head.map_or(0, |(turn, _)| u64::from(turn.packet.bytes));
        let beside = (beside.0 + u64::from(self.head.is_some()), beside.1 + head);
        self.queue.enqueue(packet, beside, random, lost);
    }

    fn dequeue<R: RngCore>(
        &mut self,
        now: Instant,
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn> {
        if self.head.is_none() {
            self.head = self.queue.dequeue(now, random, lost).map(|turn| (turn, now));
        }
        let (turn, since) = self.head?;
        if self.bucket.ready(turn.packet.bytes) > now {
            return None;
        }
        self.bucket.take(now, turn.packet.bytes);
        self.token_wait = now.since(since);
        self.head = None;
        Some(turn)
    }

    fn packets(&self) -> u64 {
        self.queue.packets() + u64::from(self.head.is_some())
    }

    fn resumes(&self) -> Option<Instant> {
        self.head.map_or_else(|| self.queue.resumes(), |(turn, _)| Some(self.bucket.ready(turn.packet.bytes)))
    }

    fn check(&self) -> Result<(), ConfigError> {
        match self.config.peak_rate {
            Some(peak) if peak < self.config.rate => {
                let accepted = format!("a rate from {}, the shaper's own, on", self.config.rate);
                Err(ConfigError::new("peak_rate", peak, accepted))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::departure::NoRandom;
    use super::*;
    use crate::ecn::Ecn;
    use crate::markers::Class;
    use crate::queues::{CodelConfig, DropTailConfig, Limit, PolicerConfig, QueueConfig};

    const US: u64 = 1_000_000;

    fn tail(packets: u64) -> InnerConfig {
        QueueConfig::DropTail(DropTailConfig { limit: Limit::Packets(packets) }).try_into().unwrap()
    }

    fn bps(bps: u64) -> Rate {
        Rate::from_bps(bps).unwrap()
    }

    /// A bucket of 3000 bytes at 8 Mbit/s, a byte a microsecond.
    fn config(peak_bps: Option<u64>) -> ShaperConfig {
        let peak_rate = peak_bps.map(bps);
        ShaperConfig { rate: bps(8_000_000), burst: Bytes(3000), peak_rate, queue: tail(1000) }
    }

    fn packet(us: u64, bytes: u32) -> Held {
        let arrived = Instant::from_ps(us * US);
        let class = Class::Out;
        Held { arrived, bytes, ecn: Ecn::Ect0, class, flow: 0, ticket: 0, period: 0, marked: false, dscp: 0 }
    }

    /// When packets of (arrival in us, bytes) leave in us, on a link that takes no time.
    fn departures(config: &ShaperConfig, packets: &[(u64, u32)]) -> Vec<u64> {
        let mut shaper = Shaper::new(config);
        let (mut left, mut now, mut lost) = (Vec::new(), Instant::ZERO, VecDeque::new());
        let mut arrivals = packets.iter().map(|&(us, bytes)| packet(us, bytes)).peekable();
        loop {
            while shaper.dequeue(now, &mut NoRandom, &mut lost).is_some() {
                left.push(now.as_ps() / US);
            }
            let resumes = shaper.resumes();
            assert_eq!(resumes.is_some(), shaper.packets() > 0);
            assert!(resumes.is_none_or(|resumes| resumes > now));
            let next = arrivals.next_if(|next| resumes.is_none_or(|resumes| next.arrived <= resumes));
            now = match (next, resumes) {
                (Some(next), _) => {
                    shaper.enqueue(next, (0, 0), &mut NoRandom, &mut lost);
                    next.arrived
                }
                (None, Some(resumes)) => resumes,
                (None, None) => break,
            };
        }
        assert!(lost.is_empty());
        left
    }

    #[test]
    fn a_burst_leaves_at_once_and_then_the_rate() {
        // Three fit; then one a millisecond. After 10 ms the bucket is full again.
        let arrivals = [0, 0, 0, 0, 0, 10_000, 10_000, 10_000, 10_000].map(|us| (us, 1000));
        let expected = [0, 0, 0, 1000, 2000, 10_000, 10_000, 10_000, 11_000];
        assert_eq!(departures(&config(None), &arrivals), expected);
        // A small one behind a large one waits for it: 3000 are taken, 2500 are there after 2500 us, 100 more after
        // 2600.
        assert_eq!(departures(&config(None), &[(0, 3000), (0, 2500), (0, 100)]), [0, 2500, 2600]);
    }

    #[test]
    fn a_peak_rate_spaces_the_burst() {
        // 1000 bytes last 250 us at 32 Mbit/s. By the time of the fourth, 750 bytes have come; 250 more by 1000 us.
        let arrivals = [(0, 1000); 6];
        assert_eq!(departures(&config(Some(32_000_000)), &arrivals), [0, 250, 500, 1000, 2000, 3000]);
    }

    #[test]
    fn the_rate_is_exact_in_the_long_run() {
        // 1500 bytes at 10 Mbit/s: 1.2 ms each. The bucket holds two.
        let config = ShaperConfig { rate: bps(10_000_000), ..config(None) };
        let left = departures(&config, &[(0, 1500); 1000]);
        let expected: Vec<u64> = (0..1000u64).map(|n| n.saturating_sub(1) * 1200).collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn what_waits_for_tokens_counts_in_its_queue() {
        let mut shaper = Shaper::new(&ShaperConfig { queue: tail(2), ..config(None) });
        let mut lost = VecDeque::new();
        let mut arrive = |shaper: &mut Shaper, bytes| {
            let before = lost.len();
            shaper.enqueue(packet(0, bytes), (0, 0), &mut NoRandom, &mut lost);
            lost.len() == before
        };
        assert!(!arrive(&mut shaper, 3001), "it would never leave");
        assert!(arrive(&mut shaper, 3000));
        assert!(shaper.dequeue(Instant::ZERO, &mut NoRandom, &mut VecDeque::new()).is_some());
        assert!(arrive(&mut shaper, 100));
        assert_eq!(shaper.dequeue(Instant::ZERO, &mut NoRandom, &mut VecDeque::new()), None);
        assert!(arrive(&mut shaper, 100) && !arrive(&mut shaper, 100));
        assert_eq!(shaper.packets(), 2);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let error = QueueConfig::Shaper(config(Some(7_000_000))).check().unwrap_err();
        assert_eq!(error.key, "peak_rate");
        let inner = PolicerConfig { limit: Limit::Packets(1), rate: bps(1000), burst: Bytes(1000) };
        let error = InnerConfig::try_from(QueueConfig::Policer(inner)).unwrap_err();
        assert_eq!((error.key.as_str(), error.found.as_str()), ("name", "policer"));
        let codel = CodelConfig {
            limit: Limit::Packets(1),
            target: Duration::from_ps(2 * US),
            interval: Duration::from_ps(US),
            ecn: false,
        };
        let queue = QueueConfig::Codel(codel).try_into().unwrap();
        let error = QueueConfig::Shaper(ShaperConfig { queue, ..config(None) }).check().unwrap_err();
        assert_eq!(error.key, "queue.target");
    }
}
