//! Where a flow stands: its place in the lists, and the propagation segments that are its own.

use parshall_engine::random::SmallStream;
use parshall_units::Duration;

/// The propagation segments of a flow's path that it shares with none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Propagation {
    /// Sender to first link.
    pub(crate) to_first_link: Duration,
    /// End of the last link to the receiver.
    pub(crate) to_receiver: Duration,
    /// Receiver to the first link of the way back, or to the sender if the way back is uncontended.
    pub(crate) back: Duration,
    /// End of the last link of the way back to the sender.
    pub(crate) to_sender: Duration,
}

impl Propagation {
    /// All of them.
    pub(crate) fn total(&self) -> Duration {
        self.to_first_link + self.to_receiver + self.back + self.to_sender
    }
}

/// Where a flow is listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// In the records.
    pub(crate) id: u32,
    /// Among the flows of its kind.
    pub(crate) index: u32,
    /// Its group, among those of its kind.
    pub(crate) group: u32,
    /// The host's time for each of its packets.
    pub(crate) processing: SmallStream,
}
