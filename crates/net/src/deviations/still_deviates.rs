//! A test for each declared deviation: it fails when the queue does what the source asks. Then the entry goes, and the
//! test with it.

use crate::ecn::Ecn;
use crate::link::{Link, Offered, Outcome};
use crate::loss::{BernoulliConfig, LossConfig};
use crate::markers::Class;
use crate::queues::{
    CoinKind, DepartureDiscipline, FqCodel, FqCodelConfig, Held, Length, Limit, QueueConfig, RioConfig, SfbConfig,
};
use crate::rate::Transmitter;
use parshall_units::parameters::Kind;
use parshall_units::{Bytes, Duration, Instant, Packets, Rate};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

pub(super) fn fq_codel_drops_one_packet_at_a_time() {
    let config = FqCodelConfig {
        limit: Limit::Packets(100),
        queues: 1024,
        quantum: Bytes(1514),
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: false,
    };
    let mut queue = FqCodel::new(&config);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut lost = VecDeque::new();
    for ticket in 0..101 {
        let (arrived, ecn, class) = (Instant::ZERO, Ecn::NotCapable, Class::Out);
        let (bytes, flow, period, marked, dscp) = (1500, 1, 0, false, 0);
        let packet = Held { arrived, bytes, ecn, class, flow, ticket, period, marked, dscp };
        queue.enqueue(packet, (0, 0), &mut random, &mut lost);
    }
    assert_eq!(lost.len(), 1, "Linux drops 51");
}

pub(super) fn rio_counts_the_packet_in_transmission() {
    let rio = RioConfig {
        limit: Limit::Packets(100),
        in_min: Packets(2),
        in_max: Packets(2),
        out_min: Packets(2),
        out_max: Packets(2),
        in_probability: 0.01,
        out_probability: 0.01,
        in_length: Length::Total,
        out_length: Length::Total,
        averaging: 1.0,
        coin: CoinKind::Independent,
    };
    let transmitter = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
    let loss = LossConfig::Bernoulli(BernoulliConfig { probability: 0.0 });
    let mut link = Link::new(transmitter, Duration::ZERO, &QueueConfig::Rio(rio), &loss);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut offer = || link.offer(Instant::ZERO, Offered::plain(1500), &mut random) == Outcome::Dropped;
    assert_eq!([offer(), offer(), offer()], [false, false, true], "one is transmitted, one waits");
}

pub(super) fn sfb_penalty_is_a_rate_of_bytes() {
    let penalty = SfbConfig::PARAMETERS.iter().find(|each| each.name == "penalty_rate").unwrap();
    assert!(matches!(penalty.kind, Kind::Rate));
}
