//! The promises that a run kept.

use crate::clock::thread_cpu_s;
use crate::scheduling::Priority;
use parshall_records::DelayHistogram;
use parshall_sim::Direction;
use parshall_units::{Duration, Instant};
use serde::Serialize;

/// Measurements of an emulation itself, while it ran. [`verdict`](Self::verdict) judges it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// Its duration, s.
    pub wall_s: f64,
    /// CPU time of its thread, s.
    pub cpu_s: f64,
    /// True if the thread had real-time priority.
    pub real_time: bool,
    /// The shortest time between two looks at the devices, a tick, s.
    pub tick_s: f64,
    /// Looks at the devices.
    pub ticks: u64,
    /// Ticks by which looks began too late, because the one before lasted longer or the kernel woke the thread too
    /// late; parts of a tick do not count.
    pub ticks_missed: u64,
    /// Packets that came from the hosts, super-packets cut.
    pub packets_in: u64,
    /// Packets that were written to the hosts.
    pub packets_out: u64,
    /// Writes for these: a super-packet is one.
    pub writes: u64,
    /// Lateness that half of the packets written did not exceed, from when they were due until they were written, s;
    /// `None`: none was written, as for all lateness.
    pub lateness_p50_s: Option<f64>,
    /// Lateness that 99 % did not exceed, s.
    pub lateness_p99_s: Option<f64>,
    /// Mean lateness, s.
    pub mean_lateness_s: Option<f64>,
    /// Longest lateness, s.
    pub max_lateness_s: Option<f64>,
    /// By how much round-trip times are longer than the network's: twice the mean lateness, and the mean times that
    /// packets of both directions waited until they were read.
    pub rtt_bias_s: Option<f64>,
    /// Time that 99 % of the hosts' answers to an echo did not exceed, until they were read, s; `None`: no host was
    /// asked, or none answers.
    pub answer_p99_s: Option<f64>,
    /// Packets that were due and were not written: losses that the scenario does not have.
    pub unwritten: Unwritten,
    /// Packets that belong to no flow: of other protocols, or addresses. They were dropped.
    pub foreign: u64,
    /// Packets that are not what their headers say. They were dropped.
    pub malformed: u64,
    /// Packets larger than those of their flow in the scenario.
    pub oversized: u64,
    /// Share of the machine's time that its hypervisor gave to others; `None`: the kernel does not report it.
    pub steal: Option<f64>,
}

/// Packets that were due and were not written, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unwritten {
    /// The device had no room.
    pub full: u64,
    /// The device refused them.
    pub refused: u64,
}

/// Since when packets that are read may have waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// They answer what was written just now.
    Not,
    /// The first of them woke the thread at this time.
    SinceWoken(Instant),
    /// They came at any time since this one.
    Within(Instant),
}

/// How long packets waited until they were read.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    packets: u64,
    sum_s: f64,
    /// Of these, packets that woke the thread: that takes time, too.
    woke: u64,
}

/// A mean of times.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    count: u64,
    sum_s: f64,
}

impl Mean {
    fn s(self) -> f64 {
        self.sum_s / self.count.max(1) as f64
    }
}

/// Measures.
pub(crate) struct Meter {
    pub(crate) counts: Measured,
    lateness: DelayHistogram,
    /// Of the packets that go forward, and back.
    waits: [Waits; 2],
    /// How late a timer woke the thread when it had slept until something would be due.
    woken_late: Mean,
    tick: Duration,
    cpu_s: f64,
    machine: Option<Machine>,
}

impl Meter {
    pub(crate) fn begin(tick: Duration, priority: Priority) -> Self {
        let counts = Measured {
            tick_s: tick.as_secs_f64(),
            real_time: priority == Priority::RealTime,
            ..Measured::default()
        };
        let lateness = DelayHistogram::new();
        Self {
            counts,
            lateness,
            waits: [Waits::default(); 2],
            woken_late: Mean::default(),
            tick,
            cpu_s: thread_cpu_s(),
            machine: Machine::now(),
        }
    }

    /// A look at the devices, which was planned for this time, and began `now`.
    pub(crate) fn tick(&mut self, planned: Instant, now: Instant) {
        self.counts.ticks += 1;
        self.counts.ticks_missed += now.max(planned).since(planned).as_ps() / self.tick.as_ps();
    }

    /// A packet that was due `at` has been written `now`.
    pub(crate) fn written(&mut self, at: Instant, now: Instant) {
        self.counts.packets_out += 1;
        self.lateness.record(now.max(at).since(at));
    }

    /// A timer was to wake the thread at a time, and did so `now`.
    pub(crate) fn woken(&mut self, at: Instant, now: Instant) {
        self.woken_late.count += 1;
        self.woken_late.sum_s += now.max(at).since(at).as_secs_f64();
    }

    /// So many packets of a direction have been read `now`.
    pub(crate) fn read(&mut self, direction: Direction, packets: u64, waited: Waited, now: Instant) {
        let waits = &mut self.waits[usize::from(direction == Direction::Reverse)];
        let since = |at: Instant| now.max(at).since(at).as_secs_f64();
        waits.packets += packets;
        waits.sum_s += packets as f64
            * match waited {
                Waited::Not => 0.0,
                Waited::SinceWoken(at) => since(at),
                Waited::Within(from) => since(from) / 2.0,
            };
        waits.woke += if matches!(waited, Waited::SinceWoken(_)) { packets } else { 0 };
    }

    /// A packet of a direction enters the network so long after it has been read.
    pub(crate) fn entered(&mut self, direction: Direction, wait: Duration) {
        self.waits[usize::from(direction == Direction::Reverse)].sum_s += wait.as_secs_f64();
    }

    /// Whoever waits for an answer waits for two packets that are read and two that are written.
    fn rtt_bias_s(&self) -> Option<f64> {
        let [forward, back] = self.waits.map(|waits| {
            let waking_s = waits.woke as f64 * self.woken_late.s(); // as long as a timer takes
            Mean { count: waits.packets, sum_s: waits.sum_s + waking_s }.s()
        });
        Some(2.0 * self.lateness.mean_s()? + forward + back)
    }

    pub(crate) fn end(self, now: Instant) -> Measured {
        let percentile = |q| self.lateness.percentile(q).map(Duration::as_secs_f64);
        Measured {
            wall_s: now.as_secs_f64(),
            cpu_s: thread_cpu_s() - self.cpu_s,
            lateness_p50_s: percentile(0.5),
            lateness_p99_s: percentile(0.99),
            mean_lateness_s: self.lateness.mean_s(),
            max_lateness_s: percentile(1.0),
            rtt_bias_s: self.rtt_bias_s(),
            steal: self.machine.and_then(Machine::steal_since),
            ..self.counts
        }
    }
}

/// The machine's time so far, in units of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Machine {
    steal: u64,
    total: u64,
}

impl Machine {
    fn now() -> Option<Self> {
        Self::read(&parshall_reading::of_kernel("/proc/stat").ok()?)
    }

    /// The first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal; guests'
    /// time, which follows, is in user and nice already.
    fn read(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let times: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).take(8).collect();
        (times.len() == 8).then(|| Self { steal: times[7], total: times.iter().sum() })
    }

    /// The share that was stolen since then.
    fn steal_since(self) -> Option<f64> {
        let now = Self::now()?;
        let total = now.total.checked_sub(self.total).filter(|&total| total > 0)?;
        Some(now.steal.saturating_sub(self.steal) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_what_was_stolen() {
        let text = "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3";
        assert_eq!(Machine::read(text), Some(Machine { steal: 80, total: 360 }));
        assert_eq!(Machine::read("cpu  10 20 30"), None);
        assert_eq!(Machine::read("intr 1"), None);
    }

    #[test]
    fn an_answer_takes_longer_by_two_deliveries_and_two_readings() {
        let us = |time: u64| Instant::from_ps(1_000_000 * time);
        let mut meter = Meter::begin(Duration::from_ps(50), Priority::Usual);
        assert_eq!(meter.rtt_bias_s(), None, "nothing was delivered");
        meter.written(us(0), us(20));
        meter.written(us(100), us(140));
        meter.woken(us(500), us(510));
        meter.woken(us(600), us(630));
        meter.read(Direction::Forward, 3, Waited::SinceWoken(us(700)), us(740));
        meter.read(Direction::Forward, 1, Waited::Within(us(800)), us(880));
        meter.read(Direction::Reverse, 1, Waited::Not, us(900));
        meter.entered(Direction::Forward, Duration::from_ps(20_000_000));
        // Forward: three of 40 us and the 20 us of a timer, and one of half of 80 us and the 20 us until it entered.
        let expected_s = 1e-6 * (2.0 * 30.0 + (3.0 * 60.0 + 40.0 + 20.0) / 4.0);
        let bias_s = meter.end(us(1000)).rtt_bias_s.unwrap();
        assert!((bias_s - expected_s).abs() < 0.05 * expected_s, "{bias_s} for {expected_s}");
    }

    #[test]
    fn ticks_that_did_not_come_are_counted() {
        let mut meter = Meter::begin(Duration::from_ps(50), Priority::Usual);
        for (planned, now) in [(0, 0), (50, 99), (150, 140), (200, 420)] {
            meter.tick(Instant::from_ps(planned), Instant::from_ps(now));
        }
        assert_eq!((meter.counts.ticks, meter.counts.ticks_missed), (4, 4));
        meter.written(Instant::from_ps(400), Instant::from_ps(450));
        meter.written(Instant::from_ps(460), Instant::from_ps(450));
        let measured = meter.end(Instant::from_ps(500));
        assert_eq!((measured.packets_out, measured.max_lateness_s), (2, Some(50e-12)));
        assert_eq!(measured.lateness_p50_s, Some(0.0), "what is early is not late");
    }
}
