//! The tail loss probe (TLP): a packet that makes the receiver say what became of the last ones. RFC 8985 §7
//!
//! | RFC 8985 | here |
//! | --- | --- |
//! | `TLP.end_seq`, `TLP.is_retrans` | [`Probe`] |

use crate::ranges::Range;

/// A probe under way.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// One past the highest packet when it was sent.
    end: u64,
    retransmission: bool,
}

/// The information of an ACK on the probe under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeAnswer {
    /// There is none, or nothing is known yet.
    Nothing,
    /// Nothing was lost, or it is found by other means.
    Needless,
    /// The probe itself repaired a loss.
    Repaired,
}

/// The probe of a connection.
#[derive(Clone, Debug)]
pub(super) struct LossProbe {
    under_way: Option<Probe>,
    /// A probe goes next.
    pub(super) due: bool,
    /// True if there was an RTT sample since the last probe (§7.3).
    sampled: bool,
}

impl LossProbe {
    pub(super) const NONE: Self = Self { under_way: None, due: false, sampled: true };

    /// There was an RTT sample.
    pub(super) fn sampled(&mut self) {
        self.sampled = true;
    }

    /// True if a probe may be scheduled, if nothing is SACKed or lost: none is under way, and there was a sample since the
    /// last one. RFC 8985 §7.2, §7.3
    pub(super) fn may_be_scheduled(&self) -> bool {
        self.under_way.is_none() && self.sampled
    }

    /// True if one is sent and not answered, or goes next.
    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        self.due || self.under_way.is_some()
    }

    /// The probe is sent; `end` is one past the highest packet then. RFC 8985 §7.3
    pub(super) fn sent(&mut self, end: u64, retransmission: bool) {
        *self = Self { under_way: Some(Probe { end, retransmission }), due: false, sampled: false };
    }

    /// The retransmission timer takes its place.
    pub(super) fn give_up(&mut self) {
        self.under_way = None;
        self.due = false;
    }

    /// Returns the answer of an ACK up to `una` to the probe, by the `duplicate` that it reports, or as a duplicate
    /// ACK `without_sack`. RFC 8985 §7.4.2
    pub(super) fn answer(&mut self, una: u64, duplicate: Option<Range>, without_sack: bool) -> ProbeAnswer {
        let Some(probe) = self.under_way.filter(|probe| una >= probe.end) else {
            return ProbeAnswer::Nothing;
        };
        let twice = duplicate.is_some_and(|packet| packet.end == probe.end);
        if probe.retransmission && una == probe.end && !twice && !without_sack {
            return ProbeAnswer::Nothing;
        }
        self.under_way = None;
        if probe.retransmission && una > probe.end && !twice {
            ProbeAnswer::Repaired
        } else {
            ProbeAnswer::Needless
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_arrived_twice_was_needless_and_one_that_filled_a_hole_was_not() {
        let packet = |number| Some(Range { start: number, end: number + 1 });
        for (una, duplicate, without_sack, answer) in [
            (20, None, false, ProbeAnswer::Nothing),
            (20, packet(19), false, ProbeAnswer::Needless),
            (20, packet(4), false, ProbeAnswer::Nothing),
            (20, None, true, ProbeAnswer::Needless),
            (21, None, false, ProbeAnswer::Repaired),
            (21, packet(19), false, ProbeAnswer::Needless),
        ] {
            let mut probe = LossProbe::NONE;
            probe.sent(20, true);
            assert_eq!(probe.answer(una, duplicate, without_sack), answer, "{una} {duplicate:?}");
        }
    }
}
