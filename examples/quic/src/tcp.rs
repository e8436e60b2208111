//! TCP: sender and receiver of `parshall-tcp`, with its defaults and CUBIC.

use parshall_congestion::{ControlConfig, CubicConfig, Start};
use parshall_engine::{Datagram, Endpoint, Instant, Outbox};
use parshall_net::ecn::Ecn;
use parshall_tcp::sender::ENDLESS;
use parshall_tcp::{Ack, Receiver, Segment, Sender, TcpConfig};
use parshall_units::testing::defaults;
use std::rc::Rc;

/// A full packet, and its headers.
const BYTES: u32 = 1480;
const HEADERS: u32 = 40;

/// What a packet carries.
pub enum Payload {
    Data(Segment),
    Ack(Ack),
}

/// One end of a connection.
pub enum Host {
    /// It sends without end, from a time on.
    Sender { config: Rc<TcpConfig>, sender: Box<Sender>, start: Option<Instant> },
    /// It has received so many bytes of data.
    Receiver { config: Rc<TcpConfig>, receiver: Box<Receiver>, received: u64 },
}

/// A sender that starts at a time, and its receiver.
pub fn pair(start: Instant) -> (Host, Host) {
    let config: Rc<TcpConfig> = Rc::new(defaults(TcpConfig::PARAMETERS));
    let control = ControlConfig::Cubic(defaults(CubicConfig::PARAMETERS));
    let control = control.build(Start { window: config.initial_window.0 as f64, ..Start::NEW });
    let mut sender = Box::new(Sender::new(&config, control, 1, Instant::ZERO));
    sender.supply(ENDLESS);
    let receiver =
        Host::Receiver { config: config.clone(), receiver: Box::new(Receiver::new(1)), received: 0 };
    (Host::Sender { config, sender, start: Some(start) }, receiver)
}

impl Endpoint for Host {
    type Payload = Payload;

    fn on_packet(&mut self, now: Instant, packet: Datagram<Payload>, out: &mut Outbox<Payload>) {
        match (&mut *self, packet.payload) {
            (Self::Receiver { config, receiver, received }, Payload::Data(segment)) => {
                let reception = receiver.on_segment(config, now, &segment);
                *received += u64::from(BYTES - HEADERS) * u64::from(reception.fresh);
                acknowledge(out, reception.ack);
            }
            (Self::Sender { config, sender, .. }, Payload::Ack(ack)) => {
                sender.on_ack(config, now, &ack);
                self.send(now, out);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Outbox<Payload>) {
        match self {
            Self::Receiver { config, receiver, .. } => acknowledge(out, receiver.on_timer(config, now)),
            Self::Sender { config, sender, start } => {
                if start.take().is_none() {
                    sender.on_timer(config, now);
                }
                self.send(now, out);
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        let due = match self {
            Self::Receiver { receiver, .. } => receiver.deadline(),
            Self::Sender { start: Some(start), .. } => *start,
            Self::Sender { sender, .. } => sender.rto_deadline().min(sender.pacing_deadline()),
        };
        (due < Instant::MAX).then_some(due)
    }
}

impl Host {
    fn send(&mut self, now: Instant, out: &mut Outbox<Payload>) {
        let Self::Sender { config, sender, .. } = self else { return };
        while let Some(segment) = sender.poll_transmit(config, now) {
            out.send(Datagram { bytes: BYTES, ecn: Ecn::NotCapable, payload: Payload::Data(segment) });
        }
    }
}

fn acknowledge(out: &mut Outbox<Payload>, ack: Option<Ack>) {
    if let Some(ack) = ack {
        out.send(Datagram { bytes: HEADERS, ecn: Ecn::NotCapable, payload: Payload::Ack(ack) });
    }
}
