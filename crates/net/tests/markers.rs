//! What every marker in the catalog must keep, before every queue in the catalog.

mod common;

use parshall_net::ecn::Ecn;
use parshall_net::link::{Link, Offered, Outcome};
use parshall_net::markers::catalog::{Marker, CATALOG};
use parshall_net::markers::{Class, Edge, MarkerConfig};
use parshall_net::queues::catalog::CATALOG as QUEUES;
use parshall_net::queues::Discipline;
use parshall_units::parameters::{Entry, Kind, Parameter};
use parshall_units::{testing, Duration, Instant, Rate};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

const RATE_BPS: u64 = 1_000_000;
const BURST_BYTES: u64 = 6000;
const PACKET_BYTES: u32 = 1500;

/// The entry's configuration: its defaults, and a profile of [`RATE_BPS`] and [`BURST_BYTES`] where it has none.
fn config(entry: &Entry) -> MarkerConfig {
    let profile = |parameter: &Parameter| match (parameter.default, parameter.kind) {
        (None, Kind::Rate) => Some(json!(RATE_BPS)),
        (None, Kind::Size) => Some(json!(BURST_BYTES)),
        _ => None,
    };
    serde_json::from_value(testing::default_object(entry, profile)).unwrap()
}

/// A marker from all that its parameters accept; `None`: no marker at all.
fn any_marker(entry: &'static Entry) -> impl Strategy<Value = Option<Marker>> {
    testing::any_object(entry, |_| None)
        .prop_map(|object| serde_json::from_value::<MarkerConfig>(object).unwrap().build())
}

/// Every marker but none at all.
fn markers() -> impl Iterator<Item = (&'static Entry, Marker)> {
    CATALOG.iter().filter_map(|entry| config(entry).build().map(|marker| (entry, marker)))
}

/// Links with the queues that decide at arrival.
fn links() -> impl Iterator<Item = (&'static str, Link)> {
    QUEUES.iter().filter_map(|entry| {
        let queue = common::config(entry);
        let decides = matches!(queue.build(), Discipline::AtArrival(_));
        decides.then(|| (entry.name, common::link(&queue)))
    })
}

proptest! {
    #[test]
    fn classes_follow_from_the_packets_alone_and_links_count_them(
        any in CATALOG.iter().map(any_marker).collect::<Vec<_>>(),
        arrivals in prop::collection::vec((0u64..8_000_000_000, 40u32..=PACKET_BYTES), 1..300),
        seed: u64,
    ) {
        let any = CATALOG.iter().zip(any).filter_map(|(entry, marker)| marker.map(|marker| (entry, marker)));
        for (entry, fresh) in markers().chain(any) {
            for (name, mut link) in links() {
                let (mut marker, mut again, mut later) = (fresh.clone(), fresh.clone(), None);
                let mut draws = Xoshiro256PlusPlus::seed_from_u64(seed);
                let (mut now, mut offered, mut dropped) = (Instant::ZERO, [0u64; 2], [0u64; 2]);
                for (index, &(gap, bytes)) in arrivals.iter().enumerate() {
                    now += Duration::from_ps(gap);
                    if index == arrivals.len() / 2 {
                        later = Some(marker.clone());
                    }
                    let class = marker.mark(now, bytes);
                    prop_assert_eq!(class, again.mark(now, bytes), "{}: not deterministic", entry.name);
                    if let Some(copy) = &mut later {
                        prop_assert_eq!(class, copy.mark(now, bytes), "{}: a copy differs", entry.name);
                    }
                    let packet = Offered { bytes, ecn: Ecn::NotCapable, class };
                    let place = usize::from(class == Class::In);
                    offered[place] += 1;
                    if !matches!(link.offer(now, packet, &mut draws), Outcome::Forwarded { .. }) {
                        dropped[place] += 1;
                    }
                }
                let (counts, _) = link.measured(now);
                for (place, class) in [(0, counts.beyond()), (1, counts.within)] {
                    prop_assert_eq!(class.arrivals, offered[place], "{} before {}", entry.name, name);
                    prop_assert_eq!(class.dropped + class.medium_losses, dropped[place], "{} before {}", entry.name, name);
                }
            }
        }
    }
}

#[test]
fn a_flow_far_below_its_profile_is_in_and_one_far_above_is_not_all_in() {
    let packet_bits = u64::from(PACKET_BYTES) * 8;
    let share = |marker: &mut Marker, rate_bps: u64| {
        let gap = Duration::from_ps(packet_bits * 1_000_000_000_000 / rate_bps);
        let times = (0..10_000).map(|packet| Instant::ZERO + gap.times(packet));
        times.map(|now| marker.mark(now, PACKET_BYTES).is_in()).sum::<u64>() as f64 / 10_000.0
    };
    for (entry, fresh) in markers() {
        assert_eq!(share(&mut fresh.clone(), RATE_BPS / 2), 1.0, "{}", entry.name);
        // A tenth fits: and the burst, which is four packets of ten thousand.
        let above = share(&mut fresh.clone(), RATE_BPS * 10);
        assert!(above > 0.0 && above < 0.11, "{}: {above}", entry.name);
    }
}

proptest! {
    #[test]
    fn idle_centuries_and_simultaneous_packets_are_no_trouble(
        any in CATALOG.iter().map(any_marker).collect::<Vec<_>>(),
    ) {
        for marker in any.iter().flatten() {
            let mut marker = marker.clone();
            let mut last = Class::In;
            for now in [0, 0, 1, u64::MAX - 1, u64::MAX, u64::MAX] {
                last = marker.mark(Instant::ZERO + Duration::from_ps(now), PACKET_BYTES);
            }
            // No tokens come while no time passes: what is out stays out.
            let again = marker.mark(Instant::ZERO + Duration::from_ps(u64::MAX), PACKET_BYTES);
            prop_assert!(last == Class::In || again == Class::Out, "{:?}", marker);
        }
    }
}

#[test]
fn what_fits_its_edge_is_accepted_and_more_than_the_access_link_carries_is_not() {
    let edge = |bps| Edge { packet_bytes: PACKET_BYTES, access: Rate::from_bps(bps) };
    for entry in CATALOG {
        assert_eq!(config(entry).check(edge(RATE_BPS)), Ok(()), "{}", entry.name);
        let profile = entry.parameters.iter().any(|parameter| parameter.name == "rate");
        assert_eq!(config(entry).check(edge(RATE_BPS - 1)).is_err(), profile, "{}", entry.name);
    }
}

#[test]
fn entries_are_complete_and_names_unique() {
    for (index, entry) in CATALOG.iter().enumerate() {
        assert!(!entry.summary.is_empty(), "{}", entry.name);
        assert_eq!(entry.reference.is_empty(), entry.name == "none", "{}", entry.name);
        assert!(CATALOG[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
    }
}
