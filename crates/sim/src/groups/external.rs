//! The common state of a group's flows of packets from outside.

use super::AccessLink;
use std::sync::Arc;

/// The common state of a group's flows.
pub(crate) struct ExternalGroup {
    pub(crate) name: Arc<str>,
    pub(crate) packet_bytes: u32,
    pub(crate) control: Arc<str>,
    pub(crate) access: Option<AccessLink>,
    pub(crate) path: Box<[u32]>,
    /// Empty: the way back is uncontended.
    pub(crate) reverse_path: Box<[u32]>,
    /// True if links are captured.
    pub(crate) captured: bool,
    /// True if packets have arrived when they have crossed the one link of the path, or of the way back.
    pub(crate) one_link: [bool; 2],
}

/// Where a packet of a flow goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the sender to the receiver, along `path`.
    Forward,
    /// From the receiver to the sender, along `reverse_path`.
    Reverse,
}
