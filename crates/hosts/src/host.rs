//! One host: a thread in a network namespace of its own.

use crate::clock::Clock;
use crate::error::{HostsError, Tried};
use crate::namespace::{become_host, own_namespace, Device, Side};
use crate::plan::Plan;
use crate::shared::Shared;
use rustix::time::{clock_gettime, ClockId};
use std::os::fd::OwnedFd;
use std::sync::{mpsc, Arc};
use std::thread::{self, JoinHandle};

/// The task of a host. It runs until the plan's end, or until it is stopped.
pub(crate) trait Work {
    type Result: Send + 'static;

    fn run(self, clock: Clock) -> Result<Self::Result, HostsError>;
}

/// A host that waits for its start, or runs.
#[derive(Debug)]
pub(crate) struct Host<T> {
    thread: JoinHandle<Result<T, HostsError>>,
    start: mpsc::Sender<Clock>,
}

/// A host's TUN device, and its network namespace.
pub(crate) struct Made {
    pub(crate) tun: OwnedFd,
    pub(crate) namespace: OwnedFd,
}

impl<T: Send + 'static> Host<T> {
    /// A host of one side of a pair. `prepare` makes its task, in its namespace.
    pub(crate) fn begin<W: Work<Result = T>>(
        (side, pair): (Side, u32),
        plan: &Arc<Plan>,
        shared: &Arc<Shared>,
        prepare: impl FnOnce(Device) -> Result<W, HostsError> + Send + 'static,
    ) -> Result<(Self, Made), HostsError> {
        let (ready, is_ready) = mpsc::channel::<Result<Made, HostsError>>();
        let (start, started) = mpsc::channel::<Clock>();
        let (plan, ending) = (plan.clone(), Ending { shared: shared.clone(), is_well: false });
        let body = move || {
            let ending = ending;
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
                Ok(clock) => ending.of(work.run(clock)),
                Err(_) => Err(HostsError::Died(side.name())), // it was never started
            }
        };
        let who = side.name().trim_end_matches('\'');
        // The kernel keeps 15 bytes of it.
        let name = if pair == 0 { format!("hosts-{who}") } else { format!("{who}-{pair}") };
        let thread = thread::Builder::new().name(name).spawn(body).tried("start a thread")?;
        let made = is_ready.recv().map_err(|_| HostsError::Died(side.name()))??;
        Ok((Self { thread, start }, made))
    }

    /// Starts its task.
    pub(crate) fn start(&self, clock: Clock) {
        let _ = self.start.send(clock); // of a host that has ended, `finish` returns the error
    }

    /// Waits for its end. A host that was never started ends now.
    pub(crate) fn finish(self, side: Side) -> Result<T, HostsError> {
        let Self { thread, start } = self;
        drop(start);
        thread.join().unwrap_or(Err(HostsError::Died(side.name())))
    }
}

/// Stops all hosts when one of them ends with an error or a panic: the others would run to the planned end for nothing.
struct Ending {
    shared: Arc<Shared>,
    is_well: bool,
}

impl Ending {
    fn of<T>(mut self, result: Result<T, HostsError>) -> Result<T, HostsError> {
        self.is_well = result.is_ok();
        result
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if !self.is_well {
            self.shared.stop();
        }
    }
}

/// CPU time of the calling thread.
pub(crate) fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
