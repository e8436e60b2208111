//! QUIC stacks that ship, unmodified, as endpoints on the engine in virtual time, beside TCP in the same queue.
//!
//! `cargo run --release` prints the tables of docs/own_endpoint.md.

mod clock;
mod handshake;
mod noq;
mod quinn;
mod random;
mod tcp;

use parshall_engine::random::Streams;
use parshall_engine::{
    codes, endpoints, Core, Duration, Hosts, Instant, LinkState, Network, Owner, Packet, Sink, Way,
};
use parshall_net::{link::Link, loss, queues, rate::Transmitter};
use parshall_units::Rate;

/// The bottleneck: 100 Mbit/s, 40 ms there and back, and as many packets of buffer as fill that time.
const RATE_BPS: u64 = 100_000_000;
const ONE_WAY: Duration = Duration::from_millis(20);
const BUFFER_PACKETS: u64 = 333;
const SECONDS: u64 = 20;

codes! { Kind: Quinn, Noq, Tcp }
codes! { Queue: QuinnForth, QuinnBack, NoqForth, NoqBack, TcpForth, TcpBack }

endpoints! {
    struct Ends for Counts {
        quinn: Hosts<quinn::Host> = Kind::Quinn { Queue::QuinnForth => forth, Queue::QuinnBack => back },
        noq: Hosts<noq::Host> = Kind::Noq { Queue::NoqForth => forth, Queue::NoqBack => back },
        tcp: Hosts<tcp::Host> = Kind::Tcp { Queue::TcpForth => forth, Queue::TcpBack => back },
    }
}

/// The sink: packets of each transit queue that have left the bottleneck, and those that it dropped.
#[derive(Default)]
struct Counts {
    delivered: [u64; 6],
    dropped: [u64; 6],
}

impl Sink for Counts {
    type OfLink = ();

    fn delivered(&mut self, _: Instant, owner: Owner, _: &Packet) {
        self.delivered[usize::from(owner.transit)] += 1;
    }

    fn dropped(&mut self, _: &mut (), owner: Owner, _: &Packet) {
        self.dropped[usize::from(owner.transit)] += 1;
    }
}

/// So many flows of each kind: of quinn, of noq, of TCP. They start a millisecond apart.
#[derive(Clone, Copy, Default)]
struct Flows {
    quinn: u32,
    noq: u32,
    tcp: u32,
}

/// Runs them over the bottleneck; returns the share of packets lost and the goodput in Mbit/s of each kind.
fn run(flows: Flows, control: &str) -> [(f64, f64); 3] {
    let queue = queues::QueueConfig::DropTail(queues::DropTailConfig {
        limit: queues::Limit::Packets(BUFFER_PACKETS),
    });
    let rate = Transmitter::constant(Rate::from_bps(RATE_BPS).expect("a rate above 0"));
    let link = Link::new(rate, Duration::ZERO, &queue, &loss::LossConfig::None(loss::NoLossConfig {}));
    let random = Streams::new(1, 0).stream("bottleneck", "link", 0);
    let end = Instant::ZERO + Duration::from_millis(1000 * SECONDS);
    let ends = Ends {
        quinn: Hosts::new(Kind::Quinn, [Queue::QuinnForth, Queue::QuinnBack]),
        noq: Hosts::new(Kind::Noq, [Queue::NoqForth, Queue::NoqBack]),
        tcp: Hosts::new(Kind::Tcp, [Queue::TcpForth, Queue::TcpBack]),
    };
    let core = Core::new(Instant::ZERO, end, Counts::default());
    let mut network = Network::new(core, vec![LinkState::new(link, random, ())], ends);
    let Network { core, endpoints, .. } = &mut network;
    let (forth, back) = (|| Way::over(&[0], ONE_WAY), || Way::over(&[], ONE_WAY));
    let mut starts = (0..).map(|ms| Instant::ZERO + Duration::from_millis(ms));
    let mut start = || starts.next().expect("there is always a later time");
    for number in 0..flows.quinn {
        let (client, server) = quinn::pair(number, start(), control);
        endpoints.quinn.add(core, (client, forth()), (server, back()));
    }
    for number in 0..flows.noq {
        let (client, server) = noq::pair(number, start(), control);
        endpoints.noq.add(core, (client, forth()), (server, back()));
    }
    for _ in 0..flows.tcp {
        let (sender, receiver) = tcp::pair(start());
        endpoints.tcp.add(core, (sender, forth()), (receiver, back()));
    }
    network.run_to_end();
    let Ends { quinn, noq, tcp } = &network.endpoints;
    let received = [
        quinn.iter().map(|host| host.received).sum::<u64>(),
        noq.iter().map(|host| host.received).sum(),
        tcp.iter()
            .map(|host| if let tcp::Host::Receiver { received, .. } = host { *received } else { 0 })
            .sum(),
    ];
    let counts = &network.core.sink;
    [Queue::QuinnForth, Queue::NoqForth, Queue::TcpForth].map(usize::from).map(|queue| {
        let (delivered, dropped) = (counts.delivered[queue] as f64, counts.dropped[queue] as f64);
        (dropped / (delivered + dropped), received[queue / 2] as f64 * 8e-6 / SECONDS as f64)
    })
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn main() {
    println!("| stack | control | flows | loss | goodput |");
    println!("| --- | --- | --- | --- | --- |");
    for (place, stack, controls) in [
        (0, "quinn-proto 0.11", [("bbr", "BBRv1"), ("cubic", "CUBIC")]),
        (1, "noq-proto 1.4", [("bbr", "BBRv3"), ("cubic", "CUBIC")]),
    ] {
        for (control, name) in controls {
            for flows in [1, 2, 10] {
                let (quinn, noq) = if place == 0 { (flows, 0) } else { (0, flows) };
                let (loss, goodput) = run(Flows { quinn, noq, tcp: 0 }, control)[place];
                println!("| {stack} | {name} | {flows} | {} | {goodput:.1} Mbit/s |", percent(loss));
            }
        }
    }
    println!("\n| beside a TCP flow | loss | goodput | TCP's loss | TCP's goodput |");
    println!("| --- | --- | --- | --- | --- |");
    for (place, name, control) in
        [(0, "quinn, BBRv1", "bbr"), (0, "quinn, CUBIC", "cubic"), (1, "noq, BBRv3", "bbr")]
    {
        let (quinn, noq) = if place == 0 { (1, 0) } else { (0, 1) };
        let kinds = run(Flows { quinn, noq, tcp: 1 }, control);
        let ((loss, goodput), (tcp_loss, tcp_goodput)) = (kinds[place], kinds[2]);
        let (loss, tcp_loss) = (percent(loss), percent(tcp_loss));
        println!("| {name} | {loss} | {goodput:.1} Mbit/s | {tcp_loss} | {tcp_goodput:.1} Mbit/s |");
    }
}
