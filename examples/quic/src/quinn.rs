//! quinn-proto: what is its own.

use quinn_proto as proto;

include!("host.rs");

fn endpoint(config: proto::EndpointConfig, server: Option<Arc<proto::ServerConfig>>) -> proto::Endpoint {
    proto::Endpoint::new(Arc::new(config), server, true, None)
}

fn set_control(transport: &mut proto::TransportConfig, control: &str) {
    use proto::congestion::{BbrConfig, CubicConfig};
    match control {
        "bbr" => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
        _ => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
    };
}

fn arrive(
    endpoint: &mut proto::Endpoint,
    at: std::time::Instant,
    from: SocketAddr,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(at, from, None, None, data, answer)
}

fn transmit(connection: &mut Connection, at: std::time::Instant, packet: &mut Vec<u8>) -> bool {
    connection.poll_transmit(at, 1, packet).is_some()
}

fn write(connection: &mut Connection, stream: StreamId, data: Bytes) -> usize {
    connection.send_stream(stream).write_chunks(&mut [data]).map_or(0, |written| written.bytes)
}

impl crypto::PacketKey for Null {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}
    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), crypto::CryptoError> {
        without_tag(payload);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl crypto::HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn crypto::AeadKey> {
        Box::new(Null)
    }
}

impl crypto::AeadKey for Null {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), crypto::CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], crypto::CryptoError> {
        Ok(data)
    }
}

impl crypto::Session for Session {
    session!();
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> crypto::Keys {
        keys()
    }
    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

impl crypto::ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, proto::ConnectError> {
        Ok(Box::new(Session::new(Side::Client, parameters)))
    }
}

impl crypto::ServerConfig for Null {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<crypto::Keys, crypto::UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0xA7; 16]
    }
    fn start_session(self: Arc<Self>, _: u32, parameters: &TransportParameters) -> Box<dyn crypto::Session> {
        Box::new(Session::new(Side::Server, parameters))
    }
}
