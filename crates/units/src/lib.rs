//! Quantities as integer newtypes, with the text form users write.
//!
//! | type | stored as | text |
//! | --- | --- | --- |
//! | [`Instant`], [`Duration`] | picoseconds | `"10 ms"` |
//! | [`Rate`] | bit/s | `"48 Mbit/s"` |
//! | [`Bytes`] | bytes | `"30 GB"` |
//! | [`Packets`] | packets | `"20 packets"` |
//!
//! Picoseconds, because a 40-byte ACK lasts 3.2 ns at 100 Gbit/s: nanoseconds would bend
//! fast links by several per cent. 2^64 ps are 213 days of simulated time ([`Instant::MAX`]).
//!
//! [`parameters`] declares what a catalog entry can be configured with; a [`ConfigError`] says why a value is refused.
//! [`deviations!`] declares where code does otherwise than its sources.

mod config_error;
mod deviation;
pub mod parameters;
mod parse;
mod quantity;
#[cfg(feature = "testing")]
pub mod testing;

pub use config_error::ConfigError;
pub use deviation::Deviation;
pub use parse::{parse_bytes, parse_duration, parse_packets, parse_rate, ParseQuantityError};
pub use quantity::{Bytes, Duration, Instant, Packets, Rate};
