//! The reports of clients of exchanges to the host of their servers, which writes the records.

use crate::clock::Nanos;

/// A report of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientReport {
    /// The flow's place in the plan.
    pub(crate) flow: u32,
    pub(crate) at: Nanos,
    pub(crate) exchange: Exchange,
}

/// The state that an exchange has reached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exchange {
    /// The request is handed over; the response will have so many bytes.
    Begun(u64),
    /// The last byte of the response has arrived.
    Completed,
}
