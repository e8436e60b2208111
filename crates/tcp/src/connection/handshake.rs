//! How a connection opens: a SYN, until it is answered.

use super::{Connection, Phase};
use crate::rules::Rules;
use crate::segment::{Ack, Segment};
use crate::TcpConfig;
use parshall_units::Instant;

impl Connection {
    /// The SYN, if it is to be sent at `now`.
    pub(crate) fn next_syn(&mut self, config: &TcpConfig, now: Instant) -> Option<Segment> {
        if !self.send_syn {
            return None;
        }
        self.send_syn = false;
        self.deadline = now + self.timeout(config);
        let retransmission = self.rto.backoff() > 0;
        self.statistics.packets_sent += 1;
        self.statistics.syns += 1;
        self.statistics.retransmissions += u64::from(retransmission);
        Some(Segment {
            seq: self.una,
            sent: now,
            retransmission,
            syn: true,
            ecn_capable: false,
            cwr: config.ecn && !(retransmission && config.rules == Rules::Linux),
            congestion_experienced: false,
        })
    }

    /// An ACK arrived before the connection was open.
    pub(crate) fn on_syn_ack(&mut self, now: Instant, ack: &Ack) {
        if !ack.syn {
            return;
        }
        if !ack.echo_retransmission {
            self.take_sample(now.since(ack.echo), 1);
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
