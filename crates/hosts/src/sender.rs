//! The senders' host: workloads drive sockets, whose TCP_INFO is recorded.
//!
//! | module | what |
//! | --- | --- |
//! | [`context`] | what flows share: the clock, what is due when |
//! | [`tcp`] | a flow's connections and transfers |
//! | [`probe`] | what is recorded of a flow: samples, rounds, totals |
//! | [`rounds`] | its round trips |
//! | [`totals`] | what its connections have counted |
//! | [`datagrams`] | flows of datagrams |
//!
//! One thread waits for sockets and for the next time that something is due. What is due stands in a heap: a time that
//! is no longer wanted is forgotten when it comes up.

mod context;
mod datagrams;
mod probe;
mod recoveries;
mod rounds;
mod tcp;
mod totals;

pub use probe::FlowOutcome;
pub use totals::Limited;

use crate::clock::{nanos, span, Clock, Nanos};
use crate::error::{HostsError, Tried};
use crate::exchange::ClientReport;
use crate::host::{cpu_s, Work};
use crate::memory::TcpMemory;
use crate::namespace::{Device, Side};
use crate::plan::{flow_of, FlowPlan, Plan, Stream, Transport};
use crate::ports::SERVERS_PORT;
use crate::row::Row;
use crate::shared::Shared;
use crate::socket;
use context::{Context, Due};
use datagrams::DatagramFlow;
use parshall_workload::{ArrivalSource, Source};
use rand_core::SeedableRng;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{acceptfrom_with, listen, SocketAddrV4, SocketFlags, SocketType};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::{mpsc, Arc};
use tcp::TcpFlow;

/// From one look at the kernel's memory to the next; one takes some ten microseconds.
const MEMORY_EVERY: Nanos = 100_000_000;

/// Transfers that arrive on their own; each takes a connection that is idle, or a new one.
struct ArrivalProcess {
    plan: u32,
    source: ArrivalSource,
    random: Stream,
    /// Size of the transfer that arrives next.
    next_bytes: u64,
    /// When it arrives.
    next_at: Nanos,
    idle: VecDeque<u32>,
    /// Transfers that have arrived.
    arrived: u32,
}

/// The host's knowledge at the end.
#[derive(Debug)]
pub(crate) struct Sent {
    /// The connections of a flow in the order in which they opened.
    pub(crate) flows: Vec<FlowOutcome>,
    pub(crate) cpu_s: f64,
    pub(crate) device_dropped: Option<u64>,
    pub(crate) latest: Nanos,
    /// The most of the kernel's memory for TCP that was in use, of what may be before it saves; `None`: it does not
    /// say.
    pub(crate) memory_share: Option<f64>,
}

/// The host.
pub(crate) struct Senders {
    context: Context,
    device: Device,
    flows: Vec<TcpFlow>,
    datagrams: Vec<DatagramFlow>,
    arrivals: Vec<ArrivalProcess>,
    servers: Servers,
    /// How late what was due was done since the warm-up, at most.
    latest: Nanos,
    memory_share: Option<f64>,
}

/// Servers of exchanges, whose clients are at the receivers' host.
struct Servers {
    /// At which they all listen, if there are some.
    listener: Option<OwnedFd>,
    /// Their places among the flows, by those in the plan.
    flows: BTreeMap<u32, u32>,
    /// Of the clients.
    reports: mpsc::Receiver<ClientReport>,
}

/// Who is ready: these, or else the TCP flow of that place.
const WAKE: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;

/// Clients that may ask for a connection at once.
const BACKLOG: i32 = 65_535;

impl Senders {
    pub(crate) fn new(
        plan: &Arc<Plan>,
        pair: u32,
        shared: Arc<Shared>,
        (rows, reports): (mpsc::Sender<Row>, mpsc::Receiver<ClientReport>),
        device: Device,
    ) -> Result<Self, HostsError> {
        let context = Context::new(plan, shared, rows)?;
        context.events.watch(&context.shared.wake, WAKE, EventFlags::IN)?;
        let (flows, datagrams, arrivals) = (Vec::new(), Vec::new(), Vec::new());
        let (latest, memory_share) = (0, None);
        let servers = Servers { listener: None, flows: BTreeMap::new(), reports };
        let mut host = Self { context, device, flows, datagrams, arrivals, servers, latest, memory_share };
        for (index, flow) in plan.of_pair(pair) {
            if !matches!(flow.transport, Transport::Programs { .. }) {
                host.add(index, flow)?;
            }
        }
        host.device.reach_flows(plan, pair, Side::Senders)?;
        if !host.servers.flows.is_empty() {
            host.servers.listener = Some(host.listener()?);
        }
        Ok(host)
    }

    fn add(&mut self, plan: u32, flow: &FlowPlan) -> Result<(), HostsError> {
        let random = Stream::seed_from_u64(flow.seed);
        let start = nanos(flow.start);
        match &flow.source {
            Source::Transfers(source) => {
                for stream in 0..flow.transport.streams() {
                    self.context.at(start, Due::Start(self.flows.len() as u32));
                    let random = Stream::seed_from_u64(flow.seed.wrapping_add(stream.into()));
                    let source = Some((source.clone(), random));
                    self.flows.push(TcpFlow::new(&self.context, plan, stream, source));
                }
            }
            Source::Exchanges(request, source) => {
                self.servers.flows.insert(plan, self.flows.len() as u32);
                let mut flow = TcpFlow::new(&self.context, plan, 0, Some((source.clone(), random)));
                flow.serve(request.get());
                self.flows.push(flow);
            }
            Source::Datagrams(source) => {
                let index = self.datagrams.len() as u32;
                let flow = DatagramFlow::new(plan, flow, source.clone(), random)?;
                self.context.at(flow.next_at(), Due::Datagram(index));
                self.datagrams.push(flow);
            }
            Source::Arrivals(source) => {
                let (mut source, mut random) = (source.clone(), random);
                let first = source.next(&mut random);
                let next_at = start + span(first.gap);
                self.context.at(next_at, Due::Arrival(self.arrivals.len() as u32));
                let (next_bytes, idle, arrived) = (first.bytes, VecDeque::new(), 0);
                self.arrivals.push(ArrivalProcess {
                    plan,
                    source,
                    random,
                    next_bytes,
                    next_at,
                    idle,
                    arrived,
                });
            }
            Source::Controlled => unreachable!("refused by the plan's check"),
        }
        Ok(())
    }

    fn on_due(&mut self, at: Nanos, due: Due) -> Result<(), HostsError> {
        let Self { context, flows, datagrams, .. } = self;
        match due {
            Due::WarmUp => {
                for flow in flows {
                    flow.begin_measurement(context)?;
                }
            }
            Due::Start(flow) => flows[flow as usize].plan_transfer(context, flow, at),
            Due::Transfer(flow) => flows[flow as usize].begin_transfer(context, flow, at)?,
            Due::Write(flow) => flows[flow as usize].write_on(context, flow)?,
            Due::Look(flow) => flows[flow as usize].look(context, flow, at)?,
            Due::Datagram(flow) => {
                let next = datagrams[flow as usize].send_due(context)?;
                context.at(next, due);
            }
            Due::Arrival(process) => self.on_arrival(process)?,
            Due::Memory => {
                let share = context.shared.tcp_memory.and_then(TcpMemory::share);
                self.memory_share = self.memory_share.into_iter().chain(share).reduce(f64::max);
                context.at(at + MEMORY_EVERY, due);
            }
        }
        if let Due::Transfer(flow) | Due::Write(flow) = due {
            self.rest(flow);
        }
        Ok(())
    }

    /// A socket at which all servers listen.
    fn listener(&self) -> Result<OwnedFd, HostsError> {
        let listener = socket::open(SocketType::STREAM, Ipv4Addr::UNSPECIFIED, SERVERS_PORT)?;
        socket::end_when_closed(&listener, true)?;
        listen(&listener, BACKLOG).tried("listen")?;
        self.context.events.watch(&listener, LISTENER, EventFlags::IN)?;
        Ok(listener)
    }

    /// Clients have connected: each by its address is that of a flow.
    fn accept_all(&mut self) -> Result<(), HostsError> {
        while let Some(listener) = &self.servers.listener {
            match acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok((socket, from)) => {
                    let client = from.and_then(|from| SocketAddrV4::try_from(from).ok());
                    let plan = client.and_then(|client| flow_of(*client.ip()));
                    if let Some(&flow) = plan.and_then(|plan| self.servers.flows.get(&plan)) {
                        self.flows[flow as usize].accept(&mut self.context, flow, socket)?;
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                Err(error) => return Err(error).tried("accept a client"),
            }
        }
        Ok(())
    }

    /// Takes the reports of clients. A client reports before it sends its request, so the exchange of a request is
    /// known when it arrives.
    fn take_reports(&mut self) -> Result<(), HostsError> {
        while let Ok(report) = self.servers.reports.try_recv() {
            let flow = self.servers.flows[&report.flow];
            self.flows[flow as usize].on_client_report(&self.context, report)?;
        }
        Ok(())
    }

    /// A transfer of an open loop arrives and takes a connection.
    fn on_arrival(&mut self, index: u32) -> Result<(), HostsError> {
        let process = &mut self.arrivals[index as usize];
        let (bytes, at, number) = (process.next_bytes, process.next_at, process.arrived);
        process.arrived += 1;
        let next = process.source.next(&mut process.random);
        process.next_bytes = next.bytes;
        process.next_at += span(next.gap); // by the process's own times: lateness does not add up
        self.context.at(process.next_at, Due::Arrival(index));
        let flow = process.idle.pop_front().unwrap_or_else(|| {
            let mut flow = TcpFlow::new(&self.context, process.plan, 0, None);
            flow.process = Some(index);
            self.flows.push(flow);
            self.flows.len() as u32 - 1
        });
        self.flows[flow as usize].hand_over(bytes, number);
        self.flows[flow as usize].begin_transfer(&mut self.context, flow, at)?;
        self.rest(flow);
        Ok(())
    }

    /// A connection of an open loop whose transfer is done is there for the next one.
    fn rest(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if let Some(process) = flow.process.filter(|_| flow.take_finished()) {
            self.arrivals[process as usize].idle.push_back(index);
        }
    }

    fn end(mut self) -> Result<Sent, HostsError> {
        self.take_reports()?;
        let now = self.context.clock.now().min(self.context.end);
        let mut outcomes = Vec::with_capacity(self.flows.len() + self.datagrams.len());
        for flow in &mut self.flows {
            outcomes.push(flow.end(&self.context, now)?);
        }
        outcomes.extend(self.datagrams.iter_mut().map(|flow| flow.end(&self.context, now)));
        Ok(Sent {
            flows: outcomes,
            cpu_s: cpu_s(),
            device_dropped: self.device.dropped(),
            latest: self.latest,
            memory_share: self.memory_share,
        })
    }
}

impl Work for Senders {
    type Result = Sent;

    fn run(mut self, clock: Clock) -> Result<Self::Result, HostsError> {
        self.context.clock = clock;
        let warm_up = self.context.warm_up;
        self.context.at(warm_up, Due::WarmUp);
        self.context.at(0, Due::Memory);
        let mut ready = Vec::new();
        while clock.now() < self.context.end && !self.context.shared.is_stopped() {
            let now = clock.now(); // what falls due in the meantime waits until sockets had their turn
            while let Some(&Reverse((at, due))) =
                self.context.due.peek().filter(|Reverse((at, _))| *at <= now)
            {
                self.context.due.pop();
                if at >= warm_up {
                    self.latest = self.latest.max(now - at);
                }
                self.on_due(at, due)?;
            }
            let next = self.context.due.peek().map_or(self.context.end, |Reverse((at, _))| *at);
            ready.clear();
            let events = self.context.events.wait(clock, next.min(self.context.end))?;
            ready.extend(events.iter().map(|event| (event.data.u64(), event.flags)));
            for &(token, flags) in ready.iter().filter(|(token, _)| *token != WAKE) {
                if token == LISTENER {
                    self.accept_all()?;
                    continue;
                }
                self.take_reports()?;
                self.flows[token as usize].on_ready(&mut self.context, token as u32, flags)?;
                self.rest(token as u32);
            }
        }
        self.end()
    }
}
