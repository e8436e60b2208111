//! The changes that a loss made are taken back when it turns out to have been none (draft-ietf-ccwg-bbr-06 §5.5.11:
//! `SaveStateUponLoss`, `HandleSpuriousLossDetection`).

use super::{BoundedBbr, State, Version};

/// The bounds before the loss, and the state that it ended, if that probed for bandwidth.
#[derive(Clone, Debug)]
pub(crate) struct BeforeLoss {
    /// BBR.undo_state
    state: Option<State>,
    bw_lo: f64,
    inflight_lo: f64,
    inflight_hi: f64,
}

impl Default for BeforeLoss {
    fn default() -> Self {
        Self { state: None, bw_lo: 0.0, inflight_lo: 0.0, inflight_hi: 0.0 }
    }
}

impl<V: Version> BoundedBbr<V> {
    /// A loss was found: the first one of a round trip, or one that a recovery or a timeout repairs.
    pub(super) fn save_bounds(&mut self) {
        self.before_loss = BeforeLoss {
            state: None,
            bw_lo: self.bw_lo,
            inflight_lo: self.inflight_lo,
            inflight_hi: self.inflight_hi,
        };
    }

    /// The state at hand, which probes for bandwidth, ends by losses.
    pub(super) fn note_ended_by_loss(&mut self) {
        self.before_loss.state = Some(self.state);
    }

    /// No packet was lost.
    pub(super) fn undo(&mut self) {
        let before = std::mem::take(&mut self.before_loss);
        self.window = self.prior.restored(self.window);
        self.loss_in_round = false;
        self.reset_full_bw(0.0);
        self.bw_lo = self.bw_lo.max(before.bw_lo);
        self.inflight_lo = self.inflight_lo.max(before.inflight_lo);
        self.inflight_hi = self.inflight_hi.max(before.inflight_hi);
        match before.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.filled = false;
                if self.state != State::ProbeRtt {
                    self.start_startup();
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }
}
