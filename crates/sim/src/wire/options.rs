//! Options that few ACKs carry, kept while they are under way on contended links: SACK blocks, the window that goes
//! with them, and a timestamp that somebody reads.

use parshall_tcp::segment::{NO_SACK, NO_WINDOW};
use parshall_tcp::{Ack, SackBlocks};
use parshall_units::Instant;

/// Options that few ACKs carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckOptions {
    pub(crate) sack: SackBlocks,
    pub(crate) window: u32,
    /// When the ACK was sent; [`Instant::ZERO`] if nobody reads it.
    pub(crate) sent: Instant,
}

impl AckOptions {
    /// Of an ACK that takes no slot.
    const NONE: Self = Self { sack: NO_SACK, window: NO_WINDOW, sent: Instant::ZERO };
}

/// The options of ACKs that are under way on contended links.
#[derive(Debug, Default)]
pub(crate) struct AckSlots {
    slots: Vec<AckOptions>,
    free: Vec<u32>,
}

/// An ACK without them takes no slot.
const NO_SLOT: u32 = u32::MAX;

impl AckSlots {
    /// `timed`: somebody reads when the ACK was sent.
    pub(crate) fn store(&mut self, ack: &Ack, timed: bool) -> u32 {
        if ack.sack[0].is_empty() && !timed {
            return NO_SLOT;
        }
        self.store_any(ack)
    }

    /// Takes a slot, whatever it is for: an ACK that is captured has a number of its own.
    pub(crate) fn store_any(&mut self, ack: &Ack) -> u32 {
        let options = AckOptions { sack: ack.sack, window: ack.window, sent: ack.sent };
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = options;
            return slot;
        }
        self.slots.push(options);
        self.slots.len() as u32 - 1
    }

    /// Reads a slot.
    pub(crate) fn read(&self, slot: u32) -> AckOptions {
        self.slots.get(slot as usize).copied().unwrap_or(AckOptions::NONE)
    }

    /// Reads a slot and frees it.
    pub(crate) fn take(&mut self, slot: u32) -> AckOptions {
        if slot == NO_SLOT {
            return AckOptions::NONE;
        }
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
