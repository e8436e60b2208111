//! Groups of flows, and what their flows have in common, kind by kind.

mod access;
mod datagram;
mod external;
mod place;
mod tcp;

pub(crate) use access::AccessLink;
pub(crate) use datagram::DatagramGroup;
pub use external::Direction;
pub(crate) use external::ExternalGroup;
pub(crate) use place::{Place, Propagation};
pub(crate) use tcp::{Role, TcpGroup};
