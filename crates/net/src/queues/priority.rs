//! Strict priority: bands, of which the first one in which a packet waits is served (Linux's `prio`; a use of it is
//! expedited forwarding, RFC 3246).
//!
//! A packet's band is decided by the precedence in its DS field, the upper three bits of its DSCP (the class selectors
//! of RFC 2474 §4.2.2): a scenario gives the DSCP with `dscp` of a group of flows. A packet of a band waits for those
//! of the bands before it, and for the packet being transmitted, but for nothing of the bands behind: these have what
//! is left, which may be nothing.
//!
//! Each band is a queue of its own, with a limit of its own, which counts the packet being transmitted. By default
//! precedences 5 to 7 (EF, CS5, CS6, CS7) come first, 2 to 4 (AF2x to AF4x) second, 0 and 1 (best effort, AF1x, CS1)
//! last.
//!
//! Linux's `prio` decides by another field, the type of service. A band is a plain queue here, no tree of classes. Not
//! read: `sch_prio.c`.

use super::inner::{Inner, InnerConfig};
use super::traits::{Drops, Linux, Separates, Traits};
use super::{DepartureDiscipline, Held, Turn};
use parshall_units::parameters::{Bounded, Parameter, Reader, Variable};
use parshall_units::{ConfigError, Instant};
use rand_core::RngCore;
use serde::Deserialize;
use std::collections::VecDeque;

parshall_units::configuration! {
    /// Parameters of [`Priority`].
    pub struct PriorityConfig {
        /// The queue of each band, the one that is served first at first.
        bands: Bands => Queues("drop_tail", "codel", "fq_codel", "fq_pie", "sfb", "drr", "dualpi2"), default "[\"drop_tail\", \"drop_tail\", \"drop_tail\"]";
        /// The band of each IP precedence, 0 to 7 (the upper three bits of the DSCP); 0: the one that is served first.
        band_of: Vec<f64>, default "[2, 2, 1, 1, 1, 0, 0, 0]";
    }
}

/// The queues of the bands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Bands(pub Vec<InnerConfig>);

impl Bounded for Bands {
    fn check_range(&self, parameter: &Parameter) -> Result<(), ConfigError> {
        self.0.iter().enumerate().try_for_each(|(index, queue)| {
            queue.check().map_err(|error| error.within(&index.to_string()).within(parameter.name))
        })
    }
}

/// Values of the precedence.
const PRECEDENCES: usize = 8;

/// Bands at most: one a precedence.
const MOST_BANDS: usize = PRECEDENCES;

/// Queues served in a fixed order.
#[derive(Clone, Debug)]
pub struct Priority {
    config: PriorityConfig,
    bands: Vec<Inner>,
    /// The band of each precedence.
    band_of: [usize; PRECEDENCES],
}

impl Priority {
    pub(crate) const SUMMARY: &'static str =
        "bands by the packets' DSCP, each a queue; a band is served when those before it are empty";
    pub(crate) const REFERENCE: &'static str = "RFC 2474, RFC 3246";
    pub(crate) const TRAITS: Traits = Traits {
        title: "strict priority",
        drops: Drops::Tail,
        separates: Separates::Classes,
        marks: true,
        own_rate: false,
        random: false,
        thresholds: &[],
        linux: Linux::Lacks("its `prio` needs filters, or a table of priorities"),
    };

    /// Empty queues.
    pub fn new(config: &PriorityConfig) -> Self {
        let mut band_of = [0; PRECEDENCES];
        for (band, given) in band_of.iter_mut().zip(&config.band_of) {
            *band = (*given as usize).min(config.bands.0.len().saturating_sub(1));
        }
        let bands = config.bands.0.iter().map(InnerConfig::build).collect();
        Self { config: config.clone(), bands, band_of }
    }
}

impl DepartureDiscipline for Priority {
    const VARIABLES: &'static [Variable] = &[
        Variable::new("first_band", "packets", "packets that wait in the band that is served first"),
        Variable::new("other_bands", "packets", "packets that wait in all others"),
    ];

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let first = self.bands.first().map_or(0, Inner::packets);
        reader("first_band", first as f64);
        reader("other_bands", (self.packets() - first) as f64);
    }

    fn enqueue<R: RngCore>(
        &mut self,
        packet: Held,
        beside: (u64, u64),
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) {
        let band = self.band_of[usize::from(packet.dscp >> 3) % PRECEDENCES];
        match self.bands.get_mut(band) {
            Some(queue) => queue.enqueue(packet, beside, random, lost),
            None => lost.push_back(packet),
        }
    }

    fn dequeue<R: RngCore>(
        &mut self,
        now: Instant,
        random: &mut R,
        lost: &mut VecDeque<Held>,
    ) -> Option<Turn> {
        self.bands.iter_mut().find_map(|queue| queue.dequeue(now, random, lost))
    }

    fn packets(&self) -> u64 {
        self.bands.iter().map(Inner::packets).sum()
    }

    fn check(&self) -> Result<(), ConfigError> {
        let PriorityConfig { bands: Bands(bands), band_of } = &self.config;
        if bands.is_empty() || bands.len() > MOST_BANDS {
            let found = format!("{} queues", bands.len());
            return Err(ConfigError::new("bands", found, format!("1 to {MOST_BANDS} queues")));
        }
        if band_of.len() != PRECEDENCES {
            let found = format!("{} numbers", band_of.len());
            return Err(ConfigError::new(
                "band_of",
                found,
                format!("the bands of all {PRECEDENCES} precedences"),
            ));
        }
        match band_of.iter().find(|&&band| band < 0.0 || band.fract() != 0.0 || band >= bands.len() as f64) {
            None => Ok(()),
            Some(band) => {
                let accepted = format!("whole numbers from 0 to {}, one a queue", bands.len() - 1);
                Err(ConfigError::new("band_of", band, accepted))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::departure::NoRandom;
    use super::*;
    use crate::ecn::Ecn;
    use crate::markers::Class;
    use crate::queues::{CodelConfig, DropTailConfig, Limit, QueueConfig};
    use parshall_units::Duration;

    fn tail(packets: u64) -> InnerConfig {
        QueueConfig::DropTail(DropTailConfig { limit: Limit::Packets(packets) }).try_into().unwrap()
    }

    fn us(us: u64) -> Duration {
        Duration::from_ps(us * 1_000_000)
    }

    fn config() -> PriorityConfig {
        let band_of = vec![2.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        PriorityConfig { bands: Bands(vec![tail(3), tail(3), tail(3)]), band_of }
    }

    const EF: u8 = 46;
    const AF41: u8 = 34;
    const AF11: u8 = 10;

    fn packet(dscp: u8, ticket: u32) -> Held {
        let (arrived, class) = (Instant::ZERO, Class::Out);
        Held { arrived, bytes: 1000, ecn: Ecn::Ect0, class, flow: 0, ticket, period: 0, marked: false, dscp }
    }

    #[test]
    fn a_band_is_served_when_those_before_it_are_empty() {
        let mut queue = Priority::new(&config());
        let mut lost = VecDeque::new();
        for (ticket, dscp) in (0..).zip([0, AF11, AF41, EF, AF41, EF, 0]) {
            queue.enqueue(packet(dscp, ticket), (0, 0), &mut NoRandom, &mut lost);
        }
        let next = |queue: &mut Priority| {
            queue.dequeue(Instant::ZERO, &mut NoRandom, &mut VecDeque::new()).map(|turn| turn.packet.ticket)
        };
        assert_eq!([(); 3].map(|()| next(&mut queue)), [3, 5, 2].map(Some));
        queue.enqueue(packet(EF, 7), (0, 0), &mut NoRandom, &mut lost);
        assert_eq!([(); 6].map(|()| next(&mut queue)), [Some(7), Some(4), Some(0), Some(1), Some(6), None]);
        assert!(lost.is_empty());
    }

    #[test]
    fn each_band_has_its_own_limit_and_control() {
        let codel = CodelConfig { limit: Limit::Packets(100), target: us(1), interval: us(1), ecn: true };
        let codel: InnerConfig = QueueConfig::Codel(codel).try_into().unwrap();
        let bands = Bands(vec![tail(3), tail(3), codel]);
        let mut queue = Priority::new(&PriorityConfig { bands, ..config() });
        let mut lost = VecDeque::new();
        // One is in transmission, so that two fit beside it.
        for (ticket, dscp) in (0..).zip([EF, EF, EF, AF41, 0, 0, 0, 0]) {
            queue.enqueue(packet(dscp, ticket), (1, 1000), &mut NoRandom, &mut lost);
        }
        assert_eq!(lost.iter().map(|packet| packet.ticket).collect::<Vec<_>>(), [2]);
        let at = |us: u64| Instant::from_ps(us * 1_000_000);
        // The packets of the last band have waited above 1 us for 1 us when the fifth leaves.
        let marked =
            [10, 20, 30, 40, 50].map(|us| queue.dequeue(at(us), &mut NoRandom, &mut lost).unwrap().marked);
        assert_eq!(marked, [false, false, false, false, true]);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let refused = |config| QueueConfig::Priority(config).check().unwrap_err().key;
        assert_eq!(QueueConfig::Priority(config()).check(), Ok(()));
        assert_eq!(refused(PriorityConfig { bands: Bands(vec![]), ..config() }), "bands");
        assert_eq!(refused(PriorityConfig { band_of: vec![0.0; 7], ..config() }), "band_of");
        for band in [3.0, -1.0, 0.5, f64::NAN] {
            assert_eq!(refused(PriorityConfig { band_of: vec![band; 8], ..config() }), "band_of");
        }
        let codel = CodelConfig { limit: Limit::Packets(1), target: us(2), interval: us(1), ecn: false };
        let bands = Bands(vec![tail(1), QueueConfig::Codel(codel).try_into().unwrap()]);
        assert_eq!(refused(PriorityConfig { bands, band_of: vec![0.0; 8] }), "bands.1.target");
    }
}
