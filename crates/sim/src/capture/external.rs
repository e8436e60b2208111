//! Packets from outside: their headers are their own.
//!
//! Whoever hands a packet in shows its first bytes before ([`Captures::show`]). They are kept by the packet's slot, as
//! long as the slot is the packet's.

use super::frame::Frame;
use super::route::ExternalRoute;
use super::{Captures, Wires};
use crate::groups::{Direction, ExternalGroup};
use parshall_engine::{Flags, Packet};
use parshall_units::Instant;

/// The knowledge of packets from outside.
#[derive(Debug, Default)]
pub(super) struct External {
    routes: Vec<ExternalRoute>,
    /// By slot.
    shown: Vec<Frame>,
}

impl Captures {
    /// The next group of flows of packets from outside.
    pub(crate) fn add_external_group(&mut self, wires: &Wires<'_>, group: &ExternalGroup) {
        self.external.routes.push(ExternalRoute::new(wires, group));
    }

    /// The packet that has this slot from now on: how it begins, and how long it is.
    pub(crate) fn show(&mut self, slot: u32, beginning: &[u8], wire_bytes: u32) {
        let slot = slot as usize;
        let shown = &mut self.external.shown;
        if shown.len() <= slot {
            shown.resize(slot + 1, Frame::of_bytes(&[], 0));
        }
        shown[slot] = Frame::of_bytes(beginning, wire_bytes);
    }

    /// A packet has crossed a link of its path and reaches its end `at`.
    pub(crate) fn external(
        &mut self,
        (group, direction): (u32, Direction),
        hop: usize,
        at: Instant,
        (packet, slot): (&Packet, u32),
    ) {
        let route = &self.external.routes[group as usize];
        let hops = match direction {
            Direction::Forward => &route.forth,
            Direction::Reverse => &route.back,
        };
        if hops[hop].is_captured() {
            let mut frame = self.external.shown[slot as usize].clone();
            if packet.flags().has(Flags::CONGESTION_EXPERIENCED) {
                frame.mark();
            }
            self.files.keep(&hops[hop], at, &frame);
        }
    }

    /// A packet comes `at` to the receiver's end of an uncontended way back, on which it passes the links of the way there.
    pub(crate) fn external_passes(&mut self, group: u32, at: Instant, slot: u32) {
        for &(file, after) in &self.external.routes[group as usize].passed {
            self.files.keep_one(file, at + after, &self.external.shown[slot as usize]);
        }
    }
}
