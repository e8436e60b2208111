//! Against schedules computed by hand from RFC 8289.

use super::super::departure::NoRandom;
use super::*;
use crate::markers::Class;
use crate::queues::{Discipline, QueueConfig};
use parshall_units::Duration;

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn config(ecn: bool) -> CodelConfig {
    CodelConfig {
        limit: Limit::Packets(10_000),
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn,
    }
}

fn packet(arrived: Instant, ticket: u32) -> Held {
    Held {
        arrived,
        bytes: 1000,
        ecn: crate::ecn::Ecn::Ect0,
        class: Class::Out,
        flow: 0,
        ticket,
        period: 0,
        marked: false,
        dscp: 0,
    }
}

/// Asks a queue for a packet each millisecond of `turns`. Before each, it is filled anew with so many packets that have
/// waited for so many milliseconds. Returns when packets are dropped, and when one is marked.
fn asked(ecn: bool, turns: std::ops::Range<u64>, filled: impl Fn(u64) -> (u64, u64)) -> (Vec<u64>, Vec<u64>) {
    let mut law = Codel::new(&config(ecn)).law;
    let mut controller = Controller::default();
    let (mut dropped, mut marked) = (Vec::new(), Vec::new());
    law.see(1000);
    for now in turns {
        let (packets, sojourn) = filled(now);
        let (mut fifo, mut lost) = (Fifo::default(), VecDeque::new());
        for ticket in 0..packets {
            fifo.push(packet(ms(now - sojourn), ticket as u32));
        }
        let turn = controller.dequeue(&law, ms(now), &mut fifo, &mut lost).unwrap();
        marked.extend(turn.marked.then_some(now));
        dropped.extend(lost.iter().map(|_| now));
        assert_eq!(fifo.len() + lost.len() as u64 + 1, packets);
    }
    (dropped, marked)
}

/// The queue stands at twelve packets, each of which waits for twice the target.
fn standing(ecn: bool, turns: u64) -> (Vec<u64>, Vec<u64>) {
    asked(ecn, 10..10 + turns, |_| (12, 10))
}

/// The milliseconds at which packets are hit when one is asked for each millisecond: first above at 10 ms, the first
/// hit an interval later, then at sums of 100 ms / sqrt(n), as soon as a packet's turn comes.
fn by_hand(turns: u64) -> Vec<u64> {
    let mut hits = vec![110];
    let mut next = 110.0 + 100.0;
    for count in 2.. {
        let hit = f64::ceil(next) as u64;
        if hit >= 10 + turns {
            break;
        }
        hits.push(hit);
        next += 100.0 / f64::from(count).sqrt();
    }
    hits
}

#[test]
fn a_standing_queue_is_hit_at_intervals_over_the_root_of_the_count() {
    let expected = by_hand(1000);
    // 110; + 100 = 210; + 70.71 = 280.71; + 57.74 = 338.45; + 50 = 388.45; + 44.72 = 433.17; + 40.82 = 473.99
    assert_eq!(expected[..7], [110, 210, 281, 339, 389, 434, 474]);
    let (dropped, marked) = standing(false, 1000);
    assert_eq!(dropped, expected);
    assert!(marked.is_empty());
}

#[test]
fn a_mark_takes_the_place_of_a_drop() {
    let (dropped, marked) = standing(true, 1000);
    assert!(dropped.is_empty());
    assert_eq!(marked, by_hand(1000));
}

#[test]
fn below_the_target_or_with_one_packet_left_nothing_is_hit() {
    assert!(asked(false, 10..2000, |_| (12, 4)).0.is_empty());
    // One waits behind the packet whose turn it is: no more than the largest one seen, however long both have waited.
    assert!(asked(false, 100..2000, |_| (2, 50)).0.is_empty());
    assert!(!asked(false, 100..2000, |_| (3, 50)).0.is_empty());
}

#[test]
fn an_excursion_below_the_target_starts_the_interval_anew() {
    let (dropped, _) = asked(false, 10..400, |now| (12, if now == 100 { 4 } else { 10 }));
    // Above again from 101 ms on; 301 + 70.71 = 371.71
    assert_eq!(dropped, [201, 301, 372]);
}

#[test]
fn a_state_that_follows_soon_begins_at_the_rate_that_was_enough() {
    // Four drops, then below the target from 340 ms on, then above again.
    let schedule = |again: u64| {
        let below = 340..again;
        asked(false, 10..again + 250, |now| (12, if below.contains(&now) { 1 } else { 10 })).0
    };
    // The count is 4, and began at 1: the new state begins with 3. 500 + 57.74 = 557.74; + 50 = 607.74
    assert_eq!(schedule(400), [110, 210, 281, 339, 500, 558, 608]);
    // 16 intervals after 388.45 ms that is forgotten.
    assert_eq!(schedule(2100)[4..], [2200, 2300]);
}

#[test]
fn what_does_not_fit_is_lost() {
    let mut codel = Codel::new(&CodelConfig { limit: Limit::Packets(3), ..config(false) });
    let mut lost = VecDeque::new();
    for ticket in 0..3 {
        codel.enqueue(packet(ms(0), ticket), (1, 1000), &mut NoRandom, &mut lost);
    }
    assert_eq!((codel.packets(), lost.len(), lost[0].ticket), (2, 1, 2));
}

#[test]
fn a_target_above_the_interval_is_refused() {
    let config = CodelConfig { target: Duration::from_millis(101), ..config(false) };
    let Discipline::AtDeparture(queue) = QueueConfig::Codel(config).build() else { panic!() };
    let error = queue.check().unwrap_err();
    assert_eq!((error.key.as_str(), error.found.as_str()), ("target", "101 ms"));
}
