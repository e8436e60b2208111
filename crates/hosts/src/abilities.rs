//! The permissions of this machine, for those who want to know before they try.

use crate::namespace::{available_controls, is_administrator, open_tun_file};
use parshall_reading::of_kernel;
use rustix::process::{getrlimit, Resource};
use rustix::thread::{capabilities, CapabilitySet};

/// The abilities that were found. Nothing is changed by looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// True if this process is the machine's administrator as far as networks are concerned, and needs no user
    /// namespace.
    pub administrator: bool,
    /// True if the kernel lets ordinary users make user namespaces; `None`: it does not report it.
    pub user_namespaces: Option<bool>,
    /// Why `/dev/net/tun` cannot be opened; `None`: it can.
    pub tun_problem: Option<String>,
    /// Congestion controls that sockets can have.
    pub congestion_controls: Vec<String>,
    /// Highest real-time priority that a thread of this process may have; 0: none.
    pub real_time_priority: u64,
    /// True if this process may load BPF programs.
    pub bpf: bool,
    /// Most files that this process may have open; `None`: no limit.
    pub open_files: Option<u64>,
}

impl Abilities {
    /// Looks.
    pub fn of_this_machine() -> Self {
        Self {
            administrator: is_administrator(),
            user_namespaces: user_namespaces(),
            tun_problem: open_tun_file().err().map(|error| error.to_string()),
            congestion_controls: available_controls().unwrap_or_default(),
            real_time_priority: real_time_priority(),
            bpf: has(CapabilitySet::BPF) || has(CapabilitySet::SYS_ADMIN),
            open_files: getrlimit(Resource::Nofile).maximum,
        }
    }

    /// True if hosts can begin here, as far as can be known without trying.
    pub fn may_begin(&self) -> bool {
        self.tun_problem.is_none() && (self.administrator || self.user_namespaces != Some(false))
    }
}

/// user_namespaces(7), and what distributions added: Debian's `unprivileged_userns_clone`, Ubuntu's restriction by
/// AppArmor.
fn user_namespaces() -> Option<bool> {
    let number = |name: &str| of_kernel(name).ok()?.trim().parse::<u64>().ok();
    let most = number("/proc/sys/user/max_user_namespaces")?;
    let debian = number("/proc/sys/kernel/unprivileged_userns_clone").unwrap_or(1);
    let restricted = number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").unwrap_or(0);
    Some(most > 0 && debian > 0 && restricted == 0)
}

fn has(capability: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(capability))
}

/// sched(7): CAP_SYS_NICE lifts the limit RLIMIT_RTPRIO.
fn real_time_priority() -> u64 {
    const HIGHEST: u64 = 99;
    if has(CapabilitySet::SYS_NICE) {
        return HIGHEST;
    }
    getrlimit(Resource::Rtprio).current.unwrap_or(HIGHEST).min(HIGHEST)
}
