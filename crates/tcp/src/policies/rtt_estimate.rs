//! A sender's estimate of the RTT.
//!
//! RFC 6298 §2 with the weights of RFC 7323 Appendix G. Linux: `tcp_rtt_estimator`, `tcp_ack_update_rtt`,
//! `tcp_sacktag_one`, `tcp_clean_rtx_queue`.

use parshall_units::Duration;

super::policy! {
    /// How a sender estimates the RTT.
    RttSampling = "rtt_estimate" {
        summary: "which packets give RTT samples, and how samples count",
        rfc: "packets that are acknowledged; samples weigh less the more of them a round trip has",
        linux: "SACKed packets as well; each sample counts in full, and the variation is the largest of a round trip",
        differences: [
            {
                "the RTT estimate",
                rfc: "samples count so that it remembers as many round trips as with one in each (RFC 7323 Appendix \
                    G)",
                linux: "each counts for 1/8, and its variation is the largest of a round trip: `tcp_rtt_estimator`. \
                    What is SACKed and was sent once gives samples too: `tcp_sacktag_one`, `tcp_ack_update_rtt`",
            },
            {
                "the RTT that controls are told",
                rfc: "of the earliest acknowledged, by timestamp",
                linux: "of the last packet that an ACK reports and that was sent once, SACKed ones first; where \
                    there is none, by timestamp, if the ACK advances: `tcp_sacktag_one`, `tcp_clean_rtx_queue`, \
                    `tcp_ack_update_rtt`",
            },
        ],
    }
}

impl RttSampling {
    /// The RTT of an ACK that controls are told. `by_timestamp`: of the earliest packet acknowledged; `newest`: of the
    /// last packet reported that was sent once.
    #[inline]
    pub(crate) fn told(
        self,
        by_timestamp: Option<Duration>,
        newest: impl FnOnce() -> Option<Duration>,
    ) -> Option<Duration> {
        match self {
            Self::Rfc => by_timestamp,
            Self::Linux => newest().or(by_timestamp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_of_linux_are_told_the_newest_rtt() {
        let (early, newest) = (Some(Duration::from_millis(80)), Some(Duration::from_millis(50)));
        assert_eq!(RttSampling::Rfc.told(early, || newest), early);
        assert_eq!(RttSampling::Linux.told(early, || newest), newest);
        assert_eq!(RttSampling::Linux.told(early, || None), early, "all was sent again");
    }
}
