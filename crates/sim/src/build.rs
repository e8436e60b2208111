//! From a scenario to a network ready to run.
//!
//! The private delay of a flow (its RTT less the links of its path, both ways) is split evenly between the four legs:
//! sender to first link, last link to receiver, and the same two on the way back. Where the way back is
//! uncontended it is as long as the way there.

mod spread;

use crate::access::AccessLink;
use crate::application::Application;
use crate::datagram_flow::{DatagramFlow, DatagramGroup};
use crate::edge::Edge;
use crate::feedback::{Delays, Feedback, Pace, FRESH_START};
use crate::latency::Latency;
use crate::memory::in_large_pages;
use crate::network::{ArrivalProcess, Bins, LinkState, Network};
use crate::packet::{Entity, MAX_INDEX};
use crate::probe::{DatagramProbe, FlowProbe, LinkProbe, MarkerProbe};
use crate::random::{SmallStream, Streams};
use crate::scenario::{FlowGroup, LinkSpec, Probes, RateSpec, Sampling, Scenario, Spread};
use crate::series::{Interval, Widths};
use crate::shared::Core;
use crate::tcp_flow::TcpFlow;
use crate::tcp_group::{Legs, Place, TcpGroup};
use crate::SimError;
use parshall_congestion::{ControlConfig, SlowStart};
use parshall_net::ecn::Ecn;
use parshall_net::link::Link;
use parshall_net::markers;
use parshall_net::rate::Transmitter;
use parshall_tcp::TcpConfig;
use parshall_units::{ConfigError, Duration, Instant, Rate};
use parshall_workload::{Source, WorkloadConfig};
use rand_core::RngCore;
use spread::SpreadValues;
use std::num::NonZeroU32;
use std::sync::Arc;

/// How much memory a scenario takes when it begins.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Estimate {
    /// Flows that are there from the beginning; those of open loops come later.
    pub flows: u64,
    /// What these take, about.
    pub bytes: u64,
    /// What each flow takes that an open loop adds, about.
    pub bytes_each: u64,
}

/// Memory of a flow beside its own structure: control, scoreboard, packets on their way, and their events. In all, 100,000
/// flows of Reno took 0.9 kB each, of CUBIC 1.0 kB, of BBR 2.4 kB.
const BESIDE_A_FLOW: usize = 1800;

/// Refuses whatever [`network`] refuses, but builds no flow.
pub(crate) fn check(scenario: &Scenario) -> Result<Estimate, SimError> {
    let streams = Streams::new(scenario.seed, 0);
    let mut network = links_of(scenario, 0, streams)?;
    let mut bytes = 0;
    for (index, spec) in scenario.flows.iter().enumerate() {
        let mut group = GroupBuilder::new(&mut network, scenario, streams, index);
        group.check().map_err(|problem| at(index, "flows", problem))?;
        network.flow_count += spec.count;
        let own = if spec.tcp.is_some() { size_of::<TcpFlow>() } else { size_of::<DatagramFlow>() };
        bytes += u64::from(spec.count) * (own + BESIDE_A_FLOW) as u64;
    }
    let bytes_each = (size_of::<TcpFlow>() + BESIDE_A_FLOW) as u64;
    Ok(Estimate { flows: u64::from(network.flow_count), bytes, bytes_each })
}

pub(crate) fn network(scenario: &Scenario, repetition: u32) -> Result<Network, SimError> {
    let streams = Streams::new(scenario.seed, repetition);
    let mut network = links_of(scenario, repetition, streams)?;
    if scenario.probes.latency {
        let names = scenario.flows.iter().map(|group| group.name.as_str());
        let flows = scenario.flows.iter().map(|group| u64::from(group.count)).sum();
        network.core.latency = Some(Box::new(Latency::of_groups(names, flows)));
    }
    make_room(&mut network, scenario)?;
    for index in 0..scenario.flows.len() {
        let mut group = GroupBuilder::new(&mut network, scenario, streams, index);
        group.add().map_err(|problem| at(index, "flows", problem))?;
    }
    if network.core.warm_up > Instant::ZERO {
        network.core.queue.push(network.core.warm_up, Entity::WarmUp);
    }
    if let Some(bins) = network.bins {
        network.core.queue.push(Instant::ZERO + bins.width(), Entity::Bin);
    }
    Ok(network)
}

/// The network without flows.
fn links_of(scenario: &Scenario, repetition: u32, streams: Streams) -> Result<Network, SimError> {
    if scenario.warm_up_ps >= scenario.duration_ps {
        return Err(SimError::invalid("warm_up", "must end before the duration does"));
    }
    check_interval("probes.flow_samples", scenario.probes.flow_samples, scenario.duration_ps)?;
    check_interval("probes.link_samples", scenario.probes.link_samples, scenario.duration_ps)?;
    check_ends_with(scenario)?;
    crate::capture::check(scenario)?;
    crate::qlog::check(scenario)?;
    let mut network = Network {
        core: Core::new(
            Instant::from_ps(scenario.warm_up_ps),
            Instant::from_ps(scenario.duration_ps),
            repetition,
        ),
        links: Vec::new(),
        tcp_groups: Vec::new(),
        tcp_flows: Vec::new(),
        datagram_groups: Vec::new(),
        datagram_flows: Vec::new(),
        arrivals: Vec::new(),
        flow_count: 0,
        bins: scenario.probes.link_samples.map(|sampling| match sampling {
            Sampling::Every(width) => Bins::Fixed(Duration::from_ps(width)),
            Sampling::Fitted(finest) => Bins::Fitted(Widths::new(Duration::from_ps(finest))),
        }),
        events: 0,
    };
    for (index, spec) in scenario.links.iter().enumerate() {
        network.links.push(
            link(spec, streams, scenario.probes.internals).map_err(|problem| at(index, "links", problem))?,
        );
    }
    Ok(network)
}

/// All flows in one piece of memory, and their events.
fn make_room(network: &mut Network, scenario: &Scenario) -> Result<(), SimError> {
    let flows = scenario.flows.iter().filter(|spec| spec.tcp.is_some()).map(|spec| spec.count as usize).sum();
    if flows <= MAX_INDEX as usize {
        if network.tcp_flows.try_reserve_exact(flows).is_err() {
            return Err(SimError::invalid("flows", format!("there is no memory for {flows} flows")));
        }
        in_large_pages(network.tcp_flows.spare_capacity_mut());
        network.core.queue.reserve(2 * flows); // a packet and a timer each
    }
    Ok(())
}

/// The groups that end a simulation exist, and have a last transfer.
fn check_ends_with(scenario: &Scenario) -> Result<(), SimError> {
    for (place, &group) in scenario.ends_with.iter().enumerate() {
        let key = format!("ends_with.{place}");
        match scenario.flows.get(group as usize) {
            Some(FlowGroup { workload: WorkloadConfig::Transfer(_), .. }) => {}
            Some(_) => return Err(SimError::invalid(key, "its workload has no last transfer")),
            None => return Err(SimError::invalid(key, format!("there is no group {group}"))),
        }
    }
    Ok(())
}

/// Samples of one flow or link that a run may take; more are a mistake in the interval's unit.
const MAX_SAMPLES: u64 = 10_000_000;

/// The finest interval of samples that fit the run, 1 ns: the clock must be able to hold their widest.
const MIN_FINEST_PS: u64 = 1000;

fn check_interval(key: &str, sampling: Option<Sampling>, duration_ps: u64) -> Result<(), SimError> {
    match sampling {
        Some(Sampling::Every(interval)) if interval < (duration_ps / MAX_SAMPLES).max(1) => {
            let problem = format!("makes more than {MAX_SAMPLES} samples; take a longer interval");
            Err(SimError::invalid(key, problem))
        }
        Some(Sampling::Fitted(finest)) if finest < MIN_FINEST_PS => {
            Err(SimError::invalid(key, format!("begins at least at {MIN_FINEST_PS} ps")))
        }
        _ => Ok(()),
    }
}

/// A problem inside one link or group: key within it, and what is wrong.
type Problem = (String, String);

fn problem(key: &str, what: impl std::fmt::Display) -> Problem {
    (key.to_owned(), what.to_string())
}

/// A refusal of a configuration's own checks.
fn refused(error: &ConfigError) -> Problem {
    problem(&error.key, format!("found {}; write {}", error.found, error.accepted))
}

/// The same of a part, seen from the link or group.
fn at_key(part: &str, error: ConfigError) -> Problem {
    refused(&error.within(part))
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
    Ok(LinkState::new(spec.name.as_str().into(), link, random, LinkProbe::new(internals)))
}

struct GroupBuilder<'a> {
    network: &'a mut Network,
    scenario: &'a Scenario,
    spec: &'a FlowGroup,
    /// Whether the end waits for its transfers.
    awaited: bool,
    streams: Streams,
    name: Arc<str>,
    /// Its place among the groups.
    number: u32,
}

impl<'a> GroupBuilder<'a> {
    fn new(network: &'a mut Network, scenario: &'a Scenario, streams: Streams, index: usize) -> Self {
        let spec = &scenario.flows[index];
        let awaited = scenario.ends_with.iter().any(|&group| group as usize == index);
        let name = spec.name.as_str().into();
        Self { network, scenario, spec, awaited, streams, name, number: index as u32 }
    }

    /// Refuses what cannot be simulated; everything that [`Self::add`] would refuse.
    fn check(&mut self) -> Result<Source, Problem> {
        let spec = self.spec;
        if spec.count == 0 {
            return Err(problem("count", "must be at least 1"));
        }
        if self.network.flow_count.saturating_add(spec.count) > MAX_INDEX {
            return Err(problem("count", format!("no more than {MAX_INDEX} flows can be simulated")));
        }
        self.check_path("path", &spec.path)?;
        self.check_path("reverse_path", &spec.reverse_path)?;
        if spec.path.is_empty() {
            return Err(problem("path", "must name at least one link"));
        }
        if spec.packet_bytes <= spec.header_bytes || spec.packet_bytes > 65_535 {
            return Err(problem("packet_size", "must be above header_size and at most 65535 B"));
        }
        if spec.processing_ps > self.scenario.duration_ps {
            return Err(problem("processing_time", "must be shorter than the duration"));
        }
        self.check_marker()?;
        self.access()?;
        self.starts()?;
        self.legs(Duration::from_ps(self.rtts()?.shortest(spec.count)))?;
        let source = self.source(&spec.workload)?;
        match (&source, &spec.tcp, &spec.congestion_control) {
            (Source::Datagrams(_), None, None) => Ok(source),
            (Source::Controlled, None, Some(control)) => {
                control
                    .check_for_datagrams(self.longest_rtt()?)
                    .map_err(|error| at_key("congestion_control", error))?;
                Ok(source)
            }
            (Source::Controlled, None, None) => {
                Err(problem("congestion_control", "must set the datagrams' rate"))
            }
            (Source::Datagrams(_) | Source::Controlled, ..) => {
                Err(problem("workload", "sends datagrams, so there is no TCP"))
            }
            (_, Some(tcp), Some(control)) => self.check_tcp(tcp, control).map(|()| source),
            _ => Err(problem("workload", "needs TCP and a congestion control")),
        }
    }

    fn check_tcp(&self, tcp: &TcpConfig, control: &ControlConfig) -> Result<(), Problem> {
        tcp.check_ranges().map_err(|error| refused(&error))?;
        if tcp.slow_start != SlowStart::Standard && !(control.has_standard_slow_start() && tcp.timestamps) {
            let what = "needs timestamps, and a congestion control with the standard slow start";
            return Err(problem("slow_start", what));
        }
        if control.needs().timestamps && !tcp.timestamps {
            let name = control.innermost().name();
            return Err(problem(
                "timestamps",
                format!("write true: {name} measures each round trip by several RTTs"),
            ));
        }
        control.check(self.longest_rtt()?).map_err(|error| at_key("congestion_control", error))
    }

    fn add(&mut self) -> Result<(), Problem> {
        let source = self.check()?;
        match (&self.spec.tcp, &self.spec.congestion_control) {
            (Some(tcp), Some(control)) => self.add_tcp_flows(&source, tcp, control),
            (_, control) => self.add_datagram_flows(&source, control.as_ref()),
        }
    }

    fn source(&self, workload: &WorkloadConfig) -> Result<Source, Problem> {
        let packet =
            NonZeroU32::new(self.spec.packet_bytes).ok_or_else(|| problem("packet_size", "is zero"))?;
        workload.source(packet).map_err(|error| problem("workload", error))
    }

    fn check_path(&self, key: &str, path: &[u32]) -> Result<(), Problem> {
        let links = self.network.links.len();
        if path.len() > usize::from(u8::MAX) {
            return Err(problem(key, "no more than 255 links in a row"));
        }
        match path.iter().find(|&&link| link as usize >= links) {
            Some(link) => Err(problem(key, format!("link {link} does not exist; there are {links}"))),
            None => Ok(()),
        }
    }

    fn path_delay(&self, path: &[u32]) -> Duration {
        path.iter().fold(Duration::ZERO, |sum, &link| sum + self.network.links[link as usize].link.delay())
    }

    /// The marker fits its flows; from now on, the links of their path count classes.
    fn check_marker(&mut self) -> Result<(), Problem> {
        let edge = markers::Edge {
            packet_bytes: self.spec.packet_bytes,
            access: self.spec.access_bps.and_then(Rate::from_bps),
        };
        self.spec.marker.check(edge).map_err(|error| at_key("marker", error))?;
        if self.spec.marker.build().is_some() {
            for &link in &self.spec.path {
                self.network.links[link as usize].classed = true;
            }
        }
        Ok(())
    }

    fn access(&self) -> Result<Option<AccessLink>, Problem> {
        let limit = self.spec.access_packets;
        if limit == Some(0) {
            return Err(problem("access_queue", "must hold at least 1 packet"));
        }
        if limit.is_some() && (self.spec.access_bps.is_none() || self.spec.tcp.is_none()) {
            return Err(problem("access_queue", "needs an access_rate, and TCP"));
        }
        let Some(bps) = self.spec.access_bps else { return Ok(None) };
        let rate = Rate::from_bps(bps).ok_or_else(|| problem("access_rate", "must be above 0 bit/s"))?;
        Ok(Some(AccessLink::new(rate, self.spec.packet_bytes, limit)))
    }

    /// Splits an RTT over the private legs of the path.
    fn legs(&self, rtt: Duration) -> Result<Legs, Problem> {
        let there = self.path_delay(&self.spec.path);
        let uncontended = self.spec.reverse_path.is_empty();
        let back = if uncontended { there } else { self.path_delay(&self.spec.reverse_path) };
        if rtt < there + back {
            let least = there + back;
            return Err(problem("rtt", format!("{rtt} is below the {least} of the links of its path")));
        }
        let private = rtt - (there + back);
        let leg = private.over(4);
        let last = private - leg.times(3);
        Ok(if uncontended {
            Legs { to_first_link: leg, to_receiver: leg, back: leg + back + last, to_sender: Duration::ZERO }
        } else {
            Legs { to_first_link: leg, to_receiver: leg, back: leg, to_sender: last }
        })
    }

    fn rtts(&self) -> Result<SpreadValues<'_>, Problem> {
        self.values("rtt", &self.spec.rtt_ps)
    }

    fn starts(&self) -> Result<SpreadValues<'_>, Problem> {
        self.values("start", &self.spec.start_ps)
    }

    fn values<'b>(&'b self, key: &'static str, spread: &'b Spread) -> Result<SpreadValues<'b>, Problem> {
        SpreadValues::new(spread, self.spec, self.streams, key)
    }

    fn longest_rtt(&self) -> Result<Duration, Problem> {
        Ok(Duration::from_ps(self.rtts()?.longest(self.spec.count)))
    }

    fn add_datagram_flows(
        &mut self,
        source: &Source,
        control: Option<&ControlConfig>,
    ) -> Result<(), Problem> {
        let access = self.access()?;
        let group = DatagramGroup {
            name: self.name.clone(),
            number: self.number,
            header_bytes: self.spec.header_bytes,
            dscp: self.spec.dscp,
            processing_time: Duration::from_ps(self.spec.processing_ps),
            access,
            marker: self.spec.marker.clone(),
            path: self.spec.path.clone().into(),
        };
        let knowledge = control.and_then(ControlConfig::knowledge);
        let group_index = self.network.datagram_groups.len() as u32;
        for index in 0..self.spec.count {
            let rtt = Duration::from_ps(self.rtts()?.get(index));
            let legs = self.legs(rtt)?;
            let started = Instant::from_ps(self.starts()?.get(index));
            let pace = match (source, control) {
                (Source::Datagrams(source), _) => {
                    let random = self.streams.stream(&self.spec.name, "workload", u64::from(index));
                    Pace::Source(source.clone(), random)
                }
                (_, Some(control)) => {
                    // Reports meet no queue, whatever the way back.
                    let there = legs.to_first_link + self.path_delay(&self.spec.path) + legs.to_receiver;
                    let back = rtt - there;
                    let delays = Delays { to_first_link: legs.to_first_link, back, rtt };
                    let mut control = control.build(FRESH_START);
                    if let Some(knowledge) = &knowledge {
                        control.share(knowledge);
                    }
                    Pace::Controlled(Box::new(Feedback::new(
                        control,
                        self.spec.packet_bytes,
                        delays,
                        started,
                    )))
                }
                _ => unreachable!("the caller has matched them"),
            };
            let number = self.network.datagram_flows.len() as u32;
            let mut stream = self.streams.stream(&self.spec.name, "processing", u64::from(index));
            let processing = SmallStream::of(&mut stream);
            let mut edge = Edge::new(&group.marker);
            self.sample_marker(edge.as_deref_mut(), index);
            let mut flow = DatagramFlow::new(
                Place {
                    id: self.network.flow_count,
                    index: number,
                    group: group_index,
                    random: 0,
                    processing,
                },
                edge,
                pace,
                (legs.to_first_link, legs.to_receiver),
                rtt,
                started,
            );
            flow.draw(&group, self.network.core.warm_up);
            self.network.core.queue.push(flow.next.at, Entity::Datagram(number));
            if let Some(feedback) = flow.feedback() {
                let sampled = sample_interval(&self.scenario.probes, index);
                let due = feedback.report_due();
                let internals = self.scenario.probes.internals.then(|| group.name.clone());
                flow.probe = sampled.map(|interval| Box::new(DatagramProbe::new(interval, internals)));
                self.network.core.queue.push(due, Entity::Report(number));
            }
            self.network.datagram_flows.push(flow);
            if let Some(latency) = &mut self.network.core.latency {
                latency.add_datagrams(self.number);
            }
            self.network.flow_count += 1;
        }
        self.network.datagram_groups.push(group);
        Ok(())
    }

    fn add_tcp_flows(
        &mut self,
        source: &Source,
        tcp: &TcpConfig,
        control: &ControlConfig,
    ) -> Result<(), Problem> {
        control.check_bound().map_err(|error| at_key("congestion_control", error))?;
        let tcp = with_marks(tcp, control);
        let group = TcpGroup {
            name: self.name.clone(),
            number: self.number,
            ecn: codepoint(&tcp),
            dscp: self.spec.dscp,
            tcp,
            control: control.clone(),
            knowledge: control.knowledge(),
            packet_bytes: self.spec.packet_bytes,
            header_bytes: self.spec.header_bytes,
            processing_time: Duration::from_ps(self.spec.processing_ps),
            access: self.access()?,
            marker: self.spec.marker.clone(),
            awaited: self.awaited,
            one_link: self.spec.path.len() == 1,
            one_link_back: self.spec.reverse_path.len() == 1,
            heard_at_once: self.spec.reverse_path.is_empty(),
            path: self.spec.path.clone().into(),
            reverse_path: self.spec.reverse_path.clone().into(),
        };
        let group_index = self.network.tcp_groups.len() as u32;
        self.network.tcp_groups.push(group);
        if self.awaited {
            self.network.core.wait_for(self.spec.count);
        }
        let draws = !matches!(self.spec.workload, WorkloadConfig::Bulk(_) | WorkloadConfig::Transfer(_));
        for index in 0..self.spec.count {
            let legs = self.legs(Duration::from_ps(self.rtts()?.get(index)))?;
            let started = Instant::from_ps(self.starts()?.get(index));
            let stream = |purpose| self.streams.stream(&self.spec.name, purpose, u64::from(index));
            let (random, mut processing, mut choices) =
                (|| stream("workload"), stream("processing"), stream("congestion_control"));
            match source {
                Source::Transfers(source) => {
                    let random = draws.then(|| Box::new(random()));
                    let application = Application::new(Some(source.clone()), random, None);
                    let place = Place {
                        id: self.network.flow_count,
                        index: self.network.tcp_flows.len() as u32,
                        group: group_index,
                        random: choices.next_u64(),
                        processing: SmallStream::of(&mut processing),
                    };
                    self.add_tcp_flow(place, index, legs, application, started);
                }
                Source::Arrivals(source) => {
                    let (mut source, mut random) = (source.clone(), random());
                    let first = source.next(&mut random);
                    let process = self.network.arrivals.len() as u32;
                    self.network.core.queue.push(started + first.gap, Entity::Arrival(process));
                    self.network.arrivals.push(ArrivalProcess {
                        source,
                        random,
                        processing,
                        group: group_index,
                        legs,
                        choices,
                        next_bytes: first.bytes,
                        idle: std::collections::VecDeque::new(),
                    });
                }
                Source::Datagrams(_) | Source::Controlled => unreachable!("handled by the caller"),
            }
        }
        Ok(())
    }

    /// The marker of the flow that is added next is sampled, if its inner variables are recorded.
    fn sample_marker(&self, edge: Option<&mut Edge>, index: u32) {
        let probes = &self.scenario.probes;
        let interval = sample_interval(probes, index).filter(|_| probes.internals);
        if let (Some(edge), Some(interval)) = (edge, interval) {
            edge.probe =
                Some(Box::new(MarkerProbe::new(interval, self.name.clone(), self.network.flow_count)));
        }
    }

    fn add_tcp_flow(
        &mut self,
        place: Place,
        index: u32,
        legs: Legs,
        application: Application,
        started: Instant,
    ) {
        let network = &mut *self.network;
        let mut flow = TcpFlow::new(&network.tcp_groups[place.group as usize], place, legs, application);
        flow.probe = flow_probe(&self.scenario.probes, index, &network.tcp_groups[place.group as usize].name);
        flow.begin(&mut network.core, started);
        self.sample_marker(flow.edge.as_deref_mut(), index);
        let network = &mut *self.network;
        network.tcp_flows.push(flow);
        if let Some(latency) = &mut network.core.latency {
            latency.add_tcp(self.number);
        }
        network.flow_count += 1;
    }
}

/// Time between the samples of a group's flow, if it is sampled.
fn sample_interval(probes: &Probes, index: u32) -> Option<Interval> {
    let (Sampling::Every(width) | Sampling::Fitted(width)) = probes.flow_samples?;
    let fitted = matches!(probes.flow_samples, Some(Sampling::Fitted(_)));
    (index < probes.flows_sampled).then(|| Interval { width: Duration::from_ps(width), fitted })
}

fn flow_probe(probes: &Probes, index: u32, group: &Arc<str>) -> Option<Box<FlowProbe>> {
    let interval = sample_interval(probes, index);
    let rounds = index < probes.rounds_flows;
    let internals = probes.internals.then(|| group.clone());
    (interval.is_some() || rounds).then(|| Box::new(FlowProbe::new(interval, rounds, internals)))
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
