//! Against steps computed by hand from RFC 8033, and overloads whose losses and delays are known.

use super::super::departure::NoRandom;
use super::*;
use crate::ecn::Ecn;
use crate::markers::Class;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const MS: u64 = 1_000_000_000;

fn at(ms: u64) -> Instant {
    Instant::from_ps(ms * MS)
}

fn config() -> FqPieConfig {
    FqPieConfig {
        limit: Limit::Packets(1000),
        memory_limit: Bytes(32_000_000),
        queues: 1024,
        quantum: Bytes(1500),
        target: Duration::from_millis(15),
        update_interval: Duration::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: Duration::from_millis(150),
        ecn: false,
        mark_up_to: 0.1,
    }
}

fn packet(arrived: Instant, flow: u32, ecn: Ecn) -> Held {
    Held { arrived, bytes: 1000, ecn, class: Class::Out, flow, ticket: 0, period: 0, marked: false, dscp: 0 }
}

/// The probability of the queue of a flow.
fn probability(queue: &mut FqPie, flow: u32) -> f64 {
    queue.flows.queue_mut(queue.flows.index_of(flow)).controller.pie.probability()
}

#[test]
fn a_flows_probability_is_computed_from_its_own_delays() {
    let mut queue = FqPie::new(&config());
    let mut lost = VecDeque::new();
    for flow in [1, 1, 1, 1, 1, 1, 1, 2] {
        queue.enqueue(packet(at(0), flow, Ecn::NotCapable), (0, 0), &mut NoRandom, &mut lost);
    }
    let mut serve =
        |queue: &mut FqPie, ms| queue.dequeue(at(ms), &mut NoRandom, &mut lost).unwrap().packet.flow;
    // The packet that leaves after 10 ms has waited 10 ms, and that is the delay of the update after 15 ms.
    assert_eq!([serve(&mut queue, 0), serve(&mut queue, 10)], [1, 1]);
    assert_eq!([serve(&mut queue, 20), serve(&mut queue, 25)], [2, 1]);
    let first = (0.125 * (0.010 - 0.015) + 1.25 * 0.010) / 2048.0;
    assert!((probability(&mut queue, 1) - first).abs() < 1e-15);
    // The next one is after 30 ms: the last that left had waited 25 ms. The probability is between 1e-6 and 1e-5.
    assert_eq!(serve(&mut queue, 31), 1);
    let second = (0.125 * (0.025 - 0.015) + 1.25 * (0.025 - 0.010)) / 512.0;
    assert!((probability(&mut queue, 1) - (first + second)).abs() < 1e-15);
    // Flow 2 left no packet behind: its delay is zero.
    assert_eq!(probability(&mut queue, 2), 0.0);
}

#[test]
fn what_exceeds_a_limit_is_lost_whosever_it_is() {
    for config in [
        FqPieConfig { limit: Limit::Packets(4), ..config() },
        FqPieConfig { memory_limit: Bytes(4999), ..config() },
    ] {
        let mut queue = FqPie::new(&config);
        let mut lost = VecDeque::new();
        for flow in [1, 1, 1, 2, 3] {
            queue.enqueue(packet(at(0), flow, Ecn::NotCapable), (1, 1000), &mut NoRandom, &mut lost);
        }
        assert_eq!(lost.iter().map(|packet| packet.flow).collect::<Vec<_>>(), [2, 3]);
        assert_eq!((queue.packets(), queue.flows.bytes()), (3, 3000));
    }
}

/// What became of the packets of one flow.
#[derive(Default, Debug)]
struct Fate {
    sent: u32,
    lost: u32,
    marked: u32,
    waited_s: f64,
}

/// A packet is served each millisecond for a minute; in this time flow i sends `per_ms[i]` packets. Counts the second
/// half.
fn overloaded(config: &FqPieConfig, ecn: Ecn, per_ms: &[f64]) -> Vec<Fate> {
    let mut queue = FqPie::new(config);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut lost = VecDeque::new();
    let mut due = vec![0.0; per_ms.len()];
    let mut fates: Vec<Fate> = per_ms.iter().map(|_| Fate::default()).collect();
    for ms in 0..60_000 {
        for (flow, due) in due.iter_mut().enumerate() {
            *due += per_ms[flow];
            while *due >= 1.0 {
                *due -= 1.0;
                queue.enqueue(packet(at(ms), flow as u32, ecn), (1, 1000), &mut random, &mut lost);
            }
        }
        let counted = u32::from(ms >= 30_000);
        for packet in lost.drain(..) {
            fates[packet.flow as usize].lost += counted;
        }
        if let Some(Turn { packet, marked }) = queue.dequeue(at(ms), &mut random, &mut VecDeque::new()) {
            let fate = &mut fates[packet.flow as usize];
            fate.sent += counted;
            fate.marked += counted * u32::from(marked);
            fate.waited_s += f64::from(counted) * at(ms).since(packet.arrived).as_secs_f64();
        }
    }
    fates
}

#[test]
fn each_flow_has_its_share_and_its_own_delay() {
    // A fair share is 0.4 packets a millisecond beside the flow that needs 0.2; flows that do not react send 0.44 and
    // 0.8.
    let fates = overloaded(&config(), Ecn::NotCapable, &[0.44, 0.8, 0.2]);
    assert_eq!((fates[2].lost, fates[2].sent), (0, 6000));
    assert!(fates[2].waited_s / 6000.0 < 0.003, "{fates:?}");
    for (fate, offered) in fates.iter().zip([13_200.0, 24_000.0]) {
        let (share, delay_s) = (f64::from(fate.sent), fate.waited_s / f64::from(fate.sent));
        assert!((share / 12_000.0 - 1.0).abs() < 0.01, "{fates:?}");
        assert!((share + f64::from(fate.lost) - offered).abs() < 50.0, "{fates:?}");
        assert!((delay_s - 0.015).abs() < 0.003, "{fates:?}");
    }
}

#[test]
fn marks_up_to_a_probability_and_drops_beyond() {
    let config = FqPieConfig { ecn: true, ..config() };
    // Marks do not relieve a load that does not react, so its probability rises until what is too much is dropped: 5 %
    // of it, at a probability about 0.1 where some are still marked, or a third, far beyond.
    let fates = overloaded(&config, Ecn::Ect0, &[1.05]);
    assert!(fates[0].lost.abs_diff(1500) < 50 && fates[0].marked > 0, "{fates:?}");
    let fates = overloaded(&config, Ecn::Ect0, &[1.5]);
    assert!(fates[0].lost.abs_diff(15_000) < 50 && fates[0].marked == 0, "{fates:?}");
    let always = FqPieConfig { mark_up_to: 1.0, ..config.clone() };
    let fates = overloaded(&always, Ecn::Ect0, &[1.05]);
    assert!(fates[0].marked > 20_000, "all are marked at last, {fates:?}");
    let fates = overloaded(&always, Ecn::NotCapable, &[1.05]);
    assert!(fates[0].marked == 0 && fates[0].lost > 1000, "{fates:?}");
}
