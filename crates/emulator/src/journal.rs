//! What came from the hosts, when, and what the network did with it: so that the same packets can be handed into the network once more.
//!
//! An emulation steps its network by the wall clock, a look at a time; a simulation goes from event to event. The packets that the
//! journal of an emulation holds, handed at their times into a simulation of the same scenario, meet the same queues: these must
//! decide the same ([`Journal::replay`]).

use parshall_sim::{Arrival, Delivery, Monitor, SimError, Simulation};
use parshall_units::Instant;
use serde::Serialize;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It was due at its other end then; whether a queue marked it.
    Due { at: Instant, marked: bool },
    /// A queue dropped it, or the medium lost it.
    Lost,
    /// It was under way when the run ended.
    UnderWay,
}

/// A packet that came from a host.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    /// Its slot is its place in the journal.
    arrival: Arrival,
    fate: Fate,
}

/// All packets of a run that came from the hosts, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    entries: Vec<Entry>,
    /// The packet that has a slot, by its place in the journal.
    of_slot: Vec<usize>,
    /// When the emulation ended: up to a look later than the scenario's end, and it decides until then.
    ended: Instant,
}

/// How the decisions of a replay compare to those of the emulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// Packets that came from the hosts, and whose fate the emulation knew.
    pub packets: u64,
    /// Of these, in the emulation: lost.
    pub lost: u64,
    /// Of these, in the emulation: marked.
    pub marked: u64,
    /// Packets that met another fate in the replay: lost or not, marked or not, or due at another time.
    pub different: u64,
}

impl Journal {
    /// A packet comes, at the network's time `at`.
    pub(crate) fn came(&mut self, at: Instant, arrival: &Arrival) {
        let (slot, number) = (arrival.slot as usize, self.entries.len());
        if self.of_slot.len() <= slot {
            self.of_slot.resize(slot + 1, usize::MAX);
        }
        self.of_slot[slot] = number;
        let arrival = Arrival { slot: number as u32, ..*arrival };
        self.entries.push(Entry { at, arrival, fate: Fate::UnderWay });
    }

    pub(crate) fn due(&mut self, delivery: &Delivery) {
        self.note(delivery.slot, Fate::Due { at: delivery.at, marked: delivery.marked });
    }

    pub(crate) fn lost(&mut self, slot: u32) {
        self.note(slot, Fate::Lost);
    }

    pub(crate) fn end(&mut self, at: Instant) {
        self.ended = at;
    }

    fn note(&mut self, slot: u32, fate: Fate) {
        self.entries[self.of_slot[slot as usize]].fate = fate;
    }

    /// Hands the same packets at the same times into another simulation of the same scenario and repetition, and compares what
    /// becomes of them.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn replay(&self, mut simulation: Simulation, monitor: &Monitor) -> Result<Replayed, SimError> {
        let mut fates = vec![Fate::UnderWay; self.entries.len()];
        let mut collect = |simulation: &mut Simulation, until| -> Result<(), SimError> {
            simulation.advance(until, monitor)?;
            while let Some(Delivery { at, slot, marked, .. }) = simulation.take_due(until) {
                fates[slot as usize] = Fate::Due { at, marked };
            }
            while let Some(slot) = simulation.take_lost() {
                fates[slot as usize] = Fate::Lost;
            }
            Ok(())
        };
        for entry in &self.entries {
            collect(&mut simulation, entry.at)?;
            simulation.hand_in(entry.at, &entry.arrival);
        }
        collect(&mut simulation, self.ended)?;
        let mut counts = Replayed::default();
        for (Entry { fate, .. }, replayed) in self.entries.iter().zip(fates) {
            match fate {
                Fate::UnderWay => continue,
                Fate::Lost => counts.lost += 1,
                Fate::Due { marked, .. } => counts.marked += u64::from(*marked),
            }
            counts.packets += 1;
            counts.different += u64::from(replayed != *fate);
        }
        Ok(counts)
    }
}
