//! A flow's own access link: a rate, and no limit to its queue.

use parshall_units::{Duration, Rate};

/// The access links of a group.
#[derive(Debug)]
pub(crate) struct AccessLink {
    rate: Rate,
    /// Full packets are nearly all: their transmission time is divided out once.
    full: (u32, Duration),
}

impl AccessLink {
    pub(crate) fn new(rate: Rate, packet_bytes: u32) -> Self {
        Self { rate, full: (packet_bytes, rate.time_for(u64::from(packet_bytes))) }
    }

    #[inline]
    pub(crate) fn transmission(&self, bytes: u32) -> Duration {
        if bytes == self.full.0 {
            self.full.1
        } else {
            self.rate.time_for(u64::from(bytes))
        }
    }
}
