//! Loss recovery: how a [`Sender`] finds losses and repairs them.
//!
//! | recovery | losses found by | repaired by | window meanwhile |
//! | --- | --- | --- | --- |
//! | `tahoe` | 3 duplicate ACKs | going back to the first hole, slow start | from 1 |
//! | `reno` (RFC 5681) | 3 duplicate ACKs | the first hole only | ssthresh + 3 + duplicates |
//! | `newreno` (RFC 6582) | 3 duplicate ACKs | a hole each partial ACK | the same, deflated by partial ACKs |
//! | `sack` (RFC 6675) | 3 SACKed packets above | every hole, by the scoreboard | pipe below ssthresh, or PRR (RFC 6937) |
//! | `rack` (RFC 8985) | time since it was sent; probes at the tail | every hole, in `rack_recovery.rs` | the same |
//!
//! Duplicate ACKs start one fast retransmit a window, for Tahoe and Reno too: what was sent before the last reduction does
//! not reduce again (RFC 6582 §3.2 step 2; without it Reno halves several times for one burst of losses). A second loss in
//! the window of a Reno sender then waits for the timer.
//!
//! Choices the RFCs leave open: a full ACK sets cwnd to ssthresh (RFC 6582 §3.2 step 3 option 2); the first
//! partial ACK, and no later one, restarts the timer ("impatient"); ssthresh is reduced only by the first of several
//! timeouts in a row (RFC 5681 §3.1).

use crate::rack::Rack;
use crate::scoreboard::{Scoreboard, DUP_THRESH};
use crate::segment::Ack;
use crate::sender::{Phase, Sender};
use crate::TcpConfig;
use parshall_congestion::{CongestionControl, CongestionEvent, Signal};
use parshall_units::parameters::{Bounded, Entry};
use parshall_units::Instant;
use serde::Deserialize;

/// Which loss recovery a sender uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery that ends with the first new ACK.
    Reno,
    /// Fast recovery that repairs a whole window.
    NewReno,
    /// Selective acknowledgements.
    Sack,
    /// Selective acknowledgements, losses found by time, probes at the tail.
    Rack,
}

impl Bounded for Recovery {}

/// Every loss recovery.
pub const CATALOG: &[Entry] = &[
    Entry {
        name: "tahoe",
        summary: "fast retransmit, then slow start",
        reference: "Jacobson, SIGCOMM 1988",
        parameters: &[],
        defaults: &[],
        variables: &[],
    },
    Entry {
        name: "reno",
        summary: "fast recovery, ended by the first new ACK",
        reference: "RFC 5681",
        parameters: &[],
        defaults: &[],
        variables: &[],
    },
    Entry {
        name: "newreno",
        summary: "fast recovery that repairs one loss a round trip",
        reference: "RFC 6582",
        parameters: &[],
        defaults: &[],
        variables: &[],
    },
    Entry {
        name: "sack",
        summary: "selective acknowledgements, with proportional rate reduction unless prr = false",
        reference: "RFC 6675, RFC 6937",
        parameters: &[],
        defaults: &[],
        variables: &[],
    },
    Entry {
        name: "rack",
        summary: "as sack, but losses are found by time, lost retransmissions too, and the tail is probed",
        reference: "RFC 8985, RFC 6937",
        parameters: &[],
        defaults: &[],
        variables: &[],
    },
];

impl Recovery {
    /// Whether receivers report what arrived out of order.
    pub fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }

    /// Whether they report what arrived twice.
    pub fn uses_duplicates(self) -> bool {
        self == Self::Rack
    }
}

/// Proportional rate reduction (RFC 6937).
#[derive(Clone, Debug, Default)]
pub(crate) struct Prr {
    delivered: u64,
    out: u64,
    /// RecoverFS
    flight_at_start: u64,
    /// sndcnt: packets that may go now.
    pub(crate) quota: u64,
}

/// What SACK recovery needs, made at the first loss.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackState {
    pub(crate) board: Scoreboard,
    pub(crate) prr: Prr,
    /// In the place of the board, from the beginning of a connection that recovers by RACK.
    pub(crate) rack: Option<Rack>,
}

impl SackState {
    /// A connection whose first packet is `base`, if it needs the state from its beginning.
    pub(crate) fn at_start(recovery: Recovery, base: u64) -> Option<Box<Self>> {
        let rack = || Self { rack: Some(Rack::new(base)), ..Self::default() };
        (recovery == Recovery::Rack).then(|| Box::new(rack()))
    }

    /// The next connection.
    pub(crate) fn reset(&mut self, base: u64) {
        self.board.reset(base);
        if let Some(rack) = &mut self.rack {
            rack.reset(base);
        }
    }

    /// Packets SACKed and not yet acknowledged cumulatively.
    pub(crate) fn sacked_count(&self) -> u64 {
        self.rack.as_ref().map_or(self.board.sacked_count(), Rack::sacked_count)
    }
}

impl Prr {
    pub(crate) fn start(&mut self, flight: u64) {
        *self = Self { flight_at_start: flight.max(1), ..Self::default() };
    }

    /// RFC 6937 §3.1, with the slow-start reduction bound.
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64) {
        self.delivered += delivered;
        self.quota = if pipe > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.flight_at_start).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + 1;
            (ssthresh - pipe).min(limit)
        };
    }

    pub(crate) fn sent(&mut self) {
        self.out += 1;
        self.quota = self.quota.saturating_sub(1);
    }
}

impl Sender {
    /// A duplicate ACK without SACK.
    pub(crate) fn on_duplicate(&mut self, config: &TcpConfig, now: Instant) {
        self.dupacks += 1;
        match self.phase {
            // RFC 6582 §3.2 step 2: not for what was sent before the last recovery.
            Phase::Open if u64::from(self.dupacks) >= DUP_THRESH && self.una > self.guard => {
                self.fast_retransmit(config, now);
            }
            Phase::Recovery => self.inflation += 1.0,
            _ => {}
        }
    }

    fn fast_retransmit(&mut self, config: &TcpConfig, now: Instant) {
        self.begin_reduction(now, config.recovery == Recovery::Tahoe);
        self.dupacks = 0;
        self.guard = self.max;
        if config.recovery == Recovery::Tahoe {
            self.nxt = self.una;
            self.phase = Phase::Loss;
        } else {
            self.phase = Phase::Recovery;
            self.inflation = DUP_THRESH as f64;
            self.first_partial = true;
            self.retransmit_first = true;
        }
        self.arm_timer(config, now);
    }

    /// Tells the control of a loss, unless ECN already made it answer in this round trip (RFC 3168 §6.1.2).
    pub(crate) fn begin_reduction(&mut self, now: Instant, collapse: bool) {
        self.statistics.loss_events += 1;
        let event = CongestionEvent { now, signal: Signal::Loss, in_flight: self.flight() };
        if collapse {
            self.control.on_timeout(&event);
        } else if self.una >= self.reduced_until {
            self.control.on_congestion(&event);
        }
        self.recover = self.max;
        self.reduced = false;
        self.timed = None;
    }

    /// New data was acknowledged during fast recovery without SACK; `true` if that ends it.
    pub(crate) fn on_recovery_ack(&mut self, config: &TcpConfig, now: Instant, acked: u64) {
        if self.una >= self.recover || config.recovery != Recovery::NewReno {
            self.end_recovery();
            return;
        }
        // Partial ACK: RFC 6582 §3.2 step 3
        self.inflation -= acked as f64;
        self.inflation += 1.0;
        self.inflation = self.inflation.max(1.0 - self.control.window());
        self.retransmit_first = true;
        if self.first_partial {
            self.first_partial = false;
            self.arm_timer(config, now);
        }
    }

    pub(crate) fn end_recovery(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0.0;
        self.dupacks = 0;
        self.retransmit_first = false;
        self.control.on_recovered();
    }

    /// An ACK for a SACK sender, of new data or not; returns whether the window may grow by it.
    pub(crate) fn on_sack(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) -> bool {
        let has_blocks = !ack.sack[0].is_empty();
        if !self.has_sacked && !has_blocks && self.phase == Phase::Open {
            return true; // the board catches up with the cumulative ACK when it is next needed
        }
        let una = self.una;
        self.sack_state();
        let Self { sack: Some(state), sampler, .. } = self else { return true };
        let delivered_before = state.board.floor() + state.board.sacked_count();
        state.board.update(una, &ack.sack, |part| {
            if let Some(sampler) = sampler {
                sampler.on_sacked(part);
            }
        });
        let delivered = state.board.floor() + state.board.sacked_count() - delivered_before;
        self.has_sacked = state.board.sacked_count() > 0;

        if self.phase != Phase::Open && self.una >= self.recover {
            self.end_recovery();
        }
        let Some(state) = &mut self.sack else { return true };
        let lost_before = state.board.lost();
        if matches!(self.phase, Phase::Open | Phase::Recovery) {
            state.board.detect_losses();
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.lost += state.board.lost() - lost_before;
        }
        match self.phase {
            Phase::Open => {
                if state.board.first_is_lost() && self.una >= self.recover {
                    self.start_sack_recovery(config, now);
                    return false;
                }
                true
            }
            Phase::Recovery => {
                let pipe = state.board.pipe(self.max);
                state.prr.on_ack(delivered, pipe, self.control.window() as u64);
                false
            }
            Phase::Loss | Phase::Connecting => true,
        }
    }

    fn sack_state(&mut self) -> &mut SackState {
        let una = self.una;
        self.sack.get_or_insert_with(|| {
            let mut state = Box::<SackState>::default();
            state.board.reset(una);
            state
        })
    }

    fn start_sack_recovery(&mut self, config: &TcpConfig, now: Instant) {
        let flight = self.flight();
        self.begin_reduction(now, false);
        self.phase = Phase::Recovery;
        self.retransmit_first = true;
        if let Some(state) = &mut self.sack {
            state.board.restart_retransmissions();
            state.prr.start(flight);
        }
        self.arm_timer(config, now);
    }

    /// The next packet of a SACK sender that has holes or lost everything. RFC 6675 §5 `NextSeg`
    pub(crate) fn next_by_scoreboard(&mut self, config: &TcpConfig) -> Option<u64> {
        if config.recovery == Recovery::Rack {
            return self.next_by_rack(config);
        }
        let state = self.sack.as_mut()?;
        let recovering = self.phase == Phase::Recovery;
        let window = self.control.window() as u64;
        let room = if recovering && self.retransmit_first {
            true
        } else if recovering && self.proportional {
            state.prr.quota > 0
        } else if self.phase == Phase::Open && !config.limited_transmit {
            self.max - self.una < window
        } else {
            state.board.pipe(self.max) < window
        };
        if !room {
            self.window_limited = true;
            return None;
        }
        let new_data = self.nxt < self.send_limit(config);
        let state = self.sack.as_mut()?;
        let packet = if let Some(lost) = state.board.next_lost() {
            state.board.retransmitted(lost);
            lost
        } else if new_data {
            self.nxt += 1;
            self.nxt - 1
        } else if let Some(hole) = state.board.next_unsacked().filter(|_| recovering) {
            state.board.retransmitted(hole);
            hole
        } else if let Some(last) = state.board.rescue(self.max).filter(|_| recovering) {
            last
        } else {
            self.window_limited = false;
            if let Some(sampler) = &mut self.sampler {
                sampler.out_of_data(state.board.pipe(self.max));
            }
            return None;
        };
        self.retransmit_first = false;
        state.prr.sent();
        Some(packet)
    }

    /// The retransmission timer expired. RFC 6298 §5, RFC 5681 §3.1
    pub(crate) fn on_timeout(&mut self, config: &TcpConfig, now: Instant) {
        self.statistics.timeouts += 1;
        if !self.timer_retransmitted {
            self.timer_retransmitted = true;
            let event = CongestionEvent { now, signal: Signal::Loss, in_flight: self.flight() };
            self.control.on_timeout(&event);
        }
        self.rtt.back_off();
        self.reduced = false;
        self.recover = self.max;
        self.guard = self.max;
        self.phase = Phase::Loss;
        self.dupacks = 0;
        self.inflation = 0.0;
        self.retransmit_first = false;
        self.timed = None;
        if config.recovery == Recovery::Rack {
            return self.on_rack_timeout(config, now);
        }
        if config.recovery.uses_sack() {
            let (una, max) = (self.una, self.max);
            let state = self.sack_state();
            state.board.update(una, &[], |_| {});
            let lost_before = state.board.lost();
            state.board.mark_all_lost(max);
            let newly_lost = state.board.lost() - lost_before;
            self.has_sacked = state.board.sacked_count() > 0;
            if let Some(sampler) = &mut self.sampler {
                sampler.lost += newly_lost;
            }
        } else {
            self.nxt = self.una;
        }
        self.arm_timer(config, now);
    }
}
