//! Own endpoints on the engine: senders with an AIMD window share a drop-tail bottleneck, in some 80 lines.
//!
//! `cargo run -p parshall-engine --example dumbbell`

use parshall_engine::random::Streams;
use parshall_engine::{codes, endpoints, Core, Datagram, Duration, Endpoint, Hosts, Instant};
use parshall_engine::{LinkState, Network, Outbox, Way};
use parshall_net::{ecn::Ecn, link::Link, loss, queues, rate::Transmitter};
use parshall_units::Rate;

/// A sender, or the receiver that answers each packet with its number.
enum Host {
    Sender { window: f64, next: u64, awaited: u64, recovered: u64, patience: Instant },
    Receiver { packets: u64 },
}

impl Host {
    fn send(&mut self, now: Instant, out: &mut Outbox<u64>) {
        let Self::Sender { window, next, awaited, patience, .. } = self else { return };
        while ((*next - *awaited) as f64) < window.floor() {
            out.send(Datagram { bytes: 1500, ecn: Ecn::NotCapable, payload: *next });
            *next += 1;
        }
        *patience = now + Duration::from_millis(1000);
    }
}

impl Endpoint for Host {
    type Payload = u64;

    fn on_packet(&mut self, now: Instant, packet: Datagram<u64>, out: &mut Outbox<u64>) {
        match self {
            Self::Receiver { packets } => {
                *packets += 1;
                out.send(Datagram { bytes: 40, ..packet });
            }
            Self::Sender { window, next, awaited, recovered, .. } => {
                if packet.payload == *awaited {
                    *window += 1.0 / *window;
                } else if packet.payload >= *recovered {
                    (*window, *recovered) = ((*window / 2.0).max(1.0), *next); // once a round trip
                }
                *awaited = packet.payload + 1; // paths keep the order: what was sent before is lost
                self.send(now, out);
            }
        }
    }

    /// The beginning, or a second without an answer: all that was sent is lost.
    fn on_timer(&mut self, now: Instant, out: &mut Outbox<u64>) {
        if let Self::Sender { window, next, awaited, .. } = self {
            (*window, *awaited) = (1.0, *next);
        }
        self.send(now, out);
    }

    fn next(&self) -> Option<Instant> {
        if let Self::Sender { patience, .. } = self {
            Some(*patience)
        } else {
            None
        }
    }
}

codes! { Code: Forth, Back }

endpoints! {
    #[derive(Default)]
    struct Ends for () { hosts: Hosts<Host> = Code::Forth { Code::Forth => forth, Code::Back => back } }
}

/// The packets that reach the receivers of so many flows in a minute: 10 Mbit/s, 50 packets of buffer, RTTs from 20 ms
/// on.
pub fn run(flows: u64) -> Vec<u64> {
    let queue = queues::QueueConfig::DropTail(queues::DropTailConfig { limit: queues::Limit::Packets(50) });
    let rate = Transmitter::constant(Rate::from_bps(10_000_000).expect("a rate above 0"));
    let medium = loss::LossConfig::None(loss::NoLossConfig {});
    let link = Link::new(rate, Duration::from_millis(1), &queue, &medium);
    let links = vec![LinkState::new(link, Streams::new(1, 0).stream("bottleneck", "link", 0), ())];
    let core = Core::new(Instant::ZERO, Instant::ZERO + Duration::from_millis(60_000), ());
    let mut network = Network::new(core, links, Ends::default());
    for flow in 0..flows {
        let patience = Instant::ZERO + Duration::from_millis(10 * flow);
        let sender = Host::Sender { window: 1.0, next: 0, awaited: 0, recovered: 0, patience };
        let (there, back) = (Duration::from_millis(9 + flow), Duration::from_millis(10 + flow));
        let receiver = (Host::Receiver { packets: 0 }, Way::over(&[], back));
        network.endpoints.hosts.add(&mut network.core, (sender, Way::over(&[0], there)), receiver);
    }
    network.run_to_end();
    let packets = |host: &Host| if let Host::Receiver { packets } = host { Some(*packets) } else { None };
    network.endpoints.hosts.iter().filter_map(packets).collect()
}

fn main() {
    for (flow, packets) in run(5).into_iter().enumerate() {
        println!("flow {flow}: {:.2} Mbit/s", packets as f64 * 1500.0 * 8.0 / 60e6);
    }
}
