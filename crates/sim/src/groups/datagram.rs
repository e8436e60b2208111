//! The common state of a group's flows of datagrams.

use super::AccessLink;
use parshall_net::markers::MarkerConfig;
use parshall_units::Duration;
use std::sync::Arc;

/// The common state of a group's flows.
#[derive(Debug)]
pub(crate) struct DatagramGroup {
    pub(crate) name: Arc<str>,
    /// Its place among the groups of the scenario.
    pub(crate) number: u32,
    pub(crate) header_bytes: u32,
    /// The DSCP of its packets.
    pub(crate) dscp: u8,
    /// Each datagram waits a random part of this before it leaves its host; zero: none does.
    pub(crate) processing_time: Duration,
    pub(crate) access: Option<AccessLink>,
    pub(crate) marker: MarkerConfig,
    /// Datagrams are received as soon as their first link has accepted them: there is no other, no jitter, and no
    /// capture.
    pub(crate) one_link: bool,
    pub(crate) path: Box<[u32]>,
}
