//! On/off constant bit rate: full packets evenly spaced while ON, none while OFF.
//!
//! The source has a clock that runs while it is ON and stands still while it is OFF; a packet leaves
//! whenever that clock shows a multiple of the spacing. So an ON time need not be a whole number of
//! packets and what is left of it counts towards the next: the long-run rate is exactly `rate` times
//! E\[ON\] / (E\[ON\] + E\[OFF\]). The flow's start is the start of the first ON time, and of the first
//! packet; with `begins = "off"` an OFF time is before them.

use super::on_off::Begins;
use super::spacing::{Pace, Spacing};
use super::{build, Application, Demand};
use crate::distributions::{Distribution, DistributionConfig};
use crate::error::ConfigError;
use crate::sources::{Datagram, DatagramSource, Datagrams, Source};
use parshall_units::{Duration, Rate};
use rand_core::RngCore;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Mean ON times must not be shorter than the spacing of packets over this, with longer ones counted as a spacing: a
/// departure takes as many draws.
const MOST_PERIODS_A_PACKET: u64 = 1000;

parshall_units::configuration! {
    /// Full packets at a constant rate, with pauses.
    pub struct OnOffCbrConfig {
        /// Bits sent in a second of ON time, headers included.
        rate: Rate, min "1 bit/s", max "1000 Tbit/s";
        /// Length of an ON time.
        on: DistributionConfig => TimeDistribution;
        /// Length of an OFF time.
        off: DistributionConfig => TimeDistribution;
        /// Whether the first ON time begins at the flow's start, or after an OFF time.
        begins: Begins, default "on";
    }
}

impl Application for OnOffCbrConfig {
    const SUMMARY: &'static str = "datagrams at a constant bit rate, with idle times";
    const REFERENCE: &'static str = "Willinger, Taqqu, Sherman & Wilson, IEEE/ACM ToN 5(1), 1997";
    const TITLE: &'static str = "datagrams in bursts";
    const DEMAND: Demand = Demand::Varying;
    const RANDOM: bool = true;
    const DATAGRAMS: bool = true;

    fn source(&self, packet_bytes: NonZeroU32) -> Result<Source, ConfigError> {
        let spacing = Spacing::new(self.rate, packet_bytes);
        let (on, off) = (build("on", &self.on)?, build("off", &self.off)?);
        let shortest = spacing.as_duration().over(MOST_PERIODS_A_PACKET).max(Duration::from_ps(1));
        let refuse = |found| {
            let accepted =
                format!("a mean of at least {shortest}, a thousandth of a packet's time at this rate");
            Err(ConfigError::new("on", found, accepted))
        };
        if on.mean() < shortest.as_secs_f64() {
            return refuse(format!("a mean of {} s", on.mean()));
        }
        let packet = shortest.times(MOST_PERIODS_A_PACKET);
        let usual = mean_up_to(&on, packet.as_secs_f64());
        // Known to half of what is asked for: what has just the mean that is asked for is not refused.
        if usual < shortest.as_secs_f64() / 2.0 {
            return refuse(format!(
                "times that are in the mean {usual} s, if longer ones than {packet} count as that"
            ));
        }
        let left = (self.begins == Begins::Off).then_some(Duration::ZERO);
        let source = OnOffCbr { model: Arc::new(Model { spacing, on, off }), pace: Pace::default(), left };
        Ok(Source::Datagrams(DatagramSource(Datagrams::OnOffCbr(source))))
    }
}

/// Mean of values of which larger ones count as `most`: an average over the quantiles, which is known to a two-thousandth of `most` as they
/// grow with their place.
fn mean_up_to(distribution: &Distribution, most: f64) -> f64 {
    const PLACES: u32 = 1000;
    let at = |place: u32| distribution.quantile((f64::from(place) + 0.5) / f64::from(PLACES)).min(most);
    (0..PLACES).map(at).sum::<f64>() / f64::from(PLACES)
}

/// Datagrams in bursts.
#[derive(Clone, Debug)]
pub(crate) struct OnOffCbr {
    model: Arc<Model>,
    pace: Pace,
    /// What is left of the ON time; `None` before the first, if that begins at once.
    left: Option<Duration>,
}

#[derive(Debug)]
struct Model {
    spacing: Spacing,
    on: Distribution,
    off: Distribution,
}

impl OnOffCbr {
    pub(crate) fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Datagram {
        let model = &*self.model;
        let time = |law: &Distribution, rng: &mut R| Duration::from_secs_f64(law.sample(rng));
        let mut left = match self.left {
            Some(left) => left,
            None => time(&model.on, rng),
        };
        let mut needed = self.pace.next(&model.spacing);
        let mut gap = Duration::ZERO;
        while needed >= left && gap < Duration::MAX {
            needed = needed - left;
            gap = gap + left + time(&model.off, rng);
            left = time(&model.on, rng);
        }
        self.left = Some(left - needed);
        Datagram { gap: gap + needed, bytes: model.spacing.packet_bytes() }
    }
}
