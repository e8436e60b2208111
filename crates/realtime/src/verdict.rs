//! The validity of an emulation: a bottleneck in the test bed that nobody notices is how emulation misleads.
//!
//! | what | doubtful above | invalid above | why there |
//! | --- | --- | --- | --- |
//! | lateness, p99 | 200 us | 1 ms | delays of networks begin at some milliseconds: 2 %, 10 % of 10 ms |
//! | answers of the hosts, p99 | 400 us | 2 ms | a round trip has one answer and two deliveries: twice the lateness |
//! | due packets not written | none | 1 in 10^5 | a loss that the scenario does not have; CUBIC at 1 Gbit/s and 100 ms responds to losses of 10^-6 |
//! | packets larger than the scenario's | none | 1 in 1000 | queues that count packets hold more bytes |
//! | packets malformed | none | 1 in 10^5 | they are lost |
//! | the thread's share of a CPU | 80 % | 95 % | ticks lengthen before it is full |
//! | ticks missed, of those that fit into the run | 5 % | 50 % | packets come in bunches as long as what was missed |
//! | steal | 1 % | 5 % | the hosts' CPUs stood still, too, which no lateness shows |

use crate::measured::Measured;
use serde::Serialize;

/// The validity of an emulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It was as in the scenario.
    Valid,
    /// Something differed, not much.
    Doubtful,
    /// It was something else.
    Invalid,
}

/// Something that was not as in the scenario, or is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The level that follows from it alone.
    pub level: Level,
    /// The measurement, and the accepted range.
    pub reason: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// The meaning of the measurements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The worst of the findings.
    pub level: Level,
    /// The worst ones first.
    pub findings: Vec<Finding>,
}

const FASTER: &str = "let nothing else run, or take lower rates, fewer flows or a faster machine";

impl Finding {
    /// Returns the finding for a value, if it is above the limits of what is valid and what is doubtful.
    pub fn above(
        value: f64,
        (doubtful, invalid): (f64, f64),
        reason: String,
        remedy: &'static str,
    ) -> Option<Self> {
        let level = if value > invalid { Level::Invalid } else { Level::Doubtful };
        (value > doubtful).then_some(Self { level, reason, remedy })
    }
}

impl Measured {
    /// Returns the validity of the run. An emulation that wrote nothing kept everything.
    pub fn verdict(&self) -> Verdict {
        let mut findings = Vec::new();
        let mut check = |value, limits, reason, remedy| {
            findings.extend(Finding::above(value, limits, reason, remedy));
        };
        let due = self.packets_out + self.unwritten.full + self.unwritten.refused;
        let share = |count: u64, of: u64| if count == 0 { 0.0 } else { count as f64 / of.max(1) as f64 };

        let late_s = self.lateness_p99_s.unwrap_or(0.0);
        let reason =
            format!("1 % of the packets were more than {:.0} us late; 200 us are accepted", 1e6 * late_s);
        let remedy =
            if self.real_time { FASTER } else { "run as root, so that the emulator has real-time priority" };
        check(late_s, (200e-6, 1e-3), reason, remedy);

        let answer_s = self.answer_p99_s.unwrap_or(0.0);
        let reason =
            format!("1 % of the hosts' answers took more than {:.0} us; 400 us are accepted", 1e6 * answer_s);
        check(answer_s, (400e-6, 2e-3), reason, FASTER);

        let full = self.unwritten.full;
        let reason =
            format!("{full} of {due} packets found no room in the receiving host's device; none is accepted");
        check(share(full, due), (0.0, 1e-5), reason, "give the hosts more CPU time, or take lower rates");

        let refused = self.unwritten.refused;
        let reason = format!(
            "{refused} of {due} packets were refused by the receiving host's device; none is accepted"
        );
        check(
            share(refused, due),
            (0.0, 1e-5),
            reason,
            "see that both devices are up and have checksum offload",
        );

        let (oversized, came) = (self.oversized, self.packets_in);
        let reason =
            format!("{oversized} of {came} packets were larger than the scenario's; none is accepted");
        check(
            share(oversized, came),
            (0.0, 1e-3),
            reason,
            "set the MTU of the hosts' devices to the packet_size",
        );

        let malformed = self.malformed;
        let reason =
            format!("{malformed} of {came} packets were not what their headers say; none is accepted");
        check(
            share(malformed, came),
            (0.0, 1e-5),
            reason,
            "offer the hosts' devices no offload but TSO4 and USO4",
        );

        let busy = if self.wall_s > 0.0 { self.cpu_s / self.wall_s } else { 0.0 };
        let reason =
            format!("the emulator's thread was busy {:.0} % of the time; 80 % are accepted", 100.0 * busy);
        check(busy, (0.8, 0.95), reason, FASTER);

        let overdue =
            if self.wall_s > 0.0 { self.ticks_missed as f64 * self.tick_s / self.wall_s } else { 0.0 };
        let reason = format!("{:.1} % of the ticks were missed; 5 % are accepted", 100.0 * overdue);
        check(overdue, (0.05, 0.5), reason, FASTER);

        let steal = self.steal.unwrap_or(0.0);
        let reason =
            format!("the hypervisor took {:.1} % of the machine's time; 1 % is accepted", 100.0 * steal);
        check(steal, (0.01, 0.05), reason, "take a machine whose CPUs are its own");

        if !self.real_time {
            findings.push(Finding {
                level: Level::Valid,
                reason: "the kernel refused real-time priority".to_owned(),
                remedy: "run as root, or allow it (RLIMIT_RTPRIO)",
            });
        }
        Verdict::of(findings)
    }
}

impl Verdict {
    /// Returns the common verdict of these findings.
    pub fn of(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        Self { level: findings.first().map_or(Level::Valid, |worst| worst.level), findings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::Unwritten;

    fn sound() -> Measured {
        Measured {
            wall_s: 10.0,
            cpu_s: 3.0,
            tick_s: 50e-6,
            real_time: true,
            ticks: 200_000,
            packets_in: 1_000_000,
            packets_out: 1_000_000,
            lateness_p99_s: Some(200e-6),
            answer_p99_s: Some(400e-6),
            steal: Some(0.01),
            foreign: 7,
            ..Measured::default()
        }
    }

    #[test]
    fn what_is_accepted_is_valid() {
        let verdict = sound().verdict();
        assert_eq!((verdict.level, verdict.findings), (Level::Valid, vec![]));
        let nothing = Measured { real_time: true, ..Measured::default() };
        assert_eq!(nothing.verdict().level, Level::Valid);
    }

    #[test]
    fn each_measure_makes_a_run_doubtful_then_invalid() {
        let full = |full| Unwritten { full, refused: 0 };
        let refused = |refused| Unwritten { full: 0, refused };
        for (doubtful, invalid, reason) in [
            (
                Measured { lateness_p99_s: Some(0.3e-3), ..sound() },
                Measured { lateness_p99_s: Some(2e-3), ..sound() },
                "late",
            ),
            (
                Measured { answer_p99_s: Some(0.5e-3), ..sound() },
                Measured { answer_p99_s: Some(3e-3), ..sound() },
                "hosts' answers",
            ),
            (
                Measured { unwritten: full(1), ..sound() },
                Measured { unwritten: full(20), ..sound() },
                "no room",
            ),
            (
                Measured { unwritten: refused(1), ..sound() },
                Measured { unwritten: refused(20), ..sound() },
                "refused",
            ),
            (Measured { oversized: 1, ..sound() }, Measured { oversized: 2000, ..sound() }, "larger"),
            (Measured { malformed: 1, ..sound() }, Measured { malformed: 20, ..sound() }, "headers say"),
            (Measured { cpu_s: 8.5, ..sound() }, Measured { cpu_s: 9.9, ..sound() }, "busy"),
            (
                Measured { ticks_missed: 20_000, ..sound() },
                Measured { ticks_missed: 150_000, ..sound() },
                "missed",
            ),
            (
                Measured { steal: Some(0.02), ..sound() },
                Measured { steal: Some(0.1), ..sound() },
                "hypervisor",
            ),
        ] {
            for (measured, level) in [(doubtful, Level::Doubtful), (invalid, Level::Invalid)] {
                let verdict = measured.verdict();
                assert_eq!((verdict.level, verdict.findings.len()), (level, 1), "{verdict:?}");
                assert!(verdict.findings[0].reason.contains(reason), "{verdict:?}");
            }
        }
    }

    #[test]
    fn the_worst_comes_first_and_a_refused_priority_is_said() {
        let measured = Measured { oversized: 1, lateness_p99_s: Some(5e-3), real_time: false, ..sound() };
        let verdict = measured.verdict();
        let levels: Vec<Level> = verdict.findings.iter().map(|finding| finding.level).collect();
        assert_eq!(levels, [Level::Invalid, Level::Doubtful, Level::Valid]);
        assert!(verdict.findings[0].remedy.contains("real-time"), "{verdict:?}");
    }
}
