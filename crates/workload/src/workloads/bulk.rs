//! Bulk: always more to send.

use super::{Application, Demand};
use crate::error::ConfigError;
use crate::sources::{Source, Transfer, TransferSource, Transfers};
use parshall_units::Duration;
use std::num::NonZeroU32;

parshall_units::configuration! {
    /// Sends for ever.
    pub struct BulkConfig {}
}

/// The endless transfer, asked for or not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bulk {
    asked: bool,
}

impl Application for BulkConfig {
    const SUMMARY: &'static str = "one endless transfer";
    const REFERENCE: &'static str =
        "Padhye, Firoiu, Towsley & Kurose 1998: an unlimited amount of data to send";
    const TITLE: &'static str = "always with data to send";
    const DEMAND: Demand = Demand::Endless;
    const RANDOM: bool = false;

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        Ok(Source::Transfers(TransferSource(Transfers::Bulk(Bulk::default()))))
    }
}

impl Bulk {
    pub(crate) fn next(&mut self) -> Option<Transfer> {
        let first = !std::mem::replace(&mut self.asked, true);
        first.then_some(Transfer { wait: Duration::ZERO, bytes: None })
    }
}
