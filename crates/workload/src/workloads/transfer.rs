//! Transfer: a size, or a list of sizes one after another without a pause.

use super::{Application, Demand};
use crate::error::ConfigError;
use crate::sources::{Source, Transfer, TransferSource, Transfers, MAX_TRANSFER_BYTES};
use parshall_units::{Bytes, Duration};
use std::num::NonZeroU32;
use std::sync::Arc;

parshall_units::configuration! {
    /// Sends given sizes, one after another.
    pub struct TransferConfig {
        /// Payload of each transfer; the next starts when the one before is complete.
        sizes: Vec<Bytes>;
    }
}

/// The sizes, and how many were asked for.
#[derive(Clone, Debug)]
pub(crate) struct TransferList {
    sizes: Arc<Vec<Bytes>>, // and not Arc<[Bytes]>, whose pointer takes two words in every flow
    asked: u32,
}

impl Application for TransferConfig {
    const SUMMARY: &'static str = "a transfer of a given size, or several one after another";
    const REFERENCE: &'static str = "Guillier, Hablot & Vicat-Blanc Primet 2007, §4.1: bulk data transfers";
    const TITLE: &'static str = "a transfer";
    const DEMAND: Demand = Demand::Finite;
    const RANDOM: bool = false;

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        if self.sizes.is_empty() {
            return Err(ConfigError::new("sizes", "an empty list", "at least one size"));
        }
        if u32::try_from(self.sizes.len()).is_err() {
            return Err(ConfigError::new("sizes", self.sizes.len(), "at most 4294967295 sizes"));
        }
        if let Some(i) = self.sizes.iter().position(|&Bytes(size)| size > MAX_TRANSFER_BYTES) {
            let accepted = format!("at most {MAX_TRANSFER_BYTES} bytes");
            return Err(ConfigError::new(format!("sizes[{i}]"), self.sizes[i], accepted));
        }
        let list = TransferList { sizes: Arc::new(self.sizes.clone()), asked: 0 };
        Ok(Source::Transfers(TransferSource(Transfers::List(list))))
    }
}

impl TransferList {
    pub(crate) fn next(&mut self) -> Option<Transfer> {
        let &Bytes(bytes) = self.sizes.get(self.asked as usize)?;
        self.asked += 1;
        Some(Transfer { wait: Duration::ZERO, bytes: Some(bytes), lasts: None })
    }
}
