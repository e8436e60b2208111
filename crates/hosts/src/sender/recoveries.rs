//! The number of fast recoveries of a sender, from readings of its socket's TCP_INFO.
//!
//! A recovery ends when all that had been sent at its beginning is acknowledged (RFC 6675, `RecoveryPoint`). Where more
//! was lost meanwhile, the same ACK begins the next, and no reading finds another state in between: BBR's recoveries in
//! a short queue follow each other for seconds. So a reading that finds the state Recovery is of a new one too if what
//! had been sent at the first reading of the one before is acknowledged. Readings come late, and so does that point: of
//! recoveries that follow each other, what is missed is at most the share of a reading's interval in a round trip.

use crate::tcp_info::{TcpInfo, RECOVERY};

/// Counts recoveries.
#[derive(Default)]
pub(super) struct Recoveries {
    pub(super) count: u64,
    /// Payload sent when the recovery under way was first seen; `None`: there is none.
    until: Option<u64>,
}

impl Recoveries {
    /// A connection opens: what the one before was in is over.
    pub(super) fn begin_connection(&mut self) {
        self.until = None;
    }

    /// TCP_INFO was read.
    pub(super) fn look(&mut self, info: &TcpInfo) {
        if info.ca_state != RECOVERY {
            self.until = None;
            return;
        }
        let ended = |until| info.acked.is_some_and(|acked| acked >= until);
        if self.until.is_none_or(ended) {
            self.count += 1;
            self.until = Some(info.sent.unwrap_or(u64::MAX)); // an older kernel does not say: until the state changes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recoveries in readings of: state, bytes acknowledged, bytes sent.
    fn count(readings: &[(u8, u64, u64)]) -> u64 {
        let mut recoveries = Recoveries::default();
        for &(ca_state, acked, sent) in readings {
            recoveries.look(&TcpInfo {
                ca_state,
                acked: Some(acked),
                sent: Some(sent),
                ..TcpInfo::default()
            });
        }
        recoveries.count
    }

    #[test]
    fn a_recovery_lasts_until_what_had_been_sent_is_acknowledged() {
        let one = [(0, 0, 100), (RECOVERY, 10, 100), (RECOVERY, 10, 110), (RECOVERY, 99, 190), (0, 100, 200)];
        assert_eq!(count(&one), 1);
        assert_eq!(count(&[one, one].concat()), 2, "the state was another in between");
    }

    #[test]
    fn recoveries_that_follow_each_other_are_counted_each() {
        let follow = [
            (RECOVERY, 10, 100),
            (RECOVERY, 90, 180),
            (RECOVERY, 100, 190), // all that was sent is acknowledged, and it recovers: another
            (RECOVERY, 150, 240),
            (RECOVERY, 195, 280), // and a third
            (1, 280, 380),
        ];
        assert_eq!(count(&follow), 3);
    }

    #[test]
    fn a_kernel_that_does_not_say_what_was_sent_shows_states_alone() {
        let mut recoveries = Recoveries::default();
        for ca_state in [RECOVERY, RECOVERY, 0, RECOVERY] {
            recoveries.look(&TcpInfo { ca_state, ..TcpInfo::default() });
        }
        assert_eq!(recoveries.count, 2);
    }
}
