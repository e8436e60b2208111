//! ACKs that come aggregated: how many packets more than expected were acknowledged at once, of late.
//!
//! | kernel | field | unit |
//! | --- | --- | --- |
//! | `ack_epoch_mstamp`, `ack_epoch_acked` | `since`, `acked` | packets |
//! | `extra_acked`, `extra_acked_win_idx`, `extra_acked_win_rtts` | `extra`, `newest`, `rounds` | packets, of five round trips each |

use crate::RateSample;
use parshall_units::Instant;

/// `bbr_extra_acked_win_rtts`
const ROUNDS: u32 = 5;
/// `bbr_ack_epoch_acked_reset_thresh`
const MOST_ACKED: u64 = 1 << 20;
/// `bbr_extra_acked_max_us`, s: no more room than what is sent in this time.
const MOST_S: f64 = 0.1;

/// The largest excess of late.
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    since: Instant,
    acked: u64,
    extra: [u64; 2],
    newest: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, acked: 0, extra: [0; 2], newest: 0, rounds: 0 }
    }

    /// Counts anew from now on.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.since, self.acked) = (now, 0);
    }

    /// An ACK, while packets are expected to arrive at `rate`; `round_started`, and the window, which bounds the
    /// excess.
    pub(super) fn update(
        &mut self,
        now: Instant,
        sample: &RateSample,
        rate: f64,
        (round_started, window): (bool, f64),
    ) {
        if round_started {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.newest = 1 - self.newest;
                self.extra[self.newest] = 0;
            }
        }
        let mut expected = (rate * now.since(self.since).as_secs_f64()) as u64;
        if self.acked <= expected || self.acked + sample.newly_delivered >= MOST_ACKED {
            self.restart(now);
            expected = 0;
        }
        self.acked += sample.newly_delivered;
        let extra = (self.acked - expected).min(window as u64);
        self.extra[self.newest] = self.extra[self.newest].max(extra);
    }

    /// Packets that the window has more for it.
    pub(super) fn room(&self, rate: f64) -> f64 {
        (self.extra[0].max(self.extra[1]) as f64).min(libm::floor(rate * MOST_S))
    }
}
