//! The bins of the link samples.

use super::Network;
use crate::series::{Widths, FULL};
use crate::shared::{LinkState, BIN};
use parshall_engine::Network as Engine;
use parshall_units::{Duration, Instant};

/// The widths of the link samples' bins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bins {
    /// All the same: each bin is written when it ends.
    Fixed(Duration),
    /// They fit the run: written when it ends.
    Fitted(Widths),
}

impl Bins {
    pub(crate) fn width(self) -> Duration {
        match self {
            Self::Fixed(width) => width,
            Self::Fitted(widths) => widths.width(),
        }
    }
}

impl Network {
    /// A bin ends.
    pub(super) fn on_bin(&mut self, now: Instant) {
        let Some(bins) = self.end_bins(now) else { return };
        self.core.queue.push(now + bins.width(), BIN);
    }

    /// A bin of each link ends at `now`.
    pub(super) fn end_bins(&mut self, now: Instant) -> Option<Bins> {
        match self.bins.as_mut()? {
            Bins::Fixed(_) => {
                let Engine { core, links, .. } = &mut self.engine;
                for LinkState { link, notes: probe, .. } in links {
                    probe.write_bin(&mut core.sink.recorder, link, now);
                }
            }
            Bins::Fitted(widths) => {
                let links = &mut self.engine.links;
                let kept = links.iter_mut().map(|state| state.notes.keep_bin(&mut state.link, now)).max();
                if kept == Some(FULL) {
                    let factor = widths.widen();
                    for state in links {
                        state.notes.join_bins(factor);
                    }
                }
            }
        }
        self.bins
    }
}
