//! The system calls for which no library in use has a safe function: the only `unsafe` code of the crate.
//!
//! Each function passes the kernel pointers to memory that it owns or borrows for the time of the call, with the length
//! of that memory, and reads back only as much as the kernel reports to have written.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Leaves the namespaces that `flags` name for new ones.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: takes no memory. CLONE_NEWUSER fails in a process with threads; CLONE_NEWNET is the calling thread's own.
    check(unsafe { libc::unshare(flags) })
}

/// Prepares the child that `command` starts, before its program begins: it is killed when the thread that
/// started it ends.
pub(crate) fn die_with_starter(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: prctl(2) allocates nothing and takes no lock, so that it may be called between fork and exec.
    unsafe {
        command
            .pre_exec(|| check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0)));
    }
}

/// Makes `file`, an open `/dev/net/tun`, the TUN device of that name.
pub(crate) fn tun_create(file: BorrowedFd<'_>, name: &str, flags: c_int) -> io::Result<()> {
    // SAFETY: all zeros is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = flags as i16;
    // SAFETY: TUNSETIFF reads and writes an `ifreq`.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })
}

/// Sets which unfinished packets the reader of a TUN device takes.
pub(crate) fn tun_offload(file: BorrowedFd<'_>, features: c_uint) -> io::Result<()> {
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(features)) })
}

/// Bytes of a TCP socket that are not acknowledged yet, sent or not.
pub(crate) fn unacknowledged(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut bytes: c_int = 0;
    // SAFETY: SIOCOUTQ (TIOCOUTQ) writes an `int`.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(bytes as u32)
}

/// Reads a socket option as bytes; how many the kernel wrote.
pub(crate) fn get_option(
    socket: BorrowedFd<'_>,
    level: c_int,
    name: c_int,
    into: &mut [u8],
) -> io::Result<usize> {
    let mut length = into.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `into`, and returns their number.
    check(unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, name, into.as_mut_ptr().cast::<c_void>(), &raw mut length)
    })?;
    Ok(length as usize)
}

/// Sets a socket option from bytes.
pub(crate) fn set_option(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads at most `value.len()` bytes of `value`.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_ptr().cast::<c_void>(),
            value.len() as libc::socklen_t,
        )
    })
}

/// Takes up to `most` bytes that arrived at a TCP socket, and discards them without copying (tcp(7), MSG_TRUNC); how
/// many there were.
pub(crate) fn discard(socket: BorrowedFd<'_>, most: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC a TCP socket writes nothing to the buffer, so a null pointer is never followed.
    let taken = unsafe {
        libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), most, libc::MSG_TRUNC | libc::MSG_DONTWAIT)
    };
    usize::try_from(taken).map_err(|_| io::Error::last_os_error())
}

/// Discards one notice of a socket's error queue; returns whether there was one.
pub(crate) fn discard_notice(socket: BorrowedFd<'_>) -> bool {
    let mut control = [0_u64; 32];
    // SAFETY: all zeros is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_control = control.as_mut_ptr().cast::<c_void>();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the kernel writes at most `msg_controllen` bytes to `control`, and nothing else, as there is no
    // `msg_iov`.
    unsafe {
        libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) >= 0
    }
}

fn check(result: c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
