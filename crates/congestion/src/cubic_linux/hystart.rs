//! HyStart (Ha & Rhee, 2008) as Linux 6.18 has it: slow start ends when ACKs come in a train as long as half of the
//! smallest RTT, or when the RTT of a round trip is above the smallest by more than an eighth.
//!
//! | kernel | here |
//! | --- | --- |
//! | `hystart_update` | [`HyStart::ends_slow_start`] |
//! | `bictcp_hystart_reset` | [`HyStart::begin_round`] |
//! | `hystart_ack_delay` | [`slack`] |
//! | `round_start`, `last_ack`, `curr_rtt`, `sample_cnt`, `found` | `round_start`, `last_ack`, `smallest`, `samples`, `found` |
//!
//! That is for senders that do not pace; for one that does, Linux has the train be as long as the smallest RTT. A round
//! trip is the endpoint's.

use parshall_units::{Duration, Instant};

/// `hystart_low_window`, packets: below, nothing is looked for.
const LEAST_WINDOW: f64 = 16.0;
/// `hystart_ack_delta_us`: ACKs this close to each other are a train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// `HYSTART_MIN_SAMPLES`
const SAMPLES: u32 = 8;
/// `HYSTART_DELAY_THRESH`
const LEAST_DELAY: Duration = Duration::from_millis(4);
const MOST_DELAY: Duration = Duration::from_millis(16);
/// What a device segments at once (`sk_gso_max_size`), times four, in packets of 1448 bytes.
const FOUR_BURSTS: f64 = 4.0 * 65536.0 / 1448.0;

/// Looks for the end of a slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    found: bool,
    round_start: Instant,
    last_ack: Instant,
    smallest: Duration,
    samples: u32,
}

/// An RTT sample in slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) now: Instant,
    pub(super) rtt: Duration,
    pub(super) min_rtt: Duration,
    pub(super) srtt: Duration,
    /// The congestion window, packets.
    pub(super) window: f64,
}

impl HyStart {
    pub(super) fn new(now: Instant) -> Self {
        Self { found: false, round_start: now, last_ack: now, smallest: Duration::MAX, samples: 0 }
    }

    pub(super) fn begin_round(&mut self, now: Instant) {
        *self = Self { found: self.found, ..Self::new(now) };
    }

    /// True if slow start ends here. It does so once; then a timeout makes it look again.
    pub(super) fn ends_slow_start(&mut self, sample: &Sample) -> bool {
        if self.found || sample.window < LEAST_WINDOW {
            return false;
        }
        self.found = self.is_long_train(sample) | self.is_delayed(sample);
        self.found
    }

    fn is_long_train(&mut self, sample: &Sample) -> bool {
        if sample.now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = sample.now;
        sample.now.since(self.round_start) > (sample.min_rtt + slack(sample)).over(2)
    }

    fn is_delayed(&mut self, sample: &Sample) -> bool {
        self.smallest = self.smallest.min(sample.rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.smallest > sample.min_rtt + sample.min_rtt.over(8).clamp(LEAST_DELAY, MOST_DELAY)
    }
}

/// By how much a train may be longer, as segmentation offload delays packets: a millisecond, or four bursts at twice
/// the window a round trip.
fn slack(sample: &Sample) -> Duration {
    let bursts_s = FOUR_BURSTS * sample.srtt.as_secs_f64() / (2.0 * sample.window);
    Duration::from_millis(1).min(Duration::from_secs_f64(bursts_s))
}
