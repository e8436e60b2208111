//! Sockets of both hosts: nonblocking, of one flow's address, with the options that the plan asks for.

use crate::error::{HostsError, Tried};
use crate::sys;
use rustix::io::Result;
use rustix::net::sockopt::{
    set_ip_tos, set_socket_linger, set_socket_recv_buffer_size, set_socket_recv_buffer_size_force,
    set_socket_reuseaddr, set_socket_send_buffer_size, set_socket_send_buffer_size_force,
    socket_recv_buffer_size, socket_send_buffer_size,
};
use rustix::net::{bind, socket_with, AddressFamily, SocketAddrV4, SocketFlags, SocketType};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Packets of this socket have this differentiated services code point (RFC 2474); the ECN field is the kernel's.
pub(crate) fn set_dscp(socket: &OwnedFd, dscp: u8) -> std::result::Result<(), HostsError> {
    if dscp == 0 {
        return Ok(());
    }
    set_ip_tos(socket, dscp << 2).tried("set IP_TOS")
}

/// A nonblocking socket at an address; port 0: whichever is free.
pub(crate) fn open(
    kind: SocketType,
    address: Ipv4Addr,
    port: u16,
) -> std::result::Result<OwnedFd, HostsError> {
    let open = || {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, kind, flags, None)?;
        if port != 0 {
            set_socket_reuseaddr(&socket, true)?;
        } else if kind == SocketType::STREAM {
            // The port is chosen when the socket connects, and only has to differ for the same two addresses (ip(7)).
            let on = 1_i32.to_ne_bytes();
            sys::set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &on)?;
        }
        bind(&socket, &SocketAddrV4::new(address, port))?;
        Ok::<_, std::io::Error>(socket)
    };
    open().tried(format!("make a socket at {address}, port {port}"))
}

/// Sets the end of a connection whose socket is closed, also because its process was killed. `now`: it is gone at once, with
/// all that it has not sent (SO_LINGER of 0 s, socket(7)). Else the kernel goes on sending for minutes, to a host that is gone,
/// and the data stays in the memory that all TCP of the machine shares, and the network namespace with it. Sockets that a
/// listening one accepts have the same.
pub(crate) fn end_when_closed(socket: &OwnedFd, now: bool) -> std::result::Result<(), HostsError> {
    set_socket_linger(socket, now.then_some(Duration::ZERO)).tried("set SO_LINGER")
}

/// SO_SNDBUF, in the kernel's memory.
pub(crate) fn set_send_buffer(socket: &OwnedFd, bytes: u32) -> std::result::Result<(), HostsError> {
    let set = || {
        set_socket_send_buffer_size_force(socket, half(bytes))
            .or_else(|_| set_socket_send_buffer_size(socket, half(bytes)))
    };
    holds("send", bytes, set(), socket_send_buffer_size(socket), "; raise the sysctl net.core.wmem_max")
}

/// SO_RCVBUF, in the kernel's memory.
pub(crate) fn set_receive_buffer(socket: &OwnedFd, bytes: u32) -> std::result::Result<(), HostsError> {
    let set = || {
        set_socket_recv_buffer_size_force(socket, half(bytes))
            .or_else(|_| set_socket_recv_buffer_size(socket, half(bytes)))
    };
    holds("receive", bytes, set(), socket_recv_buffer_size(socket), "; raise the sysctl net.core.rmem_max")
}

/// As much of a receive buffer as is permitted, up to `bytes`.
pub(crate) fn enlarge_receive_buffer(socket: &OwnedFd, bytes: u32) -> std::result::Result<(), HostsError> {
    set_socket_recv_buffer_size_force(socket, half(bytes))
        .or_else(|_| set_socket_recv_buffer_size(socket, half(bytes)))
        .tried("enlarge a receive buffer")
}

/// The kernel doubles the size that is set, to have room for its own data (socket(7), SO_RCVBUF).
fn half(bytes: u32) -> usize {
    bytes.div_ceil(2) as usize
}

/// Whether a buffer became as large as was asked for: what an ordinary user may have ends at a sysctl, silently.
fn holds(
    which: &str,
    bytes: u32,
    set: Result<()>,
    got: Result<usize>,
    remedy: &'static str,
) -> std::result::Result<(), HostsError> {
    let what = format!("make a {which} buffer of {bytes} bytes");
    set.tried_or(what.clone(), remedy)?;
    let got = got.tried_or(what.clone(), remedy)?;
    if got >= bytes as usize {
        return Ok(());
    }
    let most = std::io::Error::other(format!("the kernel made it {got} bytes"));
    Err(most).tried_or(what, remedy)
}
