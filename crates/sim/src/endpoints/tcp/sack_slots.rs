//! What few ACKs carry, kept while they are under way on contended links: SACK blocks, and a timestamp that somebody reads.

use parshall_tcp::segment::NO_SACK;
use parshall_tcp::SackBlocks;
use parshall_units::Instant;

/// SACK blocks and timestamps of ACKs that are under way on contended links.
#[derive(Debug, Default)]
pub(crate) struct SackSlots {
    slots: Vec<(SackBlocks, Instant)>,
    free: Vec<u32>,
}

/// An ACK without them takes no slot.
const NO_SLOT: u32 = u32::MAX;

impl SackSlots {
    /// `timed`: somebody reads when the ACK was sent.
    pub(crate) fn store(&mut self, blocks: &SackBlocks, sent: Instant, timed: bool) -> u32 {
        if blocks[0].is_empty() && !timed {
            return NO_SLOT;
        }
        self.store_any(blocks, sent)
    }

    /// Takes a slot, whatever it is for: an ACK that is captured has a number of its own.
    pub(crate) fn store_any(&mut self, blocks: &SackBlocks, sent: Instant) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = (*blocks, sent);
            return slot;
        }
        self.slots.push((*blocks, sent));
        self.slots.len() as u32 - 1
    }

    /// Reads the blocks of a slot.
    pub(crate) fn read(&self, slot: u32) -> SackBlocks {
        self.slots.get(slot as usize).map_or(NO_SACK, |(blocks, _)| *blocks)
    }

    /// Reads a slot and frees it: blocks, and when the ACK was sent, or [`Instant::ZERO`] if it has no slot.
    pub(crate) fn take(&mut self, slot: u32) -> (SackBlocks, Instant) {
        if slot == NO_SLOT {
            return (NO_SACK, Instant::ZERO);
        }
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
