// A host with a QUIC stack: the same code for each, which includes it and says in a few functions what differs.

use crate::clock::Clock;
use crate::handshake::{Handshake, Keys};
use bytes::{Bytes, BytesMut};
use parshall_engine::{Datagram, Endpoint, Instant, Outbox};
use parshall_net::ecn::Ecn;
use proto::transport_parameters::TransportParameters;
use proto::{
    crypto, Connection, ConnectionEvent, ConnectionHandle, ConnectionId, DatagramEvent, Dir, Event, Side,
    StreamId,
};
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;

/// The headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// A client that sends without end, or the server that takes it.
pub struct Host {
    endpoint: proto::Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Of a client: how it begins to connect, and the stream that it fills.
    begins: Option<proto::ClientConfig>,
    stream: Option<StreamId>,
    /// Payload that has reached the server's application, bytes.
    pub received: u64,
    clock: Clock,
    wake: Option<Instant>,
}

fn peer() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 1))
}

/// A client that starts at a time, and its server.
pub fn pair(number: u32, start: Instant, control: &str) -> (Host, Host) {
    let transport = Arc::new(transport(control));
    let mut client = proto::ClientConfig::new(Arc::new(Null));
    client.transport_config(transport.clone());
    let mut server = proto::ServerConfig::new(Arc::new(Null), Arc::new(Null));
    server.transport_config(transport);
    let host = |server: Option<proto::ServerConfig>, begins, wake| {
        let mut config = proto::EndpointConfig::new(Arc::new(Null));
        let mut seed = [server.is_some() as u8; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        config.rng_seed(Some(seed));
        let endpoint = endpoint(config, server.map(Arc::new));
        let (connection, stream, clock) = (None, None, Clock::new());
        Host { endpoint, connection, begins, stream, received: 0, clock, wake }
    };
    (host(None, Some(client), Some(start)), host(Some(server), None, None))
}

/// The stack's defaults, but for windows that limit nothing and packets of one size.
fn transport(control: &str) -> proto::TransportConfig {
    let mut transport = proto::TransportConfig::default();
    let unlimited = proto::VarInt::from_u32(1 << 30);
    transport
        .mtu_discovery_config(None)
        .initial_mtu(1452)
        .enable_segmentation_offload(false)
        .receive_window(unlimited)
        .stream_receive_window(unlimited)
        .send_window(1 << 30)
        .max_idle_timeout(None);
    set_control(&mut transport, control);
    transport
}

impl Endpoint for Host {
    type Payload = Vec<u8>;

    fn on_packet(&mut self, now: Instant, packet: Datagram<Vec<u8>>, out: &mut Outbox<Vec<u8>>) {
        let (at, mut answer) = (self.clock.at(now), Vec::new());
        let data = BytesMut::from(&packet.payload[..]);
        match arrive(&mut self.endpoint, at, peer(), data, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, at, &mut answer, None);
                self.connection =
                    Some(accepted.unwrap_or_else(|error| panic!("not accepted: {:?}", error.cause)));
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.tell(event),
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.act(now, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Outbox<Vec<u8>>) {
        let at = self.clock.at(now);
        if let Some(config) = self.begins.take() {
            let connected = self.endpoint.connect(at, config, peer(), "server");
            self.connection = Some(connected.expect("a configuration that connects"));
        } else if let Some((_, connection)) = &mut self.connection {
            if connection.poll_timeout().is_some_and(|due| due <= at) {
                connection.handle_timeout(at);
            }
        }
        self.act(now, out);
    }

    fn next(&self) -> Option<Instant> {
        self.wake
    }
}

impl Host {
    fn tell(&mut self, event: ConnectionEvent) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_event(event);
        }
    }

    /// Does all that the connection asks for, and sends what it has to send.
    fn act(&mut self, now: Instant, out: &mut Outbox<Vec<u8>>) {
        let Some((handle, connection)) = &mut self.connection else { return };
        loop {
            while let Some(event) = connection.poll() {
                if matches!(event, Event::Connected) && connection.side().is_client() {
                    self.stream = connection.streams().open(Dir::Uni);
                }
            }
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(answer);
                }
            }
            if let Some(stream) = self.stream {
                while write(connection, stream, ZEROS.clone()) > 0 {}
            } else if connection.side().is_server() {
                self.received += read(connection);
            }
            let mut packet = Vec::with_capacity(2048);
            if !transmit(connection, self.clock.at(now), &mut packet) {
                break;
            }
            out.send(Datagram {
                bytes: (packet.len() + HEADERS) as u32,
                ecn: Ecn::NotCapable,
                payload: packet,
            });
        }
        self.wake = connection.poll_timeout().map(|at| self.clock.instant(at).max(now));
    }
}

/// What a client sends.
static ZEROS: Bytes = Bytes::from_static(&[0; 65536]);

/// Takes all that has arrived at a server, and returns how much.
fn read(connection: &mut Connection) -> u64 {
    while connection.streams().accept(Dir::Uni).is_some() {}
    let mut bytes = 0;
    let mut stream = connection.recv_stream(StreamId::new(Side::Client, Dir::Uni, 0));
    if let Ok(mut chunks) = stream.read(true) {
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            bytes += chunk.bytes.len() as u64;
        }
        let _ = chunks.finalize(); // the loop of `act` sends what credit asks for
    }
    bytes
}

/// Cryptography that changes nothing. Tags and tokens are not zero: a payload of zeros would look like a stateless
/// reset.
struct Null;

const TAG: usize = 16;

fn keys() -> crypto::Keys {
    let header = crypto::KeyPair { local: Box::new(Null) as _, remote: Box::new(Null) as _ };
    crypto::Keys { header, packet: packet_keys() }
}

fn packet_keys() -> crypto::KeyPair<Box<dyn crypto::PacketKey>> {
    crypto::KeyPair { local: Box::new(Null), remote: Box::new(Null) }
}

fn without_tag(payload: &mut BytesMut) {
    payload.truncate(payload.len().saturating_sub(TAG));
}

impl crypto::HeaderKey for Null {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}
    fn encrypt(&self, _: usize, _: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        TAG
    }
}

impl crypto::HmacKey for Null {
    fn sign(&self, _: &[u8], out: &mut [u8]) {
        out.fill(0xA7);
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), crypto::CryptoError> {
        Ok(())
    }
}

/// A side of the handshake.
struct Session {
    side: Side,
    handshake: Handshake,
    peer: Option<TransportParameters>,
}

impl Session {
    fn new(side: Side, parameters: &TransportParameters) -> Self {
        let mut bytes = Vec::new();
        parameters.write(&mut bytes);
        Self { side, handshake: Handshake::new(side.is_server(), bytes), peer: None }
    }

    fn read(&mut self, bytes: &[u8]) -> Result<bool, proto::TransportError> {
        let Some(parameters) = self.handshake.read(bytes) else { return Ok(false) };
        self.peer = Some(TransportParameters::read(self.side, &mut &parameters[..])?);
        Ok(true)
    }

    fn write(&mut self, out: &mut Vec<u8>) -> Option<crypto::Keys> {
        (self.handshake.write(out) == Keys::Next).then(keys)
    }
}

/// The functions of a session that are the same in all stacks.
macro_rules! session {
    () => {
        fn handshake_data(&self) -> Option<Box<dyn Any>> {
            None
        }
        fn peer_identity(&self) -> Option<Box<dyn Any>> {
            None
        }
        fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn crypto::PacketKey>)> {
            None
        }
        fn early_data_accepted(&self) -> Option<bool> {
            None
        }
        fn is_handshaking(&self) -> bool {
            !self.handshake.is_done
        }
        fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, proto::TransportError> {
            self.read(bytes)
        }
        fn transport_parameters(&self) -> Result<Option<TransportParameters>, proto::TransportError> {
            Ok(self.peer)
        }
        fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<crypto::Keys> {
            self.write(out)
        }
        fn next_1rtt_keys(&mut self) -> Option<crypto::KeyPair<Box<dyn crypto::PacketKey>>> {
            Some(packet_keys())
        }
        fn export_keying_material(
            &self,
            _: &mut [u8],
            _: &[u8],
            _: &[u8],
        ) -> Result<(), crypto::ExportKeyingMaterialError> {
            Ok(())
        }
    };
}
