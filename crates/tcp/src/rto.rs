//! Retransmission timeout (RFC 6298).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | SRTT, RTTVAR | [`RttEstimate`] | ps |
//! | G | `TcpConfig::rto_granularity` | ps |

use crate::signals::RttEstimate;
use crate::TcpConfig;
use parshall_units::Duration;

parshall_units::choice! {
    /// The quantity that the smallest timeout bounds.
    pub enum RtoFloor {
        /// Of the whole timeout. RFC 6298 (2.4)
        Timeout = "timeout",
        /// Of what it adds to the smoothed RTT for its variation, as in Linux: the timeout is SRTT + `min_rto` at least.
        Variation = "variation",
    }
}

/// The memory of the timeout beside the RTT.
#[derive(Clone, Debug, Default)]
pub struct RetransmissionTimeout {
    /// Doublings of the timeout since the last sample.
    backoff: u16,
    /// The SYN was lost, and no sample has come yet.
    syn_lost: bool,
}

impl TcpConfig {
    /// The timeout of a SYN after which the timeout was doubled so often.
    pub(crate) fn initial_syn_timeout(&self, doublings: u32) -> Duration {
        backed_off(self, self.initial_rto, doublings)
    }
}

/// RFC 6298 (2.5), (5.5)
fn backed_off(config: &TcpConfig, timeout: Duration, doublings: u32) -> Duration {
    let backed_off = if doublings == 0 { timeout } else { timeout.times(1 << doublings.min(32)) };
    backed_off.min(config.max_rto.max(config.min_rto))
}

/// The least timeout of data after a lost SYN, until there is a sample. RFC 6298 (5.7)
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

impl RetransmissionTimeout {
    /// The timeout to arm now, backed off as often as it expired. RFC 6298 (2.1)-(2.5), (5.5)
    #[inline]
    pub fn timeout(&self, config: &TcpConfig, rtt: &RttEstimate) -> Duration {
        let srtt = rtt.srtt();
        let base = if srtt == Duration::ZERO {
            config.initial_rto.max(if self.syn_lost { AFTER_LOST_SYN } else { Duration::ZERO })
        } else {
            let variation = rtt.variation().times(4).max(config.rto_granularity);
            match config.rto_floor {
                RtoFloor::Timeout => (srtt + variation).max(config.min_rto),
                RtoFloor::Variation => srtt + variation.max(config.min_rto),
            }
        };
        backed_off(config, base, self.backoff())
    }

    /// There was an RTT sample, which ends the backoff. RFC 6298 §5
    #[inline]
    pub fn sampled(&mut self) {
        self.backoff = 0;
    }

    /// The timer expired.
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// The connection is set up, and its SYN was sent more than once: no sample (Karn). RFC 6298 (5.7)
    pub fn syn_was_lost(&mut self) {
        self.backoff = 0;
        self.syn_lost = true;
    }

    /// Returns the number of times that the timer expired since the last sample.
    pub fn backoff(&self) -> u32 {
        self.backoff.into()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Recovery, Rules};
    use parshall_units::testing::defaults_with;
    use parshall_units::Packets;
    use serde_json::json;

    pub(crate) fn config() -> TcpConfig {
        TcpConfig {
            initial_window: Packets(2),
            recovery: Recovery::NewReno,
            prr: false,
            limited_transmit: false,
            ..defaults_with(TcpConfig::PARAMETERS, |each| (each.name == "rules").then(|| json!(Rules::RFC)))
        }
    }

    /// A connection's estimate and timeout.
    #[derive(Default)]
    struct Timer {
        rtt: RttEstimate,
        rto: RetransmissionTimeout,
    }

    impl Timer {
        fn sample(&mut self, ms: u64) {
            self.rtt.sample(Duration::from_millis(ms), 1);
            self.rto.sampled();
        }

        fn timeout(&self, config: &TcpConfig) -> Duration {
            self.rto.timeout(config, &self.rtt)
        }
    }

    #[test]
    fn follows_the_rfc() {
        let config = config();
        let mut timer = Timer::default();
        assert_eq!(timer.timeout(&config), Duration::from_secs(1));
        timer.sample(100);
        // SRTT 100 ms, RTTVAR 50 ms
        assert_eq!(timer.timeout(&config), Duration::from_millis(300));
        timer.sample(200);
        // RTTVAR = 3/4 * 50 + 1/4 * 100 = 62.5 ms, SRTT = 112.5 ms
        assert_eq!(timer.timeout(&config), Duration::from_ps(362_500_000_000));
        for _ in 0..200 {
            timer.sample(20);
        }
        assert_eq!(timer.timeout(&config), Duration::from_millis(200));
    }

    #[test]
    fn doubles_to_its_limit_and_forgets() {
        let config = config();
        let mut timer = Timer::default();
        timer.sample(100);
        let expected = [300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000];
        for ms in expected {
            assert_eq!(timer.timeout(&config), Duration::from_millis(ms));
            timer.rto.back_off();
        }
        timer.sample(100);
        assert_eq!(
            timer.timeout(&config),
            Duration::from_ps(287_500_000_000 - 12_500_000_000 - 25_000_000_000)
        );
    }

    #[test]
    fn a_lost_syn_makes_the_first_timeout_of_data_three_seconds() {
        let config = config();
        let mut timer = Timer::default();
        timer.rto.back_off();
        timer.rto.syn_was_lost();
        assert_eq!(timer.timeout(&config), Duration::from_secs(3));
        timer.sample(100);
        assert_eq!(timer.timeout(&config), Duration::from_millis(300));
    }

    #[test]
    fn linux_adds_its_floor_to_the_smoothed_rtt() {
        let linux = TcpConfig { rto_floor: RtoFloor::Variation, ..config() };
        let mut timer = Timer::default();
        for _ in 0..200 {
            timer.sample(250);
        }
        assert_eq!(timer.timeout(&config()), Duration::from_millis(251)); // G
        assert_eq!(timer.timeout(&linux), Duration::from_millis(450));
    }
}
