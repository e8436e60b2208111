//! A sender's measurements of its path, from which it makes the events for congestion controls.
//!
//! Nothing here knows how packets are repaired or how a timeout is configured: numbers, times and counts are handed in.
//!
//! | file | mechanism | source |
//! | --- | --- | --- |
//! | [`rate`] | delivery rate samples | draft-ietf-ccwg-bbr-06 §4.1 |
//! | [`rounds`] | counting of round trips | draft-ietf-ccwg-bbr-06 §5.5.1 |
//! | [`rtt`] | smoothed RTT, its variation, smallest RTT | RFC 6298, RFC 7323 App. G; `tcp_rtt_estimator` of Linux |
//!
//! ```
//! use parshall_tcp::signals::RttEstimate;
//! use parshall_units::Duration;
//!
//! let mut rtt = RttEstimate::default();
//! rtt.sample(Duration::from_millis(100), 1);
//! rtt.sample(Duration::from_millis(180), 1);
//! assert_eq!((rtt.srtt(), rtt.min()), (Duration::from_millis(110), Duration::from_millis(100)));
//! ```

pub mod rate;
pub mod rounds;
pub mod rtt;

pub use rate::{Progress, RateSampler};
pub use rounds::Rounds;
pub use rtt::{Deviation, RttEstimate};
