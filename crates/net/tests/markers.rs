//! What every marker in the catalog must keep, before every queue in the catalog.

mod common;

use parshall_net::ecn::Ecn;
use parshall_net::link::{Link, Offered, Outcome};
use parshall_net::markers::catalog::{Marker, CATALOG};
use parshall_net::markers::{Class, Edge, MarkerConfig};
use parshall_net::queues::catalog::CATALOG as QUEUES;
use parshall_net::queues::Discipline;
use parshall_units::parameters::{Entry, Kind};
use parshall_units::{Duration, Instant, Rate};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{json, Map, Value};

const RATE_BPS: u64 = 1_000_000;
const BURST_BYTES: u64 = 6000;
const PACKET_BYTES: u32 = 1500;

/// The entry's configuration: its defaults, and a profile of [`RATE_BPS`] and [`BURST_BYTES`] where it has none.
fn config(entry: &Entry) -> MarkerConfig {
    let mut object = Map::new();
    object.insert("name".into(), json!(entry.name));
    for parameter in entry.parameters {
        let value: Value = match (parameter.default, parameter.kind) {
            (None, Kind::Rate) => json!(RATE_BPS),
            (None, Kind::Size) => json!(BURST_BYTES),
            (Some(text), Kind::Number) => json!(text.parse::<f64>().unwrap()),
            (Some(text), Kind::Boolean) => json!(text.parse::<bool>().unwrap()),
            (Some(text), Kind::Choice) => json!(text),
            other => panic!("{other:?} is not expected in a marker"),
        };
        object.insert(parameter.name.into(), value);
    }
    serde_json::from_value(Value::Object(object)).unwrap()
}

/// Every marker but none at all.
fn markers() -> impl Iterator<Item = (&'static Entry, Marker)> {
    CATALOG.iter().filter_map(|entry| config(entry).build().map(|marker| (entry, marker)))
}

/// Links with the queues that decide at arrival.
fn links() -> impl Iterator<Item = (&'static str, Link)> {
    QUEUES.iter().filter_map(|entry| {
        let decides = matches!(common::config(entry).build(), Discipline::AtArrival(_));
        decides.then(|| (entry.name, common::link(entry)))
    })
}

proptest! {
    #[test]
    fn classes_follow_from_the_packets_alone_and_links_count_them(
        arrivals in prop::collection::vec((0u64..8_000_000_000, 40u32..=PACKET_BYTES), 1..300),
        seed: u64,
    ) {
        for (entry, fresh) in markers() {
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

#[test]
fn idle_centuries_and_simultaneous_packets_are_no_trouble() {
    for (entry, mut marker) in markers() {
        for now in [0, 0, 1, u64::MAX - 1, u64::MAX, u64::MAX] {
            let now = Instant::ZERO + Duration::from_ps(now);
            let class = marker.mark(now, PACKET_BYTES);
            assert!(matches!(class, Class::In | Class::Out), "{}", entry.name);
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
