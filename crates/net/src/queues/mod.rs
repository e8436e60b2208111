//! Queue management: which packets a link accepts, marks or drops.
//!
//! Most disciplines decide at a packet's arrival and serve in order of arrival; when an accepted packet leaves is then
//! known at once, which is what makes a simulated link cheap (one event a packet): [`QueueDiscipline`]. Others decide
//! when a packet's turn comes: [`DepartureDiscipline`].

mod adaptive_red;
mod cake;
pub mod catalog;
mod codel;
mod departure;
mod drop_tail;
mod drr;
mod dual_pi2;
mod early_drop;
mod flow_queues;
mod fq_codel;
mod fq_pie;
mod inner;
mod pie;
mod policer;
mod priority;
mod proportional_integral;
mod red;
mod rio;
mod sfb;
mod shaper;
mod step;
pub mod traits;

pub use adaptive_red::{AdaptiveRed, AdaptiveRedConfig};
pub use cake::{Cake, CakeConfig, CakeFraming, CakeTins};
pub use catalog::{DepartureQueue, Discipline, Queue, QueueConfig};
pub use codel::{Codel, CodelConfig};
pub use departure::{DepartureDiscipline, Held, Turn};
pub use drop_tail::{DropTail, DropTailConfig};
pub use drr::{Drr, DrrConfig};
pub use dual_pi2::{DualPi2, DualPi2Config, DualScheduler};
pub use fq_codel::{FqCodel, FqCodelConfig};
pub use fq_pie::{FqPie, FqPieConfig};
pub use inner::InnerConfig;
pub use pie::{Pie, PieConfig};
pub use policer::{Policer, PolicerConfig};
pub use priority::{Bands, Priority, PriorityConfig};
pub use red::{Red, RedConfig};
pub use rio::{CoinKind, Length, Rio, RioConfig};
pub use sfb::{Sfb, SfbConfig};
pub use shaper::{Shaper, ShaperConfig};
pub use step::{Step, StepConfig};

use crate::ecn::Ecn;
use crate::markers::Class;
use parshall_units::parameters::{Bounded, Kind, ParameterType, Reader, Variable};
use parshall_units::{ConfigError, Duration, Instant};
use rand_core::RngCore;
use serde::Deserialize;

/// A packet arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When.
    pub now: Instant,
    /// Its size on the wire.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its class: within its flow's profile, or not.
    pub class: Class,
    /// The link's time to transmit it.
    pub transmission: Duration,
}

/// The packets in the link when one arrives, with the one being transmitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Of these, the ones that are within their flow's profile.
    pub packets_in: u64,
    /// Bytes.
    pub bytes: u64,
    /// If it holds none: when the last one left.
    pub idle_since: Option<Instant>,
    /// The wait of a packet that arrives now.
    pub delay: Duration,
}

/// The fate of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is queued.
    Accept,
    /// It is queued, and marked (CE).
    Mark,
    /// It is lost.
    Drop,
}

/// A queue discipline that decides at arrival.
pub trait QueueDiscipline {
    /// Its inner variables.
    const VARIABLES: &'static [Variable] = &[];

    /// Decides on an arriving packet.
    fn on_arrival<R: RngCore>(&mut self, arrival: &Arrival, backlog: &Backlog, random: &mut R) -> Verdict;

    /// Refuses a configuration that contradicts itself.
    ///
    /// # Errors
    /// [`ConfigError`]: which key, what was found, what is accepted.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// True if it treats packets within their flow's profile differently.
    fn differentiates(&self) -> bool {
        false
    }

    /// Tells the values of its [inner variables](Self::VARIABLES), of those that have one now.
    fn read_variables(&self, _reader: &mut Reader<'_>) {}

    /// The limit, if all it ever does is drop what does not fit: then nobody needs to ask it.
    fn tail(&self) -> Option<Limit> {
        None
    }
}

/// The capacity of a queue, the packet being transmitted included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
}

/// The most packets and the most bytes that a queue holds; one of them is no limit. Two comparisons cost less than to
/// ask which it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    packets: u64,
    bytes: u64,
}

impl Most {
    #[inline]
    pub(crate) fn has_room(self, held_packets: u64, held_bytes: u64, bytes: u32) -> bool {
        held_packets < self.packets && held_bytes + u64::from(bytes) <= self.bytes
    }
}

impl Bounded for Limit {}

impl ParameterType for Limit {
    const KIND: Kind = Kind::Buffer;
}

impl Limit {
    /// True if a packet of `bytes` fits beside what is held.
    #[inline]
    pub fn has_room(self, held_packets: u64, held_bytes: u64, bytes: u32) -> bool {
        self.most().has_room(held_packets, held_bytes, bytes)
    }

    /// Both limits.
    pub(crate) fn most(self) -> Most {
        match self {
            Self::Packets(packets) => Most { packets, bytes: u64::MAX },
            Self::Bytes(bytes) => Most { packets: u64::MAX, bytes },
        }
    }
}
