//! The plan of the hosts, from the scenario's groups.
//!
//! | key of a group | at the kernel |
//! | --- | --- |
//! | `congestion_control` | by its name; its parameters are the kernel's, but for those of programs that take them ([`parameters`](crate::parameters)) |
//! | `initial_window` | by a route, if it is not the kernel's 10 packets |
//! | `receive_window` | SO_RCVBUF of twice as many packets (tcp(7): half of it is for overhead) |
//! | `persistent`, `workload`, `start`, `rtt` | as in the scenario |
//! | `packet_size` | the MTU of the devices: the largest of all groups; others by the segment size of their sockets |
//! | `dscp` | IP_TOS of the senders' sockets; answers of TCP reflect it |
//! | `ecn`, `timestamps`, `recovery` (without SACK or with) | sysctls of the hosts |
//! | `initial_receive_buffer` | the middle value of the sysctl tcp_rmem, if it is not the 128 KiB that hosts have anyway |
//! | `kernel.sysctls` | the same, instead of what follows from other keys |
//! | `kernel.pacing`, `send_buffer`, `receive_buffer` | SO_MAX_PACING_RATE, SO_SNDBUF, SO_RCVBUF |
//! | `kernel.streams` | connections side by side |
//!
//! Groups whose sysctls are the same share a pair of hosts.
//!
//! All else is the kernel's own: RACK-TLP, PRR, delayed ACKs, its smallest timeout.

use crate::parameters::Program;
use crate::programs::Programs;
use crate::EmulationError;
use parshall_congestion::ControlConfig;
use parshall_hosts::{has_sysctl, usual_sysctl, FlowPlan, Plan, Sampling, Sysctls, TcpOptions, Transport};
use parshall_sim::scenario::FlowGroup;
use parshall_sim::{Scenario, SimError, Simulation};
use parshall_tcp::{Recovery, TcpConfig};
use parshall_units::{Instant, Packets, Rate};
use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::sync::Arc;

/// The kernel's initial window, packets (RFC 6928).
const KERNELS_INITIAL_WINDOW: u64 = 10;

/// The plan of the external groups of a scenario, whose network is `simulation`; `kernel_programs` are those of
/// groups whose control is a BPF program with parameters.
pub(crate) fn plan(
    scenario: &Scenario,
    simulation: &Simulation,
    programs: Option<&Programs>,
    kernel_programs: &BTreeMap<usize, Program>,
) -> Result<Plan, EmulationError> {
    let groups = || scenario.flows.iter().enumerate().filter(|(_, group)| group.external);
    let mut flows = Vec::new();
    let mut pairs = Pairs::default();
    for (number, group) in groups() {
        let source = group
            .source()
            .map_err(|(key, problem)| SimError::Invalid { key: format!("flows.{number}.{key}"), problem })?;
        let of_programs = programs.is_some_and(|programs| programs.group as usize == number);
        let mut transport = if of_programs { transport_of_programs(group) } else { transport(group) };
        if let (Some(control), Some(program)) = (control_of(&mut transport), kernel_programs.get(&number)) {
            *control = program.name.clone();
        }
        let pair = pairs.of(sysctls(group));
        for _ in 0..group.count {
            let info = simulation.external_flow(flows.len() as u32);
            flows.push(FlowPlan {
                group: Arc::from(info.group),
                pair,
                dscp: group.dscp,
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
    if groups().any(|(_, group)| group.tcp.is_some() && group.dscp > 0) && has_sysctl(REFLECTED) {
        pairs.add_to_all(&(REFLECTED.into(), "1".into()));
    }
    Ok(Plan {
        mtu: groups().map(|(_, group)| group.packet_bytes).max().unwrap_or(0),
        warm_up: Instant::from_ps(scenario.warm_up_ps),
        end: Instant::from_ps(scenario.duration_ps),
        pairs: pairs.0,
        flows,
    })
}

fn control(group: &FlowGroup) -> &str {
    group.congestion_control.as_ref().map_or("", ControlConfig::name)
}

/// The name of the control in a plan.
pub(crate) fn control_of(transport: &mut Transport) -> Option<&mut Arc<str>> {
    match transport {
        Transport::Tcp(options) => Some(&mut options.congestion_control),
        Transport::Programs { congestion_control, .. } => congestion_control.as_mut(),
        Transport::Datagrams => None,
    }
}

fn transport(group: &FlowGroup) -> Transport {
    let Some(tcp) = &group.tcp else { return Transport::Datagrams };
    let window = tcp.initial_window.0;
    let kernel = group.kernel.as_ref();
    let of_window = |window: Packets| {
        let bytes = 2 * window.0.saturating_mul(u64::from(group.packet_bytes));
        u32::try_from(bytes).unwrap_or(u32::MAX / 4)
    };
    Transport::Tcp(TcpOptions {
        congestion_control: control(group).into(),
        sets_rate: group.congestion_control.as_ref().is_some_and(|control| control.needs().pacing),
        persistent: tcp.persistent,
        streams: kernel.map_or(1, |kernel| kernel.streams),
        pacing: kernel.and_then(|kernel| Rate::from_bps(kernel.pacing_bps?)),
        send_buffer: kernel.and_then(|kernel| kernel.send_buffer),
        receive_buffer: kernel.and_then(|kernel| kernel.receive_buffer).or(tcp.receive_window.map(of_window)),
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

/// A key that is a setting of a host for all of its sockets.
struct Shared {
    sysctl: &'static str,
    is_on: fn(&TcpConfig) -> bool,
}

const SHARED: [Shared; 3] = [
    Shared { sysctl: "net.ipv4.tcp_ecn", is_on: |tcp| tcp.ecn },
    Shared { sysctl: "net.ipv4.tcp_timestamps", is_on: |tcp| tcp.timestamps },
    Shared {
        sysctl: "net.ipv4.tcp_sack",
        is_on: |tcp| matches!(tcp.recovery, Recovery::Sack | Recovery::Rack),
    },
];

/// Sizes of a receiver's buffer: the smallest, the first, the largest.
fn receive_buffers(first: u64) -> (String, String) {
    ("net.ipv4.tcp_rmem".to_owned(), format!("4096 {first} {}", first.max(268_435_456)))
}

/// Has a listener's answers, and its connections, use the DSCP with which a SYN came
/// (Documentation/networking/ip-sysctl.rst; Linux 5.10).
const REFLECTED: &str = "net.ipv4.tcp_reflect_tos";

/// The sysctls of the hosts of a group; `None`: any hosts will do.
fn sysctls(group: &FlowGroup) -> Option<Sysctls> {
    let mut all = BTreeMap::new();
    if let Some(tcp) = &group.tcp {
        all.extend(
            SHARED.map(|Shared { sysctl, is_on }| (sysctl.to_owned(), u8::from(is_on(tcp)).to_string())),
        );
    }
    let buffers = group.tcp.as_ref().map(|tcp| receive_buffers(tcp.initial_receive_buffer.0));
    all.extend(buffers.filter(|(name, sizes)| usual_sysctl(name) != Some(sizes.as_str())));
    if let Some(kernel) = &group.kernel {
        all.extend(kernel.sysctls.clone());
    }
    (!all.is_empty()).then(|| all.into_iter().collect())
}

/// The scenario's own limits on the data of a connection, for each flow by its place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnLimits {
    /// Send buffers: `kernel.send_buffer`, or less in the sysctl tcp_wmem than hosts have anyway.
    pub(crate) send: Vec<bool>,
    /// Receive windows: `receive_window`, `kernel.receive_buffer`, or less in the sysctl tcp_rmem than hosts have
    /// anyway.
    pub(crate) receive: Vec<bool>,
    /// Receive windows where packets are missing: by Linux's rules those limit simulated flows as well.
    pub(crate) receive_behind_holes: Vec<bool>,
}

impl OwnLimits {
    pub(crate) fn of(scenario: &Scenario, plan: &Plan) -> Self {
        let by_linux =
            |group: &FlowGroup| group.tcp.as_ref().is_some_and(|tcp| tcp.rules.receive_buffer.is_linux());
        let groups = scenario.flows.iter().filter(|group| group.external);
        Self {
            receive_behind_holes: groups
                .flat_map(|group| repeat_n(by_linux(group), group.count as usize))
                .collect(),
            send: limited(plan, "net.ipv4.tcp_wmem", |options| options.send_buffer.is_some()),
            receive: limited(plan, "net.ipv4.tcp_rmem", |options| options.receive_buffer.is_some()),
        }
    }
}

/// True if the hosts of each flow have a sysctl below its usual value, or its sockets have an option.
fn limited(plan: &Plan, sysctl: &str, option: fn(&TcpOptions) -> bool) -> Vec<bool> {
    let less = |value: &str| is_less(value, usual_sysctl(sysctl).unwrap_or_default());
    let lowered = |flow: &FlowPlan| {
        plan.pairs[flow.pair as usize].iter().any(|(name, value)| name == sysctl && less(value))
    };
    let has = |flow: &FlowPlan| matches!(&flow.transport, Transport::Tcp(options) if option(options));
    plan.flows.iter().map(|flow| has(flow) || lowered(flow)).collect()
}

/// True if one of the sizes of a sysctl of buffers (the smallest, the first, the largest) is smaller than usual, or none
/// that can be read.
fn is_less(value: &str, usual: &str) -> bool {
    let mut pairs = value.split_whitespace().zip(usual.split_whitespace());
    pairs.any(|(given, usual)| match (given.parse::<u64>(), usual.parse::<u64>()) {
        (Ok(given), Ok(usual)) => given < usual,
        _ => true,
    })
}

/// Pairs of hosts, as far as groups have asked for them.
#[derive(Default)]
pub(crate) struct Pairs(Vec<Sysctls>);

impl Pairs {
    /// The pair with these sysctls.
    fn of(&mut self, sysctls: Option<Sysctls>) -> u32 {
        let place = match sysctls {
            None if self.0.is_empty() => self.add(Sysctls::new()),
            None => 0,
            Some(wanted) => match self.0.iter().position(|sysctls| *sysctls == wanted) {
                Some(place) => place,
                None => self.add(wanted),
            },
        };
        place as u32
    }

    fn add(&mut self, sysctls: Sysctls) -> usize {
        self.0.push(sysctls);
        self.0.len() - 1
    }

    fn add_to_all(&mut self, sysctl: &(String, String)) {
        self.0.iter_mut().for_each(|sysctls| sysctls.push(sysctl.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receive_buffer_has_the_usual_bounds() {
        let (name, value) = receive_buffers(131_072);
        assert_eq!(usual_sysctl(&name), Some(value.as_str()));
    }

    #[test]
    fn only_buffers_that_are_smaller_than_usual_are_a_limit_of_the_scenario() {
        let usual = usual_sysctl("net.ipv4.tcp_rmem").unwrap();
        for (value, less) in [
            (usual, false),
            ("4096 4194304 268435456", false),
            ("4096 4194304 6291456", true),
            ("4096 65536 268435456", true),
            ("4096 131072", false),
            ("nonsense", true),
        ] {
            assert_eq!(is_less(value, usual), less, "{value}");
        }
    }
}
