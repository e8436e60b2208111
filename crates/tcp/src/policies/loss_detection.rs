//! When RACK takes a packet for lost.
//!
//! RFC 8985 §6.2. Linux: `tcp_rack_advance`, `tcp_rack_mark_lost`. It needs `recovery = "rack"`.

use super::loss_timers::SLACK;
use parshall_units::Instant;

super::policy! {
    /// When RACK takes a packet for lost.
    LossDetection = "loss_detection" {
        summary: "when a packet counts as lost (needs `recovery = \"rack\"`)",
        rfc: "an RTT of the packet sent last, and the reordering window, after it was sent",
        linux: "an RTT of the packet reported last, and the reordering window, after it was sent; 2 ms later if no \
            ACK comes",
        differences: [
            {
                "`RACK.rtt`",
                rfc: "of the packet sent last (RFC 8985 §6.2 step 2)",
                linux: "of the last packet that an ACK reports, SACKed ones first: `tcp_rack_advance`",
            },
            {
                "packets in doubt",
                rfc: "lost when the reordering window has passed",
                linux: "2 ms later, if no ACK comes: `tcp_rack_mark_lost`",
            },
        ],
    }
}

impl LossDetection {
    /// True if the timestamp that an ACK echoes says which copy of a packet arrived (RFC 8985 §6.2 step 2). Linux asks the RTT
    /// alone (`tcp_rack_advance`).
    #[inline]
    pub(crate) fn trusts_echo(self) -> bool {
        self == Self::Rfc
    }

    /// When the packet was sent whose RTT is `RACK.rtt`. `newest`: the delivered packet that was sent last; `last`: the
    /// packet that the ACK reports last.
    #[inline]
    pub(crate) fn measured(self, newest: Instant, last: Option<Instant>) -> Option<Instant> {
        match self {
            Self::Rfc => Some(newest),
            Self::Linux => last,
        }
    }

    /// When a packet counts as lost that is in doubt until then; [`Instant::MAX`]: there is none. `tcp_rack_mark_lost`
    #[inline]
    pub(crate) fn lost_at(self, in_doubt_until: Instant) -> Instant {
        match self {
            Self::Linux if in_doubt_until != Instant::MAX => in_doubt_until + SLACK,
            _ => in_doubt_until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_units::Duration;

    #[test]
    fn linux_judges_a_packet_in_doubt_2_ms_later() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        assert_eq!(LossDetection::Rfc.lost_at(at(50)), at(50));
        assert_eq!(LossDetection::Linux.lost_at(at(50)), at(52));
        assert_eq!(LossDetection::Linux.lost_at(Instant::MAX), Instant::MAX, "none is in doubt");
        assert_eq!(LossDetection::Rfc.measured(at(9), Some(at(7))), Some(at(9)));
        assert_eq!(LossDetection::Linux.measured(at(9), Some(at(7))), Some(at(7)));
    }
}
