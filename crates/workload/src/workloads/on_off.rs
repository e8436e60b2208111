//! On/off: a transfer, a pause, a transfer, ... (closed loop).
//!
//! The source alternates between a transfer, whose size is drawn and whose duration is up to the
//! network, and an idle (OFF) time, which is drawn. By default it begins with a transfer, so that a flow's start is
//! the start of its first transfer, and groups that should not begin together spread their starts; with
//! `begins = "off"` an OFF time is drawn first. The load is not given but results: a slower network is asked less
//! often. So the share of sources that are ON is not known before, and none can begin in the stationary state.

use super::{build, granularity, Application, Demand};
use crate::distributions::{Distribution, DistributionConfig};
use crate::error::ConfigError;
use crate::sources::{transfer_bytes, Source, Transfer, TransferSource, Transfers};
use parshall_units::{Bytes, Duration};
use rand_core::RngCore;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

parshall_units::choice! {
    /// The state of a source at its flow's start.
    pub enum Begins {
        /// It sends.
        On = "on",
        /// It is idle: an OFF time is drawn.
        Off = "off",
    }
}

parshall_units::configuration! {
    /// Transfers with pauses between them.
    pub struct OnOffConfig {
        /// Payload of a transfer.
        size: DistributionConfig => SizeDistribution;
        /// Sizes are rounded to whole multiples of this, at least one: `"1 packet"` has no packet half full.
        size_granularity: Bytes => Size, default "1 B", min "1 B", max "1 GB";
        /// Idle time from a completion to the next transfer's start.
        off: DistributionConfig => TimeDistribution;
        /// Whether the first transfer begins at the flow's start, or after an idle time.
        begins: Begins, default "on";
    }
}

/// The two laws, and whether an idle time is before the next transfer.
#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    laws: Arc<Laws>,
    waits: bool,
}

#[derive(Debug)]
struct Laws {
    size: Distribution,
    size_granularity: NonZeroU64,
    off: Distribution,
}

impl Application for OnOffConfig {
    const SUMMARY: &'static str = "transfers with idle times between them (closed loop)";
    const REFERENCE: &'static str = "Goga, Loiseau & Gonçalves 2011, §2";
    const TITLE: &'static str = "transfers and pauses";
    const DEMAND: Demand = Demand::Varying;
    const RANDOM: bool = true;

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        let laws = Laws {
            size: build("size", &self.size)?,
            size_granularity: granularity(self.size_granularity)?,
            off: build("off", &self.off)?,
        };
        if laws.size.mean() == 0.0 && laws.off.mean() == 0.0 {
            // Transfers of nothing without a pause would go on for ever at one instant.
            return Err(ConfigError::new(
                "off",
                "0 s, with sizes of 0 bytes",
                "a positive time, or positive sizes",
            ));
        }
        let source = OnOff { laws: Arc::new(laws), waits: self.begins == Begins::Off };
        Ok(Source::Transfers(TransferSource(Transfers::OnOff(source))))
    }
}

impl OnOff {
    pub(crate) fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Transfer {
        let wait = if std::mem::replace(&mut self.waits, true) {
            Duration::from_secs_f64(self.laws.off.sample(rng))
        } else {
            Duration::ZERO
        };
        Transfer { wait, bytes: Some(transfer_bytes(self.laws.size.sample(rng), self.laws.size_granularity)) }
    }
}
