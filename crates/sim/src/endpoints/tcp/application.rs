//! The application of a TCP flow: transfers one after another, or those that an arrival process hands it.

use parshall_engine::random::Stream;
use parshall_units::{Duration, Instant};
use parshall_workload::{Transfer, TransferSource};
use std::mem::offset_of;

/// The application of a flow. What every packet looks at comes first (`parshall_tcp::Sender` says why).
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Application {
    /// When the next transfer begins; in a transfer that ends with its time, when that is.
    pub(crate) start: Instant,
    /// Of the current transfer; `None`: endless.
    pub(crate) bytes: Option<u64>,
    pub(crate) active: bool,
    pub(crate) index: u32,
    /// When the current transfer began; between transfers, when the last one ended.
    pub(crate) begun: Instant,
    /// The transfer that waits for its start.
    pub(crate) pending: Option<u64>,
    /// The duration of that one, or of the current one; `None`: until its bytes are sent.
    pub(crate) lasts: Option<Duration>,
    /// Number of the first packet of the current transfer.
    pub(crate) first: u64,
    /// `None`: an open-loop arrival process starts this flow's transfers.
    pub(crate) source: Option<TransferSource>,
    /// Absent where the source draws nothing.
    pub(crate) random: Option<Box<Stream>>,
    /// Which arrival process this flow goes back to when its transfer is done.
    pub(crate) arrivals: Option<u32>,
    pub(crate) sent_before: u64,
    pub(crate) retransmissions_before: u64,
    pub(crate) timeouts_before: u64,
}

/// Endless transfers are this many bytes inside [`Application::pending`].
pub(crate) const ENDLESS_BYTES: u64 = u64::MAX;

impl Application {
    /// Bytes from the beginning that every packet may touch.
    pub(crate) const HOT_BYTES: usize = offset_of!(Self, begun);

    pub(crate) fn new(
        source: Option<TransferSource>,
        random: Option<Box<Stream>>,
        arrivals: Option<u32>,
    ) -> Self {
        Self {
            source,
            random,
            arrivals,
            pending: None,
            lasts: None,
            first: 0,
            start: Instant::MAX,
            begun: Instant::ZERO,
            bytes: None,
            index: 0,
            active: false,
            sent_before: 0,
            retransmissions_before: 0,
            timeouts_before: 0,
        }
    }

    fn next_transfer(&mut self) -> Option<Transfer> {
        let source = self.source.as_mut()?;
        match &mut self.random {
            Some(random) => source.next(random.as_mut()),
            None => source.next(&mut NoRandom),
        }
    }

    /// Asks the source for the transfer after the one that ended at `now`.
    pub(crate) fn plan(&mut self, now: Instant) {
        if let Some(transfer) = self.next_transfer() {
            self.pending = Some(transfer.bytes.unwrap_or(ENDLESS_BYTES));
            self.lasts = transfer.lasts;
            self.start = now + transfer.wait;
        }
    }
}

/// For sources that draw nothing.
struct NoRandom;

impl rand_core::RngCore for NoRandom {
    fn next_u32(&mut self) -> u32 {
        unreachable!("this source draws nothing")
    }
    fn next_u64(&mut self) -> u64 {
        unreachable!("this source draws nothing")
    }
    fn fill_bytes(&mut self, _: &mut [u8]) {
        unreachable!("this source draws nothing")
    }
}
