//! A policer: what exceeds a rate and a burst is dropped at once, without waiting (RFC 2697's committed bucket, what is
//! not green being dropped; of its effect on TCP: Flach et al. 2016).
//!
//! | RFC 2697 | field | unit |
//! | --- | --- | --- |
//! | CIR | `rate` | bit/s, headers included |
//! | CBS | `burst` | bytes |
//!
//! What conforms waits in order of arrival for the link, as in a drop-tail queue. A packet that finds no room takes no
//! tokens. What delays instead of dropping is a shaper (`shaper.rs`).

use super::traits::{Drops, Linux, Separates, Traits};
use super::{Arrival, Backlog, Limit, QueueDiscipline, Verdict};
use crate::markers::{Class, PacketMarker, TokenBucket, TokenBucketConfig};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, Rate};
use rand_core::RngCore;

parshall_units::configuration! {
    /// Parameters of [`Policer`].
    pub struct PolicerConfig {
        /// How much of what conforms fits, the packet being transmitted included.
        limit: Limit, default "100 packets";
        /// Rate above which packets are dropped, headers included.
        rate: Rate, default "10 Mbit/s", min "1 bit/s", max "1000 Tbit/s";
        /// What may exceed the rate at once; less than a packet lets none pass.
        burst: Bytes, default "30 kB", min "1 B", max "1 GB";
    }
}

/// First in, first out, of what a token bucket lets pass.
#[derive(Clone, Debug)]
pub struct Policer {
    limit: Limit,
    bucket: TokenBucket,
}

impl Policer {
    pub(crate) const SUMMARY: &'static str = "drops at once what exceeds a rate and a burst (a token bucket)";
    pub(crate) const REFERENCE: &'static str = "RFC 2697";
    pub(crate) const TRAITS: Traits = Traits {
        title: "policer",
        drops: Drops::Tail,
        separates: Separates::Nothing,
        marks: false,
        own_rate: true,
        random: false,
        thresholds: &[],
        linux: Linux::Lacks("it polices with a filter (`action police`), not with a queue"),
    };

    /// An empty queue, and a full bucket.
    pub fn new(config: &PolicerConfig) -> Self {
        let bucket = TokenBucketConfig { rate: config.rate, burst: config.burst };
        Self { limit: config.limit, bucket: TokenBucket::new(&bucket) }
    }
}

impl QueueDiscipline for Policer {
    const VARIABLES: &'static [Variable] =
        &[Variable::new("tokens", "bytes", "what the last packet that had room has left in the bucket")];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("tokens", self.bucket.left());
    }

    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, _random: &mut R) -> Verdict {
        let fits = self.limit.has_room(backlog.packets, backlog.bytes, arrival.bytes);
        if fits && self.bucket.mark(arrival.now, arrival.bytes) == Class::In {
            Verdict::Accept
        } else {
            Verdict::Drop
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::Ecn;
    use parshall_units::{Duration, Instant};
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// What becomes of packets of 1000 bytes that come at these times, in ms, at 8 Mbit/s (one a millisecond) and 3000
    /// bytes at once.
    fn verdicts(arrivals: &[(u64, u64)]) -> Vec<bool> {
        let config = PolicerConfig {
            limit: Limit::Packets(10),
            rate: Rate::from_bps(8_000_000).unwrap(),
            burst: Bytes(3000),
        };
        let mut policer = Policer::new(&config);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut passes = |(ms, packets): &(u64, u64)| {
            let now = Instant::ZERO + Duration::from_millis(*ms);
            let transmission = Duration::from_millis(0);
            let arrival = Arrival { now, bytes: 1000, ecn: Ecn::Ect0, class: Class::Out, transmission };
            let backlog = Backlog { packets: *packets, bytes: packets * 1000, ..Backlog::default() };
            policer.on_arrival(&arrival, &backlog, &mut random) == Verdict::Accept
        };
        arrivals.iter().map(&mut passes).collect()
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let arrivals = [0, 0, 0, 0, 1, 1, 2, 10, 10, 10, 10].map(|ms| (ms, 0));
        let expected = [true, true, true, false, true, false, true, true, true, true, false];
        assert_eq!(verdicts(&arrivals), expected);
    }

    #[test]
    fn tokens_are_those_that_the_last_packet_left() {
        let (limit, rate, burst) = (Limit::Packets(10), Rate::from_bps(8_000_000).unwrap(), Bytes(3000));
        let mut policer = Policer::new(&PolicerConfig { limit, rate, burst });
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut found = vec![tokens(&policer)];
        for (us, bytes) in [(0, 1000), (0, 2500), (500, 2500), (500, 1), (100_000, 1000)] {
            let now = Instant::ZERO + Duration::from_secs_f64(f64::from(us) * 1e-6);
            let arrival =
                Arrival { now, bytes, ecn: Ecn::Ect0, class: Class::Out, transmission: Duration::ZERO };
            policer.on_arrival(&arrival, &Backlog::default(), &mut random);
            found.push(tokens(&policer));
        }
        // A byte flows in each microsecond; the second packet finds too few.
        assert_eq!(found, [3000.0, 2000.0, 2000.0, 0.0, 0.0, 2000.0]);
    }

    fn tokens(policer: &Policer) -> f64 {
        let mut found = f64::NAN;
        policer.read_variables(&mut |_, value| found = value);
        found
    }

    #[test]
    fn what_finds_no_room_takes_no_tokens() {
        assert_eq!(verdicts(&[(0, 10), (0, 9), (0, 9), (0, 9), (0, 9)]), [false, true, true, true, false]);
    }
}
