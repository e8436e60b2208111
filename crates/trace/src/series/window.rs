//! A congestion window over time, as windows of consecutive round trips and the reductions among them.
//!
//! The window of a round trip is the value at its beginning. A round trip loses a packet if the window begins to fall in it, by
//! a tenth at least until it rises again. Two things look like that and are none:
//!
//! | what | how it is told | what becomes of it |
//! | --- | --- | --- |
//! | a reduction that the sender takes back (Eifel, RFC 4015; Linux's undo) | within [`UNDONE_WITHIN`] round trips the window is [`RESTORED`] of what it was, and one step made up half of the way | counted apart |
//! | a value that is none | it is [`SPIKE`] times the last one, and that is back within half a round trip: no sender doubles its window in less than one | passed over, counted |
//!
//! Growth alone takes back no reduction: it goes by a packet, or by one for each acknowledged.

use crate::error::TraceError;
use parshall_records::{RoundRow, Tables};
use std::collections::VecDeque;

/// A window that falls to this share of its peak was reduced in answer to a loss.
const REDUCED: f64 = 0.9;

/// A window that is again this share of what it was before a reduction, and within so many round trips, was restored.
const RESTORED: f64 = 0.95;
const UNDONE_WITHIN: f64 = 3.0;

/// A window that is more than this factor above the last one is looked at twice.
const SPIKE: f64 = 1.5;

/// The most values that wait to be told from spikes.
const HELD: usize = 64;

/// The most round trips that wait for what becomes of a reduction.
const PENDING: usize = 256;

/// Round trips shorter than this are damage.
const SHORTEST_RTT_S: f64 = 1e-6;

/// A round trip whose losses are not settled.
#[derive(Debug)]
struct Pending {
    round: u64,
    start_s: f64,
    window: f64,
    losses: u32,
}

/// A reduction that may still be undone.
#[derive(Debug)]
struct Reduction {
    /// When it began, and the window before.
    since: f64,
    before: f64,
    /// The smallest window since, and the largest step up.
    low: f64,
    step: f64,
}

/// Follows a window, and writes a row of `rounds` at each round trip.
#[derive(Debug)]
pub(super) struct Window {
    flow: u32,
    /// In a longer time without a value, in round trips, the window is not known: it has no rounds.
    longest_gap: f64,
    rtt_s: Option<f64>,
    now: f64,
    value: f64,
    peak: f64,
    /// When it began to fall from the peak, and whether that was counted.
    falling_since: Option<f64>,
    counted: bool,
    /// Sum of window x duration, packet-seconds.
    area: f64,
    round: u64,
    next_s: f64,
    pending: VecDeque<Pending>,
    open: VecDeque<Reduction>,
    held: Vec<(f64, f64)>,
    pub(super) reductions: u64,
    pub(super) undone: u64,
    pub(super) spikes: u64,
}

impl Window {
    pub(super) fn new(flow: u32, first_s: f64, first: f64, longest_gap: f64) -> Self {
        Self {
            flow,
            longest_gap,
            rtt_s: None,
            now: first_s,
            value: first,
            peak: first,
            falling_since: None,
            counted: false,
            area: 0.0,
            round: 0,
            next_s: first_s,
            pending: VecDeque::new(),
            open: VecDeque::new(),
            held: Vec::new(),
            reductions: 0,
            undone: 0,
            spikes: 0,
        }
    }

    /// Mean over time up to the last value, if any passed.
    pub(super) fn mean(&self, began_s: f64) -> Option<f64> {
        (self.now > began_s).then(|| self.area / (self.now - began_s))
    }

    /// A value, in order of time. `rtt_s`: the round-trip time now; without it there are no rounds, and nothing tells a
    /// reduction that was undone.
    pub(super) fn value(
        &mut self,
        tables: &mut Tables,
        now: f64,
        value: f64,
        rtt_s: Option<f64>,
    ) -> Result<(), TraceError> {
        self.rtt_s = rtt_s.filter(|rtt_s| *rtt_s >= SHORTEST_RTT_S);
        let Some(rtt_s) = self.rtt_s else {
            return self.take(tables, now, value);
        };
        if let Some(&(first, _)) = self.held.first() {
            if now - first > rtt_s / 2.0 || self.held.len() >= HELD {
                self.release(tables)?;
            } else if value <= SPIKE * self.value {
                self.spikes += self.held.len() as u64;
                self.held.clear();
            }
        }
        if value > SPIKE * self.value && value > self.value + 2.0 {
            self.held.push((now, value));
            return Ok(());
        }
        self.take(tables, now, value)
    }

    /// Writes what waits.
    pub(super) fn finish(&mut self, tables: &mut Tables) -> Result<(), TraceError> {
        self.release(tables)?;
        self.flush(tables, 1)
    }

    /// What was held is as it was given.
    fn release(&mut self, tables: &mut Tables) -> Result<(), TraceError> {
        for (time, value) in std::mem::take(&mut self.held) {
            self.take(tables, time, value)?;
        }
        Ok(())
    }

    fn take(&mut self, tables: &mut Tables, now: f64, value: f64) -> Result<(), TraceError> {
        self.area += self.value * (now - self.now);
        if let Some(rtt_s) = self.rtt_s {
            self.rounds_until(tables, now, rtt_s)?;
            self.settle(now, value, rtt_s);
        }
        if value < self.value {
            let since = *self.falling_since.get_or_insert(now);
            if !self.counted && value <= REDUCED * self.peak {
                self.counted = true;
                self.reductions += 1;
                if let Some(pending) = self.begun_by(since) {
                    pending.losses += 1;
                }
                if self.rtt_s.is_some() && self.open.len() < HELD {
                    self.open.push_back(Reduction { since, before: self.peak, low: value, step: 0.0 });
                }
            }
        } else if value > self.value {
            self.falling_since = None;
            if self.counted || value > self.peak {
                self.peak = value;
            }
            self.counted = false;
        }
        (self.now, self.value) = (now, value);
        Ok(())
    }

    /// Round trips that began before `now`.
    fn rounds_until(&mut self, tables: &mut Tables, now: f64, rtt_s: f64) -> Result<(), TraceError> {
        if now - self.now > self.longest_gap * rtt_s {
            self.flush(tables, 0)?;
            self.open.clear();
            self.round += ((now - self.next_s).max(0.0) / rtt_s) as u64;
            self.next_s = now;
        }
        while self.next_s < now {
            let (round, start_s, window) = (self.round, self.next_s, self.value);
            self.pending.push_back(Pending { round, start_s, window, losses: 0 });
            self.round += 1;
            self.next_s += rtt_s;
            if self.falling_since.is_none() && self.open.is_empty() || self.pending.len() > PENDING {
                self.flush(tables, 1)?;
            }
        }
        Ok(())
    }

    /// Which reductions are undone by `value`, and which can be no more.
    fn settle(&mut self, now: f64, value: f64, rtt_s: f64) {
        let rise = value - self.value;
        let mut at = 0;
        while at < self.open.len() {
            let reduction = &mut self.open[at];
            reduction.low = reduction.low.min(value);
            reduction.step = reduction.step.max(rise);
            let late = now - reduction.since > UNDONE_WITHIN * rtt_s;
            let missing = reduction.before - reduction.low;
            let jumped = reduction.step > 1.0 && reduction.step >= missing / 2.0;
            let undone = !late && value >= RESTORED * reduction.before && jumped;
            let since = reduction.since;
            if undone {
                (self.reductions, self.undone) = (self.reductions.saturating_sub(1), self.undone + 1);
                if let Some(pending) = self.begun_by(since) {
                    pending.losses = pending.losses.saturating_sub(1);
                }
            }
            if undone || late {
                self.open.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// The round trip under way at a time, if it is still known.
    fn begun_by(&mut self, time: f64) -> Option<&mut Pending> {
        self.pending.iter_mut().rev().find(|pending| pending.start_s <= time)
    }

    /// Writes all but the last `keep` rounds.
    fn flush(&mut self, tables: &mut Tables, keep: usize) -> Result<(), TraceError> {
        let settled = self.pending.len().saturating_sub(keep);
        for pending in self.pending.drain(..settled) {
            tables.rounds.push(RoundRow {
                flow: self.flow,
                round: pending.round,
                start_s: pending.start_s,
                window_packets: pending.window as u32,
                lost: pending.losses > 0,
            })?;
        }
        Ok(())
    }
}
