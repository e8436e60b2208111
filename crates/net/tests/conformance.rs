//! What every queue in the catalog must keep, whatever arrives.

mod common;

use common::{config, config_with_limit, known, link, named, object, LIMIT};
use parshall_net::ecn::Ecn;
use parshall_net::link::{Offered, Outcome};
use parshall_net::markers::Class;
use parshall_net::queues::catalog::{CATALOG, TRAITS};
use parshall_net::queues::traits::{Drops, Form, Linux, Separates};
use parshall_net::queues::{
    Arrival, Backlog, DepartureDiscipline, DepartureQueue, Discipline, Held, Queue, QueueConfig,
    QueueDiscipline, Verdict,
};
use parshall_units::parameters::{Entry, Kind, Parameter};
use parshall_units::testing::{any_object, misspelt};
use parshall_units::{Duration, Instant};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// The queues with their defaults.
fn defaults() -> Vec<QueueConfig> {
    CATALOG.iter().map(config).collect()
}

/// The bands of a priority queue: as many as by default.
const BANDS: usize = 3;

/// Any queue that may be within another one, but for one that has several.
fn any_inner(parameter: &Parameter) -> BoxedStrategy<Value> {
    let simple = parameter.choices.iter().filter(|&&name| name != "priority");
    prop::sample::select(simple.map(|name| named(name, LIMIT)).collect::<Vec<_>>()).boxed()
}

/// Packets that a queue holds at most, one being transmitted included.
fn most(config: &QueueConfig) -> u64 {
    LIMIT * if config.name() == "priority" { BANDS as u64 } else { 1 }
}

/// Every queue, each from all that its parameters accept, but for its limit.
fn any_queues() -> Vec<impl Strategy<Value = QueueConfig>> {
    let any = |entry| {
        let known = |parameter: &Parameter| match parameter.kind {
            Kind::Queue => Some(any_inner(parameter)),
            Kind::Queues => {
                Some(prop::collection::vec(any_inner(parameter), BANDS).prop_map(Value::from).boxed())
            }
            _ => known(parameter, LIMIT).map(|value| Just(value).boxed()),
        };
        any_object(entry, known)
            .prop_map(|object| serde_json::from_value::<QueueConfig>(object).unwrap())
            .prop_filter("a queue that contradicts itself", |config| config.check().is_ok())
    };
    CATALOG.iter().map(any).collect()
}

/// Of the queues of the catalog, those that decide at arrival.
fn at_arrival(configs: &[QueueConfig]) -> impl Iterator<Item = (&'static Entry, &QueueConfig, Queue)> {
    CATALOG.iter().zip(configs).filter_map(|(entry, config)| match config.build() {
        Discipline::AtArrival(queue) => Some((entry, config, queue)),
        Discipline::AtDeparture(_) => None,
    })
}

/// Of the queues of the catalog, those that decide at departure.
fn at_departure(
    configs: &[QueueConfig],
) -> impl Iterator<Item = (&'static Entry, &QueueConfig, DepartureQueue)> {
    CATALOG.iter().zip(configs).filter_map(|(entry, config)| match config.build() {
        Discipline::AtArrival(_) => None,
        Discipline::AtDeparture(queue) => Some((entry, config, queue)),
    })
}

/// What a packet says about ECN.
fn any_ecn() -> impl Strategy<Value = Ecn> {
    prop::sample::select(Ecn::ALL.to_vec())
}

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// What becomes of packets that come a microsecond after each other, whatever came before, to a queue that holds so many.
fn after_each_other(queue: &mut Queue, from: Instant, packets: u64) -> Vec<Verdict> {
    let mut draws = random(1);
    let arrive = |index: u64| {
        let now = from + Duration::from_ps(1_000_000).times(index);
        let (bytes, class, transmission) =
            (1500, Class::within(index.is_multiple_of(3)), Duration::from_ps(12_000_000));
        let arrival = Arrival { now, bytes, ecn: Ecn::Ect0, class, transmission };
        let held = index % packets;
        let delay = transmission.times(held);
        queue.on_arrival(
            &arrival,
            &Backlog { packets: held, bytes: 1500 * held, delay, ..Backlog::default() },
            &mut draws,
        )
    };
    (0..1000).map(arrive).collect()
}

/// What a queue remembers is recorded: one that names no inner variable does the same whatever came before.
#[test]
fn a_queue_without_inner_variables_has_no_state() {
    let mut without = Vec::new();
    for (entry, config, mut fresh) in at_arrival(&defaults()) {
        let mut used = match config.build() {
            Discipline::AtArrival(queue) => queue,
            Discipline::AtDeparture(_) => unreachable!(),
        };
        after_each_other(&mut used, Instant::ZERO, LIMIT);
        let later = Instant::ZERO + Duration::from_millis(2);
        let same = after_each_other(&mut used, later, LIMIT) == after_each_other(&mut fresh, later, LIMIT);
        if entry.variables.is_empty() {
            assert!(same, "{}: remembers what it does not tell", entry.name);
            without.push(entry.name);
        }
        if ["red", "policer"].contains(&entry.name) {
            assert!(!same, "{}: a queue that remembers would pass", entry.name);
        }
    }
    assert!(without.contains(&"drop_tail") && without.len() > 1, "{without:?}");
    for (entry, ..) in at_departure(&defaults()) {
        assert!(!entry.variables.is_empty(), "{}: holds packets, and tells nothing of them", entry.name);
    }
}

proptest! {
    #[test]
    fn packets_are_conserved_in_order_and_within_the_limit(
        configs in any_queues(),
        arrivals in prop::collection::vec((0u64..2_000_000_000, 40u32..1501, any_ecn(), any::<bool>()), 1..400),
        seed: u64,
    ) {
        for (entry, config, _) in at_arrival(&configs) {
            let (mut one, mut two) = (link(config), link(config));
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

proptest! {
    #[test]
    fn a_full_buffer_drops_even_what_could_be_marked(configs in any_queues()) {
        for (entry, config, mut queue) in at_arrival(&configs) {
            let full = Backlog { packets: LIMIT, bytes: LIMIT * 1500, ..Backlog::default() };
            for class in [Class::In, Class::Out] {
                let transmission = Duration::from_millis(1);
                let arrival = Arrival { now: Instant::ZERO, bytes: 1500, ecn: Ecn::Ect0, class, transmission };
                let mut verdicts = (0..100).map(|seed| queue.on_arrival(&arrival, &full, &mut random(seed)));
                prop_assert!(verdicts.all(|verdict| verdict == Verdict::Drop), "{}: {config:?}", entry.name);
            }
        }
    }
}

#[test]
fn a_light_load_loses_nothing() {
    for (entry, config, _) in at_arrival(&defaults()) {
        let mut link = link(config);
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
        configs in any_queues(),
        steps in prop::collection::vec((0u64..20_000_000_000, 40u32..1501, any_ecn(), any::<bool>(), 0u32..5), 1..400),
        seed: u64,
    ) {
        for (entry, config, mut queue) in at_departure(&configs) {
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
                prop_assert!(queue.packets() < most(config), "{}: holds {} and one", entry.name, queue.packets());
                let gone = left + lost.len() as u64;
                prop_assert_eq!(u64::from(entered), gone + queue.packets(), "{}", entry.name);
            }
        }
    }
}

#[test]
fn what_is_served_at_once_is_neither_dropped_nor_marked() {
    for (entry, _, mut queue) in at_departure(&defaults()) {
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
fn a_misspelt_choice_is_refused() {
    for entry in CATALOG {
        for object in misspelt(entry, &object(entry, LIMIT)) {
            assert!(serde_json::from_value::<QueueConfig>(object).is_err(), "{}", entry.name);
        }
    }
}

#[test]
fn entries_are_complete_and_names_unique() {
    for (index, entry) in CATALOG.iter().enumerate() {
        assert!(!entry.summary.is_empty() && !entry.reference.is_empty(), "{}", entry.name);
        assert!(CATALOG[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
    }
}

/// A limit that lets every queue with thresholds reach them.
const LONG: u64 = 100;

#[test]
fn every_queue_has_traits_and_a_title() {
    let named: Vec<&str> = TRAITS.iter().map(|(name, _)| *name).collect();
    let listed: Vec<&str> = CATALOG.iter().map(|entry| entry.name).collect();
    assert_eq!(named, listed);
    assert!(TRAITS.iter().all(|(_, traits)| !traits.title.is_empty()));
}

#[test]
fn what_tc_is_told_are_parameters_of_the_queue() {
    for (entry, (name, traits)) in CATALOG.iter().zip(TRAITS) {
        match traits.linux {
            Linux::Lacks(reason) => assert!(!reason.is_empty(), "{name}"),
            Linux::Has(qdisc) => {
                for option in qdisc.options {
                    let known = entry.parameters.iter().find(|parameter| parameter.name == option.parameter);
                    let kind = known.unwrap_or_else(|| panic!("{name} has no {}", option.parameter)).kind;
                    let written = match option.form {
                        Form::Time => kind == Kind::Duration,
                        Form::Rate => kind == Kind::Rate,
                        Form::Flag => kind == Kind::Boolean,
                        Form::Queue => kind == Kind::Queue,
                        _ => !matches!(kind, Kind::Duration | Kind::Rate | Kind::Boolean | Kind::Queue),
                    };
                    assert!(written, "{name}: {} is no {:?}", option.parameter, option.form);
                }
            }
        }
    }
}

/// What became of packets that found all but the last place taken for ten seconds, at 12 Mbit/s.
fn verdicts(queue: &mut impl QueueDiscipline, ecn: Ecn) -> Vec<Verdict> {
    let mut draws = random(1);
    let held = LONG - 1;
    let (bytes, transmission) = (1500, Duration::from_millis(1));
    let delay = Duration::from_millis(held);
    let backlog = Backlog { packets: held, bytes: held * 1500, delay, ..Backlog::default() };
    let at = |millisecond| Instant::ZERO + Duration::from_millis(millisecond);
    (0..10_000)
        .map(|ms| Arrival { now: at(ms), bytes, ecn, class: Class::Out, transmission })
        .map(|arrival| queue.on_arrival(&arrival, &backlog, &mut draws))
        .collect()
}

#[test]
fn queues_that_decide_at_arrival_keep_their_traits() {
    for (entry, (_, traits)) in CATALOG.iter().zip(TRAITS) {
        let Discipline::AtArrival(mut queue) = config_with_limit(entry, LONG).build() else { continue };
        let name = entry.name;
        assert_ne!(traits.drops, Drops::Departure, "{name}");
        assert!(matches!(traits.separates, Separates::Nothing | Separates::Profiles), "{name}");
        assert_eq!(queue.differentiates(), traits.separates == Separates::Profiles, "{name}");
        let plain = verdicts(&mut queue, Ecn::NotCapable);
        let early = plain.contains(&Verdict::Drop);
        assert_eq!(early, traits.drops == Drops::Early || traits.own_rate, "{name} drops what fits: {early}");
        let marks = verdicts(&mut queue, Ecn::Ect0).contains(&Verdict::Mark);
        assert!(!marks || traits.marks, "{name} marks, and declares that it does not");
    }
}
