//! From a scenario to a network ready to run.

mod checks;
#[cfg(test)]
mod tests;

use crate::delivered::Delivered;
use crate::endpoint_kind::EndpointKind;
use crate::endpoints::Endpoints;
use crate::latency::Latency;
use crate::memory::in_large_pages;
use crate::network::{Bins, Network};
use crate::plan::{at_key, jittered_path, problem, GroupPlan, Problem};
use crate::probe::LinkProbe;
use crate::scenario::{LinkSpec, RateSpec, Sampling, Scenario};
use crate::series::Widths;
use crate::shared::{Core, LinkState, Shared, BIN, WARM_UP};
use crate::SimError;
use parshall_engine::random::Streams;
use parshall_engine::MAX_INDEX;
use parshall_net::link::Link;
use parshall_net::rate::Transmitter;
use parshall_units::{Duration, Instant, Rate};

/// The memory that a scenario takes when it begins.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Estimate {
    /// Flows that are there from the beginning; those of open loops come later.
    pub flows: u64,
    /// Memory of these, about.
    pub bytes: u64,
    /// Memory of each flow that an open loop adds, about.
    pub bytes_each: u64,
}

/// Memory of a flow beside its own structure: control, scoreboard, packets on their way, and their events. In all, 100,000
/// flows of Reno took 0.9 kB each, of CUBIC 1.0 kB, of BBR 2.4 kB.
const BESIDE_A_FLOW: usize = 1800;

/// Refuses whatever [`network`] refuses, but builds no flow.
pub(crate) fn check(scenario: &Scenario) -> Result<Estimate, SimError> {
    let network = links_of(scenario, 0)?;
    let (mut flows, mut bytes) = (0, 0);
    for index in 0..scenario.flows.len() {
        let group = GroupPlan::new(scenario, 0, index, &network.links);
        let kind = checked(&group, flows, &network.endpoints)?;
        flows += group.spec.count;
        bytes += u64::from(group.spec.count) * bytes_of(kind);
    }
    let bytes_each = network.endpoints.kinds().map(bytes_of).into_iter().max().unwrap_or(0);
    Ok(Estimate { flows: u64::from(flows), bytes, bytes_each })
}

/// Memory that a flow of a kind takes, about.
fn bytes_of(kind: &dyn EndpointKind) -> u64 {
    (kind.flow_bytes() + BESIDE_A_FLOW) as u64
}

/// The kind of a group that can be simulated, after so many flows of others.
fn checked<'a>(
    group: &GroupPlan<'_>,
    flows: u32,
    endpoints: &'a Endpoints,
) -> Result<&'a dyn EndpointKind, SimError> {
    let kind = endpoints.kinds()[endpoints.kind_of(group.spec)];
    let refused = |problem| at(group.number as usize, "flows", problem);
    group.check(flows).and_then(|()| kind.check(group)).map_err(refused)?;
    Ok(kind)
}

pub(crate) fn network(scenario: &Scenario, repetition: u32) -> Result<Network, SimError> {
    let mut network = links_of(scenario, repetition)?;
    if scenario.probes.latency {
        let names = scenario.flows.iter().map(|group| group.name.as_str());
        let flows = scenario.flows.iter().map(|group| u64::from(group.count)).sum();
        network.core.sink.latency = Some(Box::new(Latency::of_groups(names, flows)));
    }
    if let Some(bins) = network.bins {
        let simulated = scenario.flows.iter().any(|group| !group.external);
        let names = scenario.flows.iter().map(|group| group.name.as_str().into()).collect();
        network.core.sink.delivered = simulated.then(|| Box::new(Delivered::of_groups(names, bins.width())));
    }
    make_room(&mut network, scenario)?;
    for index in 0..scenario.flows.len() {
        let parshall_engine::Network { core, links, endpoints, .. } = &mut network.engine;
        let group = GroupPlan::new(scenario, repetition, index, links);
        checked(&group, core.sink.flows, endpoints)?;
        let kind = endpoints.kind_of(group.spec);
        let added = endpoints.kinds_mut()[kind].add(core, &group);
        added.map_err(|problem| at(index, "flows", problem))?;
        if group.is_marked() {
            scenario.flows[index].path.iter().for_each(|&link| links[link as usize].notes.classed = true);
        }
    }
    if network.core.warm_up > Instant::ZERO {
        let warm_up = network.core.warm_up;
        network.core.queue.push(warm_up, WARM_UP);
    }
    if let Some(bins) = network.bins {
        network.core.queue.push(Instant::ZERO + bins.width(), BIN);
    }
    Ok(network)
}

/// The network without flows.
fn links_of(scenario: &Scenario, repetition: u32) -> Result<Network, SimError> {
    checks::check(scenario)?;
    let streams = Streams::new(scenario.seed, repetition);
    let core = Core::new(
        Instant::from_ps(scenario.warm_up_ps),
        Instant::from_ps(scenario.duration_ps),
        Shared::new(repetition),
    );
    let mut network = Network {
        engine: parshall_engine::Network::new(core, Vec::new(), Endpoints::default()),
        bins: scenario.probes.link_samples.map(|sampling| match sampling {
            Sampling::Every(width) => Bins::Fixed(Duration::from_ps(width)),
            Sampling::Fitted(finest) => Bins::Fitted(Widths::new(Duration::from_ps(finest))),
        }),
    };
    for (index, spec) in scenario.links.iter().enumerate() {
        network.links.push(
            link(spec, streams, scenario.probes.internals).map_err(|problem| at(index, "links", problem))?,
        );
    }
    Ok(network)
}

/// The flows of each kind in one piece of memory, and their events.
fn make_room(network: &mut Network, scenario: &Scenario) -> Result<(), SimError> {
    let parshall_engine::Network { core, endpoints, .. } = &mut network.engine;
    let mut flows = endpoints.kinds().map(|_| 0);
    for spec in &scenario.flows {
        flows[endpoints.kind_of(spec)] += spec.count as usize;
    }
    for (kind, flows) in endpoints.kinds_mut().into_iter().zip(flows) {
        if flows <= MAX_INDEX as usize {
            if kind.reserve(flows).is_err() {
                return Err(SimError::invalid("flows", format!("there is no memory for {flows} flows")));
            }
            core.queue.reserve(2 * flows, in_large_pages); // a packet and a timer each
        }
    }
    Ok(())
}

fn at(index: usize, table: &str, (key, what): Problem) -> SimError {
    SimError::invalid(format!("{table}.{index}.{key}"), what)
}

fn link(spec: &LinkSpec, streams: Streams, internals: bool) -> Result<LinkState, Problem> {
    let transmitter = match &spec.rate {
        RateSpec::Constant(bps) => Transmitter::constant(
            Rate::from_bps(*bps).ok_or_else(|| problem("rate", "must be above 0 bit/s"))?,
        ),
        RateSpec::Trace(timestamps) => {
            Transmitter::trace(timestamps.clone()).map_err(|error| problem("rate", error))?
        }
    };
    spec.queue.check().map_err(|error| at_key("queue", error))?;
    spec.loss.check().map_err(|error| at_key("loss", error))?;
    let link = Link::new(transmitter, Duration::from_ps(spec.delay_ps), &spec.queue, &spec.loss);
    let random = streams.stream(&spec.name, "link", 0);
    let probe = LinkProbe::new(spec.name.as_str().into(), link.differentiates(), internals);
    let mut state = LinkState::new(link, random, probe);
    if let Some(jitter) = &spec.jitter {
        let random = streams.stream(&spec.name, "jitter", 0);
        state.jitter = Some(Box::new(jittered_path(jitter, "jitter", random)?));
    }
    Ok(state)
}
