//! Against steps computed by hand from RFC 9332, appendix A.

use super::super::departure::NoRandom;
use super::*;
use crate::ecn::Ecn;
use crate::markers::Class;
use proptest::prelude::*;

fn micros(us: u64) -> Duration {
    Duration::from_ps(us * 1_000_000)
}

fn at(us: u64) -> Instant {
    Instant::ZERO + micros(us)
}

fn config() -> DualPi2Config {
    DualPi2Config {
        limit: Limit::Packets(1000),
        target: Duration::from_millis(15),
        update_interval: Duration::from_millis(15),
        alpha: 0.15,
        beta: 3.0,
        coupling: 2.0,
        ramp_start: micros(800),
        ramp_width: micros(400),
        unmarked: Packets(1),
        scheduler: DualScheduler::Weighted,
        classic_share: 0.1,
        time_shift: Duration::from_millis(50),
    }
}

fn packet(arrived: Instant, ecn: Ecn) -> Held {
    Held {
        arrived,
        bytes: 1000,
        ecn,
        class: Class::Out,
        flow: 0,
        ticket: 0,
        period: 0,
        marked: false,
        dscp: 0,
    }
}

/// Queues that hold so many packets of each kind, all of `arrived`.
fn holding(config: &DualPi2Config, arrived: Instant, packets: &[(Ecn, usize)]) -> DualPi2 {
    let mut queue = DualPi2::new(config);
    for &(ecn, count) in packets {
        for _ in 0..count {
            queue.enqueue(packet(arrived, ecn), (0, 0), &mut NoRandom, &mut VecDeque::new());
        }
    }
    queue
}

/// The next packet, if nothing is dropped before it.
fn next(queue: &mut DualPi2, now: Instant) -> Turn {
    let mut lost = VecDeque::new();
    let turn = queue.dequeue(now, &mut NoRandom, &mut lost).expect("one waits");
    assert!(lost.is_empty());
    turn
}

#[test]
fn the_probability_is_computed_as_in_appendix_a() {
    let mut queue = holding(&config(), at(0), &[(Ecn::NotCapable, 100)]);
    // After 15 ms the head has waited 15 ms: p' = 3 x 0.015 = 0.045. After 30 ms: 0.15 x 0.015 + 3 x 0.015 more.
    for (us, expected) in [(14_999, 0.0), (15_000, 0.045), (30_000, 0.09225)] {
        queue.catch_up(at(us));
        assert!((queue.base - expected).abs() < 1e-12, "{us}: {}", queue.base);
    }
    assert!((queue.classic_probability() - 0.09225 * 0.09225).abs() < 1e-12);
    assert!((queue.coupled_probability() - 0.1845).abs() < 1e-12);
    // Two updates at once are the same as one after the other.
    let mut late = holding(&config(), at(0), &[(Ecn::NotCapable, 100)]);
    late.catch_up(at(31_000));
    assert_eq!(late.base, queue.base);
}

#[test]
fn the_longer_of_the_two_delays_counts() {
    let mut queue = holding(&config(), at(0), &[(Ecn::Ect1, 10)]);
    queue.enqueue(packet(at(10_000), Ecn::Ect0), (0, 0), &mut NoRandom, &mut VecDeque::new());
    queue.catch_up(at(15_000));
    assert!((queue.base - 0.045).abs() < 1e-12, "{}", queue.base);
}

#[test]
fn an_idle_queue_forgets() {
    let mut queue = holding(&config(), at(0), &[(Ecn::NotCapable, 1)]);
    queue.catch_up(at(15_000));
    next(&mut queue, at(15_000));
    // The first update without a packet takes 0.15 x 0.015 + 3 x 0.015: nothing is left.
    queue.catch_up(at(30_000));
    assert_eq!((queue.base, queue.delay_s), (0.0, 0.0));
    queue.catch_up(at(1_000_000_000));
    assert_eq!(queue.next_update, at(1_000_005_000));
}

#[test]
fn codepoints_go_to_their_queues() {
    let each = Ecn::ALL.map(|ecn| (ecn, 1));
    let queue = holding(&config(), at(0), &each);
    assert_eq!((queue.classic.fifo.len(), queue.l4s.fifo.len()), (2, 2));
}

#[test]
fn l4s_packets_are_marked_on_a_ramp() {
    let queue = holding(&config(), at(0), &[(Ecn::Ect1, 3)]);
    for (us, expected) in
        [(0, 0.0), (800, 0.0), (900, 0.25), (1000, 0.5), (1199, 0.9975), (1200, 1.0), (5000, 1.0)]
    {
        let probability = queue.native_probability(micros(us));
        assert!((probability - expected).abs() < 1e-12, "{us} us: {probability}");
    }
    let step = holding(&DualPi2Config { ramp_width: Duration::ZERO, ..config() }, at(0), &[(Ecn::Ect1, 3)]);
    assert_eq!([800, 801].map(|us| step.native_probability(micros(us))), [0.0, 1.0]);
    // At 1 ms, half of them; the last two leave one packet or none behind.
    let mut queue = holding(&config(), at(0), &[(Ecn::Ect1, 6)]);
    let marked = [(); 6].map(|()| next(&mut queue, at(1000)).marked);
    assert_eq!(marked, [false, true, false, true, false, false]);
}

#[test]
fn l4s_packets_are_marked_k_times_the_root_of_the_classic_probability() {
    let packets = [(Ecn::Ect1, 400), (Ecn::Ect0, 400)];
    let mut queue = holding(&DualPi2Config { classic_share: 0.5, ..config() }, at(0), &packets);
    queue.base = 0.1;
    let turns: Vec<Turn> = (0..800).map(|_| next(&mut queue, at(1))).collect();
    let marks = |l4s| turns.iter().filter(|turn| turn.packet.ecn.is_l4s() == l4s && turn.marked).count();
    // 2 x 0.1 of 400, 0.1^2 of 400; a sum of hundredths may be short of 1 by its rounding.
    assert!((79..=80).contains(&marks(true)) && (3..=4).contains(&marks(false)));
}

#[test]
fn the_classic_queue_gets_its_share() {
    for (share, expected) in [(0.0, 0), (0.1, 10), (0.25, 25), (0.5, 50), (1.0, 99)] {
        let weighted = DualPi2Config { classic_share: share, ..config() };
        let mut queue = holding(&weighted, at(0), &[(Ecn::Ect1, 200), (Ecn::NotCapable, 200)]);
        let served = (0..100).filter(|_| !next(&mut queue, at(1)).packet.ecn.is_l4s()).count();
        assert_eq!(served, expected, "{share}");
    }
}

#[test]
fn with_a_time_shift_the_packet_that_waits_longest_goes_first() {
    let shifted = DualPi2Config { scheduler: DualScheduler::TimeShifted, ..config() };
    let mut queue = holding(&shifted, at(0), &[(Ecn::NotCapable, 2)]);
    queue.enqueue(packet(at(49_999), Ecn::Ect1), (0, 0), &mut NoRandom, &mut VecDeque::new());
    queue.enqueue(packet(at(50_001), Ecn::Ect1), (0, 0), &mut NoRandom, &mut VecDeque::new());
    let l4s = [(); 4].map(|()| next(&mut queue, at(60_000)).packet.ecn.is_l4s());
    assert_eq!(l4s, [true, false, false, true]);
}

#[test]
fn in_overload_both_queues_drop_what_could_be_marked() {
    for (ecn, marked) in [(Ecn::Ect1, true), (Ecn::Ect0, false)] {
        let mut queue = holding(&config(), at(0), &[(ecn, 100)]);
        queue.base = 0.5; // k p' = 1, and a quarter is dropped
        let mut lost = VecDeque::new();
        let turns: Vec<Turn> =
            std::iter::from_fn(|| queue.dequeue(at(1), &mut NoRandom, &mut lost)).collect();
        assert_eq!((turns.len(), lost.len()), (75, 25));
        assert!(turns.iter().all(|turn| turn.marked == marked), "{ecn:?}");
    }
    // Just below, marks do.
    let mut queue = holding(&config(), at(0), &[(Ecn::Ect0, 100)]);
    queue.base = 0.499;
    let turns: Vec<Turn> = (0..100).map(|_| next(&mut queue, at(1))).collect();
    assert_eq!(turns.iter().filter(|turn| turn.marked).count(), 24);
}

proptest! {
    #[test]
    fn hits_are_spread_evenly(share in 0.0f64..=1.0, packets in 1u32..2000) {
        let mut evenly = Evenly::default();
        let hits = (0..packets).filter(|_| evenly.is_hit(share)).count() as f64;
        let expected = share * f64::from(packets);
        prop_assert!(expected - hits < 1.0 + 1e-9 && hits - expected < 1e-9, "{hits} of {expected}");
    }

    #[test]
    fn neither_queue_starves_the_other(share in 0.05f64..0.95, seed in prop::collection::vec(40u32..1501, 50..200)) {
        // Both queues never empty: after any number of turns, each has its share but for the largest packet.
        let weighted = DualPi2Config { classic_share: share, alpha: 0.0, beta: 0.0, ..config() };
        let mut queue = DualPi2::new(&weighted);
        let (mut classic, mut all) = (0.0, 0.0);
        for bytes in seed {
            for ecn in [Ecn::Ect1, Ecn::NotCapable] {
                queue.enqueue(Held { bytes, ..packet(at(0), ecn) }, (0, 0), &mut NoRandom, &mut VecDeque::new());
            }
            let turn = next(&mut queue, at(0));
            all += f64::from(turn.packet.bytes);
            classic += if turn.packet.ecn.is_l4s() { 0.0 } else { f64::from(turn.packet.bytes) };
            prop_assert!((classic - share * all).abs() <= 1500.0, "{classic} of {all}");
        }
    }
}
