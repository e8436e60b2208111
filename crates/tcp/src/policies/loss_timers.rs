//! When the timers of probes and retransmissions expire.
//!
//! RFC 8985 §7.2 for the probe, RFC 6298 (5.3) for the timeout. Linux: `tcp_schedule_loss_probe`, `tcp_rto_delta_us`,
//! `tcp_clean_rtx_queue`. It needs `recovery = "rack"`.

use crate::TcpConfig;
use parshall_units::Duration;

super::policy! {
    /// When the timers of probes and retransmissions expire.
    LossTimers = "loss_timers" {
        summary: "when the loss probe goes, and what restarts the retransmission timer (needs `recovery = \"rack\"`)",
        rfc: "the probe after two RTTs and an ACK's delay; ACKs of new data restart the timer",
        linux: "the probe after two RTTs and 2 or 200 ms, no later than the timeout; some SACKs restart the timer \
            too",
        differences: [
            {
                "the loss probe",
                rfc: "after 2 SRTT, and the delay of an ACK for a single packet (RFC 8985 §7.2)",
                linux: "the same and 2 ms, or 200 ms for a single packet, no later than the timeout; after a \
                    transmission no later than the timeout of the first packet, counted from when that was sent: \
                    `tcp_schedule_loss_probe`, `tcp_rto_delta_us`",
            },
            {
                "what starts the retransmission timer anew",
                rfc: "an ACK of new data (RFC 6298 (5.3))",
                linux: "also a SACK of a packet that was sent before the first one was sent again: \
                    `tcp_clean_rtx_queue`",
            },
        ],
    }
}

/// PTO without an RTT sample. RFC 8985 §7.2
const FIRST_PROBE: Duration = Duration::from_secs(1);

/// Linux's timers of probes and of reordering wait this much longer: `TCP_TIMEOUT_MIN_US`.
pub(crate) const SLACK: Duration = Duration::from_millis(2);

impl LossTimers {
    /// PTO: how long a probe waits on a connection with this smoothed RTT; `alone`: a single packet is in flight, whose
    /// ACK may be delayed. RFC 8985 §7.2, `tcp_schedule_loss_probe`
    pub(crate) fn probe_timeout(self, config: &TcpConfig, srtt: Duration, alone: bool) -> Duration {
        if srtt == Duration::ZERO {
            return FIRST_PROBE;
        }
        let more = match self {
            Self::Rfc => config.delayed_ack.filter(|_| alone).unwrap_or(Duration::ZERO),
            Self::Linux if alone => config.min_rto, // TCP_RTO_MIN for the delayed ACK of a single packet
            Self::Linux => SLACK,
        };
        srtt.times(2) + more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rto::tests::config;

    #[test]
    fn a_probe_of_linux_waits_2_ms_longer_or_200_for_a_single_packet() {
        let delayed_ack = Some(Duration::from_millis(40));
        let config = TcpConfig { delayed_ack, min_rto: Duration::from_millis(200), ..config() };
        let srtt = Duration::from_millis(100);
        for (form, alone, ms) in [
            (LossTimers::Rfc, false, 200),
            (LossTimers::Rfc, true, 240),
            (LossTimers::Linux, false, 202),
            (LossTimers::Linux, true, 400),
        ] {
            let timeout = form.probe_timeout(&config, srtt, alone);
            assert_eq!(timeout, Duration::from_millis(ms), "{form:?}, {alone}");
            assert_eq!(form.probe_timeout(&config, Duration::ZERO, alone), FIRST_PROBE);
        }
    }
}
