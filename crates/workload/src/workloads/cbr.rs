//! Constant bit rate: full packets, evenly spaced, the first at the flow's start.

use super::spacing::{Pace, Spacing};
use super::{Application, Demand};
use crate::error::ConfigError;
use crate::sources::{Datagram, DatagramSource, Datagrams, Source};
use parshall_units::Rate;
use std::num::NonZeroU32;
use std::sync::Arc;

parshall_units::configuration! {
    /// Full packets at a constant rate.
    pub struct CbrConfig {
        /// Bits sent in a second, headers included.
        rate: Rate, min "1 bit/s", max "1000 Tbit/s";
    }
}

impl Application for CbrConfig {
    const SUMMARY: &'static str = "datagrams at a constant bit rate";
    const REFERENCE: &'static str =
        "Guillier, Hablot & Vicat-Blanc Primet 2007, §4.4: CBR background traffic";
    const TITLE: &'static str = "datagrams at a constant rate";
    const DEMAND: Demand = Demand::Steady;
    const RANDOM: bool = false;
    const DATAGRAMS: bool = true;

    fn source(&self, packet_bytes: NonZeroU32) -> Result<Source, ConfigError> {
        let spacing = Spacing::new(self.rate, packet_bytes);
        let source = Cbr { spacing: Arc::new(spacing), pace: Pace::default() };
        Ok(Source::Datagrams(DatagramSource(Datagrams::Cbr(source))))
    }
}

/// Evenly spaced datagrams.
#[derive(Clone, Debug)]
pub(crate) struct Cbr {
    spacing: Arc<Spacing>,
    pace: Pace,
}

impl Cbr {
    #[inline]
    pub(crate) fn next(&mut self) -> Datagram {
        Datagram { gap: self.pace.next(&self.spacing), bytes: self.spacing.packet_bytes() }
    }
}
