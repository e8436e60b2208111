//! The settings of the process in which hosts live.

use crate::error::{HostsError, Tried};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

/// Files that are no flow's: devices, event queues, what the caller has open, connections that are being closed.
pub(crate) const SPARE_FILES: u64 = 256;

/// Raises the limit of open files, if it is below `needed`.
pub(crate) fn allow_files(needed: u64) -> Result<(), HostsError> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let raised = Rlimit { current: Some(needed), maximum: limit.maximum.map(|most| most.max(needed)) };
        setrlimit(Resource::Nofile, raised)
            .tried_or(format!("open {needed} files"), "; raise the limit of open files (ulimit -Hn)")?;
    }
    Ok(())
}

/// Asks the kernel to kill this process when its parent dies, so that nothing is left of a run whose caller was killed.
/// Call it first of all in the child. To the kernel the parent is the thread that started the child: that thread must
/// live as long as the child is to (prctl(2), PR_SET_PDEATHSIG).
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
