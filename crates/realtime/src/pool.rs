//! The memory of packets that are under way. A slot keeps its memory when its packet has left, so nothing is allocated
//! for a packet once as many have been under way at a time.

use crate::virtio::Partial;

/// A packet under way.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// From its IP header on.
    pub(crate) bytes: Vec<u8>,
    /// Where its checksum is to be completed.
    pub(crate) partial: Option<Partial>,
}

/// Packets by slot.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    slots: Vec<Stored>,
    free: Vec<u32>,
}

impl Pool {
    /// An empty packet, and its slot.
    pub(crate) fn take(&mut self) -> (u32, &mut Stored) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Stored::default());
            self.slots.len() as u32 - 1
        });
        let stored = &mut self.slots[slot as usize];
        stored.bytes.clear();
        (slot, stored)
    }

    /// A packet has left.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    pub(crate) fn get(&self, slot: u32) -> &Stored {
        &self.slots[slot as usize]
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Stored {
        &mut self.slots[slot as usize]
    }

    /// Packets under way.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
