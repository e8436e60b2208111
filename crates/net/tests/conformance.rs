//! What every queue in the catalog must keep, whatever arrives.

mod common;

use common::{config, link, most, LIMIT};
use parshall_net::ecn::Ecn;
use parshall_net::link::{Offered, Outcome};
use parshall_net::markers::Class;
use parshall_net::queues::catalog::CATALOG;
use parshall_net::queues::{
    Arrival, Backlog, DepartureDiscipline, DepartureQueue, Discipline, Held, Queue, QueueDiscipline, Verdict,
};
use parshall_units::parameters::Entry;
use parshall_units::{Duration, Instant};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, VecDeque};

/// The queues that decide at arrival.
fn at_arrival() -> impl Iterator<Item = (&'static Entry, Queue)> {
    CATALOG.iter().filter_map(|entry| match config(entry).build() {
        Discipline::AtArrival(queue) => Some((entry, queue)),
        Discipline::AtDeparture(_) => None,
    })
}

/// The queues that decide at departure.
fn at_departure() -> impl Iterator<Item = (&'static Entry, DepartureQueue)> {
    CATALOG.iter().filter_map(|entry| match config(entry).build() {
        Discipline::AtArrival(_) => None,
        Discipline::AtDeparture(queue) => Some((entry, queue)),
    })
}

/// What a packet says about ECN.
fn any_ecn() -> impl Strategy<Value = Ecn> {
    prop::sample::select(Ecn::ALL.to_vec())
}

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

proptest! {
    #[test]
    fn packets_are_conserved_in_order_and_within_the_limit(
        arrivals in prop::collection::vec((0u64..2_000_000_000, 40u32..1501, any_ecn(), any::<bool>()), 1..400),
        seed: u64,
    ) {
        for (entry, _) in at_arrival() {
            let (mut one, mut two) = (link(entry), link(entry));
            let (mut draws, mut again) = (random(seed), random(seed));
            let (mut now, mut last) = (Instant::ZERO, Instant::ZERO);
            for &(gap, bytes, ecn, within) in &arrivals {
                now += Duration::from_ps(gap);
                let packet = Offered { bytes, ecn, class: Class::within(within) };
                let outcome = one.offer(now, packet, &mut draws);
                prop_assert_eq!(outcome, two.offer(now, packet, &mut again), "{}", entry.name);
                if let Outcome::Forwarded { departure, marked, .. } = outcome {
                    prop_assert!(departure > last && departure > now, "{}", entry.name);
                    prop_assert!(ecn.is_capable() || !marked, "{}: marks what cannot be marked", entry.name);
                    last = departure;
                }
                let queued = one.queued();
                prop_assert!(queued <= LIMIT, "{}: holds {queued}", entry.name);
                let queued_in = one.queued_in();
                let (counts, _) = one.measured(now);
                prop_assert_eq!(counts.arrivals, counts.forwarded + counts.dropped + queued, "{}", entry.name);
                for (class, queued) in [(counts.within, queued_in), (counts.beyond(), queued - queued_in)] {
                    prop_assert_eq!(class.arrivals, class.forwarded + class.dropped + queued, "{}", entry.name);
                }
            }
        }
    }
}

#[test]
fn a_full_buffer_drops_even_what_could_be_marked() {
    for (entry, mut queue) in at_arrival() {
        let full = Backlog { packets: LIMIT, bytes: LIMIT * 1500, ..Backlog::default() };
        for class in [Class::In, Class::Out] {
            let transmission = Duration::from_millis(1);
            let arrival = Arrival { now: Instant::ZERO, bytes: 1500, ecn: Ecn::Ect0, class, transmission };
            let mut verdicts = (0..100).map(|seed| queue.on_arrival(&arrival, &full, &mut random(seed)));
            assert!(verdicts.all(|verdict| verdict == Verdict::Drop), "{}", entry.name);
        }
    }
}

#[test]
fn a_light_load_loses_nothing() {
    for (entry, _) in at_arrival() {
        let mut link = link(entry);
        let mut draws = random(1);
        for millisecond in 0..10_000 {
            let now = Instant::ZERO + Duration::from_millis(2 * millisecond);
            let outcome = link.offer(now, Offered::plain(1500), &mut draws);
            assert!(matches!(outcome, Outcome::Forwarded { .. }), "{}: {outcome:?}", entry.name);
        }
    }
}

proptest! {
    #[test]
    fn what_is_held_leaves_once_in_the_order_of_its_flow(
        steps in prop::collection::vec((0u64..20_000_000_000, 40u32..1501, any_ecn(), any::<bool>(), 0u32..5), 1..400),
        seed: u64,
    ) {
        for (entry, mut queue) in at_departure() {
            let mut again = queue.clone();
            let (mut draws, mut draws_again) = (random(seed), random(seed));
            let (mut now, mut lost, mut lost_again) = (Instant::ZERO, VecDeque::new(), VecDeque::new());
            let (mut entered, mut left, mut last) = (0, 0, BTreeMap::new());
            for &(gap, bytes, ecn, arrives, flow) in &steps {
                now += Duration::from_ps(gap);
                if arrives {
                    let dscp = flow as u8 * 10;
                    let packet = Held { arrived: now, bytes, ecn, class: Class::Out, flow, ticket: entered, period: 0, marked: false, dscp };
                    queue.enqueue(packet, (1, 1500), &mut draws, &mut lost);
                    again.enqueue(packet, (1, 1500), &mut draws_again, &mut lost_again);
                    entered += 1;
                } else {
                    let turn = queue.dequeue(now, &mut draws, &mut lost);
                    prop_assert_eq!(turn, again.dequeue(now, &mut draws_again, &mut lost_again), "{}", entry.name);
                    if let Some(turn) = turn {
                        let packet = turn.packet;
                        left += 1;
                        prop_assert!(packet.ecn.is_capable() || !turn.marked, "{}: marks what cannot be marked", entry.name);
                        // A queue may serve the L4S packets of a flow apart from its others; a flow has one kind only.
                        let before = last.insert((packet.flow, packet.ecn.is_l4s()), packet.ticket);
                        prop_assert!(before < Some(packet.ticket), "{}: out of order", entry.name);
                    } else if let Some(resumes) = queue.resumes() {
                        prop_assert!(queue.packets() > 0 && resumes > now, "{}", entry.name);
                        prop_assert!(queue.clone().dequeue(resumes, &mut draws.clone(), &mut VecDeque::new()).is_some(), "{}", entry.name);
                    } else {
                        prop_assert_eq!(queue.packets(), 0, "{}: idle while packets wait", entry.name);
                    }
                }
                prop_assert_eq!(&lost, &lost_again, "{}", entry.name);
                prop_assert!(queue.packets() < most(entry), "{}: holds {} and one", entry.name, queue.packets());
                let gone = left + lost.len() as u64;
                prop_assert_eq!(u64::from(entered), gone + queue.packets(), "{}", entry.name);
            }
        }
    }
}

#[test]
fn what_is_served_at_once_is_neither_dropped_nor_marked() {
    for (entry, mut queue) in at_departure() {
        let (mut lost, mut draws) = (VecDeque::new(), random(1));
        for millisecond in 0..10_000 {
            let now = Instant::ZERO + Duration::from_millis(2 * millisecond);
            let class = Class::Out;
            let packet = Held {
                arrived: now,
                bytes: 1500,
                ecn: Ecn::Ect0,
                class,
                flow: 0,
                ticket: 0,
                period: 0,
                marked: false,
                dscp: 0,
            };
            queue.enqueue(packet, (0, 0), &mut draws, &mut lost);
            let turn = queue.dequeue(now, &mut draws, &mut lost).expect("one waits");
            assert!(!turn.marked && lost.is_empty(), "{}", entry.name);
        }
    }
}

#[test]
fn defaults_do_not_contradict_each_other() {
    for entry in CATALOG {
        assert_eq!(config(entry).check(), Ok(()), "{}", entry.name);
    }
}

#[test]
fn entries_are_complete_and_names_unique() {
    for (index, entry) in CATALOG.iter().enumerate() {
        assert!(!entry.summary.is_empty() && !entry.reference.is_empty(), "{}", entry.name);
        assert!(CATALOG[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
    }
}
