//! Which packets of a capture are looked at: of some hosts and ports, within some time.

use crate::packet::{Endpoint, Packet};
use crate::path_times::Nanos;
use serde::Deserialize;
use std::net::IpAddr;

/// The packets to look at; the default is all of a capture.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// From this time on, in seconds since the first frame.
    pub from_s: Option<f64>,
    /// Until this time, which is not looked at.
    pub until_s: Option<f64>,
    /// Connections with one of these ends; all, if there is none.
    pub hosts: Vec<IpAddr>,
    /// Connections with one of these ports at either end; all, if there is none.
    pub ports: Vec<u16>,
}

/// A filter as packets are compared with it.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    from: Nanos,
    until: Nanos,
    hosts: Vec<Endpoint>,
    ports: Vec<u16>,
    everything: bool,
}

impl Selection {
    pub(crate) fn new(filter: &Filter) -> Self {
        let nanos = |seconds: f64| (seconds.max(0.0) * 1e9) as Nanos;
        Self {
            from: filter.from_s.map_or(0, nanos),
            until: filter.until_s.map_or(Nanos::MAX, nanos),
            hosts: filter.hosts.iter().map(|host| Endpoint::new(*host, 0)).collect(),
            ports: filter.ports.clone(),
            everything: filter.from_s.is_none()
                && filter.until_s.is_none()
                && filter.hosts.is_empty()
                && filter.ports.is_empty(),
        }
    }

    /// True if a frame that passes now may be looked at.
    #[inline]
    pub(crate) fn has_time(&self, now: Nanos) -> bool {
        self.everything || (self.from..self.until).contains(&now)
    }

    /// True if a packet is of a connection that is looked at.
    #[inline]
    pub(crate) fn has(&self, packet: &Packet) -> bool {
        self.everything || self.is_chosen(packet)
    }

    fn is_chosen(&self, packet: &Packet) -> bool {
        let ends = [packet.source, packet.destination];
        let host = |end: &Endpoint| self.hosts.iter().any(|host| host.is_at(*end));
        (self.hosts.is_empty() || ends.iter().any(host))
            && (self.ports.is_empty() || ends.iter().any(|end| self.ports.contains(&end.port)))
    }
}
