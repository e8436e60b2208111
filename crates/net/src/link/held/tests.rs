//! Conservation, classes and Little's law where packets are held.

use super::*;
use crate::ecn::Ecn;
use crate::link::Outcome;
use crate::loss::{BernoulliConfig, LossConfig};
use crate::markers::Class;
use crate::queues::{
    CodelConfig, DualPi2Config, DualScheduler, FqCodelConfig, FqPieConfig, Limit, QueueConfig, ShaperConfig,
};
use crate::rate::Transmitter;
use parshall_units::{Bytes, Packets, Rate};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// 1500 bytes last 1 ms.
fn link(queue: &QueueConfig, loss: f64) -> Link {
    let transmitter = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
    let loss = LossConfig::Bernoulli(BernoulliConfig { probability: loss });
    Link::new(transmitter, Duration::from_millis(5), queue, &loss)
}

fn codel(limit: u64, target_ms: u64, interval_ms: u64) -> QueueConfig {
    QueueConfig::Codel(CodelConfig {
        limit: Limit::Packets(limit),
        target: Duration::from_millis(target_ms),
        interval: Duration::from_millis(interval_ms),
        ecn: true,
    })
}

/// Queues so quick to act that short tests see it.
fn hasty(limit: u64) -> Vec<QueueConfig> {
    let fair = FqCodelConfig {
        limit: Limit::Packets(limit),
        queues: 3,
        quantum: Bytes(1000),
        target: Duration::from_millis(1),
        interval: Duration::from_millis(2),
        ecn: true,
    };
    let dual = DualPi2Config {
        limit: Limit::Packets(limit),
        target: Duration::from_millis(1),
        update_interval: Duration::from_millis(2),
        alpha: 10.0,
        beta: 100.0,
        coupling: 2.0,
        ramp_start: Duration::ZERO,
        ramp_width: Duration::from_millis(1),
        unmarked: Packets(0),
        scheduler: DualScheduler::Weighted,
        classic_share: 0.3,
        time_shift: Duration::ZERO,
    };
    let fair_pie = FqPieConfig {
        limit: Limit::Packets(limit),
        memory_limit: Bytes(20_000),
        queues: 3,
        quantum: Bytes(1000),
        target: Duration::from_millis(1),
        update_interval: Duration::from_millis(1),
        alpha: 10.0,
        beta: 100.0,
        max_burst: Duration::ZERO,
        ecn: true,
        mark_up_to: 0.2,
    };
    let shaper = ShaperConfig {
        rate: Rate::from_bps(8_000_000).unwrap(),
        burst: Bytes(3000),
        peak_rate: Rate::from_bps(10_000_000),
        queue: codel(limit, 1, 2).try_into().unwrap(),
    };
    vec![
        QueueConfig::Shaper(shaper),
        codel(limit, 1, 2),
        QueueConfig::FqCodel(fair),
        QueueConfig::FqPie(fair_pie),
        QueueConfig::DualPi2(dual),
    ]
}

/// Runs the transmissions due up to `now`; adds up what happened.
#[derive(Default)]
struct Driven {
    /// When to ask for the next packet.
    next: Option<Instant>,
    transmitting: bool,
    /// Arrivals of the packets that wait, by ticket.
    waiting: BTreeMap<u32, Instant>,
    waited_s: f64,
    departures: Vec<Instant>,
}

impl Driven {
    fn begin(&mut self, link: &mut Link, now: Instant, random: &mut Xoshiro256PlusPlus) {
        let transmission = link.transmit(now, random);
        self.drop(link, now);
        self.next = transmission.map_or_else(|| link.resumes(), |t| Some(t.departure));
        assert_eq!(link.is_busy(), self.next.is_some());
        self.transmitting = transmission.is_some();
        if let Some(t) = transmission {
            let arrived = self.waiting.remove(&t.ticket).unwrap();
            assert_eq!(t.waiting, now.since(arrived));
            self.waited_s += t.waiting.as_secs_f64();
            self.departures.push(t.departure);
        }
    }

    fn drop(&mut self, link: &mut Link, now: Instant) {
        while let Some(ticket) = link.take_dropped() {
            let arrived = self.waiting.remove(&ticket).unwrap();
            self.waited_s += now.since(arrived).as_secs_f64();
        }
    }

    fn until(&mut self, link: &mut Link, now: Instant, random: &mut Xoshiro256PlusPlus) {
        while let Some(next) = self.next.filter(|&next| next < now) {
            self.begin(link, next, random);
        }
    }
}

#[test]
fn a_packet_waits_for_the_one_before_it_and_leaves_when_asked() {
    let mut link = link(&codel(10, 5, 100), 0.0);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    for ticket in 0..2 {
        assert_eq!(link.offer(at(0), Offered::plain(1500), &mut random), Outcome::Waits);
        link.hold(at(0), Offered::plain(1500), Label { flow: 0, dscp: 0, ticket }, &mut random);
    }
    let transmission = |ticket, departure, waiting| Transmission {
        ticket,
        departure: at(departure),
        waiting: Duration::from_millis(waiting),
        marked: false,
        counted: true,
    };
    assert_eq!(link.transmit(at(0), &mut random), Some(transmission(0, 1, 0)));
    assert!(link.is_busy());
    assert_eq!(link.queued(), 2);
    assert_eq!(link.transmit(at(1), &mut random), Some(transmission(1, 2, 1)));
    assert_eq!(link.transmit(at(2), &mut random), None);
    assert!(!link.is_busy());
    let (counts, occupancy) = link.measured(at(4));
    assert_eq!((counts.arrivals, counts.forwarded, counts.forwarded_bytes), (2, 2, 3000));
    assert_eq!(counts.waiting_found, 1);
    // One packet waits during [0, 1).
    assert_eq!((occupancy.mean(), occupancy.max()), (Some(0.25), 1));
}

proptest! {
    #[test]
    fn packets_are_conserved_at_any_moment(
        arrivals in prop::collection::vec((0u64..1_500_000_000, 40u32..3000, prop::sample::select(Ecn::ALL.to_vec()), any::<bool>(), 0u32..4), 1..300),
        limit in 2u64..20,
        loss in 0.0f64..0.3,
        seed: u64,
    ) {
        for queue in hasty(limit) {
            let mut link = link(&queue, loss);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut now = Instant::ZERO;
            let mut driven = Driven::default();
            for (ticket, &(gap, bytes, ecn, within, flow)) in arrivals.iter().enumerate() {
                now += Duration::from_ps(gap);
                driven.until(&mut link, now, &mut random);
                let packet = Offered { bytes, ecn, class: Class::within(within) };
                if link.offer(now, packet, &mut random) == Outcome::Waits {
                    driven.waiting.insert(ticket as u32, now);
                    let label = Label { flow, dscp: flow as u8 * 15, ticket: ticket as u32 };
                    link.hold(now, packet, label, &mut random);
                    driven.drop(&mut link, now);
                    if !link.is_busy() {
                        driven.begin(&mut link, now, &mut random);
                    }
                }
                prop_assert!(link.queued() <= limit);
                prop_assert_eq!(link.queued(), driven.waiting.len() as u64 + u64::from(driven.transmitting));
                let (queued, queued_in) = (link.queued(), link.queued_in());
                let (counts, _) = link.measured(now);
                prop_assert_eq!(counts.arrivals, counts.forwarded + counts.dropped + counts.medium_losses + queued);
                for (class, queued) in [(counts.within, queued_in), (counts.beyond(), queued - queued_in)] {
                    prop_assert_eq!(class.arrivals, class.forwarded + class.dropped + class.medium_losses + queued);
                }
            }
            let last = now + Duration::from_secs(2);
            driven.until(&mut link, last, &mut random);
            prop_assert_eq!((link.queued(), link.queued_in()), (0, 0));
            prop_assert!(driven.departures.windows(2).all(|pair| pair[0] < pair[1]));
            // Little's law, exactly: the area under the queue is the sum of the waits, of what was dropped too.
            let (_, occupancy) = link.measured(last);
            let waited = driven.waited_s;
            prop_assert!((occupancy.packet_seconds() - waited).abs() <= 1e-9 + 1e-9 * waited);
        }
    }
}
