//! Datagrams as fast as a congestion control says: full packets, without end.
//!
//! What the control hears are reports of the receiver, one a round trip: whoever drives the flow brings both together.

use super::{Application, Demand};
use crate::error::ConfigError;
use crate::sources::Source;
use std::num::NonZeroU32;

parshall_units::configuration! {
    /// Full packets at the rate that a congestion control sets.
    pub struct RateControlledConfig {}
}

impl Application for RateControlledConfig {
    const SUMMARY: &'static str =
        "datagrams as fast as a congestion control says, which hears a report each round trip";
    const REFERENCE: &'static str = "Park & Tuan, ACM TOMACS 10(2), 2000, §3.6.4";
    const TITLE: &'static str = "datagrams at the rate of their congestion control";
    const DEMAND: Demand = Demand::Controlled;
    const RANDOM: bool = false;
    const DATAGRAMS: bool = true;
    const CONTROLLED: bool = true;

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        Ok(Source::Controlled)
    }
}
