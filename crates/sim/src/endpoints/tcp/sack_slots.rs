//! Where the SACK blocks of ACKs are kept that are under way on contended links: few ACKs carry any.

use parshall_tcp::segment::NO_SACK;
use parshall_tcp::SackBlocks;

/// SACK blocks of ACKs that are under way on contended links.
#[derive(Debug, Default)]
pub(crate) struct SackSlots {
    slots: Vec<SackBlocks>,
    free: Vec<u32>,
}

/// An ACK without blocks takes no slot.
const NO_SLOT: u32 = u32::MAX;

impl SackSlots {
    pub(crate) fn store(&mut self, blocks: &SackBlocks) -> u32 {
        if blocks[0].is_empty() {
            return NO_SLOT;
        }
        self.store_any(blocks)
    }

    /// Takes a slot, with blocks or without: an ACK that is captured has a number of its own.
    pub(crate) fn store_any(&mut self, blocks: &SackBlocks) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = *blocks;
            return slot;
        }
        self.slots.push(*blocks);
        self.slots.len() as u32 - 1
    }

    /// Reads a slot.
    pub(crate) fn read(&self, slot: u32) -> SackBlocks {
        self.slots.get(slot as usize).copied().unwrap_or(NO_SACK)
    }

    /// Reads a slot and frees it.
    pub(crate) fn take(&mut self, slot: u32) -> SackBlocks {
        if slot == NO_SLOT {
            return NO_SACK;
        }
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
