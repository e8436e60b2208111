//! The applications: amounts of data, and their times.
//!
//! A workload says when data is handed to the network; it knows no packets in flight, clocks or
//! sockets, and draws random numbers only from the generator it is handed.
//!
//! | module | what |
//! | --- | --- |
//! | [`distributions`] | laws of sizes and times, one file each, listed in [`distributions::catalog`] |
//! | [`workloads`] | applications, one file each, listed in [`workloads::catalog`] |
//! | [`sources`] | what a running application looks like to whoever drives it |
//! | [`cdf_file`] | measured distributions, read from files |
//!
//! ```
//! use parshall_workload::{Source, WorkloadConfig};
//! use rand_xoshiro::{rand_core::SeedableRng, Xoshiro256PlusPlus};
//!
//! let config: WorkloadConfig = serde_json::from_str(
//!     r#"{"name": "on_off", "size": {"name": "pareto", "mean": 1.5e6, "tail_index": 1.5}, "size_granularity": 1,
//!         "off": {"name": "exponential", "mean": 0.2}, "begins": "on"}"#,
//! )?;
//! let Source::Transfers(mut source) = config.source(std::num::NonZeroU32::new(1500).unwrap())? else {
//!     unreachable!()
//! };
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let first = source.next(&mut rng).unwrap();
//! assert_eq!(first.wait, parshall_units::Duration::ZERO);
//! assert!(first.bytes.unwrap() >= 500_000); // the smallest value of this Pareto law
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cdf_file;
pub mod distributions;
mod error;
mod random;
pub mod sources;
pub mod workloads;

pub use cdf_file::{CdfFile, CdfFileError, Interpolation};
pub use distributions::{Distribution, DistributionConfig};
pub use error::ConfigError;
pub use random::unit_interval;
pub use sources::{Arrival, ArrivalSource, Datagram, DatagramSource, Source, Transfer, TransferSource};
pub use workloads::WorkloadConfig;
