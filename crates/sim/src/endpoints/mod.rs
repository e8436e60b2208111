//! Endpoints: the one list of kinds.
//!
//! A flow sends packets in one direction or in two; each direction is a [`TransitQueue`](parshall_engine::TransitQueue)
//! of the engine. Timers and the like are events of the kind's own. Network, build, results and probes do not know
//! which kinds there are. (Captures and logs know how TCP looks.) A new one is a directory or file here, with a type
//! for all its flows that implements [`EndpointKind`] and one for each of its transit queues, codes in
//! [`endpoint_kind`](crate::endpoint_kind), and an entry in the list below.
//!
//! A kind whose packets come from outside ([`external`]) gives its packets the times at which they came, puts the first
//! of them into the event queue, keeps what is delivered, and gives it out when its time has come.

pub(crate) mod datagram;
pub(crate) mod external;
pub(crate) mod tcp;

use crate::endpoint_kind::{EndpointKind, Kind, TransitKind};
use crate::scenario::FlowGroup;
use crate::shared::Shared;
use datagram::DatagramFlows;
use external::ExternalFlows;
use tcp::TcpFlows;

parshall_engine::endpoints! {
    /// The flows of a network.
    #[derive(Default)]
    pub(crate) struct Endpoints for Shared {
        tcp: TcpFlows = Kind::Tcp { TransitKind::Data => data, TransitKind::Acks => acks },
        datagrams: DatagramFlows = Kind::Datagrams { TransitKind::Datagrams => packets },
        external: ExternalFlows = Kind::External {
            TransitKind::ExternalData => data,
            TransitKind::ExternalAcks => acks,
        },
    }
}

impl Endpoints {
    /// All kinds, in the order of the list.
    pub(crate) fn kinds(&self) -> [&dyn EndpointKind; 3] {
        [&self.tcp, &self.datagrams, &self.external]
    }

    /// The same, to be changed.
    pub(crate) fn kinds_mut(&mut self) -> [&mut dyn EndpointKind; 3] {
        [&mut self.tcp, &mut self.datagrams, &mut self.external]
    }

    /// Which kind the flows of a group are, by its place in the list.
    pub(crate) fn kind_of(&self, spec: &FlowGroup) -> usize {
        self.kinds().iter().rposition(|kind| kind.takes(spec)).unwrap_or(0)
    }
}
