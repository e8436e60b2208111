//! Which captures see the packets of a group, and what their headers have in common.

use super::{Ends, Wires};
use crate::groups::{DatagramGroup, ExternalGroup, Role, TcpGroup};
use etherparse::{IpDscp, TcpHeader, TcpOptionElement};
use parshall_net::ecn::Ecn;
use parshall_net::markers::MarkerConfig;
use parshall_tcp::policies::ReceiveBuffer;
use parshall_tcp::segment::NO_WINDOW;
use parshall_tcp::Ack;
use parshall_units::Duration;

/// A link of a path.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    pub(super) delay: Duration,
    /// The capture of the link itself, which sees what leaves.
    pub(super) leaving: Option<u32>,
    /// Those of the links beside it in the other direction, which see what arrives.
    pub(super) arriving: Vec<u32>,
    pub(super) is_last: bool,
}

impl Hop {
    pub(super) fn is_captured(&self) -> bool {
        self.leaving.is_some() || !self.arriving.is_empty()
    }
}

/// The common fields of the TCP flows of a group.
#[derive(Debug)]
pub(super) struct TcpRoute {
    /// Its place among the groups of the scenario.
    pub(super) number: u32,
    pub(super) forth: Vec<Hop>,
    pub(super) back: Vec<Hop>,
    /// Captures that ACKs of an uncontended way back pass, and how long after the propagation segment at the receiver.
    pub(super) passed: Vec<(u32, Duration)>,
    pub(super) header_bytes: u32,
    /// Bytes of data in a full packet.
    pub(super) payload: u32,
    pub(super) ack_bytes: u32,
    pub(super) ecn: Ecn,
    pub(super) dscp: IpDscp,
    pub(super) marked: bool,
    /// Data goes from the group's receiver to the flow's sender: requests of an exchange.
    back_to_sender: bool,
    timestamps: bool,
    sack: bool,
    /// Window of the receiver, in units of two to the power of the scale.
    window: u16,
    scale: u8,
}

/// The common fields of the datagram flows of a group.
#[derive(Debug)]
pub(super) struct DatagramRoute {
    pub(super) number: u32,
    pub(super) forth: Vec<Hop>,
    pub(super) header_bytes: u32,
    pub(super) dscp: IpDscp,
    pub(super) marked: bool,
}

/// The common fields of a group's flows from outside.
#[derive(Debug)]
pub(super) struct ExternalRoute {
    pub(super) forth: Vec<Hop>,
    pub(super) back: Vec<Hop>,
    /// As of TCP.
    pub(super) passed: Vec<(u32, Duration)>,
}

/// A DSCP as the IP header has it.
fn codepoint(dscp: u8) -> IpDscp {
    IpDscp::try_new(dscp).unwrap_or_default()
}

/// The largest shift of a window. RFC 7323 §2.3
const MOST_SCALE: u8 = 14;
/// Linux's for receive buffers of up to 32 MiB, its default (`tcp_select_initial_window`).
const LINUX_SCALE: u8 = 10;

impl TcpRoute {
    pub(super) fn new(wires: &Wires<'_>, group: &TcpGroup) -> Self {
        let (forth, back) = (&group.path, &group.reverse_path);
        let payload = group.payload_bytes();
        let (window, scale) = match (group.tcp.receive_window, group.tcp.rules.receive_buffer) {
            (None, ReceiveBuffer::Linux) => (u16::MAX, LINUX_SCALE),
            (limit, _) => scaled(limit.map(|packets| packets.0 * u64::from(payload))),
        };
        Self {
            number: group.number,
            forth: hops(wires, forth, back),
            back: hops(wires, back, forth),
            passed: if back.is_empty() { passed(wires, forth) } else { Vec::new() },
            header_bytes: group.header_bytes,
            payload,
            ack_bytes: group.tcp.ack_size.0 as u32,
            ecn: group.ecn,
            dscp: codepoint(group.dscp),
            marked: group.marker.build().is_some(),
            back_to_sender: group.role == Some(Role::Client),
            timestamps: group.tcp.timestamps,
            sack: group.tcp.recovery.uses_sack(),
            window,
            scale,
        }
    }

    /// The addresses of a flow's data.
    pub(super) fn ends(&self, flow: u32) -> Ends {
        let ends = Ends::of(flow, self.number);
        if self.back_to_sender {
            ends.back()
        } else {
            ends
        }
    }

    /// The window field of an ACK; of a SYN it is not scaled.
    pub(super) fn window(&self, ack: &Ack) -> u16 {
        if ack.syn {
            u16::try_from(u64::from(self.window) << self.scale).unwrap_or(u16::MAX)
        } else if ack.window == NO_WINDOW {
            self.window
        } else {
            let bytes = u64::from(ack.window) * u64::from(self.payload);
            self.window.min(field(bytes, self.scale))
        }
    }

    pub(super) fn set_options(
        &self,
        header: &mut TcpHeader,
        timestamp: u32,
        echo: u32,
        sack: Option<TcpOptionElement>,
    ) {
        use TcpOptionElement::{
            MaximumSegmentSize, Noop, SelectiveAcknowledgementPermitted, Timestamp, WindowScale,
        };
        let mut options: Vec<TcpOptionElement> = Vec::with_capacity(8);
        if header.syn {
            options.push(MaximumSegmentSize(u16::try_from(self.payload).unwrap_or(u16::MAX)));
            if self.sack {
                options.extend([Noop, Noop, SelectiveAcknowledgementPermitted]);
            }
            options.extend([Noop, WindowScale(self.scale)]);
        }
        if self.timestamps {
            options.extend([Noop, Noop, Timestamp(timestamp, echo)]);
        }
        if let Some(blocks) = sack {
            options.extend([Noop, Noop, blocks]);
        }
        header.set_options(&options).unwrap_or_else(|_| unreachable!("40 bytes at most: 12, and 28 of SACK"));
    }
}

/// The sequence number of a byte. A connection's SYN is 0, its first byte 1.
pub(super) fn sequence(byte: u64, syn: bool) -> u32 {
    (byte as u32).wrapping_add(u32::from(!syn))
}

impl DatagramRoute {
    pub(super) fn new(wires: &Wires<'_>, group: &DatagramGroup) -> Self {
        Self {
            number: group.number,
            forth: hops(wires, &group.path, &[]),
            header_bytes: group.header_bytes,
            dscp: codepoint(group.dscp),
            marked: !matches!(group.marker, MarkerConfig::None(_)),
        }
    }
}

impl ExternalRoute {
    pub(super) fn new(wires: &Wires<'_>, group: &ExternalGroup) -> Self {
        let (forth, back) = (&group.path, &group.reverse_path);
        Self {
            forth: hops(wires, forth, back),
            back: hops(wires, back, forth),
            passed: if back.is_empty() { passed(wires, forth) } else { Vec::new() },
        }
    }
}

/// The hops of a path whose other direction is `other`.
fn hops(wires: &Wires<'_>, path: &[u32], other: &[u32]) -> Vec<Hop> {
    let hops = path.iter().enumerate().map(|(index, &link)| {
        let beside = other.iter().enumerate().filter(|&(hop, _)| beside(hop, path.len()) == index);
        Hop {
            delay: wires.delays[link as usize],
            leaving: wires.file_of[link as usize],
            arriving: beside.filter_map(|(_, &link)| wires.file_of[link as usize]).collect(),
            is_last: index + 1 == path.len(),
        }
    });
    hops.collect()
}

/// Which hop of a path of `length` links lies beside a hop of the other direction: counted from the other end.
fn beside(hop: usize, length: usize) -> usize {
    length - 1 - hop.min(length - 1)
}

/// When ACKs pass the links of the way there, on an uncontended way back of the same length.
fn passed(wires: &Wires<'_>, path: &[u32]) -> Vec<(u32, Duration)> {
    let mut after = Duration::ZERO;
    let mut passed = Vec::new();
    for &link in path.iter().rev() {
        after += wires.delays[link as usize];
        passed.extend(wires.file_of[link as usize].map(|file| (file, after)));
    }
    passed
}

/// The field and the scale of a window of so many bytes, rounded up; without a limit, the largest there is.
fn scaled(bytes: Option<u64>) -> (u16, u8) {
    let Some(bytes) = bytes else { return (u16::MAX, MOST_SCALE) };
    let scale = (0..MOST_SCALE).find(|&scale| u16::try_from(bytes.div_ceil(1 << scale)).is_ok());
    let scale = scale.unwrap_or(MOST_SCALE);
    (field(bytes, scale), scale)
}

/// The field of so many bytes, rounded up, or the largest there is.
fn field(bytes: u64, scale: u8) -> u16 {
    u16::try_from(bytes.div_ceil(1 << scale)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lie_beside_each_other_from_end_to_end() {
        let sides = |hops: usize, length| (0..hops).map(|hop| beside(hop, length)).collect::<Vec<_>>();
        assert_eq!(sides(3, 3), [2, 1, 0]);
        assert_eq!(sides(3, 1), [0, 0, 0]);
        assert_eq!(sides(1, 3), [2]);
    }

    #[test]
    fn windows_are_scaled_no_more_than_they_must() {
        assert_eq!(scaled(Some(65_535)), (65_535, 0));
        assert_eq!(scaled(Some(65_536)), (32_768, 1));
        assert_eq!(scaled(Some(1_000_001)), (62_501, 4));
        assert_eq!(scaled(Some(1 << 40)), (65_535, 14));
        assert_eq!(scaled(None), (65_535, 14));
    }
}
