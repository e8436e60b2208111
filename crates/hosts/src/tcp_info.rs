//! The kernel's state of a TCP socket: `struct tcp_info` of `linux/tcp.h` (tcp(7), TCP_INFO).
//!
//! The structure grows with the kernel, and what an older one does not have is `None`. Fields are read by their
//! offsets, which never change, from the bytes that the kernel wrote.

use crate::clock::Nanos;
use crate::sys;
use std::io;
use std::os::fd::BorrowedFd;

/// Loss recovery by fast retransmit, a value of `ca_state` (`TCP_CA_Recovery`).
pub(crate) const RECOVERY: u8 = 3;

/// After a retransmission timeout (`TCP_CA_Loss`).
pub(crate) const LOSS: u8 = 4;

/// Room for what kernels of today write (248 bytes), and for more.
const ROOM: usize = 512;

/// The kernel has no threshold as long as it is this or more (`TCP_INFINITE_SSTHRESH`).
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// A reading of a socket's state. Packets are segments of `mss` bytes of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    pub(crate) ca_state: u8,
    pub(crate) ecn: bool,
    pub(crate) mss: u32,
    pub(crate) unacked: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    /// Packets sent again that are neither acknowledged nor found lost again.
    pub(crate) retransmitted: u32,
    /// Smoothed RTT, microseconds; `None` before the first sample.
    pub(crate) srtt_us: Option<u32>,
    pub(crate) ssthresh: Option<u32>,
    pub(crate) cwnd: u32,
    /// SYNs too.
    pub(crate) retransmissions: u32,
    /// Bytes/s.
    pub(crate) pacing_rate: Option<u64>,
    /// Payload acknowledged. The kernel counts the sender's SYN as one byte, which is left out here.
    pub(crate) acked: Option<u64>,
    /// Payload that waits to be sent for the first time.
    pub(crate) unsent: Option<u32>,
    pub(crate) min_rtt_us: Option<u32>,
    /// Packets with data, sent for the first time or again.
    pub(crate) data_packets: Option<u32>,
    pub(crate) busy_us: Option<u64>,
    pub(crate) receive_window_limited_us: Option<u64>,
    pub(crate) send_buffer_limited_us: Option<u64>,
    /// Payload sent for the first time.
    pub(crate) sent: Option<u64>,
    pub(crate) timeouts: Option<u16>,
}

impl TcpInfo {
    /// Of a socket that connected (not one that was accepted).
    pub(crate) fn read(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut bytes = [0; ROOM];
        let length = sys::get_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
        Self::parse(&bytes[..length])
            .ok_or_else(|| io::Error::other(format!("TCP_INFO of {length} bytes, at least 104 are known")))
    }

    /// `None`: shorter than that of any kernel that could be meant.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let u16_at = |offset| Some(u16::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?));
        let u32_at = |offset| Some(u32::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?));
        let u64_at = |offset| Some(u64::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?));
        let again: Option<u64> = u64_at(208);
        Some(Self {
            ca_state: *bytes.get(1)?,
            ecn: bytes.get(5)? & TCPI_OPT_ECN != 0,
            mss: u32_at(16)?,
            unacked: u32_at(24)?,
            sacked: u32_at(28)?,
            lost: u32_at(32)?,
            retransmitted: u32_at(36)?,
            srtt_us: u32_at(68).filter(|&rtt| rtt > 0),
            ssthresh: u32_at(76).filter(|&ssthresh| ssthresh < NO_SSTHRESH),
            cwnd: u32_at(80)?,
            retransmissions: u32_at(100)?,
            pacing_rate: u64_at(104).filter(|&rate| rate != u64::MAX),
            acked: u64_at(120).map(|acked: u64| acked.saturating_sub(1)),
            unsent: u32_at(144),
            min_rtt_us: u32_at(148).filter(|&rtt| rtt != u32::MAX && rtt > 0),
            data_packets: u32_at(156),
            busy_us: u64_at(168),
            receive_window_limited_us: u64_at(176),
            send_buffer_limited_us: u64_at(184),
            sent: u64_at(200).zip(again).map(|(all, again): (u64, u64)| all.saturating_sub(again)),
            timeouts: u16_at(240),
        })
    }

    /// Smoothed RTT in nanoseconds; 0 before the first sample.
    pub(crate) fn srtt_ns(&self) -> Nanos {
        Nanos::from(self.srtt_us.unwrap_or(0)) * 1000
    }

    /// Payload that is known to have arrived: acknowledged, or reported by SACK, in packets of `mss` bytes.
    pub(crate) fn arrived(&self) -> Option<u64> {
        Some(self.acked? + u64::from(self.sacked) * u64::from(self.mss))
    }

    /// Packets sent and neither acknowledged nor found lost (RFC 6675, pipe).
    pub(crate) fn in_flight(&self) -> u64 {
        u64::from((self.unacked + self.retransmitted).saturating_sub(self.sacked + self.lost))
    }
}

/// Both ends use ECN.
const TCPI_OPT_ECN: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_kernel_does_not_write_is_none() {
        let mut bytes = [0; 248];
        bytes[1] = RECOVERY;
        for (offset, value) in
            [(16, 1448_u32), (24, 20), (28, 5), (32, 3), (36, 2), (76, NO_SSTHRESH), (80, 12)]
        {
            bytes[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
        }
        for (offset, value) in [(120, 1001_u64), (200, 5000), (208, 1000)] {
            bytes[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
        }
        bytes[240..242].copy_from_slice(&7_u16.to_ne_bytes());
        let new = TcpInfo::parse(&bytes).unwrap();
        assert_eq!((new.in_flight(), new.cwnd, new.ssthresh, new.srtt_us), (14, 12, None, None));
        assert_eq!((new.acked, new.sent, new.timeouts), (Some(1000), Some(4000), Some(7)));
        assert_eq!(new.arrived(), Some(1000 + 5 * 1448), "a hole keeps back what has arrived behind it");
        let older = TcpInfo::parse(&bytes[..232]).unwrap(); // Linux 5.4
        assert_eq!((older.timeouts, older.sent), (None, Some(4000)));
        let oldest = TcpInfo::parse(&bytes[..104]).unwrap(); // Linux 3.x
        assert_eq!((oldest.acked, oldest.sent, oldest.data_packets, oldest.cwnd), (None, None, None, 12));
        assert_eq!(oldest.arrived(), None);
        assert_eq!(TcpInfo::parse(&bytes[..60]), None);
    }
}
