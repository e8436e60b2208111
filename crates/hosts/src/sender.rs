//! The senders' host: workloads drive sockets, and what the kernel says of these is recorded.
//!
//! | module | what |
//! | --- | --- |
//! | [`tcp`] | a flow's connections and transfers |
//! | [`probe`] | what is recorded of a flow: samples, rounds, totals |
//! | [`rounds`] | its round trips |
//! | [`totals`] | what its connections have counted |
//! | [`datagrams`] | flows of datagrams |
//!
//! One thread waits for sockets and for the next time that something is due. What is due stands in a heap: a time that is
//! no longer wanted is forgotten when it comes up.

pub(crate) mod datagrams;
mod probe;
mod recoveries;
mod rounds;
pub(crate) mod tcp;
mod totals;

pub use probe::FlowOutcome;
pub use totals::Limited;

use crate::clients::{Told, SERVERS_PORT};
use crate::clock::{nanos, span, Clock, Nanos};
use crate::error::{HostsError, Tried};
use crate::events::Events;
use crate::hosts::{cpu_s, Row, Shared, Work};
use crate::memory::TcpMemory;
use crate::namespace::{Device, Side};
use crate::plan::{flow_of, FlowPlan, Plan, Transport};
use crate::receiver::Ports;
use crate::socket;
use datagrams::DatagramFlow;
use parshall_workload::{ArrivalSource, Source};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{acceptfrom_with, listen, SocketAddrV4, SocketFlags, SocketType};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::{mpsc, Arc};
use tcp::TcpFlow;

/// Random numbers of a source; the generator that the simulator uses, so that the same seed draws the same.
pub(crate) type Stream = Xoshiro256PlusPlus;

/// Readings of TCP_INFO in a second, of all flows together; each takes about a microsecond.
const READINGS_PER_S: f64 = 20_000.0;

/// From one look at the kernel's memory to the next; one takes some ten microseconds.
const MEMORY_EVERY: Nanos = 100_000_000;

/// What is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// The end of the warm-up.
    WarmUp,
    /// A TCP flow starts.
    Start(u32),
    /// A TCP flow's next transfer begins.
    Transfer(u32),
    /// An open loop's next transfer begins.
    Arrival(u32),
    /// A flow's next datagram leaves.
    Datagram(u32),
    /// A TCP flow, which let others have their turn, goes on to write.
    Write(u32),
    /// A look at a TCP flow's socket.
    Look(u32),
    /// A look at the kernel's memory.
    Memory,
}

/// What all flows of the host need while they are handled.
pub(crate) struct Context {
    clock: Clock,
    plan: Arc<Plan>,
    ports: Ports,
    events: Events,
    rows: mpsc::Sender<Row>,
    shared: Arc<Shared>,
    due: BinaryHeap<Reverse<(Nanos, Due)>>,
    warm_up: Nanos,
    end: Nanos,
    /// Least time between two readings of one flow's TCP_INFO.
    least_interval: Nanos,
}

impl Context {
    fn at(&mut self, time: Nanos, due: Due) {
        if time < self.end {
            self.due.push(Reverse((time, due)));
        }
    }

    fn record(&self, row: Row) {
        let _ = self.rows.send(row); // a caller that wants no rows has dropped its end
    }

    fn flow(&self, plan: u32) -> &FlowPlan {
        &self.plan.flows[plan as usize]
    }
}

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

/// What the host knows in the end.
#[derive(Debug)]
pub(crate) struct Sent {
    /// The connections of a flow in the order in which they opened.
    pub(crate) flows: Vec<FlowOutcome>,
    pub(crate) cpu_s: f64,
    pub(crate) device_dropped: Option<u64>,
    pub(crate) latest: Nanos,
    /// The most of the kernel's memory for TCP that was in use, of what may be before it saves; `None`: it does not say.
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
    /// What the clients say.
    heard: mpsc::Receiver<Told>,
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
        (rows, heard): (mpsc::Sender<Row>, mpsc::Receiver<Told>),
        device: Device,
    ) -> Result<Self, HostsError> {
        let events = Events::new()?;
        events.watch(&shared.wake, WAKE, EventFlags::IN)?;
        let context = Context {
            clock: Clock::new(0),
            ports: Ports::new(plan),
            events,
            rows,
            shared,
            due: BinaryHeap::new(),
            warm_up: nanos(plan.warm_up),
            end: nanos(plan.end),
            least_interval: (plan.connections() as f64 / READINGS_PER_S * 1e9) as Nanos,
            plan: plan.clone(),
        };
        let (flows, datagrams, arrivals) = (Vec::new(), Vec::new(), Vec::new());
        let (latest, memory_share) = (0, None);
        let servers = Servers { listener: None, flows: BTreeMap::new(), heard };
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

    /// Takes note of what clients say. A client speaks before it asks, so what a request belongs to is known when it is there.
    fn hear_clients(&mut self) -> Result<(), HostsError> {
        while let Ok(told) = self.servers.heard.try_recv() {
            let flow = self.servers.flows[&told.flow];
            self.flows[flow as usize].hear_client(&self.context, told)?;
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
        self.hear_clients()?;
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
                self.hear_clients()?;
                self.flows[token as usize].on_ready(&mut self.context, token as u32, flags)?;
                self.rest(token as u32);
            }
        }
        self.end()
    }
}
