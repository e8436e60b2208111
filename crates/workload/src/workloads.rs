//! Applications, one file each; [`catalog`] is the one list of them.
//!
//! A configuration makes a [`Source`]; what each kind is asked and answers is said in
//! [`sources`](crate::sources). Errors name the key within the workload, e.g. `off.mean`.

pub mod catalog;

mod bulk;
mod cbr;
mod on_off;
mod on_off_cbr;
mod open_loop;
mod poisson;
mod rate_controlled;
mod request_response;
mod spacing;
pub mod traits;
mod transfer;

use traits::Demand;

pub use bulk::BulkConfig;
pub use catalog::WorkloadConfig;
pub use cbr::CbrConfig;
pub use on_off::{Begins, OnOffConfig};
pub use on_off_cbr::OnOffCbrConfig;
pub use open_loop::OpenLoopConfig;
pub use poisson::PoissonConfig;
pub use rate_controlled::RateControlledConfig;
pub use request_response::RequestResponseConfig;
pub use transfer::TransferConfig;

pub(crate) use bulk::Bulk;
pub(crate) use cbr::Cbr;
pub(crate) use on_off::OnOff;
pub(crate) use on_off_cbr::OnOffCbr;
pub(crate) use open_loop::OpenLoop;
pub(crate) use poisson::Poisson;
pub(crate) use request_response::Responses;
pub(crate) use transfer::TransferList;

use crate::distributions::{Distribution, DistributionConfig};
use crate::error::ConfigError;
use crate::sources::Source;
use parshall_units::Bytes;
use std::num::{NonZeroU32, NonZeroU64};

/// The configuration of an application.
trait Application {
    /// One sentence.
    const SUMMARY: &'static str;
    /// Where it is specified.
    const REFERENCE: &'static str;
    /// What it is in text.
    const TITLE: &'static str;
    /// What it wants of the network.
    const DEMAND: Demand;
    /// True if it draws random numbers.
    const RANDOM: bool;
    /// True if it sends datagrams, without TCP.
    const DATAGRAMS: bool = false;
    /// True if a congestion control sets the rate of these.
    const CONTROLLED: bool = false;
    /// True if the times at which it sends are random already, packet by packet.
    const RANDOM_TIMES: bool = false;

    /// What drives a flow whose full packets have this size on the wire, or the first key that is wrong.
    fn source(&self, packet_bytes: NonZeroU32) -> Result<Source, ConfigError>;
}

fn build(key: &str, config: &DistributionConfig) -> Result<Distribution, ConfigError> {
    config.build().map_err(|error| error.within(key))
}

/// The size under the key `size_granularity`, which others are divided by.
fn granularity(size: Bytes) -> Result<NonZeroU64, ConfigError> {
    NonZeroU64::new(size.0).ok_or_else(|| ConfigError::new("size_granularity", size, "a size above zero"))
}

#[cfg(test)]
mod tests;
