//! All pairs of hosts, from their beginning to their end.

use crate::clock::{seconds, Clock};
use crate::error::HostsError;
use crate::host::Host;
use crate::namespace::{available_controls, enter_user_namespace, Side};
use crate::plan::Plan;
use crate::process::{allow_files, SPARE_FILES};
use crate::programs::{Program, Running};
use crate::receiver::{Received, Receivers};
use crate::row::Row;
use crate::sender::{FlowOutcome, Senders, Sent};
use crate::shared::Shared;
use std::iter;
use std::os::fd::OwnedFd;
use std::sync::{mpsc, Arc};

/// The devices that all packets of the hosts pass: nonblocking, with virtio headers of 10 bytes before each packet,
/// which may be one of many segments and without a checksum.
#[derive(Debug)]
pub struct Tuns {
    /// The device of the senders' host: packets written to it arrive there, and those that the host sends
    /// are read from it.
    pub senders: OwnedFd,
    /// That of the receivers' host.
    pub receivers: OwnedFd,
}

/// The results of the hosts.
#[derive(Debug)]
pub struct Outcome {
    /// The flows in the order of their numbers.
    pub flows: Vec<FlowOutcome>,
    /// CPU time of the senders' host of each pair, in seconds; what the kernel does in its system calls is part of it.
    pub senders_cpu_s: Vec<f64>,
    /// CPU time of the receivers' hosts, in seconds.
    pub receivers_cpu_s: Vec<f64>,
    /// The largest delay of a senders' host behind due work since the warm-up (transfers, datagrams, readings), in
    /// seconds.
    pub senders_latest_s: f64,
    /// Payload that the receivers' hosts took from their TCP sockets since the warm-up, in bytes.
    pub received_bytes: u64,
    /// Datagrams that the receivers' hosts had no room for; `None`: the kernel does not report it.
    pub receivers_dropped: Option<u64>,
    /// Packets that the TUN devices dropped, as when nobody reads them fast enough; `None`: the kernel does not report
    /// it.
    pub devices_dropped: Option<u64>,
    /// The most of the kernel's memory for TCP that was in use, by whomever, as a share of what may be before it saves:
    /// then windows shrink, and send buffers do not grow (tcp(7), tcp_mem); `None`: the kernel does not report it.
    pub tcp_memory_share: Option<f64>,
}

/// Hosts that wait for their start, or run.
#[derive(Debug)]
pub struct Hosts {
    shared: Arc<Shared>,
    plan: Arc<Plan>,
    tuns: Option<Vec<Tuns>>,
    pairs: Vec<Pair>,
}

#[derive(Debug)]
struct Pair {
    /// Network namespaces of senders and receivers.
    namespaces: [OwnedFd; 2],
    senders: Host<Sent>,
    receivers: Host<Received>,
}

impl Hosts {
    /// Makes all hosts. Rows go to `rows` from [`start`](Self::start) on.
    ///
    /// Without the capabilities of root the process is moved to a user namespace, for ever, and must have a single
    /// thread.
    ///
    /// # Errors
    /// The plan asks for what cannot be done here, or the kernel refuses.
    pub fn begin(plan: Plan, rows: mpsc::Sender<Row>) -> Result<Self, HostsError> {
        plan.check(&available_controls()?)?;
        allow_files(2 * plan.connections() as u64 + SPARE_FILES * plan.pairs.len() as u64)?;
        enter_user_namespace()?;
        let shared = Arc::new(Shared::new(&plan)?);
        let mut hosts = Self { shared, plan: Arc::new(plan), tuns: None, pairs: Vec::new() };
        let mut tuns = Vec::new();
        let pairs = hosts.plan.pairs.len();
        for (pair, rows) in (0..).zip(iter::repeat_n(rows, pairs)) {
            tuns.push(hosts.add_pair(pair, rows)?);
        }
        hosts.tuns = Some(tuns);
        Ok(hosts)
    }

    fn add_pair(&mut self, pair: u32, rows: mpsc::Sender<Row>) -> Result<Tuns, HostsError> {
        let (from_clients, to_servers) = mpsc::channel();
        let (receivers, theirs) = Host::begin((Side::Receivers, pair), &self.plan, &self.shared, {
            let (plan, shared) = (self.plan.clone(), self.shared.clone());
            move |device| Receivers::new(&plan, pair, shared, from_clients, device)
        })?;
        let (senders, ours) = Host::begin((Side::Senders, pair), &self.plan, &self.shared, {
            let (plan, shared) = (self.plan.clone(), self.shared.clone());
            move |device| Senders::new(&plan, pair, shared, (rows, to_servers), device)
        })?;
        self.pairs.push(Pair { namespaces: [ours.namespace, theirs.namespace], senders, receivers });
        Ok(Tuns { senders: ours.tun, receivers: theirs.tun })
    }

    /// The devices of each pair, once; `None`: they were taken.
    pub fn take_tuns(&mut self) -> Option<Vec<Tuns>> {
        self.tuns.take()
    }

    /// Starts a program at one of the hosts of a flow; it is killed when it is dropped, and so is all that it has
    /// started.
    ///
    /// # Errors
    /// There is no such program, or the kernel refuses.
    pub fn begin_program(&self, flow: u32, side: Side, program: Program) -> Result<Running, HostsError> {
        let pair = self.plan.flows[flow as usize].pair;
        let [senders, receivers] = &self.pairs[pair as usize].namespaces;
        let namespace = if side == Side::Senders { senders } else { receivers };
        Running::begin(namespace, program)
    }

    /// Lets all hosts go. Time 0 of the plan is `epoch_ns`, nanoseconds of CLOCK_MONOTONIC.
    pub fn start(&self, epoch_ns: u64) {
        let clock = Clock::new(epoch_ns);
        self.pairs.iter().for_each(|pair| pair.receivers.start(clock));
        self.pairs.iter().for_each(|pair| pair.senders.start(clock));
    }

    /// Returns the number of flows that have sent all that they had to send.
    pub fn done(&self) -> u32 {
        self.shared.done()
    }

    /// True if a flow, by its place in the plan, has sent all that it had to send.
    pub fn is_done(&self, flow: u32) -> bool {
        self.shared.is_done(flow)
    }

    /// True if the run was stopped before the plan's end: by [`stop`](Self::stop), or by a host that could not go on.
    pub fn is_stopped(&self) -> bool {
        self.shared.is_stopped()
    }

    /// Ends the run now, before the end of the plan.
    pub fn stop(&self) {
        self.shared.stop();
    }

    /// Waits for the end; what became of the flows.
    ///
    /// # Errors
    /// A host could not go on.
    pub fn finish(mut self) -> Result<Outcome, HostsError> {
        let (sent, received) = self.join();
        let mut received = received.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut sent = sent.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (sent, received) in sent.iter_mut().zip(&mut received) {
            received.connections.clear(); // not before the senders' hosts have ended
            for flow in &mut sent.flows {
                flow.add_received(&received.datagrams);
            }
        }
        let devices = sent.iter().map(|host| host.device_dropped);
        Ok(Outcome {
            senders_cpu_s: sent.iter().map(|host| host.cpu_s).collect(),
            senders_latest_s: seconds(sent.iter().map(|host| host.latest).max().unwrap_or(0)),
            receivers_cpu_s: received.iter().map(|host| host.cpu_s).collect(),
            received_bytes: received.iter().map(|host| host.tcp_bytes).sum(),
            receivers_dropped: received.iter().map(|host| host.dropped).sum(),
            tcp_memory_share: sent.iter().filter_map(|host| host.memory_share).reduce(f64::max),
            devices_dropped: devices.chain(received.iter().map(|host| host.device_dropped)).sum(),
            flows: in_order(sent.into_iter().flat_map(|host| host.flows)),
        })
    }

    /// Waits for all hosts, the senders' first: they close their connections.
    fn join(&mut self) -> (Ended<Sent>, Ended<Received>) {
        let pairs = std::mem::take(&mut self.pairs);
        let (senders, receivers): (Vec<_>, Vec<_>) =
            pairs.into_iter().map(|pair| (pair.senders, pair.receivers)).unzip();
        let sent = senders.into_iter().map(|host| host.finish(Side::Senders)).collect();
        (sent, receivers.into_iter().map(|host| host.finish(Side::Receivers)).collect())
    }
}

/// How each of some hosts ended.
type Ended<T> = Vec<Result<T, HostsError>>;

impl Drop for Hosts {
    fn drop(&mut self) {
        self.stop();
        self.join();
    }
}

/// Flows in the order of the plan.
fn in_order(flows: impl Iterator<Item = FlowOutcome>) -> Vec<FlowOutcome> {
    let mut flows: Vec<_> = flows.collect();
    flows.sort_by_key(|flow| flow.plan);
    flows
}
