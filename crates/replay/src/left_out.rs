//! Calls that a kernel left out: it skips a BPF program while the same program runs on that CPU, and neither the control nor the recorder
//! hears of that.
//!
//! | what tells | left out |
//! | --- | --- |
//! | packets were delivered since the call before, and this one is not `pkts_acked` | `pkts_acked` |
//! | packets were acknowledged in the state Open, and the next `pkts_acked` comes without another call that answers them | `cong_avoid` |
//! | more packets were delivered since the last `cong_control` than this one is told of | `cong_control` |
//! | data was sent, and the last call before it was not `min_tso_segs`, which comes before each transmission of new data | `min_tso_segs` |
//! | the threshold has become 0, which is what a program returns that is left out | `ssthresh` |
//!
//! What stood on the stack takes the place of what a call left out would return; of `min_tso_segs` it lets the whole
//! window go as one burst.
//!
//! Others leave no trace: what is counted is the least that is missing. The kernel may tell of an ACK (`in_ack_event`)
//! before it tells of its packets.

use crate::call::{Call, Kind};
use std::ops::AddAssign;

/// So many calls of a kind were left out, at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Of all kinds.
    pub calls: u64,
    /// The place of the first call that tells, among those of the connection.
    pub first: Option<usize>,
}

impl AddAssign for LeftOut {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.first = self.first.or(other.first);
    }
}

/// Watches the calls of a connection, one after another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    /// What the call before found: packets delivered, the threshold, and what is sent next. `None`: the control has not begun.
    before: Option<(u32, u32, u32)>,
    /// `min_tso_segs` is asked for.
    sizes: bool,
    /// It was the last call, but for the event that the transmission begins with.
    may_send: bool,
    /// `delivered` at the last `cong_control`.
    controlled: Option<u32>,
    /// The control is told of packets.
    told: bool,
    /// Packets were delivered, and of their ACK only `in_ack_event` has told.
    untold: bool,
    /// The control lets its window grow (`cong_avoid`).
    grows: bool,
    /// Packets were acknowledged by which the window may grow, and nobody has answered.
    unanswered: bool,
}

impl Watch {
    /// Returns the number of calls that were left out before this one.
    pub(crate) fn count(&mut self, call: &Call) -> u64 {
        let kind = call.kind();
        if kind == Some(Kind::Init) {
            let Self { told, grows, sizes, .. } = *self;
            *self = Self {
                before: Some((call.delivered, call.ssthresh, call.snd_nxt)),
                told,
                grows,
                sizes,
                may_send: true,
                ..Self::default()
            };
            return 0;
        }
        self.told |= kind == Some(Kind::PktsAcked);
        self.grows |= kind == Some(Kind::CongAvoid);
        let now = (call.delivered, call.ssthresh, call.snd_nxt);
        let Some((delivered, ssthresh, sent)) = self.before.replace(now) else { return 0 };
        let mut found = u64::from(call.ssthresh == 0 && ssthresh != 0);
        found += u64::from(self.sizes && call.snd_nxt != sent && !self.may_send);
        self.sizes |= kind == Some(Kind::MinTsoSegs);
        self.may_send = kind == Some(Kind::MinTsoSegs) || self.may_send && kind == Some(Kind::CwndEvent);
        let news = call.delivered != delivered;
        match kind {
            Some(Kind::PktsAcked) => {
                found += u64::from(self.unanswered && self.grows);
                self.untold = false;
                self.unanswered = call.ca_state == 0 && call.acked > 0;
            }
            Some(Kind::CongControl) => {
                let since = self.controlled.replace(call.delivered);
                found +=
                    u64::from(since.is_some_and(|since| call.delivered.wrapping_sub(since) > call.acked));
            }
            kind => {
                if self.told {
                    found += u64::from(self.untold);
                    self.untold = news && kind == Some(Kind::InAckEvent);
                    found += u64::from(news && !self.untold);
                }
                if matches!(kind, Some(Kind::CongAvoid | Kind::SetState)) {
                    self.unanswered = false;
                }
            }
        }
        found
    }
}

/// Returns the calls of a connection that were left out.
pub(crate) fn of(calls: &[Call]) -> LeftOut {
    let mut watch = Watch::default();
    let mut found = LeftOut::default();
    for (place, call) in calls.iter().enumerate() {
        let calls = watch.count(call);
        if calls > 0 {
            found += LeftOut { calls, first: Some(place) };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recording;
    use std::path::Path;

    fn calls(name: &str) -> Vec<Call> {
        let path = format!("../../tests/data/linux-6.18/{name}.csv.zst");
        let mut read = Recording::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        read.connections.swap_remove(0).calls
    }

    /// BBR's recordings have bursts of 16 to 21 packets, about one a second; each is a call that was left out.
    #[test]
    fn nothing_is_missing_where_one_flow_was_recorded_but_for_calls_before_a_transmission() {
        for control in ["reno", "cubic", "bbr", "multiple_time_scale"] {
            for (situation, of_bbr) in [
                ("clean", 6),
                ("overflow", 3),
                ("loss", 3),
                ("ecn", 3),
                ("application_limited", 1),
                ("idle_restart", 0),
            ] {
                let name = format!("{control}-{situation}");
                let expected = if control == "bbr" { of_bbr } else { 0 };
                assert_eq!(of(&calls(&name)).calls, expected, "{name}");
            }
        }
    }

    /// Each tenth call of a kind is taken out, in Open for those that only tell there; a threshold is what a program left out returns.
    #[test]
    fn what_is_taken_out_is_missed() {
        for (name, kind) in [
            ("reno-loss", Kind::PktsAcked),
            ("cubic-clean", Kind::CongAvoid),
            ("bbr-overflow", Kind::CongControl),
        ] {
            let mut taken = 0;
            let mut number = 0;
            let mut calls = calls(name);
            let whole = calls.clone();
            let begin = calls.iter().position(|call| call.kind() == Some(Kind::Init)).unwrap();
            let mut place = 0;
            calls.retain(|call| {
                place += 1;
                let of_kind = place > begin + 1 && call.kind() == Some(kind) && call.ca_state == 0;
                number += u64::from(of_kind);
                let take = of_kind && number % 10 == 0;
                taken += u64::from(take);
                !take
            });
            let found = of(&calls);
            let found = LeftOut { calls: found.calls - of(&whole).calls, ..found };
            assert!(found.calls <= taken && found.calls * 10 > taken * 9, "{name}: {found:?} of {taken}");
            assert!(taken > 20);
            assert!(found.first.is_some());
        }
        let mut calls = calls("reno-overflow");
        let place = calls.iter().position(|call| call.kind() == Some(Kind::Ssthresh)).unwrap();
        calls.remove(place);
        calls[place].ssthresh = 0;
        assert_eq!(of(&calls), LeftOut { calls: 1, first: Some(place) });
    }
}
