//! The common parts of the TCP connections of both hosts.

use crate::error::{HostsError, Tried};
use crate::plan::{FlowPlan, TcpOptions};
use crate::{socket, sys};
use rustix::net::sockopt::{set_tcp_congestion, set_tcp_nodelay};
use std::os::fd::{AsFd, OwnedFd};

/// Headers of IPv4 and TCP without options (RFC 791, RFC 9293), in bytes.
const HEADER_BYTES: u32 = 40;

/// The payload of a write, at most. Of a send buffer that the plan asks for it is a quarter: Linux 6.18 takes a write
/// whole that begins while there is room, four times the buffer too.
pub(crate) static ZEROS: [u8; 1 << 18] = [0; 1 << 18];

/// Sets what the plan asks for, before the connection opens.
pub(crate) fn configure(
    socket: &OwnedFd,
    flow: &FlowPlan,
    options: &TcpOptions,
    mtu: u32,
) -> Result<(), HostsError> {
    set_tcp_congestion(socket, &options.congestion_control)
        .tried(format!("use the congestion control {}", options.congestion_control))?;
    // What is left of a transfer is sent at once, as in the simulator, and does not wait for ACKs (RFC 896).
    set_tcp_nodelay(socket, true).tried("set TCP_NODELAY")?;
    if let Some(bytes) = options.send_buffer {
        socket::set_send_buffer(socket, bytes)?;
    }
    if let Some(rate) = options.pacing {
        let bytes_per_s = rate.as_bps().div_ceil(8).to_ne_bytes();
        sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &bytes_per_s)
            .tried("set SO_MAX_PACING_RATE")?;
    }
    if flow.packet_bytes < mtu {
        let payload = (flow.packet_bytes - HEADER_BYTES).to_ne_bytes();
        sys::set_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_MAXSEG, &payload)
            .tried("set TCP_MAXSEG")?;
    }
    Ok(())
}
