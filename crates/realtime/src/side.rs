//! A host's device: what is read from it and written to it, and whose a packet is.

use crate::headers;
use crate::merge::Batch;
use crate::pool::Pool;
use crate::virtio;
use crate::EmulatorError;
use parshall_sim::Direction;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::{ioctl_fionbio, read, writev, Errno};
use std::io::IoSlice;
use std::net::Ipv4Addr;

/// A super-packet with its header, at most.
const MOST_BYTES: usize = virtio::BYTES + 65_535;

/// The addresses of a host: the flow number n has the one whose low 16 bits are n + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    network: u32,
    mask: u32,
}

impl Prefix {
    /// All addresses that begin with the first `bits` of this one; no more than 32.
    pub fn new(network: Ipv4Addr, bits: u32) -> Self {
        let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits)).unwrap_or(0);
        Self { network: u32::from(network) & mask, mask }
    }

    fn has(self, address: u32) -> bool {
        address & self.mask == self.network
    }
}

/// A host: the file descriptor of its TUN device, and its addresses.
#[derive(Debug)]
pub struct Side {
    device: OwnedFd,
    prefix: Prefix,
    buffer: Box<[u8]>,
}

/// A pair of hosts: those that send and those that receive of some flows. All pairs have the same addresses.
#[derive(Debug)]
pub struct Pair {
    /// Whose packets go forward.
    pub senders: Side,
    /// Whose packets go back.
    pub receivers: Side,
}

impl Pair {
    /// The host from which packets of this direction come, and the one to which they go.
    pub(crate) fn ends(&mut self, direction: Direction) -> (&mut Side, &Side) {
        match direction {
            Direction::Forward => (&mut self.senders, &self.receivers),
            Direction::Reverse => (&mut self.receivers, &self.senders),
        }
    }
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Whole,
    /// The device had no room.
    Full,
    Failed,
}

impl Side {
    /// A device that was opened with `IFF_TUN | IFF_NO_PI | IFF_VNET_HDR`, and behind which these addresses are.
    pub fn new(device: OwnedFd, prefix: Prefix) -> Self {
        Self { device, prefix, buffer: vec![0; MOST_BYTES].into() }
    }

    /// Reads and writes of it wait no longer.
    pub(crate) fn prepare(&self, side: &'static str) -> Result<(), EmulatorError> {
        let refused = |source: Errno| EmulatorError::Device { side, source: source.into() };
        ioctl_fionbio(&self.device, true).map_err(refused)
    }

    /// To wait until something can be read of it.
    pub(crate) fn readable(&self) -> PollFd<'_> {
        PollFd::new(&self.device, PollFlags::IN)
    }

    /// The next packet, with its header; `None`: there is none now.
    pub(crate) fn read(&mut self) -> Result<Option<&[u8]>, Errno> {
        loop {
            match read(&self.device, &mut self.buffer[..]) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(None),
                Ok(bytes) => return Ok(Some(&self.buffer[..bytes])),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes packets that belong together.
    pub(crate) fn write(&self, pool: &Pool, batch: &Batch) -> Written {
        batch.write(pool, |pieces| self.write_all(pieces))
    }

    /// Writes one packet, the header of the device before it.
    pub(crate) fn write_one(&self, packet: &[u8]) -> Written {
        self.write_all(&[IoSlice::new(packet)])
    }

    fn write_all(&self, pieces: &[IoSlice<'_>]) -> Written {
        loop {
            match writev(&self.device, pieces) {
                Ok(_) => return Written::Whole,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) => return Written::Full,
                Err(_) => return Written::Failed,
            }
        }
    }
}

/// The addresses of all hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses {
    senders: Prefix,
    receivers: Prefix,
    flows: u32,
}

impl Addresses {
    pub(crate) fn of(pair: &Pair, flows: u32) -> Self {
        Self { senders: pair.senders.prefix, receivers: pair.receivers.prefix, flows }
    }

    /// The host of a flow whose packets go in this direction, and the one that it speaks with.
    pub(crate) fn of_flow(&self, flow: u32, direction: Direction) -> (u32, u32) {
        let (from, to) = self.ends(direction);
        (from.network | (flow + 1), to.network | (flow + 1))
    }

    /// Those that send packets in this direction, and those that receive them.
    fn ends(&self, direction: Direction) -> (Prefix, Prefix) {
        match direction {
            Direction::Forward => (self.senders, self.receivers),
            Direction::Reverse => (self.receivers, self.senders),
        }
    }

    /// The flow of a packet that goes in this direction, from its sender's address; `None`: it belongs to none.
    pub(crate) fn flow(&self, packet: &[u8], direction: Direction) -> Option<u32> {
        let (from, to) = self.ends(direction);
        let source = headers::source(packet);
        let is_ours = from.has(source) && to.has(headers::destination(packet));
        let flow = (source & 0xffff).checked_sub(1).filter(|_| is_ours)?;
        (flow < self.flows).then_some(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{super_packet, SuperPacket};
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn the_address_says_the_flow() {
        let side = |network| Side::new(UnixDatagram::unbound().unwrap().into(), Prefix::new(network, 16));
        let (senders, receivers) = (side([10, 1, 0, 0].into()), side([10, 2, 9, 9].into()));
        let addresses = Addresses::of(&Pair { senders, receivers }, 1000);
        let flow = |from, to, direction| {
            let packet = super_packet(&SuperPacket { ends: (from, to), ..SuperPacket::default() });
            addresses.flow(&packet[virtio::BYTES..], direction)
        };
        let (forward, reverse) = (Direction::Forward, Direction::Reverse);
        assert_eq!(flow([10, 1, 0, 1], [10, 2, 0, 1], forward), Some(0));
        assert_eq!(flow([10, 1, 3, 0xe8], [10, 2, 0, 7], forward), Some(999));
        assert_eq!(flow([10, 2, 1, 0], [10, 1, 0, 7], reverse), Some(255));
        assert_eq!(flow([10, 1, 3, 0xe9], [10, 2, 0, 7], forward), None, "there are 1000");
        assert_eq!(flow([10, 1, 0, 0], [10, 2, 0, 1], forward), None);
        assert_eq!(flow([10, 2, 0, 1], [10, 1, 0, 1], forward), None, "it came from the other side");
        assert_eq!(flow([10, 1, 0, 1], [10, 3, 0, 1], forward), None);
    }
}
