//! Poisson: datagrams of random sizes at the points of a Poisson process, the input of M/G/1 queues.
//!
//! Departures in a second are `rate` over the mean size, so `rate` is the load in bit/s. With exponential
//! sizes it makes a link M/M/1, with a constant size M/D/1 (up to sizes being whole bytes).

use super::{build, Application, Demand};
use crate::distributions::{Distribution, DistributionConfig, Exponential};
use crate::error::ConfigError;
use crate::random::unit_interval;
use crate::sources::{datagram_bytes, Datagram, DatagramSource, Datagrams, Source};
use parshall_units::{Duration, Rate};
use rand_core::RngCore;
use std::num::NonZeroU32;
use std::sync::Arc;

parshall_units::configuration! {
    /// Datagrams at the points of a Poisson process.
    pub struct PoissonConfig {
        /// Bits sent in a second on average, headers included.
        rate: Rate, min "1 bit/s", max "1000 Tbit/s";
        /// Bytes of a datagram on the wire.
        size: DistributionConfig => SizeDistribution;
    }
}

impl Application for PoissonConfig {
    const SUMMARY: &'static str = "datagrams at random times (Poisson), of random sizes";
    const REFERENCE: &'static str = "Kleinrock, Queueing Systems 1 (1975), ch. 5: the input of M/G/1";
    const TITLE: &'static str = "datagrams at random";
    const DEMAND: Demand = Demand::Steady;
    const RANDOM: bool = true;
    const DATAGRAMS: bool = true;
    const RANDOM_TIMES: bool = true;

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        let size = build("size", &self.size)?;
        if size.mean() < 1.0 {
            let found = format!("a mean of {} bytes", size.mean());
            return Err(ConfigError::new("size", found, "a mean of at least 1 byte"));
        }
        let gap = Exponential::with_mean(8.0 * size.mean() / self.rate.as_bps() as f64);
        let source = Poisson { laws: Arc::new(Laws { gap, size }) };
        Ok(Source::Datagrams(DatagramSource(Datagrams::Poisson(source))))
    }
}

/// The laws of gaps and sizes.
#[derive(Clone, Debug)]
pub(crate) struct Poisson {
    laws: Arc<Laws>,
}

#[derive(Debug)]
struct Laws {
    gap: Exponential,
    size: Distribution,
}

impl Poisson {
    #[inline]
    pub(crate) fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Datagram {
        Datagram {
            gap: Duration::from_secs_f64(self.laws.gap.at(unit_interval(rng.next_u64()))),
            bytes: datagram_bytes(self.laws.size.sample(rng)),
        }
    }
}
