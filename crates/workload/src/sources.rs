//! A running application, as whoever drives it sees it.
//!
//! | kind | asked | answers |
//! | --- | --- | --- |
//! | [`TransferSource`] | at the start and at each completion (closed loop) | how long to wait, what to send (of exchanges: what to answer) |
//! | [`ArrivalSource`] | at the start and at each arrival (open loop) | time to the next arrival, its size |
//! | [`DatagramSource`] | at the start and at each departure | time to the next departure, its size |
//!
//! A source is cheap to clone before its first draw: the flows of a group clone one, and share what does not
//! change. Nothing is allocated by a draw, and a source takes a few words, so a million flows are no matter.
//!
//! Sizes drawn are rounded to the nearest multiple of their granularity (a byte, if nothing is said), which keeps the
//! mean, but a positive transfer has at least one byte and so has every datagram; a transfer of zero bytes happens only
//! where the scenario says zero.

use crate::workloads::{Bulk, Cbr, OnOff, OnOffCbr, OpenLoop, Poisson, Responses, TransferList};
use parshall_units::Duration;
use rand_core::RngCore;
use std::num::NonZeroU64;

/// A largest transfer of 2^60 bytes: more than 213 days (the longest simulated time) at 500 Gbit/s, and
/// far enough from 2^64 that sequence numbers cannot overflow.
pub const MAX_TRANSFER_BYTES: u64 = 1 << 60;

/// The source of a flow's data.
#[derive(Clone, Debug)]
pub enum Source {
    /// Reliable transfers, one after another.
    Transfers(TransferSource),
    /// Responses to requests of so many bytes, one after another on one connection: the wait is before the request.
    Exchanges(NonZeroU64, TransferSource),
    /// Reliable transfers that start whether or not earlier ones are done.
    Arrivals(ArrivalSource),
    /// Datagrams, sent at their time.
    Datagrams(DatagramSource),
    /// Datagrams at the rate that a congestion control sets.
    Controlled,
}

/// One transfer of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// From the completion of the one before (the flow's start, for the first) to the start of this one.
    pub wait: Duration,
    /// Payload; `None`: it never ends. Zero and one are possible.
    pub bytes: Option<u64>,
}

/// One transfer of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Since the arrival before (the flow's start, for the first).
    pub gap: Duration,
    /// Payload.
    pub bytes: u64,
}

/// One datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Since the departure before (the flow's start, for the first).
    pub gap: Duration,
    /// On the wire, headers included; at least one.
    pub bytes: u32,
}

/// Transfers, one after another.
#[derive(Clone, Debug)]
pub struct TransferSource(pub(crate) Transfers);

#[derive(Clone, Debug)]
pub(crate) enum Transfers {
    Bulk(Bulk),
    List(TransferList),
    OnOff(OnOff),
    Responses(Responses),
}

impl TransferSource {
    /// The next transfer, asked for when the one before is complete; `None`: there are no more.
    pub fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Option<Transfer> {
        match &mut self.0 {
            Transfers::Bulk(source) => source.next(),
            Transfers::List(source) => source.next(),
            Transfers::OnOff(source) => Some(source.next(rng)),
            Transfers::Responses(source) => Some(source.next(rng)),
        }
    }
}

/// Transfers at times of their own.
#[derive(Clone, Debug)]
pub struct ArrivalSource(pub(crate) OpenLoop);

impl ArrivalSource {
    /// The next arrival; there is always one.
    pub fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Arrival {
        self.0.next(rng)
    }
}

/// Datagrams at times of their own.
#[derive(Clone, Debug)]
pub struct DatagramSource(pub(crate) Datagrams);

#[derive(Clone, Debug)]
pub(crate) enum Datagrams {
    Cbr(Cbr),
    OnOffCbr(OnOffCbr),
    Poisson(Poisson),
}

impl DatagramSource {
    /// The next datagram; there is always one.
    #[inline]
    pub fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Datagram {
        match &mut self.0 {
            Datagrams::Cbr(source) => source.next(),
            Datagrams::OnOffCbr(source) => source.next(rng),
            Datagrams::Poisson(source) => source.next(rng),
        }
    }
}

/// A drawn size as the bytes of a transfer: the nearest multiple of `granularity`, and at least one of it.
pub(crate) fn transfer_bytes(size: f64, granularity: NonZeroU64) -> u64 {
    if size > 0.0 {
        let multiples = libm::round(size / granularity.get() as f64) as u64;
        multiples.clamp(1, MAX_TRANSFER_BYTES / granularity) * granularity.get()
    } else {
        0
    }
}

/// A drawn size as the bytes of a datagram.
pub(crate) fn datagram_bytes(size: f64) -> u32 {
    (libm::round(size) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_source_is_small_enough_for_a_million_flows() {
        assert!(std::mem::size_of::<TransferSource>() <= 24);
        assert!(std::mem::size_of::<ArrivalSource>() <= 16);
        assert!(std::mem::size_of::<Source>() <= 48);
    }

    #[test]
    fn sources_can_move_to_another_thread() {
        fn check<T: Send + Sync>() {}
        check::<Source>();
    }

    proptest! {
        #[test]
        fn rounding_keeps_within_half_a_byte(size in 0.0..1e15_f64) {
            let bytes = transfer_bytes(size, NonZeroU64::MIN) as f64;
            prop_assert!((bytes - size).abs() <= 0.5 || (bytes == 1.0 && size > 0.0));
            prop_assert!(datagram_bytes(size) >= 1);
        }
    }

    #[test]
    fn rounding_at_the_ends() {
        assert_eq!(transfer_bytes(0.0, NonZeroU64::MIN), 0);
        assert_eq!(transfer_bytes(1e-300, NonZeroU64::MIN), 1);
        assert_eq!(transfer_bytes(1e300, NonZeroU64::MIN), MAX_TRANSFER_BYTES);
        let packet = NonZeroU64::new(1460).unwrap();
        assert_eq!([1.0, 2189.0, 2191.0].map(|size| transfer_bytes(size, packet)), [1460, 1460, 2920]);
        assert_eq!(transfer_bytes(1e300, packet) % 1460, 0);
        assert_eq!(datagram_bytes(0.0), 1);
        assert_eq!(datagram_bytes(1e300), u32::MAX);
    }
}
