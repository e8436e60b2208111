//! Network elements, sans-IO: what a packet meets on its way.
//!
//! A [`Link`](link::Link) gets each packet when it arrives, and returns when it will have left, or that it is lost.
//! Nothing here reads a clock or owns a random generator: time and randomness are passed in, so that one queue
//! serves the simulator (virtual time) and the emulator (real time).
//!
//! A new queue is a file in [`queues`] and a line in its catalog; a new marker one in [`markers`].

mod deviations;
pub mod ecn;
pub mod jitter;
pub mod link;
pub mod loss;
pub mod markers;
pub mod occupancy;
pub mod queues;
pub mod rate;

pub use deviations::DEVIATIONS;

/// A uniform number in `[0, 1)` from 64 random bits, at the resolution of an `f64`.
pub(crate) fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
