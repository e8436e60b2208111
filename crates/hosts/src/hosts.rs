//! Both hosts, from their beginning to their end.

use crate::clock::{seconds, Clock};
use crate::error::{HostsError, Tried};
use crate::memory::TcpMemory;
use crate::namespace::{become_host, enter_user_namespace, own_namespace, read_sysctl, Device, Side};
use crate::plan::Plan;
use crate::programs::{Program, Running};
use crate::receiver::{Received, Receivers};
use crate::sender::{FlowOutcome, Senders, Sent};
use parshall_records::{FlowSampleRow, RoundRow, TransferRow};
use rustix::event::{eventfd, EventfdFlags};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use rustix::time::{clock_gettime, ClockId};
use std::iter;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::{self, JoinHandle};

/// A row of the records, as it comes.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// Of `flow_samples`.
    FlowSample(FlowSampleRow),
    /// Of `rounds`.
    Round(RoundRow),
    /// Of `transfers`.
    Transfer(TransferRow),
}

/// The devices that all packets of the hosts pass: nonblocking, with virtio headers of 10 bytes before each packet, which
/// may be one of many segments and without a checksum.
#[derive(Debug)]
pub struct Tuns {
    /// What is written to it arrives at the senders' host, and what that host sends is read from it.
    pub senders: OwnedFd,
    /// That of the receivers' host.
    pub receivers: OwnedFd,
}

/// What the hosts know in the end.
#[derive(Debug)]
pub struct Outcome {
    /// The flows in the order of their numbers.
    pub flows: Vec<FlowOutcome>,
    /// CPU time of the senders' host of each pair, in seconds; what the kernel does in its system calls is part of it.
    pub senders_cpu_s: Vec<f64>,
    /// CPU time of the receivers' hosts, in seconds.
    pub receivers_cpu_s: Vec<f64>,
    /// How late a senders' host did what was due since the warm-up (transfers, datagrams, readings), at most, in seconds.
    pub senders_latest_s: f64,
    /// Payload that the receivers' hosts took from their TCP sockets since the warm-up, in bytes.
    pub received_bytes: u64,
    /// Datagrams that the receivers' hosts had no room for; `None`: the kernel does not say.
    pub receivers_dropped: Option<u64>,
    /// Packets that the TUN devices dropped, as when nobody reads them fast enough; `None`: the kernel does not say.
    pub devices_dropped: Option<u64>,
    /// The most of the kernel's memory for TCP that was in use, by whomever, as a share of what may be before it saves: then windows shrink, and
    /// send buffers do not grow (tcp(7), tcp_mem); `None`: the kernel does not say.
    pub tcp_memory_share: Option<f64>,
}

/// What all hosts and their owner look at.
#[derive(Debug)]
pub(crate) struct Shared {
    stop: AtomicBool,
    /// Connections side by side whose source has more to send, of each flow of the plan.
    left: Vec<AtomicU32>,
    /// Flows that have none.
    done: AtomicU32,
    pub(crate) tcp_memory: Option<TcpMemory>,
    /// Wakes all hosts; never read, so that it wakes all.
    pub(crate) wake: OwnedFd,
}

impl Shared {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// A source of that flow has nothing more to send.
    pub(crate) fn one_is_done(&self, flow: u32) {
        if self.left[flow as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes()); // it cannot be full: stop is all that writes
    }
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

#[derive(Debug)]
struct Host<T> {
    thread: JoinHandle<Result<T, HostsError>>,
    start: mpsc::Sender<Clock>,
}

impl Hosts {
    /// Makes all hosts. Rows go to `rows` from [`start`](Self::start) on.
    ///
    /// Without the capabilities of root the process is moved to a user namespace, for ever, and must have a single thread.
    ///
    /// # Errors
    /// The plan asks for what cannot be done here, or the kernel refuses.
    pub fn begin(plan: Plan, rows: mpsc::Sender<Row>) -> Result<Self, HostsError> {
        plan.check(&available_controls()?)?;
        allow_files(2 * plan.connections() as u64 + SPARE_FILES * plan.pairs.len() as u64)?;
        enter_user_namespace()?;
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).tried("make an eventfd")?;
        let left = plan.flows.iter().map(|flow| AtomicU32::new(flow.transport.streams())).collect();
        let (stop, done) = (AtomicBool::new(false), AtomicU32::new(0));
        let tcp_memory = TcpMemory::of_this_machine();
        let shared = Arc::new(Shared { stop, left, done, tcp_memory, wake });
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
        let (told, heard) = mpsc::channel();
        let (receivers, theirs) = spawn((Side::Receivers, pair), &self.plan, {
            let (plan, shared) = (self.plan.clone(), self.shared.clone());
            move |device| Receivers::new(&plan, pair, shared, told, device)
        })?;
        let (senders, ours) = spawn((Side::Senders, pair), &self.plan, {
            let (plan, shared) = (self.plan.clone(), self.shared.clone());
            move |device| Senders::new(&plan, pair, shared, (rows, heard), device)
        })?;
        self.pairs.push(Pair { namespaces: [ours.namespace, theirs.namespace], senders, receivers });
        Ok(Tuns { senders: ours.tun, receivers: theirs.tun })
    }

    /// The devices of each pair, once; `None`: they were taken.
    pub fn take_tuns(&mut self) -> Option<Vec<Tuns>> {
        self.tuns.take()
    }

    /// Starts a program at one of the hosts of a flow; it is killed when it is dropped, and so is all that it has started.
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
        // A host that has ended does not listen; `finish` says why.
        for Pair { receivers, .. } in &self.pairs {
            let _ = receivers.start.send(clock);
        }
        for Pair { senders, .. } in &self.pairs {
            let _ = senders.start.send(clock);
        }
    }

    /// How many flows have sent all that they had to send.
    pub fn done(&self) -> u32 {
        self.shared.done.load(Ordering::Acquire)
    }

    /// Whether a flow, by its place in the plan, has sent all that it had to send.
    pub fn is_done(&self, flow: u32) -> bool {
        self.shared.left[flow as usize].load(Ordering::Acquire) == 0
    }

    /// Ends the run now, whatever the plan says.
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

    /// Waits for all hosts.
    fn join(&mut self) -> (Ended<Sent>, Ended<Received>) {
        let pairs = std::mem::take(&mut self.pairs);
        let (senders, receivers): (Vec<_>, Vec<_>) =
            pairs.into_iter().map(|pair| (pair.senders, pair.receivers)).unzip();
        let mut sent = Vec::new();
        for host in senders {
            let ended = join(host, Side::Senders);
            if ended.is_err() {
                self.stop();
            }
            sent.push(ended);
        }
        (sent, receivers.into_iter().map(|host| join(host, Side::Receivers)).collect())
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

/// A host at work: it runs until the plan's end, or until it is stopped.
pub(crate) trait Work {
    type Result: Send + 'static;

    fn run(self, clock: Clock) -> Result<Self::Result, HostsError>;
}

/// What a host has when it is ready: its TUN device, and its network namespace.
struct Made {
    tun: OwnedFd,
    namespace: OwnedFd,
}

fn spawn<W: Work>(
    (side, pair): (Side, u32),
    plan: &Arc<Plan>,
    prepare: impl FnOnce(Device) -> Result<W, HostsError> + Send + 'static,
) -> Result<(Host<W::Result>, Made), HostsError> {
    let (ready, is_ready) = mpsc::channel::<Result<Made, HostsError>>();
    let (start, started) = mpsc::channel::<Clock>();
    let plan = plan.clone();
    let body = move || {
        let prepared = become_host(side, plan.mtu, &plan.pairs[pair as usize])
            .and_then(|(tun, device)| Ok((Made { tun, namespace: own_namespace()? }, prepare(device)?)));
        let work = match prepared {
            Ok((made, work)) => {
                let _ = ready.send(Ok(made));
                work
            }
            Err(error) => {
                let _ = ready.send(Err(error));
                return Err(HostsError::Died(side.name()));
            }
        };
        drop(plan);
        match started.recv() {
            Ok(clock) => work.run(clock),
            Err(_) => Err(HostsError::Died(side.name())), // it was never started
        }
    };
    let who = side.name().trim_end_matches('\'');
    let name = if pair == 0 { format!("hosts-{who}") } else { format!("{who}-{pair}") }; // the kernel keeps 15 bytes
    let thread = thread::Builder::new().name(name).spawn(body).tried("start a thread")?;
    let made = is_ready.recv().map_err(|_| HostsError::Died(side.name()))??;
    Ok((Host { thread, start }, made))
}

fn join<T>(host: Host<T>, side: Side) -> Result<T, HostsError> {
    let Host { thread, start } = host;
    drop(start); // a host that was never started ends
    thread.join().unwrap_or(Err(HostsError::Died(side.name())))
}

/// The congestion controls that sockets can have.
pub(crate) fn available_controls() -> Result<Vec<String>, HostsError> {
    let names = read_sysctl("net.ipv4.tcp_available_congestion_control")
        .tried("read the sysctl net.ipv4.tcp_available_congestion_control")?;
    Ok(names.split_whitespace().map(String::from).collect())
}

/// CPU time of the calling thread.
pub(crate) fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Files that are no flow's: devices, event queues, what the caller has open, connections that are being closed.
const SPARE_FILES: u64 = 256;

/// Each connection has a socket at both ends.
fn allow_files(needed: u64) -> Result<(), HostsError> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let raised = Rlimit { current: Some(needed), maximum: limit.maximum.map(|most| most.max(needed)) };
        setrlimit(Resource::Nofile, raised)
            .tried_or(format!("open {needed} files"), "; raise the limit of open files (ulimit -Hn)")?;
    }
    Ok(())
}

/// Asks the kernel to kill this process when its parent dies, so that nothing is left of a run whose caller was killed.
/// Call it first of all in the child. To the kernel the parent is the thread that started the child: that thread must live
/// as long as the child is to (prctl(2), PR_SET_PDEATHSIG).
///
/// # Errors
/// The parent (`parent_id`) is dead already, or the kernel refuses.
pub fn die_with_parent(parent_id: u32) -> Result<(), HostsError> {
    use rustix::process::{getppid, set_parent_process_death_signal, Signal};
    set_parent_process_death_signal(Some(Signal::KILL)).tried("die with the parent process")?;
    let parent = getppid().map_or(0, |id| id.as_raw_nonzero().get());
    if parent.cast_unsigned() == parent_id {
        Ok(())
    } else {
        Err(HostsError::plan("parent", parent.to_string(), format!("the parent process is {parent_id}")))
    }
}
