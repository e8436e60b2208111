//! The kernel's memory for TCP, of which there is one for all network namespaces.
//!
//! Above a limit the kernel saves (tcp(7), tcp_mem): windows shrink, and send buffers grow no more. Who runs out of it
//! measures the memory of this machine and not a TCP: connections of an emulation had a quarter of their goodput while
//! others, of runs that had ended, still held 800 MB.

use parshall_reading::of_kernel;

/// The limits of its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpMemory {
    /// From so many pages on the kernel saves.
    saves_from: u64,
}

impl TcpMemory {
    /// That of this machine, whose limits only its first network namespace shows; `None`: this thread is in another
    /// one.
    pub(crate) fn of_this_machine() -> Option<Self> {
        Self::limited(&of_kernel("/proc/sys/net/ipv4/tcp_mem").ok()?)
    }

    /// `tcp_mem` has three numbers, in pages: where saving ends, where it begins, and what there is at all.
    fn limited(tcp_mem: &str) -> Option<Self> {
        let saves_from = tcp_mem.split_whitespace().nth(1)?.parse().ok().filter(|&pages| pages > 0)?;
        Some(Self { saves_from })
    }

    /// Returns the memory in use now, by all, as a share of the limit at which the kernel saves; `None`: it does not
    /// report it.
    pub(crate) fn share(self) -> Option<f64> {
        Some(used(&of_kernel("/proc/net/sockstat").ok()?)? as f64 / self.saves_from as f64)
    }
}

/// Pages in use, of `/proc/net/sockstat`.
fn used(sockstat: &str) -> Option<u64> {
    let mut words = sockstat.lines().find_map(|line| line.strip_prefix("TCP: "))?.split_whitespace();
    words.find(|&word| word == "mem")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_what_is_used_and_where_it_saves() {
        let sockstat =
            "sockets: used 19\nTCP: inuse 6 orphan 534 tw 0 alloc 540 mem 96000\nUDP: inuse 0 mem 7\n";
        assert_eq!(used(sockstat), Some(96_000));
        assert_eq!(used("TCP: inuse 6 mem"), None);
        assert_eq!(used("UDP: inuse 0 mem 7"), None);
        assert_eq!(TcpMemory::limited("287901\t384000\t575802\n"), Some(TcpMemory { saves_from: 384_000 }));
        assert_eq!((TcpMemory::limited("1"), TcpMemory::limited("0 0 0")), (None, None));
    }
}
