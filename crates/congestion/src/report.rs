//! The arrivals of a round trip, for controls that set a rate once a round trip: over datagrams one report of the
//! receiver, over TCP the ACKs of a round.

use crate::AckEvent;
use parshall_units::{Duration, Instant};

/// A round trip that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) length_s: f64,
    /// Packets that arrived, of those sent at one rate.
    pub(crate) delivered: f64,
    pub(crate) lost: f64,
}

/// The round trip under way.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Its beginning; zero: there was none.
    began: Instant,
    /// Packets that arrived.
    pub(crate) delivered: f64,
    /// Packets that came to count as lost.
    pub(crate) lost: f64,
    /// True if the rate was not used: then it was not tested.
    unused: bool,
}

impl Report {
    pub(crate) const NONE: Self = Self { began: Instant::ZERO, delivered: 0.0, lost: 0.0, unused: false };

    /// Counts an ACK; the length of the round trip in s, if it ends one with a rate sample.
    pub(crate) fn count(&mut self, ack: &AckEvent) -> Option<f64> {
        if let Some(sample) = &ack.sample {
            self.delivered += sample.newly_delivered as f64;
            self.lost += sample.newly_lost as f64;
            self.unused |= sample.app_limited;
        } else {
            self.delivered += ack.acked as f64;
            self.unused |= !ack.may_grow;
        }
        let length_s = ack.now.since(self.began).as_secs_f64();
        let says_something = self.began != Instant::ZERO && length_s > 0.0 && !self.unused;
        (ack.round_ended && says_something).then_some(length_s)
    }

    /// Counts an ACK. At the end of a round trip the next one begins: the RTT is read, and what arrived is given, if it
    /// has a rate sample.
    pub(crate) fn round(&mut self, ack: &AckEvent, rtt_s: &mut f64) -> Option<Round> {
        let length_s = self.count(ack);
        if !ack.round_ended {
            return None;
        }
        if ack.srtt > Duration::ZERO {
            *rtt_s = ack.srtt.as_secs_f64();
        }
        let Self { delivered, lost, .. } = *self;
        self.restart(ack.now);
        length_s.map(|length_s| Round { length_s, delivered, lost })
    }

    /// Packets that it covers.
    pub(crate) fn packets(&self) -> f64 {
        self.delivered + self.lost
    }

    /// A loss was noticed otherwise.
    pub(crate) fn lose(&mut self) {
        self.lost = self.lost.max(1.0);
    }

    /// The next round trip begins.
    pub(crate) fn restart(&mut self, now: Instant) {
        *self = Self { began: now, ..Self::NONE };
    }
}
