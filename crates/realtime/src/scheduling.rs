//! Real-time priority for the thread of an emulation: the one file with calls that the compiler cannot check.

#![allow(unsafe_code)] // sched_setscheduler: rustix has no such call

use rustix::thread::{
    current_timer_slack, sched_getaffinity, sched_setaffinity, set_current_timer_slack, CpuSet,
};
use std::io;
use std::num::NonZeroU64;

/// The scheduling of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// `SCHED_FIFO`: before all usual threads.
    RealTime,
    /// As all others, because the kernel refused more.
    Usual,
}

/// Low among real-time priorities: before all usual threads, behind those of the kernel.
const LEVEL: libc::c_int = 10;

/// Gives the thread back what it had when this ends.
#[derive(Debug)]
pub(crate) struct Scheduling {
    pub(crate) priority: Priority,
    /// Policy and level before, if real-time priority took their place.
    before: Option<(libc::c_int, libc::c_int)>,
    slack: Option<NonZeroU64>,
    /// The CPUs on which it might run, if it was tied to one.
    cpus: Option<CpuSet>,
}

impl Scheduling {
    /// Tries to give this thread real-time priority. Without it, at least its sleeps end on time: the kernel lengthens
    /// those of usual threads by up to 50 us (`PR_SET_TIMERSLACK`). With `cpu` the thread runs there alone, if the
    /// kernel permits.
    pub(crate) fn begin(cpu: Option<usize>) -> Self {
        let cpus = cpu.and_then(tie_to);
        let slack = current_timer_slack().ok().and_then(NonZeroU64::new);
        let _ = set_current_timer_slack(Some(NonZeroU64::MIN)); // where it is refused, lateness is measured
        let before = schedule_of_this_thread().ok();
        let granted = schedule(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, LEVEL).is_ok();
        let priority = if granted { Priority::RealTime } else { Priority::Usual };
        Self { priority, before: before.filter(|_| granted), slack, cpus }
    }
}

impl Drop for Scheduling {
    fn drop(&mut self) {
        if let Some((policy, level)) = self.before {
            let _ = schedule(policy, level); // giving up a priority is always allowed
        }
        let _ = set_current_timer_slack(self.slack);
        let _ = self.cpus.map(|cpus| sched_setaffinity(None, &cpus));
    }
}

/// Ties this thread to a CPU; those on which it might run before, if that was possible.
fn tie_to(cpu: usize) -> Option<CpuSet> {
    let before = sched_getaffinity(None).ok()?;
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).ok().map(|()| before)
}

fn schedule(policy: libc::c_int, level: libc::c_int) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: level };
    // SAFETY: the call reads `parameters`, which lives until it returns, and keeps no pointer; 0 is this thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The policy of this thread, and its level.
fn schedule_of_this_thread() -> io::Result<(libc::c_int, libc::c_int)> {
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the calls write `parameters`, which lives until they return; 0 is this thread.
    let (policy, read) =
        unsafe { (libc::sched_getscheduler(0), libc::sched_getparam(0, &raw mut parameters)) };
    if policy < 0 || read < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((policy, parameters.sched_priority))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_back_the_policy_that_it_had() {
        let policy = || schedule_of_this_thread().unwrap().0;
        schedule(libc::SCHED_BATCH, 0).unwrap(); // every thread may
        let scheduling = Scheduling::begin(None);
        let during =
            if scheduling.priority == Priority::RealTime { libc::SCHED_FIFO } else { libc::SCHED_BATCH };
        assert_eq!(policy() & !libc::SCHED_RESET_ON_FORK, during);
        drop(scheduling);
        assert_eq!(policy(), libc::SCHED_BATCH);
    }

    #[test]
    fn a_thread_that_is_tied_to_a_cpu_is_let_go_again() {
        let cpus = || sched_getaffinity(None).unwrap();
        let before = cpus();
        let cpu = (0..CpuSet::MAX_CPU).rfind(|&cpu| before.is_set(cpu)).unwrap();
        let scheduling = Scheduling::begin(Some(cpu));
        assert!(cpus().count() == 1 && cpus().is_set(cpu));
        drop(scheduling);
        assert!(cpus() == before);
    }
}
