//! The bins of the link samples.

use super::{LinkState, Network};
use crate::event::Entity;
use crate::series::{Widths, FULL};
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
        self.core.queue.replace_top(now + bins.width(), Entity::Bin);
    }

    /// A bin of each link ends at `now`.
    pub(super) fn end_bins(&mut self, now: Instant) -> Option<Bins> {
        match self.bins.as_mut()? {
            Bins::Fixed(_) => {
                for LinkState { name, link, classed, probe, .. } in &mut self.links {
                    probe.write_bin(&mut self.core, name, *classed, link, now);
                }
            }
            Bins::Fitted(widths) => {
                let probes =
                    self.links.iter_mut().map(|state| (&mut state.probe, state.classed, &mut state.link));
                let kept = probes.map(|(probe, classed, link)| probe.keep_bin(classed, link, now)).max();
                if kept == Some(FULL) {
                    let factor = widths.widen();
                    self.links.iter_mut().for_each(|state| state.probe.join_bins(factor));
                }
            }
        }
        self.bins
    }
}
