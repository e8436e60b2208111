//! The loop: one thread between the hosts.

use crate::checksum::{completed, mark};
use crate::clock::{monotonic_ns, Clock};
use crate::cut::{cut, Malformed};
use crate::echo::Echo;
use crate::headers::{set_word, type_of_service, Headers};
use crate::journal::Journal;
use crate::measured::{Measured, Meter, Waited};
use crate::merge::Batches;
use crate::payload::PayloadMeter;
use crate::pool::{Pool, Stored};
use crate::scheduling::Scheduling;
use crate::side::{Addresses, Pair, Written};
use crate::virtio::VirtioHeader;
use crate::EmulatorError;
use parshall_sim::{Arrival, Direction, HostTotals, Monitor, SimError, Simulation, MOST_HEADERS};
use parshall_units::{Duration, Instant};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// The keeping of time.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The shortest time between two looks at the devices: 1 us to 10 ms.
    pub tick: Duration,
    /// When the network's time is 0, by [`monotonic_ns`]; `None`: when it begins to run.
    pub begin_ns: Option<u64>,
    /// Flows whose payload is counted here as no host of ours does: the first one, and the one after the last.
    pub counted: (u32, u32),
    /// The CPU that the thread has for itself, so that it rests little while something is due: nothing else may have to
    /// run there. `None`: it runs where the kernel puts it, and leaves a part of each tick to others.
    pub cpu: Option<usize>,
    /// True if packets from the hosts are kept, 64 bytes each.
    pub journal: bool,
    /// True if the hosts are now and then asked for an echo, to know how long they take to answer
    /// ([`Measured::answer_p99_s`]).
    pub echo: bool,
}

impl Default for Settings {
    /// Ticks of 50 us: shorter ones cost CPU time, longer ones accuracy.
    fn default() -> Self {
        Self {
            tick: Duration::from_ps(50_000_000),
            begin_ns: None,
            counted: (0, 0),
            cpu: None,
            journal: false,
            echo: false,
        }
    }
}

/// Why an emulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The scenario's duration was over, or the transfers were done that its end waits for.
    Ended,
    /// The caller ended it.
    Told,
    /// [`Monitor::cancel`] was set: to finish the simulation gives no result either.
    Cancelled,
}

/// A network between hosts.
pub struct Emulator {
    simulation: Simulation,
    pairs: Vec<Pair>,
    /// The pair of each flow.
    pair_of: Vec<u32>,
    settings: Settings,
    addresses: Addresses,
    /// Bytes of a full packet of each flow.
    packet_bytes: Vec<u32>,
    pool: Pool,
    batches: Batches,
    payload: PayloadMeter,
    journal: Option<Journal>,
    echo: Option<Echo>,
    /// When the last look began.
    looked: Instant,
    /// What is read of a host, and by which of the reads.
    came: Vec<(u64, Arrival)>,
    /// True if links are captured.
    captured: bool,
}

/// The results of an emulation.
pub struct Ran {
    /// The network, which is to be [finished](Simulation::finish).
    pub simulation: Simulation,
    /// Measurements of the emulation itself.
    pub measured: Measured,
    /// Why it ended.
    pub stopped: Stopped,
    /// The packets from the hosts, if [`Settings::journal`] asks for them.
    pub journal: Option<Journal>,
    /// The devices of the hosts: they exist as long as these are open, and hosts that have not ended fail without them.
    pub devices: Vec<Pair>,
}

const TICKS: (Duration, Duration) = (Duration::from_ps(1_000_000), Duration::from_millis(10));

/// This part of a tick is left to others, even if a look lasted longer than a tick: the hosts may have the same CPU,
/// unless the thread has [one for itself](Settings::cpu).
const LEAST_REST: u64 = 4;

/// A rest after each look is this part of it at least: a real-time thread that has its CPU for more than 95 % of a
/// second is stopped for 50 ms (Documentation/scheduler/sched-rt-group.rst, sched_rt_runtime_us; the fair server of
/// sched-deadline.rst).
const REST_OF_LOOK: u64 = 16;

/// A CPU that slept long wakes late (100 us were seen, in a virtual machine): it is woken so long before something is
/// due, and sleeps the rest lightly.
const AWAKE_BEFORE: Duration = Duration::from_ps(200_000_000);

/// Packets that are read of a host before others have their turn, about, so that what is due need not wait for many
/// that have come; what is left is read at the next look. With 1,000 flows at 1 Gbit/s, 1 % of the packets were 0.2 ms
/// late with 16, 1 ms with 32, and 2 ms with 256.
const MOST_READS: u64 = 16;

/// Time between two calls of who watches.
const WATCHED_EVERY: Duration = Duration::from_millis(1);

/// What a look finds.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// When it is read.
    now: Instant,
    /// How long it may have waited.
    waited: Waited,
    /// It came within so long, or answers what was due within so long.
    within: Duration,
}

impl Emulator {
    /// The network of a simulation, between the devices of some pairs of hosts. `pair_of` has for each external flow
    /// at which pair it is, by its place.
    ///
    /// # Errors
    /// [`EmulatorError`]: a device cannot be read without waiting, the tick is out of range, or a flow has no pair.
    pub fn new(
        simulation: Simulation,
        pairs: Vec<Pair>,
        pair_of: Vec<u32>,
        settings: Settings,
    ) -> Result<Self, EmulatorError> {
        if !(TICKS.0..=TICKS.1).contains(&settings.tick) {
            let problem = format!("found {}; write {} to {}", settings.tick, TICKS.0, TICKS.1);
            return Err(EmulatorError::Settings { key: "tick", problem });
        }
        let flows = simulation.external_flows();
        let has_pair = |pair: &u32| (*pair as usize) < pairs.len();
        let Some(first) =
            pairs.first().filter(|_| pair_of.len() == flows as usize && pair_of.iter().all(has_pair))
        else {
            let problem =
                format!("found {} for {flows} flows; write one of {} for each", pair_of.len(), pairs.len());
            return Err(EmulatorError::Settings { key: "pairs", problem });
        };
        for Pair { senders, receivers } in &pairs {
            senders.prepare(SENDERS)?;
            receivers.prepare(RECEIVERS)?;
        }
        Ok(Self {
            addresses: Addresses::of(first, flows),
            packet_bytes: (0..flows).map(|flow| simulation.external_flow(flow).packet_bytes).collect(),
            batches: Batches::for_flows(flows),
            pool: Pool::default(),
            payload: PayloadMeter::new(settings.counted.0..settings.counted.1),
            journal: settings.journal.then(Journal::default),
            echo: settings.echo.then(|| Echo::new(flows)),
            looked: Instant::ZERO,
            came: Vec::new(),
            captured: simulation.is_captured(),
            simulation,
            pairs,
            pair_of,
            settings,
        })
    }

    /// Runs until the end, on this thread. `watch` is called about each millisecond with the simulation, for what the
    /// hosts know of their flows ([`Simulation::report`] and its like); it returns whether to go on. While it runs no
    /// packet is delivered: it must be quick.
    ///
    /// # Errors
    /// [`EmulatorError`]: the simulated part failed, or a device cannot be read.
    pub fn run(
        mut self,
        monitor: &Monitor,
        mut watch: impl FnMut(&mut Simulation, Instant) -> ControlFlow<()>,
    ) -> Result<Ran, EmulatorError> {
        let scheduling = Scheduling::begin(self.settings.cpu);
        let clock = Clock::beginning_at(self.settings.begin_ns.unwrap_or_else(monotonic_ns));
        clock.sleep_until(Instant::ZERO);
        let mut meter = Meter::begin(self.settings.tick, scheduling.priority);
        let (mut planned, mut waited, mut watched) = (Instant::ZERO, Waited::Not, Instant::ZERO);
        let stopped = loop {
            let now = clock.now();
            meter.tick(planned, now);
            if monitor.cancel.load(Ordering::Relaxed) {
                break Stopped::Cancelled;
            }
            match self.step(clock, (now, waited), monitor, &mut meter) {
                Err(EmulatorError::Simulation(SimError::Interrupted { .. })) => break Stopped::Cancelled,
                done => done?,
            }
            if now >= self.simulation.end() {
                break Stopped::Ended;
            }
            if now >= watched {
                watched = now + WATCHED_EVERY;
                if watch(&mut self.simulation, now).is_break() {
                    break Stopped::Told;
                }
            }
            (planned, waited) = self.wait(clock, now, watched, &mut meter);
        };
        let now = clock.now();
        self.simulation.stop_at(now);
        for (flow, bytes) in self.payload.totals() {
            self.simulation.report(flow, HostTotals { payload_bytes: Some(bytes), ..HostTotals::default() });
        }
        let Self { simulation, pairs, mut journal, echo, .. } = self;
        if let Some(journal) = &mut journal {
            journal.end(now);
        }
        let measured = Measured { answer_p99_s: echo.and_then(|echo| echo.p99_s()), ..meter.end(now) };
        Ok(Ran { simulation, measured, stopped, journal, devices: pairs })
    }

    /// Waits after a look that began then, until something is due, something has come, or who watches is to be called;
    /// but a tick at least. Returns the time for which the next look is planned, and since when the packets that it
    /// finds may have waited.
    fn wait(&self, clock: Clock, began: Instant, watched: Instant, meter: &mut Meter) -> (Instant, Waited) {
        let Self { simulation, pairs, settings, .. } = self;
        let now = clock.now();
        let for_hosts = if settings.cpu.is_some() { Duration::ZERO } else { settings.tick.over(LEAST_REST) };
        let rest = for_hosts.max(now.since(began).over(REST_OF_LOOK));
        let earliest = (began + settings.tick).max(now + rest);
        let next = [simulation.next_due(), simulation.next_deadline(), Some(simulation.end()), Some(watched)];
        let next = next.into_iter().flatten().min().unwrap_or(watched);
        let awake = Instant::from_ps(next.as_ps().saturating_sub(AWAKE_BEFORE.as_ps()));
        let mut has_come = false;
        if next > earliest {
            let devices = pairs.iter().flat_map(|pair| [pair.senders.readable(), pair.receivers.readable()]);
            let mut devices: Vec<_> = devices.collect(); // only here, where nothing is due
            has_come = clock.sleep_until_readable(awake, &mut devices);
            if !has_come {
                if awake > now {
                    meter.woken(awake, clock.now());
                }
                has_come = clock.sleep_until_readable(next, &mut devices);
            }
        }
        let woken = clock.now();
        let (planned, waited) = if has_come {
            (earliest.max(woken), Waited::SinceWoken(woken))
        } else {
            (earliest.max(next), Waited::Within(now))
        };
        clock.sleep_until(planned);
        (planned, waited)
    }

    /// What is done at a look, which began `now`. What it finds has waited.
    fn step(
        &mut self,
        clock: Clock,
        (now, waited): (Instant, Waited),
        monitor: &Monitor,
        meter: &mut Meter,
    ) -> Result<(), EmulatorError> {
        let within = now.max(self.looked).since(self.looked).min(self.settings.tick);
        self.looked = now;
        self.receive(Look { now, waited, within }, meter)?;
        self.simulation.advance(now, monitor)?;
        while let Some(slot) = self.simulation.take_lost() {
            if let Some(journal) = &mut self.journal {
                journal.lost(slot);
            }
            self.pool.give_back(slot);
        }
        if self.deliver(clock, now, meter) | self.ask(clock) {
            self.receive(Look { now: clock.now(), waited: Waited::Not, within }, meter)?;
        }
        Ok(())
    }

    /// Asks a host for an echo, if it is time to; whether one was asked.
    fn ask(&mut self, clock: Clock) -> bool {
        let Self { echo, pairs, pair_of, addresses, .. } = self;
        let asked = echo.as_mut().and_then(|echo| echo.due(clock.now(), addresses));
        let Some((flow, direction, packet)) = asked else { return false };
        let (host, _) = pairs[pair_of[flow as usize] as usize].ends(direction);
        // A host whose device has no room does not answer, which is what is to be known.
        host.write_one(&packet) == Written::Whole
    }

    /// What the hosts have sent comes in.
    fn receive(&mut self, look: Look, meter: &mut Meter) -> Result<(), EmulatorError> {
        for pair in 0..self.pairs.len() {
            for direction in [Direction::Forward, Direction::Reverse] {
                let before = meter.counts.packets_in;
                let reads = self.read(pair, direction, look.now, meter)?;
                meter.read(direction, meter.counts.packets_in - before, look.waited, look.now);
                self.enter(look, reads, meter);
            }
        }
        Ok(())
    }

    /// Reads what a host has sent; how often it read something.
    fn read(
        &mut self,
        pair: usize,
        direction: Direction,
        now: Instant,
        meter: &mut Meter,
    ) -> Result<u64, EmulatorError> {
        let Self { simulation, pairs, pair_of, pool, addresses, packet_bytes, echo, came, captured, .. } =
            self;
        let (device, _) = pairs[pair].ends(direction);
        let side = if direction == Direction::Forward { SENDERS } else { RECEIVERS };
        let enough = meter.counts.packets_in + MOST_READS;
        let mut reads = 0;
        while reads < MOST_READS {
            if meter.counts.packets_in >= enough {
                break; // of super-packets one may be all
            }
            let read = device.read().map_err(|error| EmulatorError::Device { side, source: error.into() })?;
            let Some(bytes) = read else { break };
            reads += 1;
            let Some((virtio, packet)) = VirtioHeader::read(bytes) else {
                meter.counts.malformed += 1;
                continue;
            };
            if packet.first().is_some_and(|first| first >> 4 != 4) {
                meter.counts.foreign += 1; // IPv6, which kernels speak unasked
                continue;
            }
            let Some(headers) = Headers::read(packet) else {
                meter.counts.malformed += 1;
                continue;
            };
            if echo.as_mut().is_some_and(|echo| echo.takes(packet, &headers, now)) {
                continue;
            }
            let is_here = |flow: &u32| pair_of[*flow as usize] as usize == pair;
            let Some(flow) = addresses.flow(packet, direction).filter(is_here) else {
                meter.counts.foreign += 1;
                continue;
            };
            let (dscp, ecn) = type_of_service(packet);
            let most = packet_bytes[flow as usize];
            let done = cut(&virtio, &headers, packet, pool, |slot, stored| {
                let bytes = stored.bytes.len() as u32;
                meter.counts.packets_in += 1;
                meter.counts.oversized += u64::from(bytes > most);
                came.push((reads - 1, Arrival { flow, direction, bytes, ecn, dscp, slot }));
                if *captured {
                    show(simulation, slot, stored, headers.bytes());
                }
            });
            meter.counts.malformed += u64::from(done == Err(Malformed));
        }
        Ok(reads)
    }

    /// What has been read enters the network. When each packet came is not known. If all entered at the look, the first
    /// ones would take all the room that a full queue has had since the last look: so they enter one read after the
    /// other, until a look later. What was read at once, a burst, enters at once.
    fn enter(&mut self, Look { now, within, .. }: Look, reads: u64, meter: &mut Meter) {
        let Self { simulation, journal, came, .. } = self;
        for (read, arrival) in came.drain(..) {
            let wait = Duration::from_ps(within.as_ps() * read / reads);
            if let Some(journal) = journal {
                journal.came(now + wait, simulation.now(), &arrival);
            }
            simulation.hand_in(now + wait, &arrival);
            meter.entered(arrival.direction, wait);
        }
    }

    /// Writes what is due by `now`; whether anything was.
    fn deliver(&mut self, clock: Clock, now: Instant, meter: &mut Meter) -> bool {
        let Self { simulation, pairs, pair_of, pool, batches, payload, journal, .. } = self;
        while let Some(delivery) = simulation.take_due(now) {
            if let Some(journal) = journal {
                journal.due(&delivery);
            }
            payload.see(delivery.flow, delivery.direction, &pool.get(delivery.slot).bytes);
            if delivery.marked {
                mark(&mut pool.get_mut(delivery.slot).bytes);
            }
            batches.add(pool, &delivery);
        }
        for batch in batches.all() {
            let (_, device) = pairs[pair_of[batch.flow as usize] as usize].ends(batch.direction);
            let packets = batch.packets.len() as u64;
            match device.write(pool, batch) {
                Written::Whole => {
                    meter.counts.writes += 1;
                    let now = clock.now();
                    batch.packets.iter().for_each(|&(_, at)| meter.written(at, now));
                }
                Written::Full => meter.counts.unwritten.full += packets,
                Written::Failed => meter.counts.unwritten.refused += packets,
            }
            batch.packets.iter().for_each(|&(slot, _)| pool.give_back(slot));
        }
        let any = !batches.all().is_empty();
        batches.clear();
        any
    }
}

/// Shows the network the headers of a packet, with the checksum that its receiver would compute.
fn show(simulation: &mut Simulation, slot: u32, packet: &Stored, length: usize) {
    let mut beginning = [0; MOST_HEADERS];
    let length = length.min(MOST_HEADERS);
    beginning[..length].copy_from_slice(&packet.bytes[..length]);
    if let Some((at, checksum)) = completed(packet).filter(|(at, _)| at + 2 <= length) {
        set_word(&mut beginning, at, checksum);
    }
    simulation.show(slot, &beginning[..length], packet.bytes.len() as u32);
}

const SENDERS: &str = "senders'";
const RECEIVERS: &str = "receivers'";

#[cfg(test)]
mod tests;
