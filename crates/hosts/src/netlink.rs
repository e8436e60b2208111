//! Links and routes of a network namespace, by rtnetlink (RFC 3549; rtnetlink(7)).

use crate::error::{HostsError, Tried};
use netlink_packet_core::{
    NetlinkMessage, NetlinkPayload, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{protocols::NETLINK_ROUTE, Socket, SocketAddr};
use std::io;
use std::net::Ipv4Addr;

/// The kernel's routing tables, as the network namespace of the thread that made it has them.
pub(crate) struct Netlink {
    socket: Socket,
    answer: Vec<u8>,
}

/// An answer that describes a link takes 2 to 3 kB.
const ANSWER_BYTES: usize = 1 << 15;

/// Some addresses: a network, and how many of its bits count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix(pub(crate) Ipv4Addr, pub(crate) u8);

/// Properties of a route for the connections that take it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RouteOptions {
    /// Initial window of TCP, in packets.
    pub(crate) initial_window: Option<u32>,
    /// The congestion control of sockets that ask for none.
    pub(crate) congestion_control: Option<String>,
    /// The own address of sockets that were bound to none.
    pub(crate) from: Option<Ipv4Addr>,
}

impl Netlink {
    pub(crate) fn open() -> Result<Self, HostsError> {
        let open = || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            socket.connect(&SocketAddr::new(0, 0))?;
            Ok::<_, io::Error>(socket)
        };
        Ok(Self { socket: open().tried("open a netlink socket")?, answer: Vec::with_capacity(ANSWER_BYTES) })
    }

    /// Sets the largest packet and the transmit queue of a link.
    pub(crate) fn resize_link(&mut self, link: u32, mtu: u32, queue_packets: u32) -> Result<(), HostsError> {
        let mut message = LinkMessage::default();
        message.header.index = link;
        message.attributes = vec![LinkAttribute::Mtu(mtu), LinkAttribute::TxQueueLen(queue_packets)];
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
            .tried(format!("give a TUN device packets of {mtu} bytes and a queue of {queue_packets} packets"))
    }

    /// Brings a link up.
    pub(crate) fn bring_up(&mut self, link: u32) -> Result<(), HostsError> {
        let mut message = LinkMessage::default();
        message.header.index = link;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.ask(RouteNetlinkMessage::SetLink(message), 0).tried("bring a link up")
    }

    /// Every address of a prefix is the host's own.
    pub(crate) fn own(&mut self, prefix: Prefix, loopback: u32) -> Result<(), HostsError> {
        let mut message = route(prefix, loopback, RouteScope::Host, RouteType::Local);
        message.header.table = libc::RT_TABLE_LOCAL;
        self.add(message).tried(format!("make {}/{} local", prefix.0, prefix.1))
    }

    /// A prefix is reached through a link.
    pub(crate) fn reach(
        &mut self,
        prefix: Prefix,
        link: u32,
        options: RouteOptions,
    ) -> Result<(), HostsError> {
        let RouteOptions { initial_window, congestion_control, from } = options;
        let mut message = route(prefix, link, RouteScope::Link, RouteType::Unicast);
        message.header.table = libc::RT_TABLE_MAIN;
        let window = initial_window.map(RouteMetric::InitCwnd);
        let metrics: Vec<_> = window.into_iter().chain(congestion_control.map(RouteMetric::CcAlgo)).collect();
        let metrics = (!metrics.is_empty()).then_some(RouteAttribute::Metrics(metrics));
        let from = from.map(|address| RouteAttribute::PrefSource(RouteAddress::Inet(address)));
        message.attributes.extend(metrics.into_iter().chain(from));
        self.add(message).tried(format!("add a route to {}/{}", prefix.0, prefix.1))
    }

    /// Packets that a link dropped: sent by the host while the transmit queue was full, or refused when they arrived;
    /// `None`: the kernel does not report it.
    pub(crate) fn dropped(&mut self, link: u32) -> Option<u64> {
        let mut message = LinkMessage::default();
        message.header.index = link;
        let answer = self.exchange(RouteNetlinkMessage::GetLink(message), 0).ok()?;
        let NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) = answer else { return None };
        link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Stats64(counts) => {
                Some(counts.tx_dropped + counts.tx_errors + counts.rx_dropped + counts.rx_errors)
            }
            _ => None,
        })
    }

    fn add(&mut self, message: RouteMessage) -> io::Result<()> {
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Asks for a change.
    fn ask(&mut self, request: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        match self.exchange(request, NLM_F_ACK | flags)? {
            NetlinkPayload::Error(error) if error.code.is_none() => Ok(()),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            _ => Err(io::Error::other("the kernel answered what was not asked")),
        }
    }

    /// Sends a request and waits for the kernel's answer.
    fn exchange(
        &mut self,
        request: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<NetlinkPayload<RouteNetlinkMessage>> {
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        self.answer.clear();
        self.socket.recv(&mut self.answer, 0)?;
        NetlinkMessage::deserialize(&self.answer)
            .map(|answer| answer.payload)
            .map_err(|error| io::Error::other(error.to_string()))
    }
}

fn route(prefix: Prefix, link: u32, scope: RouteScope, kind: RouteType) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = prefix.1;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = scope;
    message.header.kind = kind;
    message.attributes =
        vec![RouteAttribute::Destination(RouteAddress::Inet(prefix.0)), RouteAttribute::Oif(link)];
    message
}
