//! Packets that wait at a link whose queue decides at departure: the link knows them by their tickets.

use crate::packet::Transit;

/// Packets by ticket.
#[derive(Debug, Default)]
pub struct WaitingPackets {
    places: Vec<Transit>,
    free: Vec<u32>,
}

impl WaitingPackets {
    /// Keeps a packet; its `hop` counts the link at which it waits. Returns its ticket.
    pub fn store(&mut self, transit: Transit) -> u32 {
        if let Some(ticket) = self.free.pop() {
            self.places[ticket as usize] = transit;
            return ticket;
        }
        self.places.push(transit);
        self.places.len() as u32 - 1
    }

    /// Gives a packet back; its ticket can be used again.
    pub fn take(&mut self, ticket: u32) -> Transit {
        self.free.push(ticket);
        self.places[ticket as usize]
    }
}
