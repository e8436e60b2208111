//! The opening of a connection: a SYN, until it is answered.

use super::{Connection, Phase};
use crate::segment::{Ack, Segment};
use crate::TcpConfig;
use parshall_units::{Duration, Instant};

impl Connection {
    /// The SYN, if it is to be sent at `now`.
    pub(crate) fn next_syn(&mut self, config: &TcpConfig, now: Instant) -> Option<Segment> {
        if !self.send_syn {
            return None;
        }
        self.send_syn = false;
        self.deadline = now + self.syn_timeout(config);
        let retransmission = self.rto.backoff() > 0;
        if let Some(linux) = self.linux.as_mut().filter(|_| !retransmission) {
            linux.first_syn = now;
        }
        self.statistics.packets_sent += 1;
        self.statistics.syns += 1;
        self.statistics.retransmissions += u64::from(retransmission);
        Some(Segment {
            retransmission,
            syn: true,
            cwr: config.ecn && config.rules.opening.asks_for_ecn(retransmission),
            ..Segment::plain(self.una, now)
        })
    }

    /// Until when a SYN that is sent now must be answered.
    pub(crate) fn syn_timeout(&self, config: &TcpConfig) -> Duration {
        config.initial_syn_timeout(config.rules.opening.doublings(self.rto.backoff()))
    }

    /// True if the timeout at hand makes the connection begin with a window of one packet: that of any SYN (RFC 5681 §3.1),
    /// or the second one (`tcp_init_transfer`).
    pub(crate) fn syn_timeout_cuts_window(&self, config: &TcpConfig) -> bool {
        config.rules.opening.cuts_window(self.rto.backoff())
    }

    /// Returns whether the window was cut for timeouts of SYNs although the answer to the first one was on its way, as
    /// the echo of its timestamp says; once. Then the connection begins with its initial window
    /// (`tcp_try_undo_spurious_syn`, `tcp_init_transfer`).
    pub(crate) fn take_needless_cut(&mut self) -> bool {
        self.linux.as_mut().is_some_and(|linux| std::mem::take(&mut linux.cut_is_needless))
    }

    /// An ACK arrived before the connection was open. Its timestamp tells which SYN it answers, and Linux takes the
    /// sample of each (`tcp_ack_update_rtt`).
    pub(crate) fn on_syn_ack(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) {
        if !ack.syn {
            return;
        }
        let told = config.rules.opening.times_retransmission(config.timestamps);
        let undoes_cut = told && config.rules.opening.undoes_cut(self.rto.backoff());
        if let Some(linux) = self.linux.as_mut().filter(|_| undoes_cut) {
            linux.cut_is_needless = ack.echo == linux.first_syn; // `tcp_try_undo_spurious_syn`
        }
        if told || !ack.echo_retransmission {
            self.take_sample(config, now.since(ack.echo), 1, false);
        }
        if self.rto.backoff() > 0 {
            self.rto.syn_was_lost();
        }
        self.ecn = ack.congestion_echo;
        self.phase = Phase::Open;
        self.send_syn = false;
        self.deadline = Instant::MAX;
    }

    /// The SYN was not answered in time.
    pub(crate) fn on_syn_timeout(&mut self) {
        self.statistics.timeouts += 1;
        self.rto.back_off();
        self.send_syn = true;
        self.deadline = Instant::MAX;
    }
}
