//! Against probabilities computed by hand, and the paper's claim about flows that do not react.

use super::super::departure::NoRandom;
use super::*;
use crate::ecn::Ecn;
use crate::queues::QueueConfig;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const MS: u64 = 1_000_000_000;

fn config() -> SfbConfig {
    SfbConfig {
        limit: Limit::Packets(1000),
        levels: 8,
        bins: 16,
        bin_size: Packets(20),
        bin_limit: Packets(1000),
        increment: 0.25,
        decrement: 0.125,
        freeze_time: Duration::ZERO,
        penalty_rate: Rate::from_bps(8000).unwrap(),
        penalty_burst: Bytes(3000),
        rehash_interval: Duration::from_millis(600_000),
        warm_up: Duration::from_millis(60_000),
        ecn: true,
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_ps(ms * MS)
}

fn packet(ms: u64, flow: u32) -> Held {
    let (arrived, class) = (at(ms), Class::Out);
    Held {
        arrived,
        bytes: 1000,
        ecn: Ecn::NotCapable,
        class,
        flow,
        ticket: 0,
        period: 0,
        marked: false,
        dscp: 0,
    }
}

/// The probability of a flow: the smallest of its bins'.
fn probability(bins: &mut Bins, flow: u32) -> f64 {
    bins.of(flow).map(|bin| bin.probability).fold(1.0, f64::min)
}

/// A queue with so many packets of a flow, accepted whatever the probability is.
fn holding(config: &SfbConfig, flow: u32, packets: u64) -> Sfb {
    let mut queue = Sfb::new(config);
    for _ in 0..packets {
        queue.current.count(flow);
        queue.fifo.push(packet(0, flow));
    }
    queue
}

#[test]
fn a_probability_rises_in_long_bins_and_falls_in_empty_ones() {
    let mut queue = holding(&config(), 1, 19);
    let update = |queue: &mut Sfb, ms| queue.current.update(1, at(ms), &queue.law.clone());
    assert_eq!(update(&mut queue, 0), (19, 0.0));
    queue.current.count(1);
    assert_eq!([1, 2, 3, 4, 5].map(|ms| update(&mut queue, ms).1), [0.25, 0.5, 0.75, 1.0, 1.0]);
    (0..20).for_each(|_| queue.current.discount(1));
    assert_eq!([6, 7].map(|ms| update(&mut queue, ms)), [(0, 0.875), (0, 0.75)]);
    // Flow 2 has other bins, seven of eight at least: its own probability is zero.
    assert_eq!(probability(&mut queue.current, 2), 0.0);
}

#[test]
fn a_probability_is_frozen_after_a_change() {
    let config = SfbConfig { freeze_time: Duration::from_millis(10), ..config() };
    let mut queue = holding(&config, 1, 20);
    let law = queue.law.clone();
    let found = [0, 9, 10, 19, 20].map(|ms| queue.current.update(1, at(ms), &law).1);
    assert_eq!(found, [0.25, 0.25, 0.5, 0.5, 0.75]);
}

#[test]
fn a_packet_whose_bins_are_all_full_is_dropped() {
    let config = SfbConfig { bin_limit: Packets(21), increment: 0.0, ..config() };
    let mut queue = holding(&config, 1, 20);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut lost = VecDeque::new();
    for flow in [1, 1, 2] {
        queue.enqueue(packet(0, flow), (0, 0), &mut random, &mut lost);
    }
    assert_eq!(lost.iter().map(|packet| packet.flow).collect::<Vec<_>>(), [1]);
    assert_eq!(queue.packets(), 22);
}

#[test]
fn a_flow_that_does_not_react_is_held_to_the_penalty_rate() {
    // At 8 kbit/s, three packets are let in at once and one a second from then on, although 100 a second come.
    let mut queue = holding(&config(), 1, 30);
    queue.current.of(1).for_each(|bin| bin.probability = 1.0);
    let mut lost = VecDeque::new();
    let mut entered = Vec::new();
    for ms in (0..3000).step_by(10) {
        let before = queue.packets();
        queue.enqueue(packet(ms, 1), (0, 0), &mut NoRandom, &mut lost);
        entered.extend((queue.packets() > before).then_some(ms));
    }
    assert_eq!(entered, [0, 10, 20, 1000, 2000]);
}

#[test]
fn marks_up_to_a_half_and_drops_some_beyond() {
    let fates = |probability: f64, ecn: Ecn| {
        let mut queue = holding(&SfbConfig { increment: 0.0, decrement: 0.0, ..config() }, 1, 1);
        queue.current.of(1).for_each(|bin| bin.probability = probability);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let packet = Held { ecn, ..packet(0, 1) };
        let judged: Vec<_> = (0..10_000).map(|_| queue.judge(&packet, &mut random)).collect();
        let share = |fate| judged.iter().filter(|&&judged| judged == fate).count() as f64 / 1e4;
        (share(Some(true)), share(None))
    };
    // Standard deviations are below 0.005.
    let close = |(one, two): (f64, f64), expected: (f64, f64)| {
        assert!((one - expected.0).abs() < 0.02 && (two - expected.1).abs() < 0.02, "{one} {two}");
    };
    close(fates(0.4, Ecn::Ect0), (0.4, 0.0));
    close(fates(0.4, Ecn::NotCapable), (0.0, 0.4));
    close(fates(0.8, Ecn::Ect0), (0.2, 0.6));
}

#[test]
fn other_hash_functions_know_the_non_responsive_flows_and_what_waits() {
    let config = SfbConfig {
        rehash_interval: Duration::from_millis(1000),
        warm_up: Duration::from_millis(100),
        ..config()
    };
    let mut queue = holding(&config, 1, 30);
    queue.current.of(1).for_each(|bin| bin.probability = 1.0);
    let mut lost = VecDeque::new();
    let mut arrive = |queue: &mut Sfb, ms| queue.enqueue(packet(ms, 1), (0, 0), &mut NoRandom, &mut lost);
    arrive(&mut queue, 899);
    assert!(queue.next.is_none());
    for ms in 900..904 {
        arrive(&mut queue, ms);
    }
    let held = queue.packets();
    for bins in [&mut queue.current.clone(), queue.next.as_mut().unwrap()] {
        assert_eq!(bins.of(1).map(|bin| bin.packets).min(), Some(held));
        assert_eq!(probability(bins, 1), 1.0);
    }
    arrive(&mut queue, 1000);
    assert_eq!((queue.current.set, queue.next.is_none()), (1, true));
    assert_eq!(probability(&mut queue.current, 1), 1.0);
    // Without anything in between, the third set is used after two intervals more: it knows what waits, but no flow.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    queue.enqueue(packet(3000, 2), (0, 0), &mut random, &mut VecDeque::new());
    assert_eq!(queue.current.set, 3);
    assert_eq!(queue.current.of(1).map(|bin| bin.packets).min(), Some(queue.packets() - 1));
    while queue.dequeue(at(3000), &mut NoRandom, &mut VecDeque::new()).is_some() {}
    assert!(queue.current.all.iter().all(|bin| bin.packets == 0));
}

#[test]
fn a_warm_up_longer_than_the_interval_is_refused() {
    let error = QueueConfig::Sfb(SfbConfig { warm_up: Duration::from_millis(700_000), ..config() })
        .check()
        .unwrap_err();
    assert_eq!((error.key.as_str(), error.found.as_str()), ("warm_up", "700 s"));
}
