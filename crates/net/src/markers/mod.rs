//! Markers: which packets of a flow are within its profile.
//!
//! A marker stands at the edge of the network, where the flow's own access link ends, and gives each packet a
//! [`Class`] that it keeps to its destination. Queues that differentiate (`rio`) drop one class before the other.

pub mod catalog;
mod token_bucket;

pub use catalog::{Marker, MarkerConfig};
pub use token_bucket::{TokenBucket, TokenBucketConfig};

use parshall_units::parameters::{Reader, Variable};
use parshall_units::{ConfigError, Instant, Rate};

parshall_units::configuration! {
    /// No marker.
    pub struct NoMarkerConfig {}
}

/// The place of a packet within or outside the profile of its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Beyond it, or of a flow without a marker.
    #[default]
    Out,
    /// Within it.
    In,
}

impl Class {
    /// `In` if `within`.
    #[inline]
    pub fn within(within: bool) -> Self {
        if within {
            Self::In
        } else {
            Self::Out
        }
    }

    /// 1 for `In`, 0 for `Out`: what sums over packets add.
    #[inline]
    pub fn is_in(self) -> u64 {
        u64::from(self == Self::In)
    }
}

/// The place of a marker: the packets that pass it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Bytes of a full packet.
    pub packet_bytes: u32,
    /// Rate of the access link; `None`: unlimited.
    pub access: Option<Rate>,
}

/// Decides on each packet of a flow, in their order.
pub trait PacketMarker: Sized {
    /// Its configuration.
    type Config;

    /// Refuses a configuration that contradicts itself, or the edge where it would stand.
    ///
    /// # Errors
    /// [`ConfigError`]: which key, what was found, what is accepted.
    fn check(config: &Self::Config, edge: Edge) -> Result<(), ConfigError>;

    /// The marker before its first packet.
    fn new(config: &Self::Config) -> Self;

    /// Its inner variables.
    const VARIABLES: &'static [Variable] = &[];

    /// Tells the values of its [inner variables](Self::VARIABLES) at `now`, if no packet passes until then.
    fn read_variables(&self, _now: Instant, _reader: &mut Reader<'_>) {}

    /// The class of a packet of `bytes` that passes at `now`.
    fn mark(&mut self, now: Instant, bytes: u32) -> Class;
}
