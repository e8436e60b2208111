//! The wait of an ACK for a second segment, where segments come slowly: `icsk_ack.ato` of Linux.
//!
//! It is 40 ms, or what is configured, as long as segments follow each other within half of that. It grows with the
//! time between segments, and doubles with each ACK that went alone, so that the next one may find its second segment;
//! it is 40 ms again after ACKs that went at once for a while (`tcp_enter_quickack_mode`, `tcp_dec_quickack_mode`). No
//! ACK waits longer than the handshake took, nor than 196 ms.
//!
//! | kernel | here |
//! | --- | --- |
//! | `tcp_event_data_recv` | [`AckTimeout::on_segment`] |
//! | `tcp_delack_timer_handler` | [`AckTimeout::missed`] |
//! | `tcp_send_delayed_ack`, `tcp_delack_max` | [`AckTimeout::delay`] |
//!
//! The kernel counts in ticks of its clock, and this in microseconds.
//!
//! Read for these facts: net/ipv4/tcp_input.c, tcp_output.c and tcp_timer.c of Linux 6.18.

use parshall_units::Duration;

/// `tcp_delack_max`: a tick of 4 ms less than the least timeout, us.
const LONGEST: u32 = 196_000;

/// The timeout of an ACK, us.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckTimeout(pub(super) u32);

impl AckTimeout {
    pub(super) fn least(configured: Duration) -> Self {
        Self((configured.as_ps() / 1_000_000).try_into().unwrap_or(u32::MAX))
    }

    /// A segment came so long after the one before, in us, at a receiver whose own timeout is `rto`; `least`: what is
    /// configured.
    pub(super) fn on_segment(self, least: Self, pause: u32, rto: u32) -> Self {
        let Self(timeout) = self;
        if pause <= least.0 / 2 {
            Self(timeout / 2 + least.0 / 2)
        } else if pause < timeout {
            Self((timeout / 2 + pause).min(rto))
        } else {
            self
        }
    }

    /// It passed, and no second segment had come.
    pub(super) fn missed(self, rto: u32) -> Self {
        Self(self.0.saturating_mul(2).min(rto))
    }

    /// Returns the wait of an ACK, after a handshake that took `rtt`.
    pub(super) fn delay(self, least: Self, rtt: u32) -> Duration {
        let us = self.0.min(rtt.max(least.0)).min(LONGEST.max(least.0));
        Duration::from_ps(u64::from(us) * 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEAST: AckTimeout = AckTimeout(40_000);

    #[test]
    fn slow_segments_lengthen_it_and_fast_ones_shorten_it() {
        let after = |pauses: &[u32]| {
            pauses.iter().fold(LEAST, |timeout, &pause| timeout.on_segment(LEAST, pause, 300_000)).0
        };
        assert_eq!(after(&[20_000]), 40_000);
        assert_eq!(after(&[30_000]), 50_000);
        assert_eq!(after(&[30_000; 20]), 59_999, "towards twice the pause");
        assert_eq!(after(&[60_000]), 40_000, "it is too short to say");
        assert_eq!(after(&[30_000, 10_000]), 45_000);
        assert_eq!(after(&[[30_000; 20], [10_000; 20]].concat()), 40_000);
    }

    #[test]
    fn a_miss_doubles_it_up_to_the_timeout() {
        assert_eq!(LEAST.missed(300_000).0, 80_000);
        assert_eq!((0..9).fold(LEAST, |timeout, _| timeout.missed(300_000)).0, 300_000);
    }

    #[test]
    fn no_ack_waits_longer_than_the_handshake_took() {
        let delay_ms = |timeout, rtt| AckTimeout(timeout).delay(LEAST, rtt).as_ps() / 1_000_000_000;
        assert_eq!(delay_ms(40_000, 10_000), 40);
        assert_eq!(delay_ms(80_000, 10_000), 40);
        assert_eq!(delay_ms(80_000, 100_000), 80);
        assert_eq!(delay_ms(160_000, 100_000), 100);
        assert_eq!(delay_ms(300_000, u32::MAX), 196);
    }

    proptest! {
        #[test]
        fn it_stays_between_what_is_configured_and_the_receivers_timeout(
            rto in 200_000u32..2_000_000, steps in prop::collection::vec(prop::option::of(0u32..400_000), 0..50)
        ) {
            let mut timeout = LEAST;
            for step in steps {
                timeout = match step {
                    Some(pause) => timeout.on_segment(LEAST, pause, rto),
                    None => timeout.missed(rto),
                };
                prop_assert!(LEAST.0 <= timeout.0 && timeout.0 <= rto);
            }
        }
    }
}
