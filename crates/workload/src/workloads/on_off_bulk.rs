//! On/off bulk: all that TCP takes for a while, a pause, all that it takes, ... (closed loop).
//!
//! The length of an ON time is drawn, and how much is sent in it is up to the network: where [`on_off`](super::on_off) draws
//! sizes, this draws times, so that the mean load of many sources follows from the two laws. When an ON time ends, nothing more
//! is handed over; what was sent is still repaired and acknowledged, a round trip or more, and the OFF time begins then. So a
//! source is ON for E\[ON\] of E\[ON\] + E\[OFF\] + that time. Whether an ON time has a connection of its own, and what that
//! knows of those before, say `persistent` and `ssthresh_cached` of its group. The flow's start is the start of the first ON
//! time; with `begins = "off"` an OFF time is before it.

use super::on_off::Begins;
use super::{build, Application, Demand};
use crate::distributions::{Distribution, DistributionConfig};
use crate::error::ConfigError;
use crate::sources::{Source, Transfer, TransferSource, Transfers};
use parshall_units::Duration;
use rand_core::RngCore;
use std::num::NonZeroU32;
use std::sync::Arc;

parshall_units::configuration! {
    /// Bulk transfers that end with their time, and pauses between them.
    pub struct OnOffBulkConfig {
        /// Length of an ON time, in which the source always has data to send.
        on: DistributionConfig => TimeDistribution;
        /// Idle time from the acknowledgement of all that was sent to the next ON time.
        off: DistributionConfig => TimeDistribution;
        /// Whether the first ON time begins at the flow's start, or after an idle time.
        begins: Begins, default "on";
    }
}

/// The two laws, and whether an idle time is before the next ON time.
#[derive(Clone, Debug)]
pub(crate) struct OnOffBulk {
    laws: Arc<Laws>,
    waits: bool,
}

#[derive(Debug)]
struct Laws {
    on: Distribution,
    off: Distribution,
}

impl Application for OnOffBulkConfig {
    const SUMMARY: &'static str =
        "all that TCP takes for a drawn time, with idle times between (closed loop)";
    const REFERENCE: &'static str = "Loiseau, Gonçalves, Barral & Vicat-Blanc Primet 2010, §5.1";
    const TITLE: &'static str = "bulk transfers of a given time, and pauses";
    const DEMAND: Demand = Demand::Varying;
    const RANDOM: bool = true;

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        let laws = Laws { on: build("on", &self.on)?, off: build("off", &self.off)? };
        if laws.on.mean() == 0.0 {
            return Err(ConfigError::new("on", "0 s", "a positive time"));
        }
        let source = OnOffBulk { laws: Arc::new(laws), waits: self.begins == Begins::Off };
        Ok(Source::Transfers(TransferSource(Transfers::OnOffBulk(source))))
    }
}

impl OnOffBulk {
    pub(crate) fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Transfer {
        let time = |law: &Distribution, rng: &mut R| Duration::from_secs_f64(law.sample(rng));
        let wait =
            if std::mem::replace(&mut self.waits, true) { time(&self.laws.off, rng) } else { Duration::ZERO };
        Transfer { wait, bytes: None, lasts: Some(time(&self.laws.on, rng)) }
    }
}
