//! A sender's knowledge of its connection at a moment, in the terms of Linux's `TCP_INFO`: for tests and tools, not for every
//! packet.

use crate::connection::Connection;
use crate::recovery::{Account, Repair};
use crate::sender::Sender;
use crate::TcpConfig;
use parshall_congestion::CongestionControl;
use parshall_units::Duration;

/// A sender at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// Congestion window, packets. In recovery: what may be in flight now, as Linux's `snd_cwnd` is then: the packets
    /// in the network and those that the recovery lets go (RFC 6937), or the inflated window (RFC 6582).
    pub window: f64,
    /// Slow-start threshold, packets; infinite before the first reduction.
    pub ssthresh: f64,
    /// Packets sent and not acknowledged cumulatively (`packets_out`).
    pub unacked: u64,
    /// Of these, packets that arrived, as far as is known: SACKed, or counted by duplicate ACKs (`sacked_out`).
    pub sacked: u64,
    /// Of these, packets found lost and not known to have arrived since, sent again or not (`lost_out`).
    pub lost: u64,
    /// Of these, packets whose retransmission is under way (`retrans_out`).
    pub retransmitted: u64,
    /// Retransmission timeout as it stands.
    pub timeout: Duration,
    /// Smoothed RTT; zero before the first sample.
    pub smoothed_rtt: Duration,
    /// Variation of the RTT.
    pub rtt_variation: Duration,
    /// Smallest RTT; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Timeouts since the last sample.
    pub backoff: u32,
    /// True if a reduction answers an ECN echo in this round trip.
    pub reduced: bool,
}

impl Sender {
    /// The connection as it stands.
    pub fn info(&self, config: &TcpConfig) -> Info {
        let Connection { control, rtt, rto, max, una, reduced, .. } = &self.connection;
        let Account { arrived, lost, retransmitted } = self.recovery.account(&self.connection);
        let unacked = max - una;
        Info {
            window: self.recovery.window(&self.connection),
            ssthresh: control.ssthresh(),
            unacked,
            sacked: arrived.min(unacked),
            lost,
            retransmitted,
            timeout: rto.timeout(config, rtt),
            smoothed_rtt: rtt.srtt(),
            rtt_variation: rtt.variation(),
            min_rtt: rtt.min(),
            backoff: rto.backoff(),
            reduced: *reduced,
        }
    }
}
