//! The traffic between the network and the outside: packets that come, packets that are due, packets that were lost.

use crate::groups::Direction;
use parshall_net::ecn::Ecn;
use parshall_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet that comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its flow, counted among the external flows in the order of the scenario.
    pub flow: u32,
    /// Where it goes.
    pub direction: Direction,
    /// Its size: the length of the IP packet, header included.
    pub bytes: u32,
    /// The ECN codepoint of its IP header.
    pub ecn: Ecn,
    /// The DSCP of its IP header: 0 to 63.
    pub dscp: u8,
    /// By which the caller knows it again.
    pub slot: u32,
}

/// A packet that has reached its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it is due.
    pub at: Instant,
    /// Its flow, as in [`Arrival`].
    pub flow: u32,
    /// Where it was going.
    pub direction: Direction,
    /// As in [`Arrival`].
    pub slot: u32,
    /// True if a queue marked it: its ECN codepoint becomes CE (RFC 3168 §5).
    pub marked: bool,
}

/// The packets that are to go out.
#[derive(Default)]
pub(crate) struct Outside {
    /// Packets by the time when they are due; of those at the same time, in the order in which their last link passed them.
    due: BinaryHeap<Reverse<Due>>,
    passed: u64,
    lost: Vec<u32>,
}

/// A packet that has passed its last link. The order is that of time, then of passing: no two have the same number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Instant,
    passed: u64,
    slot: u32,
    flow: u32,
    direction: Direction,
    marked: bool,
}

impl Outside {
    /// A packet will be due.
    pub(super) fn push(&mut self, Delivery { at, flow, direction, slot, marked }: Delivery) {
        self.passed += 1;
        self.due.push(Reverse(Due { at, passed: self.passed, slot, flow, direction, marked }));
    }

    /// A packet was lost.
    pub(super) fn lose(&mut self, slot: u32) {
        self.lost.push(slot);
    }

    /// When the next packet is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse(next)| next.at)
    }

    /// The next packet, if it is due by then.
    pub(crate) fn take(&mut self, by: Instant) -> Option<Delivery> {
        self.next().filter(|&at| at <= by)?;
        let Reverse(Due { at, slot, flow, direction, marked, .. }) = self.due.pop()?;
        Some(Delivery { at, flow, direction, slot, marked })
    }

    /// A packet that was lost.
    pub(crate) fn take_lost(&mut self) -> Option<u32> {
        self.lost.pop()
    }
}
