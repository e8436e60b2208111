//! The state that few segments look at: the segments out of order, the SACK blocks that report them, and the memory of
//! policies beside.

use super::ack_timeout::AckTimeout;
use super::held_back::HeldBack;
use super::window::Window;
use crate::ranges::{Range, RangeSet};
use crate::segment::{SackBlocks, NO_SACK};

/// The state that few segments look at.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Store {
    received: RangeSet,
    /// The blocks changed last, most recent first.
    recent: SackBlocks,
    pub(super) held_back: HeldBack,
    pub(super) window: Window,
    /// Where segments come slowly.
    pub(super) ack_timeout: AckTimeout,
    /// The time of the SYN, us, and of the way back of the answer to it; zero on a connection without a handshake.
    pub(super) syn: u32,
    pub(super) back: u32,
}

impl Store {
    /// Takes in packet `seq`, where `next` was the next one in order; `reports_blocks`: its block is remembered.
    /// Returns the next packet in order now, and whether this one is new.
    pub(super) fn accept(&mut self, next: u64, seq: u64, reports_blocks: bool) -> (u64, bool) {
        if seq == next {
            let Some(end) = self.received.take_front_at(seq + 1) else { return (seq + 1, true) };
            self.forget_below(end);
            return (end, true);
        }
        let mut fresh = false;
        let block = self.received.insert(Range { start: seq, end: seq + 1 }, |_| fresh = true);
        if reports_blocks {
            self.remember(block);
        }
        (next, fresh)
    }

    /// True if a packet waits for one before it.
    pub(super) fn has_holes(&self) -> bool {
        !self.received.is_empty()
    }

    /// One past the last packet that waits.
    pub(super) fn end(&self) -> u64 {
        self.received.end()
    }

    /// The blocks to report, the one changed last first.
    pub(super) fn blocks(&self) -> SackBlocks {
        self.recent
    }

    /// A new connection begins: nothing has arrived.
    pub(super) fn reopen(&mut self) {
        self.received.clear();
        (self.recent, self.held_back) = (NO_SACK, HeldBack::default());
    }

    /// A block has changed: it comes first, and those that it has taken in are none any more. RFC 2018 §4
    fn remember(&mut self, changed: Range) {
        let others =
            self.recent.into_iter().filter(|block| !(changed.start..changed.end).contains(&block.start));
        self.recent = first_of(std::iter::once(changed).chain(others));
    }

    /// All below `next` has arrived: what begins there is no block any more.
    fn forget_below(&mut self, next: u64) {
        self.recent = first_of(self.recent.into_iter().filter(|block| block.start >= next));
    }
}

/// The first blocks of these for which an ACK has room.
fn first_of(blocks: impl Iterator<Item = Range>) -> SackBlocks {
    let mut first = NO_SACK;
    for (place, block) in first.iter_mut().zip(blocks) {
        *place = block;
    }
    first
}
