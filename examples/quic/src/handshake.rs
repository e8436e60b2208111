//! A handshake without cryptography: each side sends its transport parameters, then a byte that says that it has those
//! of the other.

/// What a stack's session does with it.
pub struct Handshake {
    is_server: bool,
    /// This side's transport parameters, as bytes.
    parameters: Vec<u8>,
    received: Vec<u8>,
    has_parameters: bool,
    has_last: bool,
    flights: u8,
    pub is_done: bool,
}

/// What a session does after writing.
#[derive(PartialEq, Eq)]
pub enum Keys {
    /// It has nothing more to say at this level.
    None,
    /// It goes on with the keys of the next level.
    Next,
}

impl Handshake {
    pub fn new(is_server: bool, parameters: Vec<u8>) -> Self {
        let received = Vec::new();
        Self {
            is_server,
            parameters,
            received,
            has_parameters: false,
            has_last: false,
            flights: 0,
            is_done: false,
        }
    }

    /// Bytes arrive; returns the other side's parameters once they are complete.
    pub fn read(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.received.extend_from_slice(bytes);
        if self.has_parameters {
            self.has_last |= !self.received.is_empty();
            self.received.clear();
            self.is_done |= self.has_last && self.is_server;
            return None;
        }
        let [high, low, rest @ ..] = &self.received[..] else { return None };
        let parameters = rest.get(..usize::from(u16::from_be_bytes([*high, *low])))?.to_vec();
        self.received.drain(..2 + parameters.len());
        self.has_parameters = true;
        Some(parameters)
    }

    /// Writes what is to be sent now.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Keys {
        let flight = (self.is_server, self.flights);
        match flight {
            (false, 0) => self.write_parameters(out),
            (true, 0) if self.has_parameters => self.write_parameters(out),
            (false, 1) if self.has_parameters => {}
            (true, 1) => out.push(1),
            (false, 2) if self.has_last => {
                out.push(1);
                self.is_done = true;
            }
            _ => return Keys::None,
        }
        self.flights += 1;
        if flight == (false, 0) {
            Keys::None
        } else {
            Keys::Next
        }
    }

    fn write_parameters(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.parameters.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.parameters);
    }
}
