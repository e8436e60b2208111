//! A queue within another one: drop-tail, or one that decides at departure.
//!
//! A queue that decides at arrival needs to know when the link will be free, which a queue within another one cannot
//! know; drop-tail does not ask.

use super::departure::Fifo;
use super::{
    DepartureDiscipline, DepartureQueue, Discipline, Held, Limit, QueueConfig, QueueDiscipline, Turn,
};
use parshall_units::parameters::{Bounded, Parameter};
use parshall_units::{ConfigError, Instant};
use rand_core::RngCore;
use serde::Deserialize;
use std::collections::VecDeque;

/// Which queue is within another one, and its parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "QueueConfig")]
pub struct InnerConfig(Box<QueueConfig>);

impl TryFrom<QueueConfig> for InnerConfig {
    type Error = ConfigError;

    fn try_from(config: QueueConfig) -> Result<Self, ConfigError> {
        if config.decides_at_departure() || matches!(config, QueueConfig::DropTail(_)) {
            return Ok(Self(Box::new(config)));
        }
        let accepted = "drop_tail, or a queue that decides at a packet's departure";
        Err(ConfigError::new("name", config.name(), accepted))
    }
}

impl Bounded for InnerConfig {
    fn check_range(&self, parameter: &Parameter) -> Result<(), ConfigError> {
        self.check().map_err(|error| error.within(parameter.name))
    }
}

impl InnerConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.0.check()
    }

    pub(super) fn build(&self) -> Inner {
        match self.0.build() {
            Discipline::AtArrival(queue) => {
                Inner::Tail(queue.tail().expect("checked when it was made"), Fifo::default())
            }
            Discipline::AtDeparture(queue) => Inner::Late(Box::new(queue)),
        }
    }
}

/// A queue within another one.
#[derive(Clone, Debug)]
pub(super) enum Inner {
    /// First in, first out, with a limit.
    Tail(Limit, Fifo),
    /// It decides at departure.
    Late(Box<DepartureQueue>),
}

impl DepartureDiscipline for Inner {
    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        match self {
            Self::Late(queue) => queue.enqueue(packet, beside, random, lost),
            Self::Tail(limit, fifo) => {
                if limit.has_room(fifo.len() + beside.0, fifo.bytes() + beside.1, packet.bytes) {
                    fifo.push(packet);
                } else {
                    lost.push_back(packet);
                }
            }
        }
    }

    fn dequeue<R: RngCore>(
        &mut self,
        now: Instant,
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn> {
        match self {
            Self::Late(queue) => queue.dequeue(now, random, lost),
            Self::Tail(_, fifo) => fifo.pop().map(|packet| Turn { packet, marked: false }),
        }
    }

    fn packets(&self) -> u64 {
        match self {
            Self::Late(queue) => queue.packets(),
            Self::Tail(_, fifo) => fifo.len(),
        }
    }

    fn resumes(&self) -> Option<Instant> {
        match self {
            Self::Late(queue) => queue.resumes(),
            Self::Tail(..) => None,
        }
    }
}
