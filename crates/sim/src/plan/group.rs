//! A group of the scenario, and what its flows are made from, whatever their kind.

use super::spread::SpreadValues;
use super::{at_key, jittered_path, problem, Problem};
use crate::edge::Edge;
use crate::groups::{AccessLink, Propagation};
use crate::jitter::OwnJitter;
use crate::probe::MarkerProbe;
use crate::scenario::{FlowGroup, JitterSpec, Probes, Sampling, Scenario};
use crate::series::Interval;
use crate::shared::LinkState;
use parshall_engine::random::{Stream, Streams};
use parshall_engine::{JitteredPath, MAX_INDEX};
use parshall_net::markers;
use parshall_units::{Duration, Instant, Rate};
use parshall_workload::Source;
use std::sync::Arc;

/// A group that is to become flows.
pub(crate) struct GroupPlan<'a> {
    pub(crate) spec: &'a FlowGroup,
    pub(crate) probes: &'a Probes,
    pub(crate) name: Arc<str>,
    /// Its place among the groups of the scenario.
    pub(crate) number: u32,
    /// True if the end of the simulation waits for its transfers.
    pub(crate) awaited: bool,
    duration_ps: u64,
    links: &'a [LinkState],
    streams: Streams,
}

impl<'a> GroupPlan<'a> {
    /// The group number `index` of a scenario, over these links.
    pub(crate) fn new(scenario: &'a Scenario, repetition: u32, index: usize, links: &'a [LinkState]) -> Self {
        let spec = &scenario.flows[index];
        Self {
            spec,
            probes: &scenario.probes,
            name: spec.name.as_str().into(),
            number: index as u32,
            awaited: scenario.ends_with.iter().any(|&group| group as usize == index),
            duration_ps: scenario.duration_ps,
            links,
            streams: Streams::new(scenario.seed, repetition),
        }
    }

    /// Refuses what no kind of flow can do; `flows`: those of the groups before.
    pub(crate) fn check(&self, flows: u32) -> Result<(), Problem> {
        let spec = self.spec;
        if spec.count == 0 {
            return Err(problem("count", "must be at least 1"));
        }
        if flows.saturating_add(spec.count) > MAX_INDEX {
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
        if spec.processing_ps > self.duration_ps {
            return Err(problem("processing_time", "must be shorter than the duration"));
        }
        let edge = markers::Edge {
            packet_bytes: spec.packet_bytes,
            access: spec.access_bps.and_then(Rate::from_bps),
        };
        spec.marker.check(edge).map_err(|error| at_key("marker", error))?;
        self.access()?;
        self.jitter(0)?;
        self.starts()?;
        self.propagation(Duration::from_ps(self.rtts()?.shortest(spec.count)))?;
        Ok(())
    }

    fn check_path(&self, key: &str, path: &[u32]) -> Result<(), Problem> {
        let links = self.links.len();
        if path.len() > usize::from(u8::MAX) {
            return Err(problem(key, "no more than 255 links in a row"));
        }
        match path.iter().find(|&&link| link as usize >= links) {
            Some(link) => Err(problem(key, format!("link {link} does not exist; there are {links}"))),
            None => Ok(()),
        }
    }

    // --- what flows are made from ---

    /// Returns the source of each flow.
    pub(crate) fn source(&self) -> Result<Source, Problem> {
        self.spec.source().map_err(|(key, what)| problem(key, what))
    }

    /// A flow's two-way propagation delay, links of both paths included.
    pub(crate) fn rtt(&self, index: u32) -> Result<Duration, Problem> {
        Ok(Duration::from_ps(self.rtts()?.get(index)))
    }

    /// The longest of them, or what bounds them.
    pub(crate) fn longest_rtt(&self) -> Result<Duration, Problem> {
        Ok(Duration::from_ps(self.rtts()?.longest(self.spec.count)))
    }

    /// When a flow starts.
    pub(crate) fn start(&self, index: u32) -> Result<Instant, Problem> {
        Ok(Instant::from_ps(self.starts()?.get(index)))
    }

    fn rtts(&self) -> Result<SpreadValues<'_>, Problem> {
        SpreadValues::new(&self.spec.rtt_ps, self.spec, self.streams, "rtt")
    }

    fn starts(&self) -> Result<SpreadValues<'_>, Problem> {
        SpreadValues::new(&self.spec.start_ps, self.spec, self.streams, "start")
    }

    /// A random stream of a flow's own.
    pub(crate) fn stream(&self, purpose: &str, index: u32) -> Stream {
        self.streams.stream(&self.spec.name, purpose, u64::from(index))
    }

    /// Returns the seed of such a stream.
    pub(crate) fn seed(&self, purpose: &str, index: u32) -> u64 {
        self.streams.seed(&self.spec.name, purpose, u64::from(index))
    }

    /// The flows' own access links, if they have any.
    pub(crate) fn access(&self) -> Result<Option<AccessLink>, Problem> {
        let limit = self.spec.access_packets;
        if limit == Some(0) {
            return Err(problem("access_queue", "must hold at least 1 packet"));
        }
        let queued = self.spec.tcp.is_some() || self.spec.external;
        if limit.is_some() && !(queued && self.spec.access_bps.is_some()) {
            return Err(problem("access_queue", "needs an access_rate, and TCP"));
        }
        let Some(bps) = self.spec.access_bps else { return Ok(None) };
        let rate = Rate::from_bps(bps).ok_or_else(|| problem("access_rate", "must be above 0 bit/s"))?;
        Ok(Some(AccessLink::new(rate, self.spec.packet_bytes, limit)))
    }

    /// Returns the part of an RTT for the flow's own propagation segments: the rest beside the links, in four parts.
    pub(crate) fn propagation(&self, rtt: Duration) -> Result<Propagation, Problem> {
        let there = self.path_delay(&self.spec.path);
        let uncontended = self.spec.reverse_path.is_empty();
        let back = if uncontended { there } else { self.path_delay(&self.spec.reverse_path) };
        if rtt < there + back {
            let least = there + back;
            return Err(problem("rtt", format!("{rtt} is below the {least} of the links of its path")));
        }
        let private = rtt - (there + back);
        let segment = private.over(4);
        let last = private - segment.times(3);
        Ok(if uncontended {
            Propagation {
                to_first_link: segment,
                to_receiver: segment,
                back: segment + back + last,
                to_sender: Duration::ZERO,
            }
        } else {
            Propagation { to_first_link: segment, to_receiver: segment, back: segment, to_sender: last }
        })
    }

    /// The jitter of a flow's own parts of its path, if it has any.
    pub(crate) fn jitter(&self, index: u32) -> Result<Option<Box<OwnJitter>>, Problem> {
        let forth = self.own_jitter(self.spec.jitter.as_ref(), "jitter", index, "")?;
        let back = self.own_jitter(self.spec.reverse_jitter.as_ref(), "reverse_jitter", index, "")?;
        Ok((forth.is_some() || back.is_some()).then(|| Box::new(OwnJitter { forth, back })))
    }

    /// The same of the requests of a flow of exchanges, which go the other way.
    pub(crate) fn jitter_of_requests(&self, index: u32) -> Result<Option<Box<OwnJitter>>, Problem> {
        let forth =
            self.own_jitter(self.spec.reverse_jitter.as_ref(), "reverse_jitter", index, " of requests")?;
        let back = self.own_jitter(self.spec.jitter.as_ref(), "jitter", index, " of requests")?;
        Ok((forth.is_some() || back.is_some()).then(|| Box::new(OwnJitter { forth, back })))
    }

    fn own_jitter(
        &self,
        spec: Option<&JitterSpec>,
        key: &str,
        index: u32,
        whose: &str,
    ) -> Result<Option<JitteredPath>, Problem> {
        let stream = || self.stream(&format!("{key}{whose}"), index);
        spec.map(|spec| jittered_path(spec, key, stream())).transpose()
    }

    /// True if packets have arrived when they have crossed this path's first link: there is no other, and no jitter.
    pub(crate) fn ends_at_first_link(&self, path: &[u32], jitter: Option<&JitterSpec>) -> bool {
        matches!(path, [link] if self.links[*link as usize].jitter.is_none()) && jitter.is_none()
    }

    /// Propagation delay of the links of a path.
    pub(crate) fn path_delay(&self, path: &[u32]) -> Duration {
        parshall_engine::path_delay(self.links, path)
    }

    /// True if its flows have markers, so that the links of their path count classes apart.
    pub(crate) fn is_marked(&self) -> bool {
        self.spec.marker.build().is_some()
    }

    // --- probes ---

    /// Time between the samples of a flow, if it is sampled.
    pub(crate) fn sample_interval(&self, index: u32) -> Option<Interval> {
        let (Sampling::Every(width) | Sampling::Fitted(width)) = self.probes.flow_samples?;
        let fitted = matches!(self.probes.flow_samples, Some(Sampling::Fitted(_)));
        (index < self.probes.flows_sampled).then(|| Interval { width: Duration::from_ps(width), fitted })
    }

    /// When the simulation ends, at the latest.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_ps(self.duration_ps)
    }

    /// True if a flow writes rounds.
    pub(crate) fn has_rounds(&self, index: u32) -> bool {
        index < self.probes.rounds_flows
    }

    /// Whom inner variables belong to, if they are recorded.
    pub(crate) fn internals(&self) -> Option<Arc<str>> {
        self.probes.internals.then(|| self.name.clone())
    }

    /// The marker of a flow, whose number in the records is `id`, is sampled if its inner variables are recorded.
    pub(crate) fn sample_marker(&self, edge: Option<&mut Edge>, index: u32, id: u32) {
        if let (Some(edge), Some(group), Some(interval)) =
            (edge, self.internals(), self.sample_interval(index))
        {
            edge.probe = Some(Box::new(MarkerProbe::new(interval, group, id)));
        }
    }
}
