//! The simulator numbers packets, TCP numbers bytes. The two differ by the last packet of each transfer, which may be shorter,
//! and by the numbers that connections begin with.
//!
//! A flow's packets stay in order on every link, and a transfer begins after all of the one before it has arrived. So when a
//! packet passes a link, what it belongs to is the newest transfer or one of the two before: more are not remembered.

use std::collections::VecDeque;

/// The transfers that packets under way may belong to.
const REMEMBERED: usize = 3;

/// The first of the ports that connections take in turn: those for use without registration, RFC 6335 §6.
pub(super) const FIRST_PORT: u16 = 49_152;

/// How many there are.
const PORTS: u32 = 65_536 - FIRST_PORT as u32;

/// Where a packet stands in its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The connection's port at the sender.
    pub(crate) port: u16,
    /// Bytes of the connection before the packet.
    pub(crate) byte: u64,
}

/// Bytes for the packets of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    transfers: VecDeque<Transfer>,
    connections: u32,
}

#[derive(Clone, Copy, Debug)]
struct Transfer {
    /// Number of its first packet.
    first: u64,
    /// Its size; `None`: without end.
    bytes: Option<u64>,
    begins: Position,
}

impl Transfer {
    fn position(&self, packet: u64, payload: u32) -> Position {
        let byte = packet.saturating_sub(self.first) * u64::from(payload);
        Position { byte: self.begins.byte + self.bytes.map_or(byte, |bytes| bytes.min(byte)), ..self.begins }
    }
}

impl Numbering {
    /// A transfer begins with packet `first`, on a connection of its own or on the one that lives on.
    pub(crate) fn begin(&mut self, first: u64, bytes: Option<u64>, own_connection: bool) {
        let begins = match self.transfers.back() {
            Some(Transfer { begins, bytes: Some(bytes), .. }) if !own_connection => {
                Position { byte: begins.byte + bytes, ..*begins }
            }
            _ => {
                let port = FIRST_PORT + (self.connections % PORTS) as u16;
                self.connections += 1;
                Position { port, byte: 0 }
            }
        };
        if self.transfers.len() == REMEMBERED {
            self.transfers.pop_front();
        }
        self.transfers.push_back(Transfer { first, bytes, begins });
    }

    /// The last transfer, which began without an end, has so many bytes.
    pub(crate) fn end(&mut self, bytes: u64) {
        if let Some(transfer) = self.transfers.back_mut() {
            transfer.bytes = Some(bytes);
        }
    }

    /// Where packet `number` begins, with `payload` bytes in a full one.
    pub(crate) fn position(&self, number: u64, payload: u32) -> Position {
        let known = self.transfers.iter().rev().find(|transfer| transfer.first <= number);
        let transfer = known.or(self.transfers.front());
        transfer.map_or(Position { port: FIRST_PORT, byte: 0 }, |transfer| transfer.position(number, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_lives_on_has_no_gaps_where_its_transfers_end() {
        let mut numbering = Numbering::default();
        numbering.begin(1, Some(2500), true); // packets 1 to 3, of which the last has 500 bytes
        numbering.begin(4, Some(1000), false);
        numbering.begin(5, None, false);
        let bytes: Vec<u64> = (1..=7).map(|number| numbering.position(number, 1000).byte).collect();
        assert_eq!(bytes, [0, 1000, 2000, 2500, 3500, 4500, 5500]);
        assert_eq!(numbering.position(7, 1000).port, FIRST_PORT);
    }

    #[test]
    fn a_transfer_that_ends_with_its_time_is_followed_on_its_connection() {
        let mut numbering = Numbering::default();
        numbering.begin(1, None, true);
        numbering.end(3000); // packets 1 to 3
        numbering.begin(4, None, false);
        let fourth = numbering.position(4, 1000);
        assert_eq!(fourth, Position { port: FIRST_PORT, byte: 3000 });
    }

    #[test]
    fn each_connection_has_a_port_and_begins_at_zero() {
        let mut numbering = Numbering::default();
        numbering.begin(1, Some(2500), true);
        numbering.begin(5, Some(3000), true); // 4 is the acknowledgement of the first, and no packet
        let end = numbering.position(4, 1000);
        assert_eq!(end, Position { port: FIRST_PORT, byte: 2500 });
        assert_eq!(numbering.position(5, 1000), Position { port: FIRST_PORT + 1, byte: 0 });
        assert_eq!(numbering.position(8, 1000).byte, 3000);
        for number in 0..PORTS - 2 {
            numbering.begin(u64::from(10 + number), Some(0), true);
        }
        numbering.begin(1 << 20, Some(0), true);
        assert_eq!(numbering.position(1 << 20, 1000).port, FIRST_PORT, "they are taken in turn");
    }
}
