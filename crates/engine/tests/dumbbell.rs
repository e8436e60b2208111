//! The example fills its bottleneck, shares it, and gives the same numbers each time.

#[allow(dead_code, missing_docs)]
#[path = "../examples/dumbbell.rs"]
mod dumbbell;

/// Full packets that 10 Mbit/s transmit in a minute.
const CAPACITY: u64 = 50_000;

#[test]
fn the_example_fills_its_bottleneck() {
    let packets = dumbbell::run(5);
    let total: u64 = packets.iter().sum();
    assert!((CAPACITY * 95 / 100..=CAPACITY).contains(&total), "{packets:?}");
    assert!(packets.iter().all(|&packets| packets > CAPACITY / 25), "{packets:?}");
    assert_eq!(packets, dumbbell::run(5));
}

#[test]
fn a_buffer_of_more_than_the_path_keeps_one_flow_at_full_rate() {
    // 20 ms of 10 Mbit/s are 16.7 packets, and half of the 50 + 16.7 that fit is more than that (Appenzeller et al.
    // 2004). Until the first loss the window grows by one a round trip, from 1.
    let total: u64 = dumbbell::run(1).iter().sum();
    assert!((CAPACITY * 99 / 100..=CAPACITY).contains(&total), "{total}");
}
