//! Open loop: transfers begin at the points of a Poisson process, whether or not earlier ones are
//! done. The load, `arrivals_per_s` times the mean size, is given and not up to the network.

use super::{build, granularity, Application, Demand};
use crate::distributions::{Distribution, DistributionConfig, Exponential};
use crate::error::ConfigError;
use crate::random::unit_interval;
use crate::sources::{transfer_bytes, Arrival, ArrivalSource, Source};
use parshall_units::{Bytes, Duration};
use rand_core::RngCore;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

parshall_units::configuration! {
    /// Transfers that begin at the points of a Poisson process.
    pub struct OpenLoopConfig {
        /// Payload of a transfer.
        size: DistributionConfig => SizeDistribution;
        /// Sizes are rounded to whole multiples of this, at least one: `"1 packet"` has no packet half full.
        size_granularity: Bytes => Size, default "1 B", min "1 B", max "1 GB";
        /// Transfers that begin in a second, on average.
        arrivals_per_s: f64, min 1e-9, max 1e12;
    }
}

/// The laws of gaps and sizes.
#[derive(Clone, Debug)]
pub(crate) struct OpenLoop {
    laws: Arc<Laws>,
}

#[derive(Debug)]
struct Laws {
    gap: Exponential,
    size: Distribution,
    size_granularity: NonZeroU64,
}

impl Application for OpenLoopConfig {
    const SUMMARY: &'static str = "transfers that begin at random times (Poisson), open loop";
    const REFERENCE: &'static str = "Ben Fredj et al., SIGCOMM 2001: Poisson flow arrivals";
    const TITLE: &'static str = "transfers that arrive at random";
    const DEMAND: Demand = Demand::Varying;
    const RANDOM: bool = true;

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        let size = build("size", &self.size)?;
        let laws = Arc::new(Laws {
            gap: Exponential::with_mean(1.0 / self.arrivals_per_s),
            size,
            size_granularity: granularity(self.size_granularity)?,
        });
        Ok(Source::Arrivals(ArrivalSource(OpenLoop { laws })))
    }
}

impl OpenLoop {
    pub(crate) fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Arrival {
        Arrival {
            gap: Duration::from_secs_f64(self.laws.gap.at(unit_interval(rng.next_u64()))),
            bytes: transfer_bytes(self.laws.size.sample(rng), self.laws.size_granularity),
        }
    }
}
