//! Segments that are older than the last one in order, by their timestamps: PAWS, RFC 7323 §5.

use super::ack_delay::QUICK_ACKS;
use super::{forms, Receiver, Reception};
use crate::ranges::Range;
use crate::segment::{Segment, NO_SACK};
use crate::TcpConfig;
use parshall_units::Instant;

/// The clock of timestamps ticks each ms (RFC 7323 §5.4), ps.
const TIMESTAMP_TICK: u64 = 1_000_000_000;

impl Receiver {
    /// True if the segment was sent before the last one in order, by the clock of timestamps, which Linux lets be late by a tick
    /// (`TCP_PAWS_WINDOW`). Packets that keep their order are never: a retransmission in order is overtaken by none that was
    /// sent before.
    #[cold]
    pub(super) fn is_old(&self, config: &TcpConfig, segment: &Segment) -> bool {
        if !config.timestamps || segment.syn || self.recent == Instant::MAX {
            return false;
        }
        let late = self.recent.as_ps() / TIMESTAMP_TICK - segment.sent.as_ps() / TIMESTAMP_TICK;
        late > u64::from(config.rules.acks.is_linux())
    }

    /// Such a segment is taken for one of an earlier connection, and not accepted: RFC 7323 §5.3 R1.
    #[cold]
    pub(super) fn refuse(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) -> Reception {
        let mut sack = if config.recovery.uses_sack() { self.blocks() } else { NO_SACK };
        if segment.seq < self.next {
            self.timing.hurry(QUICK_ACKS); // `tcp_send_dupack`
            if config.recovery.uses_duplicates() {
                sack = [Range { start: segment.seq, end: segment.seq + 1 }, sack[0], sack[1]];
            }
        }
        self.reset_held_back();
        Reception { fresh: false, ack: Some(self.acknowledge::<forms::Mixed>(now, sack)) }
    }
}
