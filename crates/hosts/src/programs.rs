//! Programs at one of the hosts: any client, any server.
//!
//! A program has the network of its host and nothing else of it: the files are those of the machine. It is in a process
//! namespace of its own (pid_namespaces(7)), whose first process is a shell that waits for it. When the shell ends, the
//! kernel kills all that the program has started, servers in the background included; and the shell is killed when this
//! process is.

use crate::clock::Clock;
use crate::error::{HostsError, Tried};
use crate::sys;
use parshall_reading::of_kernel;
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name and its arguments; at least the name.
    pub command: Vec<String>,
    /// Environment variables beside those of this process.
    pub environment: Vec<(String, String)>,
    /// Its role: client or server.
    pub begins: Begins,
}

/// When a program has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// A client: at that time, nanoseconds of CLOCK_MONOTONIC; now, if it is past. It has our standard input and
    /// output.
    At(u64),
    /// A server: when it listens at a port. It reads nothing from our standard input, and what it prints goes to our
    /// standard error.
    Listening,
}

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit status; 128 and its number: by a signal, as shells say it.
    Itself(u8),
    /// It was killed at the end of the run.
    Killed,
}

/// A program that runs.
#[derive(Debug)]
pub struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Ended>>>,
}

/// A program is looked at so often.
const POLL: Duration = Duration::from_millis(5);

/// A server that does not listen by then may be none that ever does: it counts as begun.
const SERVER_BEGINS: Duration = Duration::from_secs(5);

/// Waits for its arguments as a program, and ends as it did. A shell that had no more to do would become the program,
/// and the first process of a namespace gets no signals but those that it asked for.
const WAITING_SHELL: [&str; 4] = ["/bin/sh", "-c", "\"$@\"; exit $?", "sh"];

impl Running {
    pub(crate) fn begin(namespace: &OwnedFd, program: Program) -> Result<Self, HostsError> {
        let name = program.command.first().cloned().unwrap_or_default();
        let namespace = namespace.try_clone().tried("hand over a network namespace")?;
        let stop = Arc::new(AtomicBool::new(false));
        let (begun, has_begun) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("program".into())
            .spawn({
                let stop = stop.clone();
                move || run(&namespace, &program, &stop, &begun)
            })
            .tried("start a thread")?;
        let mut running = Self { stop, thread: Some(thread) };
        if has_begun.recv().is_ok() {
            return Ok(running);
        }
        let early = |ended| io::Error::other(format!("it ended before it listened at a port ({ended:?})"));
        Err(running.join().map_or_else(|error| error, early)).tried(format!("run {name}"))
    }

    /// True if it has ended.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Kills it, unless it has ended; how it ended.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn end(mut self) -> Result<Ended, HostsError> {
        self.join().tried("wait for a program")
    }

    fn join(&mut self) -> io::Result<Ended> {
        self.stop.store(true, Ordering::Release);
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_else(|| Err(io::Error::other("its thread ended unexpectedly")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// The program's thread: its namespaces are those that the program gets.
fn run(
    namespace: &OwnedFd,
    program: &Program,
    stop: &AtomicBool,
    begun: &mpsc::Sender<()>,
) -> io::Result<Ended> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    sys::unshare(libc::CLONE_NEWPID)?;
    let before = listening();
    if let Begins::At(at_ns) = program.begins {
        let _ = begun.send(()); // who begins it has more to do until then
        thread::sleep(Duration::from_nanos(Clock::new(at_ns).now().min(0).unsigned_abs()));
    }
    let mut child = start(program)?;
    let started = Instant::now();
    let mut waits = program.begins == Begins::Listening;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Itself(exit_status(status)));
        }
        if stop.load(Ordering::Acquire) {
            child.kill()?;
            child.wait()?;
            return Ok(Ended::Killed);
        }
        if waits && (!listening().is_subset(&before) || started.elapsed() > SERVER_BEGINS) {
            waits = false;
            let _ = begun.send(());
        }
        thread::sleep(POLL);
    }
}

fn start(program: &Program) -> io::Result<Child> {
    let [shell, arguments @ ..] = WAITING_SHELL;
    let mut command = Command::new(shell);
    command.args(arguments).args(&program.command).envs(program.environment.iter().cloned());
    if program.begins == Begins::Listening {
        command.stdin(Stdio::null()).stdout(io::stderr().as_fd().try_clone_to_owned()?);
    }
    sys::die_with_starter(&mut command);
    command.spawn()
}

fn exit_status(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|number| 128 + number);
    status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// The sockets of the calling thread's network namespace that wait for somebody, as the kernel lists them
/// (proc_net(5)): protocol and local address.
fn listening() -> BTreeSet<(&'static str, String)> {
    let mut all = BTreeSet::new();
    for (protocol, state) in
        [("tcp", LISTENS), ("tcp6", LISTENS), ("udp", UNCONNECTED), ("udp6", UNCONNECTED)]
    {
        let text = of_kernel(format!("/proc/thread-self/net/{protocol}")).unwrap_or_default();
        let sockets = text.lines().skip(1).filter_map(|line| {
            let mut words = line.split_whitespace();
            let (address, _, found) = (words.nth(1)?, words.next()?, words.next()?);
            (found == state).then(|| (protocol, address.to_string()))
        });
        all.extend(sockets);
    }
    all
}

/// TCP_LISTEN and TCP_CLOSE of include/net/tcp_states.h.
const LISTENS: &str = "0A";
const UNCONNECTED: &str = "07";
