//! Both hosts, from their beginning to their end.

use crate::clock::{seconds, Clock};
use crate::error::{HostsError, Tried};
use crate::namespace::{become_host, enter_user_namespace, own_namespace, read_sysctl, Device, Side};
use crate::plan::Plan;
use crate::programs::{Program, Running};
use crate::receiver::{Received, Receivers};
use crate::sender::{FlowOutcome, Senders, Sent};
use parshall_records::{FlowSampleRow, RoundRow, TransferRow};
use rustix::event::{eventfd, EventfdFlags};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use rustix::time::{clock_gettime, ClockId};
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

/// What both hosts know in the end.
#[derive(Debug)]
pub struct Outcome {
    /// The flows in the order of their numbers.
    pub flows: Vec<FlowOutcome>,
    /// CPU time of the senders' host, in seconds; what the kernel does in its system calls is part of it.
    pub senders_cpu_s: f64,
    /// CPU time of the receivers' host, in seconds.
    pub receivers_cpu_s: f64,
    /// How late the senders' host did what was due since the warm-up (transfers, datagrams, readings), at most, in seconds.
    pub senders_latest_s: f64,
    /// Payload that the receivers' host took from its TCP sockets since the warm-up, in bytes.
    pub received_bytes: u64,
    /// Datagrams that the receivers' host had no room for; `None`: the kernel does not say.
    pub receivers_dropped: Option<u64>,
    /// Packets that both TUN devices dropped, as when nobody reads them fast enough; `None`: the kernel does not say.
    pub devices_dropped: Option<u64>,
}

/// What both threads and their owner look at.
#[derive(Debug)]
pub(crate) struct Shared {
    stop: AtomicBool,
    /// Flows whose source has nothing more to send.
    done: AtomicU32,
    /// Wakes both hosts; never read, so that it wakes both.
    pub(crate) wake: OwnedFd,
}

impl Shared {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    pub(crate) fn one_is_done(&self) {
        self.done.fetch_add(1, Ordering::AcqRel);
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes()); // it cannot be full: stop is all that writes
    }
}

/// Two hosts that wait for their start, or run.
#[derive(Debug)]
pub struct Hosts {
    shared: Arc<Shared>,
    tuns: Option<Tuns>,
    /// Network namespaces of senders and receivers.
    namespaces: [OwnedFd; 2],
    senders: Option<Host<Sent>>,
    receivers: Option<Host<Received>>,
}

#[derive(Debug)]
struct Host<T> {
    thread: JoinHandle<Result<T, HostsError>>,
    start: mpsc::Sender<Clock>,
}

impl Hosts {
    /// Makes both hosts. Rows go to `rows` from [`start`](Self::start) on.
    ///
    /// Without the capabilities of root the process is moved to a user namespace, for ever, and must have a single thread.
    ///
    /// # Errors
    /// The plan asks for what cannot be done here, or the kernel refuses.
    pub fn begin(plan: Plan, rows: mpsc::Sender<Row>) -> Result<Self, HostsError> {
        plan.check(&available_controls()?)?;
        allow_files(2 * plan.flows.len() as u64 + SPARE_FILES)?;
        enter_user_namespace()?;
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).tried("make an eventfd")?;
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), done: AtomicU32::new(0), wake });
        let plan = Arc::new(plan);
        let (receivers, theirs) = spawn(Side::Receivers, &plan, {
            let (plan, shared) = (plan.clone(), shared.clone());
            move |device| Receivers::new(&plan, shared, device)
        })?;
        let (senders, ours) = spawn(Side::Senders, &plan, {
            let (plan, shared) = (plan.clone(), shared.clone());
            move |device| Senders::new(&plan, shared, rows, device)
        })?;
        let tuns = Some(Tuns { senders: ours.tun, receivers: theirs.tun });
        let namespaces = [ours.namespace, theirs.namespace];
        Ok(Self { shared, tuns, namespaces, senders: Some(senders), receivers: Some(receivers) })
    }

    /// The devices, once; `None`: they were taken.
    pub fn take_tuns(&mut self) -> Option<Tuns> {
        self.tuns.take()
    }

    /// Starts a program at one of the hosts; it is killed when it is dropped, and so is all that it has started.
    ///
    /// # Errors
    /// There is no such program, or the kernel refuses.
    pub fn begin_program(&self, side: Side, program: Program) -> Result<Running, HostsError> {
        let [senders, receivers] = &self.namespaces;
        let namespace = if side == Side::Senders { senders } else { receivers };
        Running::begin(namespace, program)
    }

    /// Lets both hosts go. Time 0 of the plan is `epoch_ns`, nanoseconds of CLOCK_MONOTONIC.
    pub fn start(&self, epoch_ns: u64) {
        let clock = Clock::new(epoch_ns);
        // A host that has ended does not listen; `finish` says why.
        let _ = self.receivers.as_ref().map(|host| host.start.send(clock));
        let _ = self.senders.as_ref().map(|host| host.start.send(clock));
    }

    /// How many flows have sent all that they had to send.
    pub fn done(&self) -> u32 {
        self.shared.done.load(Ordering::Acquire)
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
        let sent = join(self.senders.take(), Side::Senders);
        if sent.is_err() {
            self.stop();
        }
        let received = join(self.receivers.take(), Side::Receivers)?;
        let Sent { mut flows, cpu_s, device_dropped, latest } = sent?;
        drop(received.connections); // not before the senders' host has ended
        for flow in &mut flows {
            flow.add_received(&received.datagrams);
        }
        Ok(Outcome {
            flows,
            senders_cpu_s: cpu_s,
            senders_latest_s: seconds(latest),
            receivers_cpu_s: received.cpu_s,
            received_bytes: received.tcp_bytes,
            receivers_dropped: received.dropped,
            devices_dropped: device_dropped.zip(received.device_dropped).map(|(ours, theirs)| ours + theirs),
        })
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.stop();
        let _ = join(self.senders.take(), Side::Senders);
        let _ = join(self.receivers.take(), Side::Receivers);
    }
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
    side: Side,
    plan: &Arc<Plan>,
    prepare: impl FnOnce(Device) -> Result<W, HostsError> + Send + 'static,
) -> Result<(Host<W::Result>, Made), HostsError> {
    let (ready, is_ready) = mpsc::channel::<Result<Made, HostsError>>();
    let (start, started) = mpsc::channel::<Clock>();
    let plan = plan.clone();
    let body = move || {
        let prepared = become_host(side, plan.mtu, &plan.sysctls)
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
    let name = format!("hosts-{}", side.name().trim_end_matches('\''));
    let thread = thread::Builder::new().name(name).spawn(body).tried("start a thread")?;
    let made = is_ready.recv().map_err(|_| HostsError::Died(side.name()))??;
    Ok((Host { thread, start }, made))
}

fn join<T>(host: Option<Host<T>>, side: Side) -> Result<T, HostsError> {
    let Host { thread, start } = host.ok_or(HostsError::Died(side.name()))?;
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

/// Each flow has a socket at both ends.
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
