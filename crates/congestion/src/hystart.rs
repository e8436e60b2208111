//! HyStart++ (RFC 9406): a slow start that ends when the RTT grows, before the buffer overflows.
//!
//! | RFC 9406 | here | unit |
//! | --- | --- | --- |
//! | `lastRoundMinRTT`, `currentRoundMinRTT` | `last_round`, `this_round` | [`Duration::MAX`]: no sample |
//! | `rttSampleCount` | `samples` | |
//! | `cssBaselineMinRtt` | `baseline` of [`Stage::Conservative`] | |
//! | L | `limit` | packets an ACK may add; infinite if packets are paced |
//! | `MIN_RTT_THRESH`, `MAX_RTT_THRESH`, `MIN_RTT_DIVISOR`, `N_RTT_SAMPLE`, `CSS_GROWTH_DIVISOR`, `CSS_ROUNDS` | constants | |
//!
//! It stands before a control with the standard slow start, which it has leave slow start
//! ([`CongestionControl::end_slow_start`]), and is out of the way from the first congestion event on: it serves the
//! initial slow start only (RFC 9406 §4.3), as long as the control's ssthresh is infinite. In conservative slow start
//! (CSS) the control is credited a quarter of what was acknowledged.
//!
//! A round is the endpoint's: the ACK of the first packet sent in it begins it. What counts is the smallest RTT of a
//! round, which is that of the packets sent first in it; so a queue is noticed up to two rounds after it began to
//! stand, at two to four times the path's window: enough for large buffers, and less of an overshoot in small ones.

use crate::slow_start::{Behind, SlowStartRule};
use crate::{AckEvent, CongestionControl, Kind};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Duration;

/// The variables that it adds to those of the control behind it.
pub const VARIABLES: &[Variable] =
    &[Variable::new("hystart_stage", "", "0 slow start, 1 conservative slow start, 2 over")];

const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
const L: f64 = 8.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    SlowStart,
    Conservative {
        baseline: Duration,
        /// Rounds that ended since it began.
        rounds: u32,
    },
    Over,
}

/// A control whose initial slow start is HyStart++.
pub type HyStart = Behind<HyStartRule>;

/// When slow start ends, by the RTTs of its rounds.
#[derive(Debug)]
pub struct HyStartRule {
    stage: Stage,
    last_round: Duration,
    this_round: Duration,
    samples: u32,
    limit: f64,
}

impl HyStartRule {
    pub(crate) fn new(paced: bool) -> Self {
        Self {
            stage: Stage::SlowStart,
            last_round: Duration::MAX,
            this_round: Duration::MAX,
            samples: 0,
            limit: if paced { f64::INFINITY } else { L },
        }
    }

    /// RFC 9406 §4.2
    fn begin_round(&mut self, control: &mut Kind) {
        self.last_round = self.this_round;
        self.this_round = Duration::MAX;
        self.samples = 0;
        if let Stage::Conservative { rounds, .. } = &mut self.stage {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                self.stage = Stage::Over;
                control.end_slow_start();
            }
        }
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.this_round = self.this_round.min(rtt);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match self.stage {
            Stage::SlowStart if self.last_round < Duration::MAX => {
                let threshold = self.last_round.over(MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.this_round >= self.last_round + threshold {
                    self.stage = Stage::Conservative { baseline: self.this_round, rounds: 0 };
                }
            }
            // The RTT grew for another reason.
            Stage::Conservative { baseline, .. } if self.this_round < baseline => {
                self.stage = Stage::SlowStart;
            }
            _ => {}
        }
    }
}

impl SlowStartRule for HyStartRule {
    fn credit(&mut self, ack: &AckEvent, control: &mut Kind) -> Option<f64> {
        if self.stage == Stage::Over || control.ssthresh().is_finite() {
            self.stage = Stage::Over;
            return None;
        }
        if ack.round_ended {
            self.begin_round(control);
        }
        if let Some(rtt) = ack.rtt {
            self.on_rtt(rtt);
        }
        match self.stage {
            Stage::SlowStart => Some(ack.credit.min(self.limit)),
            Stage::Conservative { .. } => Some(ack.credit.min(self.limit) / CSS_GROWTH_DIVISOR),
            Stage::Over => None,
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let stage = match self.stage {
            Stage::SlowStart => 0.0,
            Stage::Conservative { .. } => 1.0,
            Stage::Over => 2.0,
        };
        reader("hystart_stage", stage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CongestionEvent, Control, ControlConfig, RenoConfig, Signal, SlowStart, SlowStartChoice, Start,
    };
    use parshall_units::Instant;

    fn hystart(window: f64, paced: bool) -> Control {
        let config = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 });
        let slow_start = SlowStartChoice { kind: SlowStart::HyStart, max_ssthresh: f64::INFINITY, paced };
        config.build_with(Start { window, ssthresh: f64::INFINITY, ..Start::NEW }, slow_start)
    }

    fn ack(credit: f64, rtt_ms: u64, round_ended: bool) -> AckEvent {
        let rtt = Duration::from_millis(rtt_ms);
        AckEvent { acked: credit as u64, credit, round_ended, ..AckEvent::of_one_packet(Instant::ZERO, rtt) }
    }

    /// A round of so many ACKs of one packet each, all with the same RTT; what the window grew by.
    fn round(control: &mut Control, acks: u32, rtt_ms: u64) -> f64 {
        let before = control.window();
        for index in 0..acks {
            control.on_ack(&ack(1.0, rtt_ms, index == 0));
        }
        control.window() - before
    }

    #[test]
    fn growth_of_the_rtt_ends_it_after_five_conservative_rounds() {
        let mut control = hystart(16.0, false);
        assert_eq!(round(&mut control, 16, 100), 16.0);
        // An eighth of 100 ms is 12.5 ms: 112 ms is not enough, and is the next round's yardstick.
        assert_eq!(round(&mut control, 32, 112), 32.0);
        // 14 ms more are wanted. The first seven ACKs of the round are not enough to tell.
        assert_eq!(round(&mut control, 64, 126), 7.0 + 57.0 / 4.0);
        assert!(control.ssthresh().is_infinite());
        // That round counts as the first of five.
        for _ in 0..4 {
            assert_eq!(round(&mut control, 40, 126), 10.0);
        }
        let window = control.window();
        control.on_ack(&ack(1.0, 126, true));
        assert_eq!(control.ssthresh(), window);
        assert_eq!(control.window(), window + 1.0 / window); // congestion avoidance
    }

    /// Linux's endpoint sets both after idle times and in loss recovery.
    #[test]
    fn what_the_endpoint_sets_is_set_in_the_control_behind_it() {
        let mut control = hystart(16.0, false);
        control.set_window(12.0);
        control.set_ssthresh(10.0);
        assert_eq!((control.window(), control.ssthresh()), (12.0, 10.0));
        control.on_timeout(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 12 });
        control.on_undo(12.0, 10.0);
        assert_eq!((control.window(), control.ssthresh()), (12.0, 10.0));
    }

    #[test]
    fn the_threshold_is_between_4_and_16_ms() {
        for (base, too_little, enough) in [(10, 13, 14), (400, 415, 416)] {
            for (rtt_ms, growth) in [(too_little, 32.0), (enough, 7.0 + 25.0 / 4.0)] {
                let mut control = hystart(16.0, false);
                round(&mut control, 16, base);
                assert_eq!(round(&mut control, 32, rtt_ms), growth);
            }
        }
    }

    #[test]
    fn slow_start_resumes_after_a_spurious_exit() {
        let mut control = hystart(16.0, false);
        round(&mut control, 16, 100);
        assert_eq!(round(&mut control, 32, 120), 7.0 + 25.0 / 4.0);
        // In the next round the RTT is below the one that ended slow start: seven ACKs later it goes on.
        assert_eq!(round(&mut control, 32, 101), 7.0 / 4.0 + 25.0);
        assert_eq!(round(&mut control, 64, 101), 64.0);
        assert!(control.ssthresh().is_infinite());
        // And ends again when the RTT grows again.
        assert_eq!(round(&mut control, 64, 115), 7.0 + 57.0 / 4.0);
    }

    #[test]
    fn a_round_with_few_samples_says_nothing() {
        let mut control = hystart(4.0, false);
        for rtt_ms in [100, 200, 300, 400] {
            assert_eq!(round(&mut control, 7, rtt_ms), 7.0);
        }
    }

    #[test]
    fn an_ack_adds_no_more_than_eight_packets_unless_paced() {
        for (paced, growth) in [(false, 8.0), (true, 20.0)] {
            let mut control = hystart(10.0, paced);
            control.on_ack(&ack(20.0, 100, false));
            assert_eq!(control.window(), 10.0 + growth);
        }
    }

    #[test]
    fn a_loss_ends_it_for_good() {
        let mut control = hystart(16.0, false);
        round(&mut control, 16, 100);
        control.on_timeout(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 32 });
        // The slow start that follows is the standard one, whatever the RTT does.
        assert_eq!((control.window(), control.ssthresh()), (1.0, 16.0));
        assert_eq!(round(&mut control, 10, 300), 10.0);
        assert_eq!(round(&mut control, 5, 600), 5.0);
    }
}
