//! Namespaces: places of our own for links, routes, sockets and sysctls (namespaces(7), user_namespaces(7)).
//!
//! A user namespace makes an ordinary user the administrator of what is made within it. It is entered first, by a
//! process with a single thread; with the capabilities of root none is needed. Then each host's thread takes a network
//! namespace.

use crate::error::{HostsError, Tried};
use crate::netlink::{Netlink, Prefix, RouteOptions};
use crate::plan::{address, FlowPlan, Plan, TcpOptions, Transport, PREFIX_BITS, RECEIVERS, SENDERS};
use crate::sys;
use parshall_reading::of_kernel;
use rustix::fs::{openat, Mode, OFlags, CWD};
use rustix::net::{netdevice, AddressFamily, SocketType};
use rustix::process::{getegid, geteuid};
use rustix::thread::{capabilities, set_current_timer_slack, CapabilitySet};
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

/// Packets that wait in a TUN device for its reader. A device that is full drops packets silently, so
/// there is room for more than windows are long.
const TUN_QUEUE_PACKETS: u32 = 20_000;

/// The name of the device within its namespace.
const TUN_NAME: &str = "parshall";

/// Sysctls of hosts, unless the plan has others (Documentation/networking/ip-sysctl.rst).
const SYSCTLS: [(&str, &str); 7] = [
    // Many connections may open at once: no SYN finds a full queue.
    ("net.core.somaxconn", "65535"),
    ("net.ipv4.tcp_max_syn_backlog", "65535"),
    // A flow may open a connection for each of many transfers: its address has enough ports, and uses those again whose
    // connections were closed more than a second ago.
    ("net.ipv4.ip_local_port_range", "1024 65535"),
    ("net.ipv4.tcp_tw_reuse", "1"),
    // A window ends at the limits of the scenario, not at the 4 and 6 MB of ordinary hosts: 128 MB fit, as of 10 Gbit/s
    // over 100 ms.
    ("net.ipv4.tcp_wmem", "4096 16384 268435456"),
    ("net.ipv4.tcp_rmem", "4096 131072 268435456"),
    // No connection starts from what an earlier one learned.
    ("net.ipv4.tcp_no_metrics_save", "1"),
];

/// The value of a sysctl that all hosts have unless the plan has another; `None`: the kernel's for a new namespace.
pub fn usual_sysctl(name: &str) -> Option<&'static str> {
    SYSCTLS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// One of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The host whose sockets send.
    Senders,
    /// The host whose sockets receive.
    Receivers,
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Senders => "senders'",
            Self::Receivers => "receivers'",
        }
    }

    /// The network that is its own, and the other one.
    pub(crate) fn networks(self) -> (Ipv4Addr, Ipv4Addr) {
        match self {
            Self::Senders => (SENDERS, RECEIVERS),
            Self::Receivers => (RECEIVERS, SENDERS),
        }
    }
}

/// A host's TUN device, as its routes and counters know it.
pub(crate) struct Device {
    netlink: Netlink,
    link: u32,
}

impl Device {
    /// Routes of their own for the flows that need them.
    pub(crate) fn reach_flows(&mut self, plan: &Plan, pair: u32, side: Side) -> Result<(), HostsError> {
        let (own, other) = side.networks();
        for (flow, FlowPlan { transport, .. }) in plan.of_pair(pair) {
            let options = match transport {
                Transport::Tcp(TcpOptions { initial_window: Some(packets), .. }) if side == Side::Senders => {
                    RouteOptions { initial_window: Some(*packets), ..RouteOptions::default() }
                }
                Transport::Programs { initial_window, congestion_control } => RouteOptions {
                    initial_window: *initial_window,
                    congestion_control: congestion_control.as_deref().map(String::from),
                    from: Some(address(own, flow)),
                },
                _ => continue,
            };
            self.netlink.reach(Prefix(address(other, flow), 32), self.link, options)?;
        }
        Ok(())
    }

    /// Packets that it dropped, in either direction; `None`: the kernel does not report it.
    pub(crate) fn dropped(&mut self) -> Option<u64> {
        self.netlink.dropped(self.link)
    }
}

const ALLOW_USERS: &str =
    "; allow it (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns), or be root";

/// True if this process may make network namespaces as it is.
pub(crate) fn is_administrator() -> bool {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

/// Makes this process the administrator of a user namespace, unless it is one already.
pub(crate) fn enter_user_namespace() -> Result<(), HostsError> {
    if is_administrator() {
        return Ok(());
    }
    let threads = fs::read_dir("/proc/self/task").tried("count the threads of this process")?.count();
    if threads > 1 {
        return Err(HostsError::Threads(threads));
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    sys::unshare(libc::CLONE_NEWUSER).tried_or("make a user namespace", ALLOW_USERS)?;
    // user_namespaces(7): an unprivileged process must deny setgroups before it maps its group.
    for (file, text) in [
        ("setgroups", "deny".to_string()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text)
            .tried_or(format!("write /proc/self/{file}"), ALLOW_USERS)?;
    }
    Ok(())
}

/// Makes the calling thread a host in a network namespace of its own; its TUN device.
pub(crate) fn become_host(
    side: Side,
    mtu: u32,
    sysctls: &[(String, String)],
) -> Result<(OwnedFd, Device), HostsError> {
    sys::unshare(libc::CLONE_NEWNET)
        .tried_or("make a network namespace", "; allow it (sysctl user.max_net_namespaces), or be root")?;
    // Timers fire when they are due, not up to 50 us later (prctl(2), PR_SET_TIMERSLACK).
    set_current_timer_slack(NonZeroU64::new(1)).tried("set the timer slack of a thread")?;
    silence_ipv6()?;
    for (name, value) in SYSCTLS {
        set_sysctl(name, value)?;
    }
    for (name, value) in sysctls {
        fs::write(sysctl_path(name), value).map_err(|error| {
            let accepted = format!(
                "a value that the kernel takes ({error}) of a sysctl that each network namespace has"
            );
            HostsError::plan(format!("sysctls.{name}"), value, accepted)
        })?;
    }
    let tun = open_tun()?;
    let (loopback, link) = link_indices()?;
    let mut netlink = Netlink::open()?;
    netlink.bring_up(loopback)?;
    netlink.resize_link(link, mtu, TUN_QUEUE_PACKETS)?;
    netlink.bring_up(link)?;
    let (own, other) = side.networks();
    netlink.own(Prefix(own, PREFIX_BITS), loopback)?;
    netlink.reach(Prefix(other, PREFIX_BITS), link, RouteOptions::default())?;
    Ok((tun, Device { netlink, link }))
}

/// The network namespace of the calling thread.
pub(crate) fn own_namespace() -> Result<OwnedFd, HostsError> {
    openat(CWD, "/proc/thread-self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .tried("open a network namespace")
}

/// A TUN device whose packets have virtio headers, and may be unfinished: checksums and segments are left to the
/// reader.
fn open_tun() -> Result<OwnedFd, HostsError> {
    let tun = open_tun_file()?;
    let kind = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    sys::tun_create(tun.as_fd(), TUN_NAME, kind)
        .tried_or("make a TUN device", "; a container may forbid it")?;
    let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4;
    let with_udp = tcp | libc::TUN_F_USO4 | libc::TUN_F_USO6; // Linux 6.2 has the last two, and only together
    sys::tun_offload(tun.as_fd(), with_udp)
        .or_else(|_| sys::tun_offload(tun.as_fd(), tcp))
        .tried("ask a TUN device for unsegmented packets")?;
    Ok(tun)
}

/// The file by which TUN devices are made.
pub(crate) fn open_tun_file() -> Result<OwnedFd, HostsError> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(CWD, "/dev/net/tun", flags, Mode::empty()).tried_or(
        "open /dev/net/tun",
        "; load the module tun, and let users open the device (its usual mode is 0666)",
    )
}

/// Indices of the loopback and of the TUN device.
fn link_indices() -> Result<(u32, u32), HostsError> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None).tried("make a socket")?;
    let index = |name| netdevice::name_to_index(&socket, name).tried(format!("find the link {name}"));
    Ok((index("lo")?, index(TUN_NAME)?))
}

/// Sets a sysctl of the calling thread's network namespace.
fn set_sysctl(name: &str, value: &str) -> Result<(), HostsError> {
    fs::write(sysctl_path(name), value).tried_or(
        format!("set the sysctl {name} to {value:?} in a network namespace"),
        "; it must be one that network namespaces have of their own, and /proc/sys writable",
    )
}

/// Reads a sysctl of the calling thread's network namespace.
pub(crate) fn read_sysctl(name: &str) -> io::Result<String> {
    of_kernel(sysctl_path(name)).map(|text| text.trim().to_string())
}

/// The congestion controls that sockets can have.
pub(crate) fn available_controls() -> Result<Vec<String>, HostsError> {
    let names = read_sysctl("net.ipv4.tcp_available_congestion_control")
        .tried("read the sysctl net.ipv4.tcp_available_congestion_control")?;
    Ok(names.split_whitespace().map(String::from).collect())
}

/// True if this kernel has a sysctl of that name, with dots.
pub fn has_sysctl(name: &str) -> bool {
    sysctl_path(name).exists()
}

fn sysctl_path(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys").join(name.replace('.', "/"))
}

/// No router solicitations and the like among the packets of the scenario.
fn silence_ipv6() -> Result<(), HostsError> {
    ["all", "default"].iter().try_for_each(|which| {
        let name = format!("net.ipv6.conf.{which}.disable_ipv6");
        match set_sysctl(&name, "1") {
            Err(HostsError::Refused { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result, // a kernel without IPv6 has no such sysctl
        }
    })
}
