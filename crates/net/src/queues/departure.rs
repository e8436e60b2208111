//! Queues that decide at a packet's departure: what is transmitted next, and what is dropped instead.
//!
//! When an accepted packet leaves is not known at its arrival, so a link with such a queue holds its packets and has to
//! be asked for the next one whenever it falls free ([`crate::link::Link::transmit`]): one event a packet more than the
//! queues that decide at arrival. What they cost is paid on their links only.

use crate::ecn::Ecn;
use crate::markers::Class;
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{ConfigError, Instant};
use rand_core::RngCore;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// When it came.
    pub arrived: Instant,
    /// Its size on the wire.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its class: within its flow's profile, or not.
    pub class: Class,
    /// Which flow it is of: the same number for the packets of one flow in one direction.
    pub flow: u32,
    /// Whoever drives the link knows the packet by this number.
    pub ticket: u32,
    /// Which of the link's counts its arrival is in: they start anew when the warm-up ends.
    pub period: u8,
    /// True if the queue has marked it (CE) at its arrival.
    pub marked: bool,
    /// The differentiated services code point (DSCP) of its flow, 0 to 63. RFC 2474
    pub dscp: u8,
}

/// The packet that is transmitted next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The packet.
    pub packet: Held,
    /// True if the queue marks it (CE).
    pub marked: bool,
}

/// A queue discipline that decides at departure. Packets it drops, at either call, go to the end of `lost`.
pub trait DepartureDiscipline {
    /// Its inner variables.
    const VARIABLES: &'static [Variable] = &[];

    /// A packet arrives. `beside` is what the link holds besides the queue: packets and bytes in transmission.
    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        random: &mut R,
        lost: &mut VecDeque<Held>,
    );

    /// The link is free: the packet to transmit now. `None`: none waits, or none may go yet.
    fn dequeue<R: RngCore>(
        &mut self,
        now: Instant,
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn>;

    /// How many packets wait.
    fn packets(&self) -> u64;

    /// If packets wait, and none may go yet: when to ask again. Told after [`dequeue`](Self::dequeue) has given none;
    /// it does not come nearer by arrivals.
    fn resumes(&self) -> Option<Instant> {
        None
    }

    /// Tells the values of its [inner variables](Self::VARIABLES), of those that have one now.
    fn read_variables(&self, _reader: &mut Reader<'_>) {}

    /// Refuses a configuration that contradicts itself.
    ///
    /// # Errors
    /// [`ConfigError`]: which key, what was found, what is accepted.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Packets that wait in order of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Held>,
    bytes: u64,
}

impl Fifo {
    pub(super) fn push(&mut self, packet: Held) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Held> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Held> {
        self.packets.iter()
    }

    pub(super) fn front(&self) -> Option<&Held> {
        self.packets.front()
    }

    pub(super) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The random stream of queues that must not draw from it.
#[cfg(test)]
pub(super) struct NoRandom;

#[cfg(test)]
impl RngCore for NoRandom {
    fn next_u32(&mut self) -> u32 {
        panic!("it draws a random number")
    }

    fn next_u64(&mut self) -> u64 {
        panic!("it draws a random number")
    }

    fn fill_bytes(&mut self, _: &mut [u8]) {
        panic!("it draws a random number")
    }
}
