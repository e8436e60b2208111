//! Token-bucket policers (Flach et al., SIGCOMM 2016): two intervals in a row that lose a fifth or more at about the
//! same rate.
//!
//! | kernel | field | unit |
//! | --- | --- | --- |
//! | `lt_is_sampling`, `lt_use_bw`, `lt_bw` | `samples`, `used`, `rate` | packets/s |
//! | `lt_last_stamp`, `lt_last_delivered`, `lt_last_lost` | `since` | |
//! | `lt_rtt_cnt` | `rounds` | round trips |

use crate::RateSample;
use parshall_units::{Duration, Instant};

/// `bbr_lt_intvl_min_rtts`; an interval of more than four times as many is given up.
const LEAST_ROUNDS: u32 = 4;
/// `bbr_lt_loss_thresh`
const LOSS: f64 = 50.0 / 256.0;
/// `bbr_lt_bw_ratio`, `bbr_lt_bw_diff` (4 kbit/s, in packets of 1448 bytes)
const SAME: f64 = 1.0 / 8.0;
const SAME_PACKETS_PER_S: f64 = 4000.0 / 8.0 / 1448.0;
/// `bbr_lt_bw_max_rtts`
const USED_ROUNDS: u32 = 48;

/// The estimate of a policer.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    samples: bool,
    used: bool,
    /// Of the interval before; 0: there is none.
    rate: f64,
    rounds: u32,
    since: Since,
    /// Packets that came to count as lost, and that were delivered, so far.
    lost: u64,
    delivered: u64,
}

/// How an interval began.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    at: Instant,
    lost: u64,
    delivered: u64,
}

impl Policer {
    /// The rate of the policer, while one is taken to be there.
    pub(super) fn rate(&self) -> Option<f64> {
        self.used.then_some(self.rate)
    }

    /// An ACK; `probes`: in ProbeBW. Whether the policer's rate was used for long enough, so that the cycle of gains
    /// begins again.
    pub(super) fn update(
        &mut self,
        now: Instant,
        sample: &RateSample,
        round_started: bool,
        probes: bool,
    ) -> bool {
        self.lost += sample.newly_lost;
        self.delivered = sample.delivered;
        self.step(now, (sample.newly_lost > 0, sample.app_limited), round_started, probes)
    }

    /// The retransmission timer expired: that counts as a loss.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.step(now, (true, false), true, false);
    }

    /// Starts sampling again, as the supposed losses were none (`bbr_reset_lt_bw_sampling`).
    pub(super) fn restart_sampling(&mut self) {
        (self.samples, self.used, self.rate, self.rounds) = (false, false, 0.0, 0);
    }

    fn step(
        &mut self,
        now: Instant,
        (lost, app_limited): (bool, bool),
        round_started: bool,
        probes: bool,
    ) -> bool {
        if self.used {
            if probes && round_started {
                self.rounds += 1;
            }
            let over = probes && round_started && self.rounds >= USED_ROUNDS;
            if over {
                self.forget(now);
            }
            return over;
        }
        if !self.samples {
            if !lost {
                return false;
            }
            self.begin(now);
            self.samples = true;
        }
        self.rounds += u32::from(round_started);
        if app_limited || self.rounds > 4 * LEAST_ROUNDS {
            self.forget(now);
        } else if self.rounds >= LEAST_ROUNDS && lost {
            self.end_interval(now);
        }
        false
    }

    fn end_interval(&mut self, now: Instant) {
        let lost = (self.lost - self.since.lost) as f64;
        let delivered = (self.delivered - self.since.delivered) as f64;
        let elapsed = now.since(self.since.at);
        if delivered == 0.0 || lost < LOSS * delivered || elapsed < Duration::from_millis(1) {
            return;
        }
        let rate = delivered / elapsed.as_secs_f64();
        let difference = (rate - self.rate).abs();
        if self.rate > 0.0 && (difference <= SAME * self.rate || difference <= SAME_PACKETS_PER_S) {
            self.rate = f64::midpoint(rate, self.rate);
            self.used = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        self.since = Since { at: now, lost: self.lost, delivered: self.delivered };
        self.rounds = 0;
    }

    fn forget(&mut self, now: Instant) {
        (self.samples, self.used, self.rate) = (false, false, 0.0);
        self.begin(now);
    }
}
