//! The receivers' host: reads, counts and discards data, without copying; of exchanges it has the
//! [clients](crate::clients).
//!
//! Connections come to a listening socket, datagrams to one socket; the sender's address identifies the flow. Sockets
//! that are to have a receive buffer of their own size come to a listening socket with that buffer, as the window scale
//! of a connection is fixed when it opens (RFC 7323, section 2.2).

use crate::clients::Clients;
use crate::clock::{nanos, span, Clock, Nanos};
use crate::datagram::{Arrived, Stamp};
use crate::error::{HostsError, Tried};
use crate::events::Events;
use crate::exchange::ClientReport;
use crate::host::{cpu_s, Work};
use crate::namespace::{Device, Side};
use crate::plan::{flow_of, FlowPlan, Plan, Transport};
use crate::ports::Ports;
use crate::shared::Shared;
use crate::{socket, sys};
use parshall_workload::Source;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{accept_with, listen, recvfrom, RecvFlags, SocketAddrV4, SocketFlags, SocketType};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{mpsc, Arc};

/// This host looks at its connections so often in the shortest RTT at least, ...
const LOOKS_IN_RTT: Nanos = 200;

/// ... and that often in any case. Without a rest it would be woken for nearly each packet of many flows, which costs
/// more than to take them; data that waits so short a time changes neither windows nor, but for the last byte of a
/// transfer, ACKs.
const LONGEST_REST: Nanos = 200_000;

/// More than a readable socket ever holds.
const ALL: usize = 1 << 30;

/// Datagrams taken from the socket before others have their turn.
const DATAGRAMS_A_TURN: usize = 256;

/// Memory for datagrams that wait for this host, in bytes.
const DATAGRAM_BUFFER: u32 = 16 << 20;

const BACKLOG: i32 = 65_535;

/// Time between two looks at the sockets, at least. The delays of datagrams and the ends of exchanges are measured
/// here, so these are taken at once.
fn rest(plan: &Plan, pair: u32) -> Nanos {
    let flows = || plan.of_pair(pair).map(|(_, flow)| flow);
    let measured_here = |flow: &FlowPlan| {
        matches!(flow.transport, Transport::Datagrams) || matches!(flow.source, Source::Exchanges(..))
    };
    let shortest = flows().map(|flow| span(flow.rtt_base)).min().filter(|_| !flows().any(measured_here));
    shortest.map_or(0, |rtt| (rtt / LOOKS_IN_RTT).min(LONGEST_REST))
}

/// The host's knowledge at the end.
#[derive(Debug)]
pub(crate) struct Received {
    /// Of each flow of the plan.
    pub(crate) datagrams: Vec<Arrived>,
    /// Payload of all connections since the warm-up.
    pub(crate) tcp_bytes: u64,
    /// Datagrams that found the socket's buffer full.
    pub(crate) dropped: Option<u64>,
    pub(crate) device_dropped: Option<u64>,
    pub(crate) cpu_s: f64,
    /// Closed when the other host has ended too: to close one that holds data would reset the sender's connection.
    pub(crate) connections: Vec<Option<OwnedFd>>,
}

/// The host.
pub(crate) struct Receivers {
    shared: Arc<Shared>,
    device: Device,
    events: Events,
    listeners: Vec<OwnedFd>,
    datagrams: OwnedFd,
    connections: Vec<Option<OwnedFd>>,
    free: Vec<usize>,
    clients: Clients,
    arrived: Vec<Arrived>,
    tcp_bytes: u64,
    rest: Nanos,
    warm_up: Nanos,
    end: Nanos,
}

/// Who is ready: these, the client of a place beyond, or else the connection of that place.
const WAKE: u64 = u64::MAX;
const DATAGRAMS: u64 = u64::MAX - 1;
const LISTENERS: u64 = 1 << 62;
const CLIENTS: u64 = 1 << 61;
const LAST_CLIENT: u64 = LISTENERS - 1;

impl Receivers {
    pub(crate) fn new(
        plan: &Arc<Plan>,
        pair: u32,
        shared: Arc<Shared>,
        reports: mpsc::Sender<ClientReport>,
        mut device: Device,
    ) -> Result<Self, HostsError> {
        device.reach_flows(plan, pair, Side::Receivers)?;
        let events = Events::new()?;
        events.watch(&shared.wake, WAKE, EventFlags::IN)?;
        let mut listeners = Vec::new();
        for (port, buffer) in Ports::new(plan).of_connections() {
            let listener = socket::open(SocketType::STREAM, Ipv4Addr::UNSPECIFIED, port)?;
            if let Some(bytes) = buffer {
                socket::set_receive_buffer(&listener, bytes)?;
            }
            socket::end_when_closed(&listener, true)?;
            listen(&listener, BACKLOG).tried("listen")?;
            events.watch(&listener, LISTENERS + listeners.len() as u64, EventFlags::IN)?;
            listeners.push(listener);
        }
        let datagrams = socket::open(SocketType::DGRAM, Ipv4Addr::UNSPECIFIED, Ports::DATAGRAMS)?;
        socket::enlarge_receive_buffer(&datagrams, DATAGRAM_BUFFER)?;
        events.watch(&datagrams, DATAGRAMS, EventFlags::IN)?;
        Ok(Self {
            shared,
            device,
            events,
            listeners,
            datagrams,
            connections: Vec::new(),
            free: Vec::new(),
            clients: Clients::new(plan, pair, reports),
            arrived: vec![Arrived::default(); plan.flows.len()],
            tcp_bytes: 0,
            rest: rest(plan, pair),
            warm_up: nanos(plan.warm_up),
            end: nanos(plan.end),
        })
    }

    fn accept_all(&mut self, listener: usize) -> Result<(), HostsError> {
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let connection = match accept_with(&self.listeners[listener], flags) {
                Ok(connection) => connection,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::CONNABORTED | Errno::INTR) => continue,
                Err(error) => return Err(error).tried("accept a connection"),
            };
            let place = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            self.events.watch(&connection, place as u64, EventFlags::IN)?;
            self.connections[place] = Some(connection);
        }
    }

    /// Discards what a connection holds; closes it when the sender has.
    fn drain(&mut self, place: usize, measured: bool) -> Result<(), HostsError> {
        let Some(connection) = self.connections.get(place).and_then(Option::as_ref) else { return Ok(()) };
        match sys::discard(connection.as_fd(), ALL) {
            Ok(bytes) if bytes > 0 => self.tcp_bytes += if measured { bytes as u64 } else { 0 },
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => {
                socket::end_when_closed(connection, false)?;
                self.connections[place] = None; // the end, or a reset: the sender knows
                self.free.push(place);
            }
        }
        Ok(())
    }

    fn take_datagrams(&mut self, clock: Clock) -> Result<(), HostsError> {
        for _ in 0..DATAGRAMS_A_TURN {
            let mut head = [0_u8; Stamp::BYTES];
            // MSG_TRUNC: the whole length, of which only the head is copied
            match recvfrom(&self.datagrams, &mut head, RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
                Ok((copied, bytes, from)) => {
                    let now = clock.now();
                    let sender = from.and_then(|from| SocketAddrV4::try_from(from).ok());
                    let flow = sender.and_then(|sender| flow_of(*sender.ip()));
                    let arrived = flow.and_then(|flow| self.arrived.get_mut(flow as usize));
                    if let Some(arrived) = arrived.filter(|_| now >= self.warm_up) {
                        arrived.count(bytes, Stamp::read(&head[..copied]).map(|stamp| now - stamp.sent));
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error).tried("receive a datagram"),
            }
        }
        Ok(())
    }

    /// Datagrams that found the socket's buffer full.
    fn dropped(&self) -> Option<u64> {
        const SK_MEMINFO_DROPS: usize = 8; // linux/sock_diag.h
        let mut bytes = [0; 4 * (SK_MEMINFO_DROPS + 1)];
        let length =
            sys::get_option(self.datagrams.as_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, &mut bytes).ok()?;
        bytes[..length]
            .chunks_exact(4)
            .nth(SK_MEMINFO_DROPS)?
            .first_chunk()
            .map(|&four| u32::from_ne_bytes(four).into())
    }
}

impl Work for Receivers {
    type Result = Received;

    fn run(mut self, clock: Clock) -> Result<Received, HostsError> {
        let mut ready = Vec::new();
        while clock.now() < self.end && !self.shared.is_stopped() {
            let next = self.clients.ask(&self.events, clock, CLIENTS, self.end)?;
            ready.clear();
            ready.extend(self.events.wait(clock, next)?.iter().map(|event| (event.data.u64(), event.flags)));
            let woken = clock.now();
            let measured = woken >= self.warm_up;
            for &(token, flags) in &ready {
                match token {
                    WAKE => {}
                    DATAGRAMS => self.take_datagrams(clock)?,
                    LISTENERS.. => self.accept_all((token - LISTENERS) as usize)?,
                    CLIENTS..=LAST_CLIENT => {
                        let came = self.clients.on_ready((token - CLIENTS) as usize, flags, clock)?;
                        self.tcp_bytes += if measured { came } else { 0 };
                    }
                    place => self.drain(place as usize, measured)?,
                }
            }
            clock.sleep_until(woken + self.rest);
        }
        Ok(Received {
            dropped: self.dropped(),
            device_dropped: self.device.dropped(),
            datagrams: self.arrived,
            tcp_bytes: self.tcp_bytes,
            cpu_s: cpu_s(),
            connections: self.connections.into_iter().chain(self.clients.into_sockets().map(Some)).collect(),
        })
    }
}
