//! The shaper, tins and overhead, by hand.

use super::super::departure::NoRandom;
use super::*;
use crate::ecn::Ecn;
use crate::markers::Class;

const US: u64 = 1_000_000;
const EF: u8 = 46;
const CS1: u8 = 8;

fn config(rate: Option<u64>) -> CakeConfig {
    CakeConfig {
        limit: Limit::Packets(1000),
        rate: rate.and_then(Rate::from_bps),
        overhead: Bytes(0),
        min_packet: Bytes(0),
        framing: CakeFraming::None,
        tins: CakeTins::Diffserv3,
        rtt: Duration::from_millis(100),
        target: Duration::from_millis(5),
    }
}

fn packet(us: u64, flow: u32, dscp: u8) -> Held {
    let (arrived, class) = (Instant::from_ps(us * US), Class::Out);
    Held { arrived, bytes: 1000, ecn: Ecn::Ect0, class, flow, ticket: 0, period: 0, marked: false, dscp }
}

/// When the packets of (arrival in us, flow, DSCP) leave in us, on a link that takes no time, and of which flow they
/// are.
fn departures(config: &CakeConfig, packets: &[(u64, u32, u8)]) -> Vec<(u64, u32)> {
    let mut cake = Cake::new(config);
    let (mut left, mut now, mut lost) = (Vec::new(), Instant::ZERO, VecDeque::new());
    let mut arrivals = packets.iter().map(|&(us, flow, dscp)| packet(us, flow, dscp)).peekable();
    loop {
        while let Some(next) = arrivals.next_if(|next| next.arrived <= now) {
            cake.enqueue(next, (0, 0), &mut NoRandom, &mut lost);
        }
        while let Some(turn) = cake.dequeue(now, &mut NoRandom, &mut lost) {
            left.push((now.as_ps() / US, turn.packet.flow));
        }
        let next = [arrivals.peek().map(|next| next.arrived), cake.resumes()];
        let Some(soonest) = next.into_iter().flatten().min() else { break };
        now = soonest;
    }
    assert!(lost.is_empty());
    left
}

#[test]
fn a_pause_gives_no_burst() {
    // 1000 bytes last 1 ms at 8 Mbit/s.
    let arrivals = [0, 0, 0, 10_000, 10_000, 10_400].map(|us| (us, 1, 0));
    let expected = [0, 1000, 2000, 10_000, 11_000, 12_000].map(|us| (us, 1));
    assert_eq!(departures(&config(Some(8_000_000)), &arrivals), expected);
}

#[test]
fn what_the_link_layer_adds_counts() {
    let last = |config: CakeConfig| departures(&config, &[(0, 1, 0), (0, 1, 0)])[1].0;
    let shaped = config(Some(8_000_000));
    assert_eq!(last(CakeConfig { overhead: Bytes(44), ..shaped.clone() }), 1044);
    assert_eq!(
        last(CakeConfig { overhead: Bytes(44), framing: CakeFraming::Ptm, ..shaped.clone() }),
        1044 + 17
    );
    // 1044 bytes are 22 cells: 21.75 of 48 bytes.
    assert_eq!(
        last(CakeConfig { overhead: Bytes(44), framing: CakeFraming::Atm, ..shaped.clone() }),
        22 * 53
    );
    assert_eq!(last(CakeConfig { overhead: Bytes(44), min_packet: Bytes(256), ..shaped.clone() }), 1044);
    let mut cake = Cake::new(&CakeConfig { min_packet: Bytes(84), ..shaped });
    assert_eq!([cake.on_link(40), cake.on_link(100)], [84, 100]);
    cake.config.framing = CakeFraming::Atm;
    assert_eq!(cake.on_link(40), 106);
}

#[test]
fn a_tin_is_served_first_within_its_rate_only() {
    let flows = |arrivals: &[(u64, u32, u8)], tins| {
        let config = CakeConfig { tins, ..config(Some(8_000_000)) };
        departures(&config, arrivals).into_iter().map(|(_, flow)| flow).collect::<Vec<_>>()
    };
    // Flow 2 may have a quarter first, flow 3 a sixteenth: a packet in 4 ms, in 16 ms.
    let arrivals: Vec<_> = (0..20).flat_map(|_| [(0, 1, 0), (0, 2, EF), (0, 3, CS1)]).collect();
    let order = flows(&arrivals, CakeTins::Diffserv3);
    let served = |flow, first: usize| order[..first].iter().filter(|&&each| each == flow).count();
    assert_eq!(order[..3], [2, 3, 1], "all are within their rates");
    assert_eq!((served(2, 16), served(3, 16)), (4, 1));
    assert_eq!(served(2, 30) + served(3, 30), 10);
    // All alike: each flow its turn.
    assert_eq!(flows(&arrivals, CakeTins::Besteffort)[..6], [1, 2, 3, 1, 2, 3]);
}

#[test]
fn without_a_rate_tins_have_weights() {
    let mut cake = Cake::new(&config(None));
    let mut lost = VecDeque::new();
    for _ in 0..300 {
        for (flow, dscp) in [(1, 0), (2, EF), (3, CS1)] {
            cake.enqueue(packet(0, flow, dscp), (0, 0), &mut NoRandom, &mut lost);
        }
    }
    let served: Vec<u32> = std::iter::from_fn(|| cake.dequeue(Instant::ZERO, &mut NoRandom, &mut lost))
        .take(336)
        .map(|turn| turn.packet.flow)
        .collect();
    // 1024 : 256 : 64 of 336.
    for (flow, share) in [(1, 256), (2, 64), (3, 16)] {
        let count = served.iter().filter(|&&each| each == flow).count();
        assert!(count.abs_diff(share) <= 2, "{flow}: {count}");
    }
    assert_eq!(cake.resumes(), None);
}

#[test]
fn what_exceeds_the_limit_comes_from_the_fattest_queue_of_all_tins() {
    let mut cake = Cake::new(&CakeConfig { limit: Limit::Packets(4), ..config(Some(8_000_000)) });
    let mut lost = VecDeque::new();
    for (flow, dscp) in [(1, CS1), (1, CS1), (1, CS1), (2, EF), (3, 0), (3, 0)] {
        cake.enqueue(packet(100_000, flow, dscp), (0, 0), &mut NoRandom, &mut lost);
    }
    assert_eq!(lost.iter().map(|packet| packet.flow).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(cake.tins[1].controls().next().map(cobalt::Cobalt::probability), Some(1.0 / 256.0));
    assert_eq!(cake.packets(), 4);
}
