//! What a sender knows of its connection at a moment, in the terms of Linux's `TCP_INFO`: for tests and tools, not for every packet.

use crate::rack::Rack;
use crate::sender::{Phase, Sender};
use crate::TcpConfig;
use parshall_congestion::CongestionControl;
use parshall_units::Duration;

/// A sender at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// Congestion window, packets. In recovery: what may be in flight now, as Linux's `snd_cwnd` is then: the packets in the
    /// network and those that the recovery lets go (RFC 6937), or the inflated window (RFC 6582).
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
    /// Whether a reduction answers an ECN echo in this round trip.
    pub reduced: bool,
}

impl Sender {
    /// The connection as it stands.
    pub fn info(&self, config: &TcpConfig) -> Info {
        let rack = self.sack.as_ref().and_then(|state| state.rack.as_ref());
        let (lost, retransmitted) = match (rack, &self.sack) {
            (Some(rack), _) => rack.lost_and_retransmitted(),
            (None, Some(state)) if config.recovery.uses_sack() => {
                let pipe = state.board.pipe(self.max);
                let in_order = (self.max - state.board.floor()) - state.board.sacked_count();
                (state.board.lost(), (pipe + state.board.lost()).saturating_sub(in_order))
            }
            _ => (u64::from(self.phase == Phase::Recovery), u64::from(self.phase == Phase::Recovery)),
        };
        let sacked = self.sack.as_ref().map_or(u64::from(self.dupacks), |state| state.sacked_count());
        Info {
            window: self.window_now(rack),
            ssthresh: self.control.ssthresh(),
            unacked: self.max - self.una,
            sacked: sacked.min(self.max - self.una),
            lost,
            retransmitted,
            timeout: self.rtt.timeout(config),
            smoothed_rtt: self.rtt.srtt(),
            rtt_variation: self.rtt.variation(),
            min_rtt: self.rtt.min(),
            backoff: self.rtt.backoff(),
            reduced: self.reduced,
        }
    }

    fn window_now(&self, rack: Option<&Rack>) -> f64 {
        let window = self.control.window() + self.inflation;
        let Some(state) = self.sack.as_ref().filter(|_| self.proportional && self.phase == Phase::Recovery)
        else {
            return window;
        };
        let pipe = rack.map_or_else(|| state.board.pipe(self.max), Rack::pipe);
        let first = u64::from(self.retransmit_first && state.prr.quota == 0);
        (pipe + state.prr.quota + first) as f64
    }
}
