//! The ports at which hosts listen: high, so that programs find free what they are used to.

use crate::plan::{Plan, Transport};
use std::collections::BTreeSet;

/// The port at which servers listen.
pub(crate) const SERVERS_PORT: u16 = 60_000;

/// The port of datagrams, and the first one of connections.
const FIRST_PORT: u16 = 60_001;

/// The ports of the receivers' host. Connections to the i-th port have the i-th of the receive buffers that the plan
/// asks for.
pub(crate) struct Ports(Vec<Option<u32>>);

impl Ports {
    pub(crate) const DATAGRAMS: u16 = FIRST_PORT;

    pub(crate) fn new(plan: &Plan) -> Self {
        let buffer = |transport: &Transport| match transport {
            Transport::Tcp(options) => Some(options.receive_buffer),
            Transport::Datagrams | Transport::Programs { .. } => None,
        };
        let all: BTreeSet<Option<u32>> =
            plan.flows.iter().filter_map(|flow| buffer(&flow.transport)).collect();
        Self(all.into_iter().collect())
    }

    /// All ports of connections, with their receive buffers.
    pub(crate) fn of_connections(&self) -> impl Iterator<Item = (u16, Option<u32>)> + '_ {
        (FIRST_PORT..).zip(self.0.iter().copied())
    }

    /// The port of connections with that receive buffer.
    pub(crate) fn of(&self, receive_buffer: Option<u32>) -> u16 {
        let index = self.0.binary_search(&receive_buffer).unwrap_or(0); // the plan's buffers are all there
        FIRST_PORT + index as u16
    }
}
