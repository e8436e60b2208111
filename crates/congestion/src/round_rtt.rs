//! The RTT samples of the round trip under way, from which delay-based controls compute how many packets they have queued
//! (Brakmo & Peterson, IEEE JSAC 13(8), 1995).

use parshall_units::parameters::Variable;
use parshall_units::Duration;

/// Its inner variable.
pub(crate) const ROUND_RTT: Variable =
    Variable::new("round_rtt", "s", "smallest RTT of the round trip under way");

/// Samples of one round trip. The smallest is believed, since delayed ACKs and bursts only add to an RTT.
#[derive(Clone, Debug)]
pub(crate) struct RoundRtt {
    min: Duration,
    samples: u32,
}

impl Default for RoundRtt {
    fn default() -> Self {
        Self { min: Duration::MAX, samples: 0 }
    }
}

impl RoundRtt {
    /// Samples that a round trip needs to be believed: of two, both may be those of delayed ACKs.
    pub(crate) const ENOUGH: u32 = 3;

    pub(crate) fn sample(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.min = self.min.min(rtt);
            self.samples += 1;
        }
    }

    /// The next round trip begins.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }

    /// The smallest sample, if there are enough of them.
    pub(crate) fn believed(&self) -> Option<f64> {
        (self.samples >= Self::ENOUGH).then(|| self.min.as_secs_f64())
    }

    /// The smallest sample so far.
    pub(crate) fn smallest(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.min.as_secs_f64())
    }
}

/// Packets of a window that are queued: what is in flight beyond what the path holds when it is empty.
pub(crate) fn queued(window: f64, base_rtt: Duration, rtt_s: f64) -> f64 {
    window * (1.0 - base_rtt.as_secs_f64() / rtt_s)
}
