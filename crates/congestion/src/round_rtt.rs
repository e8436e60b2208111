//! The number of queued packets, by the RTTs of the last packets (Brakmo & Peterson, IEEE JSAC 13(8), 1995).
//!
//! A round trip begins with an ACK, and what is sent from then on is acknowledged from the ACK on that ends it. So the
//! first samples after a round trip's end are those of packets that were sent since it began, while all samples before
//! are of packets that were sent in the round trip before: in slow start when the window was half of what it is, so
//! that the smallest of them would show an empty queue.

use crate::AckEvent;
use parshall_units::parameters::Variable;
use parshall_units::Duration;

/// Its inner variable.
pub(crate) const ROUND_RTT: Variable =
    Variable::new("round_rtt", "s", "smallest of the last three RTT samples");

/// Samples that are believed together: of two, both may be those of delayed ACKs, which only add to an RTT, as bursts
/// do.
const ENOUGH: usize = 3;

/// The last RTT samples, and where in a round trip they stand.
#[derive(Clone, Debug)]
pub(crate) struct RoundRtt {
    /// Newest first; those that have not come yet are endless.
    last: [Duration; ENOUGH],
    base: Duration,
    /// Samples since a round trip ended, that of the ACK which ended it included.
    samples: usize,
    at: Moment,
}

/// How the ACK at hand stands to the round trip that ended last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// It brings the third sample of packets that were sent since that round trip began.
    Known,
    /// It ends the next one, which had fewer samples than that.
    TooFew,
    /// Neither.
    Other,
}

impl Default for RoundRtt {
    fn default() -> Self {
        Self { last: [Duration::MAX; ENOUGH], base: Duration::MAX, samples: ENOUGH, at: Moment::Other }
    }
}

impl RoundRtt {
    /// An ACK arrived, in whatever phase.
    pub(crate) fn count(&mut self, ack: &AckEvent) {
        self.at = Moment::Other;
        if ack.round_ended {
            if self.samples < ENOUGH {
                self.at = Moment::TooFew;
            }
            self.samples = 0;
        }
        let Some(rtt) = ack.rtt else { return };
        self.last = [rtt, self.last[0], self.last[1]];
        self.base = ack.min_rtt;
        self.samples += 1;
        if self.samples == ENOUGH {
            self.at = Moment::Known;
        }
    }

    /// True if the ACK at hand is the one, once a round trip, with which [`smallest`](Self::smallest) is of the first packets
    /// that were sent since the round trip began.
    pub(crate) fn is_known(&self) -> bool {
        self.at == Moment::Known
    }

    /// True if the ACK at hand ends a round trip that had too few samples to be known.
    pub(crate) fn had_too_few(&self) -> bool {
        self.at == Moment::TooFew
    }

    /// Nothing is known of the round trip under way: the window has changed.
    pub(crate) fn give_up(&mut self) {
        self.samples = self.samples.max(ENOUGH);
    }

    /// The smallest of the last three samples, s.
    pub(crate) fn smallest(&self) -> Option<f64> {
        let least = self.last[0].min(self.last[1]).min(self.last[2]);
        (least < Duration::MAX).then(|| least.as_secs_f64())
    }

    /// Packets of a window that are queued: what is in flight beyond what the path holds when it is empty.
    pub(crate) fn queued(&self, window: f64) -> Option<f64> {
        self.smallest().map(|rtt_s| window * (1.0 - self.base.as_secs_f64() / rtt_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_units::Instant;

    fn feed(round: &mut RoundRtt, rtt_ms: u64, round_ended: bool) {
        let ack = AckEvent::of_one_packet(Instant::ZERO, Duration::from_millis(rtt_ms));
        round.count(&AckEvent { round_ended, min_rtt: Duration::from_millis(100), ..ack });
    }

    #[test]
    fn a_round_trip_is_known_by_the_first_packets_sent_in_it() {
        let mut round = RoundRtt::default();
        // What was sent in slow start: the queue grows while these are sent.
        (0..10).for_each(|i| feed(&mut round, 100 + i, i == 0));
        let known: Vec<_> = [(120, true), (123, false), (121, false), (100, false)]
            .map(|(rtt_ms, ended)| {
                feed(&mut round, rtt_ms, ended);
                round.is_known().then(|| round.smallest()).flatten()
            })
            .into();
        assert_eq!(known, [None, None, Some(0.120), None]);
    }

    #[test]
    fn a_round_trip_of_two_samples_is_not_known() {
        let mut round = RoundRtt::default();
        (0..3).for_each(|i| feed(&mut round, 100, i == 0));
        for _ in 0..2 {
            feed(&mut round, 100, true);
            feed(&mut round, 100, false);
            assert!(!round.is_known() && !round.had_too_few());
        }
        feed(&mut round, 100, true);
        assert!(round.had_too_few());
    }

    #[test]
    fn what_is_queued_follows_the_last_samples() {
        let mut round = RoundRtt::default();
        assert_eq!(round.queued(100.0), None);
        for rtt_ms in [100, 125, 140, 130] {
            feed(&mut round, rtt_ms, false);
        }
        assert!((round.queued(100.0).unwrap() - 20.0).abs() < 1e-9);
    }
}
