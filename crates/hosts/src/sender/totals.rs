//! The counts of a flow's connections, and their limits.

use crate::tcp_info::TcpInfo;

/// For how long a flow's connections were busy, and what limited them; `None`: the kernel does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limited {
    /// Time with data to send, in seconds.
    pub busy_s: Option<f64>,
    /// Of that, limited by the receive window.
    pub receive_window_s: Option<f64>,
    /// Of that, limited by the send buffer. The kernel's count stays 0 for writers that do not block, as here: this is
    /// the larger one of its count and of the time in which readings found an open window, nothing to send, and an
    /// application that had more.
    pub send_buffer_s: Option<f64>,
}

/// The counts that only grow, of all connections of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// SYNs too.
    pub(super) packets: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    /// Payload that is known to have arrived, bytes.
    pub(super) arrived: u64,
    busy_us: Option<u64>,
    receive_window_us: Option<u64>,
    send_buffer_us: Option<u64>,
}

impl Totals {
    pub(super) fn of(info: &TcpInfo) -> Self {
        Self {
            packets: info.data_packets.map_or(0, u64::from) + 1,
            retransmissions: info.retransmissions.into(),
            timeouts: info.timeouts.map_or(0, u64::from),
            arrived: info.arrived().unwrap_or(0),
            busy_us: info.busy_us,
            receive_window_us: info.receive_window_limited_us,
            send_buffer_us: info.send_buffer_limited_us,
        }
    }

    fn combined(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let both = |ours: Option<u64>, theirs: Option<u64>| {
            (ours.is_some() || theirs.is_some()).then(|| combine(ours.unwrap_or(0), theirs.unwrap_or(0)))
        };
        Self {
            packets: combine(self.packets, other.packets),
            retransmissions: combine(self.retransmissions, other.retransmissions),
            timeouts: combine(self.timeouts, other.timeouts),
            arrived: combine(self.arrived, other.arrived),
            busy_us: both(self.busy_us, other.busy_us),
            receive_window_us: both(self.receive_window_us, other.receive_window_us),
            send_buffer_us: both(self.send_buffer_us, other.send_buffer_us),
        }
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        self.combined(other, u64::wrapping_add)
    }

    pub(super) fn since(&self, before: &Self) -> Self {
        self.combined(before, u64::saturating_sub)
    }

    pub(super) fn limited(&self, starved_s: f64) -> Limited {
        let s = |us: Option<u64>| us.map(|us| us as f64 / 1e6);
        Limited {
            busy_s: s(self.busy_us),
            receive_window_s: s(self.receive_window_us),
            send_buffer_s: s(self.send_buffer_us).map(|counted| counted.max(starved_s)),
        }
    }
}
