//! The measurements of the emulation itself, and its validity.
//!
//! The emulator judges the network between the hosts ([`Measured::verdict`]); what limited the hosts is added here:
//!
//! | what | doubtful above | invalid above | why there |
//! | --- | --- | --- | --- |
//! | time limited by the send buffer | 2 % | 20 % | the scenario has none; the kernel's own grows with the window, a round trip late |
//! | time limited by the receiver's window | 2 % | 50 % | the same: the receiver's buffer grows with what came in a round trip; while it did, transfers of 1 MB at 100 ms were limited up to 38 % of their time. More is no growth |
//! | the same, of flows with the rules of Linux that lost packets | - | - | simulated receivers limit them as well: behind a hole packets wait in the buffer |
//! | datagrams refused by the sender, or without room at the receiver | none | 1 in 1000 | losses that the scenario does not have |
//! | packets that the hosts' devices dropped | none | 1 in 10^5 | losses that the scenario does not have: nobody read them in time, or the CPU that was to receive them had too many |
//! | the kernel's memory for TCP in use, by all TCP of this machine, of what may be before it saves | 75 % | 100 % | windows shrink and send buffers do not grow (tcp(7), tcp_mem); it saves until three quarters are in use again |
//! | datagrams that a sender had no time for, share of those that were due | 1 % | 10 % | it sends less than its workload says |
//! | a flow's mean congestion window | - | 2^22 packets | twice what the hosts' largest buffers, 128 MB, have in packets of 64 bytes: no control means that, and the kernel's memory for TCP goes to such flows |
//! | a flow that ended with an error | none | one | it is missing |
//! | CPU time of a host, share of a CPU | 90 % | 98 % | it cannot send or answer faster |

use crate::planning::OwnLimits;
use parshall_hosts::{FlowOutcome, Outcome};
use parshall_realtime::{Finding, Level, Measured, Verdict};
use serde::Serialize;

/// Packets of 64 bytes in 256 MB: a window that is in use grows to twice what the buffers hold at most.
const LARGEST_WINDOW: f64 = 4_194_304.0;

/// The validity of an emulation, with the reasons.
#[derive(Clone, Debug, Serialize)]
pub struct Validity {
    /// Valid, doubtful or invalid, with the reasons.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Measurements of the network between the hosts.
    pub emulator: Measured,
    /// Measurements of the hosts.
    pub hosts: HostsMeasured,
    /// Packets that captures of links lack, because they could not be written in time.
    pub captures_left_out: u64,
    /// Time until the hosts were ready and could be started, s.
    pub set_up_s: f64,
}

/// Measurements of the hosts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HostsMeasured {
    /// CPU time of the senders' hosts, s.
    pub senders_cpu_s: f64,
    /// CPU time of the receivers' hosts, s.
    pub receivers_cpu_s: f64,
    /// Largest share of the time with data to send in which a flow was limited by its send buffer, where the
    /// scenario gives none; `None`: the kernel does not say.
    pub send_buffer_share: Option<f64>,
    /// The same, by the receiver's window, without flows of Linux's rules that lost packets: simulated ones are limited
    /// as well.
    pub receive_window_share: Option<f64>,
    /// Datagrams that were lost in the hosts.
    pub datagrams_lost: u64,
    /// Packets that the hosts' devices dropped; `None`: the kernel does not say.
    pub devices_dropped: Option<u64>,
    /// The most of the kernel's memory for TCP that was in use, by all TCP of this machine, of what may be before the
    /// kernel saves; `None`: it does not say.
    pub tcp_memory_share: Option<f64>,
    /// Largest share of a flow's datagrams that were due and not sent, because the host had no time for them; `None`:
    /// no flow has datagrams.
    pub unsent_share: Option<f64>,
    /// Largest mean congestion window of a flow, packets; `None`: the kernel does not say.
    pub largest_window: Option<f64>,
    /// CPU time of the host that was busiest, s: of those of senders, and of receivers.
    #[serde(skip)]
    busiest_cpu_s: [f64; 2],
    /// Why flows ended before the run did.
    pub failures: Vec<String>,
}

impl HostsMeasured {
    fn new(outcome: &Outcome, own: &OwnLimits) -> Self {
        let is_listed = |flow: &FlowOutcome, places: &[bool]| places.get(flow.plan as usize) == Some(&true);
        let share = |part: fn(&parshall_hosts::Limited) -> Option<f64>,
                     left_out: &dyn Fn(&FlowOutcome) -> bool| {
            let flows = outcome.flows.iter().filter(|flow| !left_out(flow));
            let shares = flows.filter_map(|flow| {
                let busy_s = flow.limited.busy_s.filter(|&busy_s| busy_s > 0.0)?;
                // Readings may find more than the kernel's count of busy time.
                Some((part(&flow.limited)? / busy_s).min(1.0))
            });
            shares.reduce(f64::max)
        };
        let refused: u64 = outcome.flows.iter().map(|flow| flow.refused).sum();
        Self {
            senders_cpu_s: outcome.senders_cpu_s.iter().sum(),
            receivers_cpu_s: outcome.receivers_cpu_s.iter().sum(),
            busiest_cpu_s: [&outcome.senders_cpu_s, &outcome.receivers_cpu_s]
                .map(|hosts| hosts.iter().copied().fold(0.0, f64::max)),
            send_buffer_share: share(|limited| limited.send_buffer_s, &|flow| is_listed(flow, &own.send)),
            receive_window_share: share(|limited| limited.receive_window_s, &|flow| {
                let lost = flow.row.retransmissions.unwrap_or(0) > 0;
                is_listed(flow, &own.receive) || lost && is_listed(flow, &own.receive_behind_holes)
            }),
            datagrams_lost: refused + outcome.receivers_dropped.unwrap_or(0),
            devices_dropped: outcome.devices_dropped,
            tcp_memory_share: outcome.tcp_memory_share,
            largest_window: outcome
                .flows
                .iter()
                .filter_map(|flow| flow.row.mean_cwnd_packets)
                .reduce(f64::max),
            unsent_share: outcome.flows.iter().filter_map(unsent_share).reduce(f64::max),
            failures: outcome.flows.iter().filter_map(|flow| flow.failure.clone()).collect(),
        }
    }

    fn findings(&self, wall_s: f64, packets: u64) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut check = |value, limits, reason, remedy| {
            findings.extend(Finding::above(value, limits, reason, remedy));
        };
        let limited = self.send_buffer_share.unwrap_or(0.0);
        let reason =
            format!("a flow's send buffer limited it {:.0} % of the time; 2 % are accepted", 100.0 * limited);
        check(limited, (0.02, 0.2), reason, "raise the limits of send buffers (sysctl net.ipv4.tcp_wmem)");
        let limited = self.receive_window_share.unwrap_or(0.0);
        let reason = format!(
            "a flow's receiver limited it {:.0} % of the time by its window; 2 % are accepted",
            100.0 * limited
        );
        let remedy =
            "let nothing else run, or raise the limits of receive buffers (sysctl net.ipv4.tcp_rmem)";
        check(limited, (0.02, 0.5), reason, remedy);
        let lost = self.datagrams_lost as f64 / packets.max(1) as f64;
        let reason = format!("{} datagrams were lost in the hosts; none is accepted", self.datagrams_lost);
        check(lost, (0.0, 1e-3), reason, "give the hosts more CPU time, or take lower rates");
        let dropped = self.devices_dropped.unwrap_or(0);
        let reason = format!("the hosts' devices dropped {dropped} packets; none is accepted");
        let remedy = "let nothing else run, or raise the sysctl net.core.netdev_max_backlog";
        check(dropped as f64 / packets.max(1) as f64, (0.0, 1e-5), reason, remedy);
        let memory = self.tcp_memory_share.unwrap_or(0.0);
        let reason = format!(
            "all TCP of this machine used {:.0} % of the memory from which on the kernel saves; 75 % are accepted",
            100.0 * memory
        );
        let remedy = "let nothing else run, or raise the sysctl net.ipv4.tcp_mem";
        check(memory, (0.75, 1.0), reason, remedy);
        let unsent = self.unsent_share.unwrap_or(0.0);
        let reason =
            format!("a sender had no time for {:.1} % of its datagrams; 1 % is accepted", 100.0 * unsent);
        check(unsent, (0.01, 0.1), reason, "let nothing else run, or take lower rates");
        for (host, cpu_s) in ["senders'", "receivers'"].into_iter().zip(self.busiest_cpu_s) {
            let busy = if wall_s > 0.0 { cpu_s / wall_s } else { 0.0 };
            let reason =
                format!("the {host} host was busy {:.0} % of the time; 90 % are accepted", 100.0 * busy);
            check(busy, (0.9, 0.98), reason, "let nothing else run, or take lower rates or fewer flows");
        }
        let window = self.largest_window.unwrap_or(0.0);
        let reason = format!("the congestion window of a flow was {window:.0} packets on average");
        check(window, (LARGEST_WINDOW, LARGEST_WINDOW), reason, "see what its congestion control returns");
        if let Some(first) = self.failures.first() {
            findings.push(Finding {
                level: Level::Invalid,
                reason: format!("{} flows ended with an error, the first: {first}", self.failures.len()),
                remedy: "see what the error says",
            });
        }
        findings
    }
}

/// The share of a flow's datagrams that were due and not sent; `None`: it has none.
fn unsent_share(flow: &FlowOutcome) -> Option<f64> {
    let due = flow.row.packets_sent? + flow.unsent;
    (flow.arrived_bytes.is_none() && due > 0).then(|| flow.unsent as f64 / due as f64)
}

impl Validity {
    /// `own`: of which flows the scenario itself limits buffers and windows.
    pub(crate) fn new(
        emulator: Measured,
        (outcome, own): (&Outcome, &OwnLimits),
        captures_left_out: u64,
        set_up_s: f64,
    ) -> Self {
        let hosts = HostsMeasured::new(outcome, own);
        let Verdict { mut findings, .. } = emulator.verdict();
        findings.extend(hosts.findings(emulator.wall_s, emulator.packets_in));
        if captures_left_out > 0 {
            findings.push(Finding {
                level: Level::Valid,
                reason: format!("captures lack {captures_left_out} packets; the tables have them all"),
                remedy: "write the results to a faster disk, or capture fewer links",
            });
        }
        Self { verdict: Verdict::of(findings), emulator, hosts, captures_left_out, set_up_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The level and the reasons of hosts that ran for 10 s and sent a million packets.
    fn judged(hosts: &HostsMeasured) -> (Level, Vec<String>) {
        let Verdict { level, findings } = Verdict::of(hosts.findings(10.0, 1_000_000));
        (level, findings.into_iter().map(|finding| finding.reason).collect())
    }

    #[test]
    fn each_measure_of_the_hosts_makes_a_run_doubtful_then_invalid() {
        let sound = HostsMeasured {
            send_buffer_share: Some(0.02),
            receive_window_share: Some(0.02),
            tcp_memory_share: Some(0.75),
            unsent_share: Some(0.01),
            busiest_cpu_s: [9.0, 9.0],
            ..HostsMeasured::default()
        };
        assert_eq!(judged(&sound), (Level::Valid, vec![]));
        assert_eq!(
            judged(&HostsMeasured::default()),
            (Level::Valid, vec![]),
            "what is not known is no reason"
        );
        let send = |share| HostsMeasured { send_buffer_share: Some(share), ..sound.clone() };
        let receive = |share| HostsMeasured { receive_window_share: Some(share), ..sound.clone() };
        let memory = |share| HostsMeasured { tcp_memory_share: Some(share), ..sound.clone() };
        let unsent = |share| HostsMeasured { unsent_share: Some(share), ..sound.clone() };
        let dropped = |count| HostsMeasured { devices_dropped: Some(count), ..sound.clone() };
        let senders = |cpu_s| HostsMeasured { busiest_cpu_s: [cpu_s, 1.0], ..sound.clone() };
        for (doubtful, invalid, reason) in [
            (send(0.1), send(0.3), "send buffer"),
            (receive(0.3), receive(0.6), "receiver limited it"),
            (memory(0.8), memory(1.1), "memory"),
            (unsent(0.05), unsent(0.2), "datagrams"),
            (dropped(1), dropped(20), "devices dropped"),
            (senders(9.5), senders(9.9), "senders' host"),
        ] {
            for (measured, level) in [(doubtful, Level::Doubtful), (invalid, Level::Invalid)] {
                let (found, reasons) = judged(&measured);
                assert_eq!((found, reasons.len()), (level, 1), "{reasons:?}");
                assert!(reasons[0].contains(reason), "{reasons:?}");
            }
        }
    }
}
