//! RTT estimate and retransmission timeout (RFC 6298).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | SRTT | `srtt` | ps |
//! | RTTVAR | `variation` | ps |
//! | G | `TcpConfig::rto_granularity` | ps |

use crate::TcpConfig;
use parshall_units::Duration;

/// Smoothed RTT, its variation, and the timeout they give.
#[derive(Clone, Debug)]
pub struct RttEstimate {
    srtt: u64,
    variation: u64,
    min: Duration,
    /// Doublings of the timeout since the last sample.
    backoff: u32,
    /// The SYN was lost, and no sample has come yet.
    syn_lost: bool,
}

/// The least timeout of data after a lost SYN, until there is a sample. RFC 6298 (5.7)
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

impl Default for RttEstimate {
    fn default() -> Self {
        Self { srtt: 0, variation: 0, min: Duration::MAX, backoff: 0, syn_lost: false }
    }
}

impl RttEstimate {
    /// Takes a sample, which also ends the backoff. RFC 6298 (2.2), (2.3), §5
    pub fn sample(&mut self, rtt: Duration) {
        self.backoff = 0;
        self.min = self.min.min(rtt);
        let rtt = rtt.as_ps();
        if self.srtt == 0 {
            self.srtt = rtt.max(1);
            self.variation = rtt / 2;
        } else {
            self.variation = self.variation - self.variation / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = (self.srtt - self.srtt / 8 + rtt / 8).max(1);
        }
    }

    /// SRTT; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        Duration::from_ps(self.srtt)
    }

    /// Smallest sample; [`Duration::MAX`] before the first.
    pub fn min(&self) -> Duration {
        self.min
    }

    /// The timeout to arm now, backed off as often as it expired. RFC 6298 (2.1)-(2.5), (5.5)
    #[inline]
    pub fn timeout(&self, config: &TcpConfig) -> Duration {
        let base = if self.srtt == 0 {
            config.initial_rto.max(if self.syn_lost { AFTER_LOST_SYN.as_ps() } else { 0 })
        } else {
            let estimate = self.srtt.saturating_add((4 * self.variation).max(config.rto_granularity));
            estimate.max(config.min_rto)
        };
        let backed_off = base.saturating_mul(1 << self.backoff.min(32));
        Duration::from_ps(backed_off.min(config.max_rto.max(config.min_rto)))
    }

    /// The timer expired.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// The connection is set up, and its SYN was sent more than once: no sample (Karn). RFC 6298 (5.7)
    pub fn syn_was_lost(&mut self) {
        self.backoff = 0;
        self.syn_lost = true;
    }

    /// How often the timer expired since the last sample.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Recovery;
    use parshall_congestion::SlowStart;

    pub(crate) fn config() -> TcpConfig {
        TcpConfig {
            initial_window: 2,
            initial_ssthresh: None,
            slow_start: SlowStart::Standard,
            receive_window: None,
            recovery: Recovery::NewReno,
            prr: false,
            limited_transmit: false,
            delayed_ack: None,
            min_rto: Duration::from_millis(200).as_ps(),
            max_rto: Duration::from_secs(60).as_ps(),
            initial_rto: Duration::from_secs(1).as_ps(),
            rto_granularity: Duration::from_millis(1).as_ps(),
            timestamps: true,
            ecn: false,
            accurate_ecn: false,
            pacing: false,
            handshake: false,
            ssthresh_cached: false,
            persistent: false,
            byte_counting: true,
            ack_size: 40,
        }
    }

    #[test]
    fn follows_the_rfc() {
        let config = config();
        let mut rtt = RttEstimate::default();
        assert_eq!(rtt.timeout(&config), Duration::from_secs(1));
        rtt.sample(Duration::from_millis(100));
        // SRTT 100 ms, RTTVAR 50 ms
        assert_eq!(rtt.timeout(&config), Duration::from_millis(300));
        rtt.sample(Duration::from_millis(200));
        // RTTVAR = 3/4 * 50 + 1/4 * 100 = 62.5 ms, SRTT = 112.5 ms
        assert_eq!(rtt.srtt(), Duration::from_ps(112_500_000_000));
        assert_eq!(rtt.timeout(&config), Duration::from_ps(362_500_000_000));
        for _ in 0..200 {
            rtt.sample(Duration::from_millis(20));
        }
        assert_eq!(rtt.timeout(&config), Duration::from_millis(200));
        assert_eq!(rtt.min(), Duration::from_millis(20));
    }

    #[test]
    fn doubles_to_its_limit_and_forgets() {
        let config = config();
        let mut rtt = RttEstimate::default();
        rtt.sample(Duration::from_millis(100));
        let expected = [300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000];
        for ms in expected {
            assert_eq!(rtt.timeout(&config), Duration::from_millis(ms));
            rtt.back_off();
        }
        rtt.sample(Duration::from_millis(100));
        assert_eq!(
            rtt.timeout(&config),
            Duration::from_ps(287_500_000_000 - 12_500_000_000 - 25_000_000_000)
        );
    }

    #[test]
    fn a_lost_syn_makes_the_first_timeout_of_data_three_seconds() {
        let config = config();
        let mut rtt = RttEstimate::default();
        rtt.back_off();
        rtt.syn_was_lost();
        assert_eq!(rtt.timeout(&config), Duration::from_secs(3));
        rtt.sample(Duration::from_millis(100));
        assert_eq!(rtt.timeout(&config), Duration::from_millis(300));
    }
}
