//! The packets from the hosts with their times and their fate in the network: so that the same packets can be handed into
//! the network once more.
//!
//! An emulation steps its network by the wall clock, a look at a time; a simulation goes from event to event. The
//! packets that the journal of an emulation holds, handed at their times into a simulation of the same scenario, meet
//! the same queues: these must decide the same ([`Journal::replay`]). Events of one instant happen in the order in
//! which they became known, so that each packet has to be handed in when the network was as far as it was then: at the
//! look before it came.

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
    /// How far the network was when it was handed in.
    advanced: Instant,
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

/// The decisions of a replay beside those of the emulation.
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
    /// A packet comes at `at`, into a network that has [advanced](Simulation::now) so far.
    pub(crate) fn came(&mut self, at: Instant, advanced: Instant, arrival: &Arrival) {
        let (slot, number) = (arrival.slot as usize, self.entries.len());
        if self.of_slot.len() <= slot {
            self.of_slot.resize(slot + 1, usize::MAX);
        }
        self.of_slot[slot] = number;
        let arrival = Arrival { slot: number as u32, ..*arrival };
        self.entries.push(Entry { at, advanced, arrival, fate: Fate::UnderWay });
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

    /// When each packet came.
    #[cfg(test)]
    pub(crate) fn times(&self) -> Vec<Instant> {
        self.entries.iter().map(|entry| entry.at).collect()
    }

    fn note(&mut self, slot: u32, fate: Fate) {
        self.entries[self.of_slot[slot as usize]].fate = fate;
    }

    /// Hands the same packets at the same times into another simulation of the same scenario and repetition, and
    /// compares what becomes of them.
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
            if entry.advanced > simulation.now() {
                collect(&mut simulation, entry.advanced)?;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_records::Tables;
    use parshall_sim::{Direction, Scenario};
    use serde_json::json;

    const MS: u64 = 1_000_000_000;

    /// Four flows in a RIO queue that decides by the length it has at the moment; a packet of 1500 bytes takes 240 us.
    fn scenario() -> Scenario {
        let queue = json!({
            "name": "rio", "limit": {"packets": 30}, "in_min": 15, "in_max": 30, "in_probability": 0.01, "out_min": 5, "out_max": 20,
            "out_probability": 0.3, "in_length": "in", "out_length": "total", "averaging": 1.0, "coin": "independent"
        });
        let marker = json!({"name": "token_bucket", "rate": 4_000_000, "burst": 30_000});
        let group = |name: &str, rtt_ms: u64| {
            json!({
                "name": name, "count": 2, "external": true, "path": [0], "reverse_path": [], "rtt_ps": {"constant": rtt_ms * MS},
                "access_bps": null, "marker": marker, "start_ps": {"constant": 0}, "packet_bytes": 1500, "header_bytes": 40,
                "processing_ps": 0, "dscp": 0, "tcp": null, "congestion_control": null, "workload": {"name": "bulk"}
            })
        };
        let whole = json!({
            "seed": 1, "duration_ps": 2_000 * MS, "ends_with": [], "warm_up_ps": 0,
            "links": [{"name": "link", "rate": {"constant": 50_000_000}, "delay_ps": MS, "queue": queue, "loss": {"name": "none"}}],
            "flows": [group("near", 4), group("far", 20)],
            "probes": {
                "flow_samples": null, "flows_sampled": 0, "rounds_flows": 0, "link_samples": null, "transfers": false,
                "latency": false, "internals": false, "pcap": [], "qlog": false
            }
        });
        serde_json::from_value(whole).unwrap()
    }

    fn begin() -> Simulation {
        Simulation::begin(&scenario(), 0, Tables::none()).unwrap()
    }

    /// What an emulation does whose looks are on the grid of the link's service times: packets come, leave and are
    /// handed in at the same instants.
    fn emulated() -> Journal {
        let (monitor, mut simulation, mut journal) = (Monitor::default(), begin(), Journal::default());
        let (mut free, mut slots, mut random) = (Vec::new(), 0, 1_u64);
        let mut now = Instant::ZERO;
        for look in 0..20_000_u64 {
            for at in [now, now + parshall_units::Duration::from_ps(40_000_000)] {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(look);
                for _ in 0..(random >> 33) % 2 {
                    let slot = free.pop().unwrap_or_else(|| {
                        slots += 1;
                        slots - 1
                    });
                    let flow = (random >> 40) as u32 % 4;
                    let arrival = Arrival {
                        flow,
                        direction: Direction::Forward,
                        bytes: 1500,
                        ecn: parshall_net::ecn::Ecn::NotCapable,
                        dscp: 0,
                        slot,
                    };
                    journal.came(at, simulation.now(), &arrival);
                    simulation.hand_in(at, &arrival);
                }
                if at > now {
                    continue; // what came while packets were delivered waits for the next look
                }
                simulation.advance(now, &monitor).unwrap();
                while let Some(slot) = simulation.take_lost() {
                    journal.lost(slot);
                    free.push(slot);
                }
                while let Some(delivery) = simulation.take_due(now) {
                    journal.due(&delivery);
                    free.push(delivery.slot);
                }
            }
            now += parshall_units::Duration::from_ps(80_000_000);
        }
        journal.end(now);
        journal
    }

    #[test]
    fn the_same_packets_meet_the_same_fate_even_if_all_happens_at_the_same_instants() {
        let replayed = emulated().replay(begin(), &Monitor::default()).unwrap();
        assert!(replayed.packets > 10_000 && replayed.lost > 500, "{replayed:?}");
        assert_eq!(replayed.different, 0, "{replayed:?}");
    }
}
