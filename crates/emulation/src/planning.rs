//! What the hosts are to do, from the scenario's groups.
//!
//! | key of a group | at the kernel |
//! | --- | --- |
//! | `congestion_control` | by its name; its parameters are the kernel's |
//! | `initial_window` | by a route, if it is not the kernel's 10 packets |
//! | `receive_window` | SO_RCVBUF of twice as many packets (tcp(7): half of it is for overhead) |
//! | `persistent`, `workload`, `start`, `rtt` | as in the scenario |
//! | `packet_size` | the MTU of the devices: the largest of all groups; others by the segment size of their sockets |
//! | `ecn`, `timestamps`, `recovery` (without SACK or with) | sysctls of the hosts, so they must be the same in all groups |
//!
//! All else is the kernel's own: RACK-TLP, PRR, delayed ACKs, its smallest timeout.

use crate::programs::Programs;
use crate::EmulationError;
use parshall_congestion::ControlConfig;
use parshall_hosts::{FlowPlan, Plan, Sampling, TcpOptions, Transport};
use parshall_sim::scenario::FlowGroup;
use parshall_sim::{Scenario, SimError, Simulation};
use parshall_tcp::{Recovery, TcpConfig};
use parshall_units::Instant;
use std::sync::Arc;

/// The kernel's initial window, packets (RFC 6928).
const KERNELS_INITIAL_WINDOW: u64 = 10;

/// The plan of the external groups of a scenario, whose network is `simulation`.
pub(crate) fn plan(
    scenario: &Scenario,
    simulation: &Simulation,
    programs: Option<&Programs>,
) -> Result<Plan, EmulationError> {
    let groups = || scenario.flows.iter().enumerate().filter(|(_, group)| group.external);
    let mut flows = Vec::new();
    for (number, group) in groups() {
        let source = group
            .source()
            .map_err(|(key, problem)| SimError::Invalid { key: format!("flows.{number}.{key}"), problem })?;
        let of_programs = programs.is_some_and(|programs| programs.group as usize == number);
        let transport = if of_programs { transport_of_programs(group) } else { transport(group) };
        for _ in 0..group.count {
            let info = simulation.external_flow(flows.len() as u32);
            flows.push(FlowPlan {
                group: Arc::from(info.group),
                start: info.start,
                rtt_base: info.rtt,
                packet_bytes: info.packet_bytes,
                source: source.clone(),
                seed: info.random,
                transport: transport.clone(),
                samples: info.recorded.0.map(Sampling::Every),
                rounds: info.recorded.1,
            });
        }
    }
    let tcp: Vec<_> = groups().filter_map(|(number, group)| Some((number, group.tcp.as_ref()?))).collect();
    Ok(Plan {
        mtu: groups().map(|(_, group)| group.packet_bytes).max().unwrap_or(0),
        warm_up: Instant::from_ps(scenario.warm_up_ps),
        end: Instant::from_ps(scenario.duration_ps),
        sysctls: sysctls(&tcp)?,
        flows,
    })
}

fn control(group: &FlowGroup) -> &str {
    group.congestion_control.as_ref().map_or("", ControlConfig::name)
}

fn transport(group: &FlowGroup) -> Transport {
    let Some(tcp) = &group.tcp else { return Transport::Datagrams };
    let window = tcp.initial_window.0;
    Transport::Tcp(TcpOptions {
        congestion_control: control(group).into(),
        persistent: tcp.persistent,
        pacing: None,
        send_buffer: None,
        receive_buffer: tcp.receive_window.map(|window| {
            let bytes = 2 * window.0.saturating_mul(u64::from(group.packet_bytes));
            u32::try_from(bytes).unwrap_or(u32::MAX / 4)
        }),
        initial_window: (window != KERNELS_INITIAL_WINDOW).then_some(window.min(u64::from(u32::MAX)) as u32),
    })
}

fn transport_of_programs(group: &FlowGroup) -> Transport {
    let of_tcp = match transport(group) {
        Transport::Tcp(options) => (options.initial_window, Some(options.congestion_control)),
        _ => (None, None),
    };
    Transport::Programs { initial_window: of_tcp.0, congestion_control: of_tcp.1 }
}

/// A setting that a host has for all of its sockets.
struct Shared {
    /// The scenario's key.
    key: &'static str,
    sysctl: &'static str,
    is_on: fn(&TcpConfig) -> bool,
}

const SHARED: [Shared; 3] = [
    Shared { key: "ecn", sysctl: "net.ipv4.tcp_ecn", is_on: |tcp| tcp.ecn },
    Shared { key: "timestamps", sysctl: "net.ipv4.tcp_timestamps", is_on: |tcp| tcp.timestamps },
    Shared {
        key: "recovery",
        sysctl: "net.ipv4.tcp_sack",
        is_on: |tcp| matches!(tcp.recovery, Recovery::Sack | Recovery::Rack),
    },
];

/// The settings of both hosts for these groups, by their numbers.
fn sysctls(groups: &[(usize, &TcpConfig)]) -> Result<Vec<(String, String)>, SimError> {
    let mut set = Vec::new();
    for Shared { key, sysctl: name, is_on } in SHARED {
        let Some(first) = groups.first().map(|(_, tcp)| is_on(tcp)) else { continue };
        if let Some((number, _)) = groups.iter().find(|(_, tcp)| is_on(tcp) != first) {
            let key = format!("flows.{number}.{key}");
            let problem = format!("all flows of real hosts share {name}: write the same in all groups");
            return Err(SimError::Invalid { key, problem });
        }
        set.push((name.to_string(), u8::from(first).to_string()));
    }
    Ok(set)
}
