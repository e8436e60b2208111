//! Clients of exchanges, at the receivers' host: each asks its server, at the senders' host, over one connection.
//!
//! Both draw from the same source with the same random numbers: the client its think time and the size of the response,
//! the server the size of the response. The client reports to the server's host when an exchange began and when it was
//! complete; that host writes the row, since its socket knows what was sent.

use crate::clock::{nanos, span, Clock, Nanos};
use crate::connection::{configure, ZEROS};
use crate::error::{HostsError, Tried};
use crate::events::Events;
use crate::exchange::{ClientReport, Exchange};
use crate::plan::{address, FlowPlan, Plan, Stream, Transport, RECEIVERS, SENDERS};
use crate::ports::SERVERS_PORT;
use crate::{socket, sys};
use parshall_workload::{Source, TransferSource};
use rand_core::SeedableRng;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::sockopt::socket_error;
use rustix::net::{connect, send, SendFlags, SocketAddrV4, SocketType};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{mpsc, Arc};

/// More than a readable socket ever holds.
const ALL: usize = 1 << 30;

/// The clients of a host.
pub(crate) struct Clients {
    plan: Arc<Plan>,
    reports: mpsc::Sender<ClientReport>,
    each: Vec<Client>,
    /// When which client has thought.
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
}

struct Client {
    plan: u32,
    request: u64,
    source: TransferSource,
    random: Stream,
    socket: Option<OwnedFd>,
    connected: bool,
    /// Of the request under way.
    unsent: u64,
    /// Of the response under way, or of the next one.
    awaited: u64,
}

impl Clients {
    pub(crate) fn new(plan: &Arc<Plan>, pair: u32, reports: mpsc::Sender<ClientReport>) -> Self {
        let mut all = Self { plan: plan.clone(), reports, each: Vec::new(), due: BinaryHeap::new() };
        for (index, flow) in plan.of_pair(pair) {
            let Source::Exchanges(request, source) = &flow.source else { continue };
            let mut client = Client {
                plan: index,
                request: request.get(),
                source: source.clone(),
                random: Stream::seed_from_u64(flow.seed),
                socket: None,
                connected: false,
                unsent: 0,
                awaited: 0,
            };
            let first = client.draw();
            all.due.push(Reverse((nanos(flow.start) + first, all.each.len())));
            all.each.push(client);
        }
        all
    }

    /// Sends the requests that are due; when the next one is, if there is one before `end`.
    pub(crate) fn ask(
        &mut self,
        events: &Events,
        clock: Clock,
        token: u64,
        end: Nanos,
    ) -> Result<Nanos, HostsError> {
        while let Some(&Reverse((at, index))) = self.due.peek() {
            if at > clock.now() {
                return Ok(at.min(end));
            }
            self.due.pop();
            self.report(index, at, Exchange::Begun(self.each[index].awaited));
            let client = &mut self.each[index];
            client.unsent = client.request;
            if client.socket.is_none() {
                client.connect(&self.plan, events, token + index as u64)?;
            }
            client.send()?;
        }
        Ok(end)
    }

    fn report(&self, index: usize, at: Nanos, exchange: Exchange) {
        // A host that has ended does not listen.
        let _ = self.reports.send(ClientReport { flow: self.each[index].plan, at, exchange });
    }

    /// A client's socket is ready for something; how many bytes came.
    pub(crate) fn on_ready(
        &mut self,
        index: usize,
        flags: EventFlags,
        clock: Clock,
    ) -> Result<u64, HostsError> {
        let client = &mut self.each[index];
        let Some(socket) = &client.socket else { return Ok(0) };
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            let _ = socket_error(socket).tried("ask for the error of a socket")?;
            client.socket = None; // the server finds out, and records it
            return Ok(0);
        }
        client.connected |= flags.contains(EventFlags::OUT);
        client.send()?;
        let came = client.take();
        if came > 0 && client.awaited == 0 {
            let now = clock.now();
            let next = now + client.draw();
            self.report(index, now, Exchange::Completed);
            self.due.push(Reverse((next, index)));
        }
        Ok(came)
    }

    /// Their connections, to be closed when the servers have ended.
    pub(crate) fn into_sockets(self) -> impl Iterator<Item = OwnedFd> {
        self.each.into_iter().filter_map(|client| client.socket)
    }
}

impl Client {
    /// What the next response has, and how long the client thinks before it asks.
    fn draw(&mut self) -> Nanos {
        let Some(next) = self.source.next(&mut self.random) else {
            unreachable!("there is always another exchange")
        };
        self.awaited = next.bytes.unwrap_or(1);
        span(next.wait)
    }

    fn connect(&mut self, plan: &Plan, events: &Events, token: u64) -> Result<(), HostsError> {
        let flow: &FlowPlan = &plan.flows[self.plan as usize];
        let Transport::Tcp(options) = &flow.transport else {
            unreachable!("the plan's check keeps exchanges to TCP")
        };
        let socket = socket::open(SocketType::STREAM, address(RECEIVERS, self.plan), 0)?;
        socket::set_dscp(&socket, flow.dscp)?;
        let mut own = options.clone();
        (own.send_buffer, own.pacing) = (None, None); // the server's
        configure(&socket, flow, &own, plan.mtu)?;
        if let Some(bytes) = options.receive_buffer {
            socket::set_receive_buffer(&socket, bytes)?;
        }
        socket::end_when_closed(&socket, true)?;
        match connect(&socket, &SocketAddrV4::new(address(SENDERS, self.plan), SERVERS_PORT)) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error).tried("connect a client's socket"),
        }
        events.watch(&socket, token, EventFlags::IN | EventFlags::OUT | EventFlags::ET)?;
        self.socket = Some(socket);
        Ok(())
    }

    /// Writes of the request what there is room for.
    fn send(&mut self) -> Result<(), HostsError> {
        let (Some(socket), true) = (&self.socket, self.connected) else { return Ok(()) };
        while self.unsent > 0 {
            let most = self.unsent.min(ZEROS.len() as u64) as usize;
            match send(socket, &ZEROS[..most], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(written) => self.unsent -= written as u64,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => {
                    self.socket = None; // the server finds out, and records it
                    return Ok(());
                }
                Err(error) => return Err(error).tried("send a request"),
            }
        }
        Ok(())
    }

    /// Discards what came.
    fn take(&mut self) -> u64 {
        let mut came = 0;
        while let Some(socket) = &self.socket {
            match sys::discard(socket.as_fd(), ALL) {
                Ok(bytes) if bytes > 0 => came += bytes as u64,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Ok(_) | Err(_) => self.socket = None, // the end, or a reset: the server knows
            }
        }
        self.awaited = self.awaited.saturating_sub(came);
        came
    }
}
