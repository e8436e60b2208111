//! Hosts hear of packets and timers in the order of time, and sinks of each packet once.

use parshall_engine::random::Streams;
use parshall_engine::{codes, endpoints, Core, Datagram, Duration, Endpoint, Hosts, Instant};
use parshall_engine::{LinkState, Network, Outbox, Owner, Packet, Sink, Way};
use parshall_net::ecn::Ecn;
use parshall_net::link::Link;
use parshall_net::loss::{BernoulliConfig, LossConfig, NoLossConfig};
use parshall_net::queues::{DropTailConfig, FqCodelConfig, Limit, QueueConfig, StepConfig};
use parshall_net::rate::Transmitter;
use parshall_units::{Bytes, Packets, Rate};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A host that sends a packet at each of its times, says when it wants to be woken, and notes what it is told.
#[derive(Default)]
struct Noting {
    /// When packets are sent; each carries its number.
    sends: Vec<Instant>,
    sent: u64,
    ecn: Option<Ecn>,
    /// Times and numbers of packets that arrived, and whether they were marked.
    heard: Vec<(Instant, u64, bool)>,
    woken: Vec<Instant>,
    /// A packet of this number is answered, and puts the next wake-up forward to the time of its arrival.
    answers: Option<u64>,
}

impl Endpoint for Noting {
    type Payload = u64;

    fn on_packet(&mut self, now: Instant, packet: Datagram<u64>, out: &mut Outbox<u64>) {
        self.heard.push((now, packet.payload, packet.ecn == Ecn::Ce));
        if self.answers == Some(packet.payload) {
            self.sends.insert(self.sent as usize, now);
            out.send(Datagram { bytes: 40, ecn: Ecn::NotCapable, payload: 1000 });
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Outbox<u64>) {
        self.woken.push(now);
        while self.next().is_some_and(|next| next <= now) {
            let ecn = self.ecn.unwrap_or(Ecn::NotCapable);
            out.send(Datagram { bytes: 1500, ecn, payload: self.sent });
            self.sent += 1;
        }
    }

    fn next(&self) -> Option<Instant> {
        self.sends.get(self.sent as usize).copied()
    }
}

/// How often each thing was told.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    enqueued: u64,
    forwarded: u64,
    marked: u64,
    dropped: u64,
    delivered: u64,
}

impl Sink for Counts {
    type OfLink = u64;

    fn enqueued(&mut self, link: &mut u64, _: Instant, _: &Packet) {
        self.enqueued += 1;
        *link += 1;
    }
    fn forwarded(&mut self, _: &mut u64, packet: &Packet, (departure, _): (Instant, Duration), _: bool) {
        assert!(departure > packet.at);
        self.forwarded += 1;
    }
    fn marked(&mut self, _: &mut u64, _: &Packet) {
        self.marked += 1;
    }
    fn dropped(&mut self, _: &mut u64, owner: Owner, _: &Packet) {
        assert_eq!((owner.transit, owner.flow), (Code::Forth, 0));
        self.dropped += 1;
    }
    fn delivered(&mut self, _: Instant, _: Owner, _: &Packet) {
        self.delivered += 1;
    }
}

codes! { Code: Forth, Back }

endpoints! {
    #[derive(Default)]
    struct Ends for Counts { hosts: Hosts<Noting> = Code::Forth { Code::Forth => forth, Code::Back => back } }
}

/// 12 Mbit/s, on which a packet of 1500 bytes takes 1 ms, and 2 ms of propagation.
fn link(queue: &QueueConfig, medium: &LossConfig) -> LinkState<Counts> {
    let rate = Transmitter::constant(Rate::from_bps(12_000_000).unwrap());
    let link = Link::new(rate, Duration::from_millis(2), queue, medium);
    LinkState::new(link, Streams::new(1, 0).stream("link", "link", 0), 0)
}

fn drop_tail(packets: u64) -> QueueConfig {
    QueueConfig::DropTail(DropTailConfig { limit: Limit::Packets(packets) })
}

const CLEAN: LossConfig = LossConfig::None(NoLossConfig {});

/// Runs a pair for ten seconds, whose first host crosses all links in order, with 10 ms of propagation; that of the
/// other one is 5 ms.
fn run(links: Vec<LinkState<Counts>>, first: Noting, second: Noting) -> Network<Ends> {
    let path: Vec<u32> = (0..links.len() as u32).collect();
    let mut network = Network::new(Core::new(at(0), at(10_000), Counts::default()), links, Ends::default());
    let Network { core, endpoints, .. } = &mut network;
    let forth = Way::over(&path, Duration::from_millis(10));
    endpoints.hosts.add(core, (first, forth), (second, Way::over(&[], Duration::from_millis(5))));
    network.run_to_end();
    network
}

fn hosts(network: &Network<Ends>) -> [&Noting; 2] {
    let hosts: Vec<&Noting> = network.endpoints.hosts.iter().collect();
    hosts.try_into().unwrap_or_else(|_| panic!("a pair"))
}

#[test]
fn packets_arrive_when_propagation_and_links_say() {
    let sends = vec![at(0), at(0), at(100)];
    for (links, arrivals) in [(0, [10, 10, 110]), (1, [13, 14, 113]), (2, [16, 17, 116])] {
        let links = (0..links).map(|_| link(&drop_tail(10), &CLEAN)).collect();
        let network = run(links, Noting { sends: sends.clone(), ..Noting::default() }, Noting::default());
        let heard: Vec<_> = (0..).zip(arrivals).map(|(number, ms)| (at(ms), number, false)).collect();
        assert_eq!(hosts(&network)[1].heard, heard);
        assert_eq!(hosts(&network)[0].woken, [at(0), at(100)], "not for each packet");
    }
}

#[test]
fn a_packet_puts_a_timer_forward() {
    let first = Noting { sends: vec![at(0), at(9000)], answers: Some(1000), ..Noting::default() };
    let second = Noting { answers: Some(0), ..Noting::default() };
    let network = run(vec![link(&drop_tail(10), &CLEAN)], first, second);
    // Packet 0 arrives at 13 ms; its answer at 18 ms has the first host answer and send at once, before what was due at
    // 9 s.
    let [first, second] = hosts(&network);
    assert_eq!(first.heard[0], (at(18), 1000, false));
    assert_eq!(first.woken, [at(0), at(18), at(9000)]);
    let answer = Rate::from_bps(12_000_000).unwrap().time_for(40);
    let arrivals: Vec<_> = second.heard.iter().map(|heard| (heard.0, heard.1)).collect();
    assert_eq!(arrivals, [(at(13), 0), (at(30) + answer, 1000), (at(31) + answer, 1), (at(9013), 2)]);
}

#[test]
fn sinks_are_told_of_each_packet_once() {
    let sends = vec![at(0); 30];
    let loss = LossConfig::Bernoulli(BernoulliConfig { probability: 0.3 });
    let lossy = run(
        vec![link(&drop_tail(10), &CLEAN), link(&drop_tail(100), &loss)],
        Noting { sends, ..Noting::default() },
        Noting::default(),
    );
    let Counts { enqueued, forwarded, marked, dropped, delivered } = lossy.core.sink;
    assert_eq!((enqueued, marked), (forwarded, 0));
    assert_eq!(
        (lossy.links[0].notes, 30 - lossy.links[0].notes),
        (10, 20),
        "the first queue has room for 10"
    );
    assert_eq!(lossy.links[1].notes, delivered);
    assert_eq!(dropped, 20 + (10 - delivered));
    assert!((1..10).contains(&delivered));
    let heard: Vec<u64> = hosts(&lossy)[1].heard.iter().map(|heard| heard.1).collect();
    assert_eq!(heard.len() as u64, delivered);
    assert!(
        heard.is_sorted() && heard.iter().all(|&number| number < 10),
        "payloads are those that were sent"
    );
}

#[test]
fn marks_reach_the_host_as_ce() {
    let step = QueueConfig::Step(StepConfig { limit: Limit::Packets(100), threshold: Packets(5) });
    let first = Noting { sends: vec![at(0); 20], ecn: Some(Ecn::Ect0), ..Noting::default() };
    let network = run(vec![link(&step, &CLEAN)], first, Noting::default());
    let marks = hosts(&network)[1].heard.iter().filter(|heard| heard.2).count();
    assert!((10..20).contains(&marks));
    assert_eq!(network.core.sink.marked, marks as u64);
    let first = Noting { sends: vec![at(0); 20], ..Noting::default() };
    let network = run(vec![link(&step, &CLEAN)], first, Noting::default());
    assert_eq!(network.core.sink.marked, 0, "packets that are not ECN-capable are not marked");
}

#[test]
fn queues_that_decide_at_departure_tell_the_same() {
    let queue = QueueConfig::FqCodel(FqCodelConfig {
        limit: Limit::Packets(50),
        queues: 16,
        quantum: Bytes(1514),
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: false,
    });
    let first = Noting { sends: (0..4000).map(|each| at(each / 2)).collect(), ..Noting::default() };
    let network = run(vec![link(&queue, &CLEAN)], first, Noting::default());
    let counts = &network.core.sink;
    assert_eq!(counts.enqueued, 4000, "of a full queue another packet is dropped");
    assert_eq!(counts.forwarded, counts.delivered);
    assert_eq!(counts.dropped + counts.delivered, 4000);
    assert!(counts.dropped > 1000, "twice as much is sent as the link takes: {counts:?}");
    assert_eq!(hosts(&network)[1].heard.len() as u64, counts.delivered);
}
