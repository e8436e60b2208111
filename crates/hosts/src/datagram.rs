//! Datagrams: the time of sending that each carries where there is room for it, and what a receiver counts of a flow's.

use crate::clock::{seconds, Nanos};

/// Headers of IPv4 and UDP (RFC 791, RFC 768), in bytes.
pub(crate) const HEADER_BYTES: u32 = 28;

/// Written at the beginning of a datagram's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// When it was handed to the kernel, on the clock of the run.
    pub(crate) sent: Nanos,
}

impl Stamp {
    pub(crate) const BYTES: usize = 8;

    /// Writes the stamp into a payload, if it has room.
    pub(crate) fn write(self, payload: &mut [u8]) {
        if let Some(place) = payload.first_chunk_mut() {
            *place = self.sent.to_ne_bytes();
        }
    }

    /// The stamp of a payload; `None`: it had no room for one.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        payload.first_chunk().map(|&bytes| Self { sent: Nanos::from_ne_bytes(bytes) })
    }
}

/// The arrivals of a flow's datagrams since the warm-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) packets: u64,
    /// Payload, bytes.
    pub(crate) bytes: u64,
    /// One-way delays of those that have stamps, nanoseconds.
    stamped: u64,
    delay_sum: Nanos,
    delay_max: Nanos,
    delay_before: Option<Nanos>,
    /// Sum of the differences between delays of one packet and the next, and how many.
    jitter_sum: Nanos,
    jitters: u64,
}

impl Arrived {
    pub(crate) fn count(&mut self, bytes: usize, delay: Option<Nanos>) {
        self.packets += 1;
        self.bytes += bytes as u64;
        let Some(delay) = delay else { return };
        self.stamped += 1;
        self.delay_sum += delay;
        self.delay_max = self.delay_max.max(delay);
        if let Some(before) = self.delay_before.replace(delay) {
            self.jitter_sum += (delay - before).abs();
            self.jitters += 1;
        }
    }

    /// With the headers of IP and UDP.
    pub(crate) fn wire_bytes(&self) -> u64 {
        self.bytes + self.packets * u64::from(HEADER_BYTES)
    }

    pub(crate) fn mean_delay_s(&self) -> Option<f64> {
        (self.stamped > 0).then(|| seconds(self.delay_sum) / self.stamped as f64)
    }

    pub(crate) fn max_delay_s(&self) -> Option<f64> {
        (self.stamped > 0).then(|| seconds(self.delay_max))
    }

    pub(crate) fn jitter_s(&self) -> Option<f64> {
        (self.jitters > 0).then(|| seconds(self.jitter_sum) / self.jitters as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_of_datagrams_that_say_when_they_were_sent() {
        let mut arrived = Arrived::default();
        assert_eq!((arrived.mean_delay_s(), arrived.max_delay_s(), arrived.jitter_s()), (None, None, None));
        for delay in [Some(1_000), Some(3_000), None, Some(2_000)] {
            arrived.count(100, delay);
        }
        assert_eq!((arrived.packets, arrived.bytes, arrived.wire_bytes()), (4, 400, 512));
        assert_eq!((arrived.mean_delay_s(), arrived.max_delay_s()), (Some(2e-6), Some(3e-6)));
        assert_eq!(arrived.jitter_s(), Some(1.5e-6));
    }
}
