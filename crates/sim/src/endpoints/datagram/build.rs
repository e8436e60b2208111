//! From a group of the scenario to its flows of datagrams.

use super::feedback::{Delays, Feedback, Pace, FRESH_START};
use super::flow::DatagramFlow;
use super::probe::DatagramProbe;
use super::{DatagramFlows, REPORT};
use crate::edge::Edge;
use crate::endpoint_kind::{Kind, TransitKind};
use crate::groups::DatagramGroup;
use crate::groups::{Place, Propagation};
use crate::plan::{at_key, problem, GroupPlan, Problem};
use crate::shared::Core;
use parshall_congestion::{ControlConfig, Knowledge};
use parshall_engine::random::SmallStream;
use parshall_engine::Entity;
use parshall_units::{Duration, Instant};
use parshall_workload::{DatagramSource, Source};

/// The plan of the times of a group's datagrams.
pub(super) enum Plan<'a> {
    Source(DatagramSource),
    Controlled(&'a ControlConfig),
}

/// Refuses what datagrams cannot do.
pub(super) fn check<'a>(group: &GroupPlan<'a>) -> Result<Plan<'a>, Problem> {
    if group.spec.reverse_jitter.is_some() {
        return Err(problem(
            "reverse_jitter",
            "nothing of datagrams comes back but reports, which nothing disturbs",
        ));
    }
    match (group.source()?, &group.spec.congestion_control) {
        (Source::Datagrams(source), None) => Ok(Plan::Source(source)),
        (Source::Controlled, Some(control)) => {
            control
                .check_for_datagrams(group.longest_rtt()?)
                .map_err(|error| at_key("congestion_control", error))?;
            Ok(Plan::Controlled(control))
        }
        (Source::Controlled, None) => Err(problem("congestion_control", "must set the datagrams' rate")),
        (Source::Datagrams(_), Some(_)) => Err(problem("workload", "sends datagrams, so there is no TCP")),
        _ => Err(problem("workload", "needs TCP and a congestion control")),
    }
}

/// Adds the flows of a group.
pub(super) fn add(all: &mut DatagramFlows, core: &mut Core, group: &GroupPlan<'_>) -> Result<(), Problem> {
    let plan = check(group)?;
    let knowledge = match &plan {
        Plan::Controlled(control) => control.knowledge(),
        Plan::Source(_) => None,
    };
    let number = all.groups.len() as u32;
    let common = in_common(group)?;
    for index in 0..group.spec.count {
        let rtt = group.rtt(index)?;
        let propagation = group.propagation(rtt)?;
        let started = group.start(index)?;
        let place = Place {
            id: core.sink.number_flow(),
            index: all.flows.len() as u32,
            group: number,
            processing: SmallStream::of(&mut group.stream("processing", index)),
        };
        let times = match &plan {
            Plan::Source(source) => Pace::Source(source.clone(), group.stream("workload", index)),
            Plan::Controlled(control) => {
                Pace::Controlled(controlled(group, control, knowledge.as_ref(), (rtt, propagation), started))
            }
        };
        let mut edge = Edge::new(&common.marker);
        group.sample_marker(edge.as_deref_mut(), index, place.id);
        let mut flow = DatagramFlow::new(
            place,
            edge,
            times,
            (propagation.to_first_link, propagation.to_receiver),
            rtt,
            started,
        );
        flow.jitter = group.jitter(index)?;
        flow.draw(&common, core.warm_up);
        core.queue.push(flow.next.at, Entity::Transit(TransitKind::Datagrams, place.index));
        if let Some(feedback) = flow.feedback() {
            let due = feedback.report_due();
            let sampled = group.sample_interval(index);
            flow.probe = sampled.map(|interval| Box::new(DatagramProbe::new(interval, group.internals())));
            core.queue.push(due, Entity::Own(Kind::Datagrams, REPORT, place.index));
        }
        all.flows.push(flow);
        if let Some(latency) = &mut core.sink.latency {
            latency.add(group.number);
        }
    }
    all.groups.push(common);
    Ok(())
}

fn in_common(group: &GroupPlan<'_>) -> Result<DatagramGroup, Problem> {
    let spec = group.spec;
    Ok(DatagramGroup {
        name: group.name.clone(),
        number: group.number,
        header_bytes: spec.header_bytes,
        dscp: spec.dscp,
        processing_time: Duration::from_ps(spec.processing_ps),
        access: group.access()?,
        marker: spec.marker.clone(),
        one_link: group.ends_at_first_link(&spec.path, spec.jitter.as_ref()),
        path: spec.path.clone().into(),
    })
}

/// The loop of a flow whose rate follows reports.
fn controlled(
    group: &GroupPlan<'_>,
    control: &ControlConfig,
    knowledge: Option<&Knowledge>,
    (rtt, propagation): (Duration, Propagation),
    started: Instant,
) -> Box<Feedback> {
    // Reports meet no queue, whatever the way back.
    let there = propagation.to_first_link + group.path_delay(&group.spec.path) + propagation.to_receiver;
    let delays = Delays { to_first_link: propagation.to_first_link, back: rtt - there, rtt };
    let mut control = control.build(FRESH_START);
    if let Some(knowledge) = knowledge {
        control.share(knowledge);
    }
    Box::new(Feedback::new(control, group.spec.packet_bytes, delays, started))
}
