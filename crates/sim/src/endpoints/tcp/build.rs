//! From a group of the scenario to its TCP flows.

use super::application::Application;
use super::arrivals::ArrivalProcess;
use super::exchanges;
use super::probe::FlowProbe;
use super::{TcpFlow, TcpFlows, ARRIVAL};
use crate::endpoint_kind::Kind;
use crate::groups::Place;
use crate::groups::TcpGroup;
use crate::plan::{at_key, problem, refused, GroupPlan, Problem};
use crate::shared::Core;
use parshall_congestion::{ControlConfig, SlowStart};
use parshall_engine::random::SmallStream;
use parshall_engine::Entity;
use parshall_net::ecn::Ecn;
use parshall_tcp::TcpConfig;
use parshall_units::Duration;
use parshall_workload::{ArrivalSource, Source, TransferSource, WorkloadConfig};
use rand_core::RngCore;

/// The special settings of a group of TCP flows.
pub(super) struct Plan<'a> {
    source: Source,
    tcp: &'a TcpConfig,
    control: &'a ControlConfig,
}

/// Refuses what TCP cannot do.
pub(super) fn check<'a>(group: &GroupPlan<'a>) -> Result<Plan<'a>, Problem> {
    let source = group.source()?;
    if matches!(source, Source::Datagrams(_) | Source::Controlled) {
        return Err(problem("workload", "sends datagrams, so there is no TCP"));
    }
    let (Some(tcp), Some(control)) = (&group.spec.tcp, &group.spec.congestion_control) else {
        return Err(problem("workload", "needs TCP and a congestion control"));
    };
    tcp.check_ranges().map_err(|error| refused(&error))?;
    if tcp.slow_start != SlowStart::Standard && !control.has_standard_slow_start() {
        return Err(problem("slow_start", "needs a congestion control with the standard slow start"));
    }
    if tcp.slow_start.needs_timestamps() && !tcp.timestamps {
        return Err(problem("slow_start", "needs timestamps"));
    }
    if control.needs().takes_timestamps() && !tcp.timestamps {
        let name = control.innermost().name();
        return Err(problem("timestamps", format!("write true: {name} measures delays with every ACK")));
    }
    control.check(group.longest_rtt()?).map_err(|error| at_key("congestion_control", error))?;
    Ok(Plan { source, tcp, control })
}

/// Adds the flows of a group, or what will open them.
pub(super) fn add(all: &mut TcpFlows, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem> {
    let Plan { source, tcp, control } = check(group)?;
    control.check_bound().map_err(|error| at_key("congestion_control", error))?;
    let number = all.groups.len() as u32;
    let common = in_common(group, tcp, control)?;
    if matches!(source, Source::Exchanges(..)) {
        all.groups.extend(<[TcpGroup; 2]>::from(exchanges::groups(common)));
    } else {
        all.groups.push(common);
    }
    if group.awaited {
        core.sink.wait_for(group.spec.count);
    }
    for index in 0..group.spec.count {
        match &source {
            Source::Arrivals(source) => open_loop(all, core, group, (number, index), source)?,
            Source::Transfers(source) => flow(all, core, group, (number, index), Some(source))?,
            Source::Exchanges(request, source) => {
                flow(all, core, group, (number, index), None)?;
                all.add_client(core, group, index, (source, request.get()))?;
            }
            Source::Datagrams(_) | Source::Controlled => unreachable!("refused above"),
        }
    }
    Ok(())
}

fn in_common(group: &GroupPlan<'_>, tcp: &TcpConfig, control: &ControlConfig) -> Result<TcpGroup, Problem> {
    let spec = group.spec;
    let tcp = with_marks(tcp, control);
    let processing_time = Duration::from_ps(spec.processing_ps);
    let answers_late = tcp.rules.processing.is_linux() && spec.reverse_path.is_empty();
    Ok(TcpGroup {
        name: group.name.clone(),
        number: group.number,
        ecn: codepoint(&tcp),
        tcp,
        control: control.clone(),
        knowledge: control.knowledge(),
        packet_bytes: spec.packet_bytes,
        header_bytes: spec.header_bytes,
        dscp: spec.dscp,
        processing_time,
        answer_time: if answers_late { processing_time } else { Duration::ZERO },
        access: group.access()?,
        marker: spec.marker.clone(),
        awaited: group.awaited,
        role: None,
        arms_late: spec.processing_ps > 0,
        one_link: group.ends_at_first_link(&spec.path, spec.jitter.as_ref()),
        one_link_back: group.ends_at_first_link(&spec.reverse_path, spec.reverse_jitter.as_ref()),
        heard_at_once: spec.reverse_path.is_empty() && spec.reverse_jitter.is_none(),
        timed_acks: control.needs().one_way_delay,
        path: spec.path.clone().into(),
        reverse_path: spec.reverse_path.clone().into(),
    })
}

/// Adds the flow number `index` of a group; without a source it is told what to send.
fn flow(
    all: &mut TcpFlows,
    core: &mut Core,
    group: &GroupPlan<'_>,
    (number, index): (u32, u32),
    source: Option<&TransferSource>,
) -> Result<(), Problem> {
    let draws = !matches!(group.spec.workload, WorkloadConfig::Bulk(_) | WorkloadConfig::Transfer(_));
    let random = (draws && source.is_some()).then(|| Box::new(group.stream("workload", index)));
    let application = Application::new(source.cloned(), random, None);
    let place = Place {
        id: core.sink.number_flow(),
        index: all.flows.len() as u32,
        group: number,
        processing: SmallStream::of(&mut group.stream("processing", index)),
    };
    let choices = group.stream("congestion_control", index).next_u64();
    let propagation = group.propagation(group.rtt(index)?)?;
    let mut flow = TcpFlow::new(&all.groups[number as usize], place, choices, propagation, application);
    flow.probe = probe(group, index);
    flow.jitter = group.jitter(index)?;
    if source.is_some() {
        flow.begin(&all.groups[number as usize], core, group.start(index)?);
    }
    group.sample_marker(flow.edge.as_deref_mut(), index, place.id);
    all.flows.push(flow);
    if let Some(latency) = &mut core.sink.latency {
        latency.add(group.number);
    }
    Ok(())
}

/// Adds the arrivals number `index` of a group.
fn open_loop(
    all: &mut TcpFlows,
    core: &mut Core,
    group: &GroupPlan<'_>,
    (number, index): (u32, u32),
    source: &ArrivalSource,
) -> Result<(), Problem> {
    let (mut source, mut random) = (source.clone(), group.stream("workload", index));
    let first = source.next(&mut random);
    core.queue
        .push(group.start(index)? + first.gap, Entity::Own(Kind::Tcp, ARRIVAL, all.arrivals.len() as u32));
    core.sink.flows_come = true;
    all.arrivals.push(ArrivalProcess {
        source,
        random,
        processing: group.stream("processing", index),
        group: number,
        propagation: group.propagation(group.rtt(index)?)?,
        jitter: group.jitter(index)?,
        choices: group.stream("congestion_control", index),
        next_bytes: first.bytes,
        idle: std::collections::VecDeque::new(),
    });
    Ok(())
}

fn probe(group: &GroupPlan<'_>, index: u32) -> Option<Box<FlowProbe>> {
    let interval = group.sample_interval(index);
    let rounds = group.has_rounds(index);
    (interval.is_some() || rounds).then(|| Box::new(FlowProbe::new(interval, rounds, group.internals())))
}

/// DCTCP is nothing without marks, and without an echo that tells how many there were; nor is L4S (RFC 9331 §4.2).
fn with_marks(tcp: &TcpConfig, control: &ControlConfig) -> TcpConfig {
    let marks = control.needs().accurate_ecn || tcp.l4s;
    TcpConfig { ecn: tcp.ecn || marks, accurate_ecn: tcp.accurate_ecn || marks, ..tcp.clone() }
}

/// What data packets say about ECN.
fn codepoint(tcp: &TcpConfig) -> Ecn {
    match (tcp.ecn, tcp.l4s) {
        (false, _) => Ecn::NotCapable,
        (true, false) => Ecn::Ect0,
        (true, true) => Ecn::Ect1,
    }
}
