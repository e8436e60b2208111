//! What our datagrams carry: their number and when they were sent, where there is room for it.

use crate::clock::Nanos;

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
