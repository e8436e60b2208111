//! Which CPU does what, where there are many flows.
//!
//! To write a packet into a TUN device is to run the receiving host's TCP, and its answer, before the write returns.
//! Segments of a few flows are merged to few writes; those of many flows cannot be, and the emulator's thread was full
//! at 1 Gbit/s. Receive packet steering (Documentation/networking/scaling.rst, RPS) has the kernel do this work on the
//! other CPUs: the write only queues the packet there. Then the emulator has a CPU for itself.
//!
//! A few flows are left as they are: to hand each packet over to another CPU takes longer than to receive it at once.
//! So are flows whose control is a BPF program: a kernel may leave out its calls where the interrupt of another process
//! handles a packet (docs/emulation.md), and did, at one reduction in a hundred; the sender then took for its threshold
//! what stood on the stack. In the emulator's own thread none is left out.

use parshall_hosts::has_sysctl;
use rustix::thread::{sched_getaffinity, CpuSet};
use std::fmt::Write;

/// Up to so many flows nothing is steered.
const FEW_FLOWS: usize = 16;

/// Network namespaces have this of their own; Linux 6.3 is the first.
const STEERING: &str = "net.core.rps_default_mask";

/// The emulator's CPU, and the sysctl that has the hosts' kernels receive on the others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cpus {
    pub(crate) emulator: usize,
    pub(crate) sysctl: (String, String),
}

impl Cpus {
    /// For so many flows of real hosts; `None`: there are few, or this machine has one CPU, or its kernel steers
    /// nothing.
    pub(crate) fn for_flows(flows: usize) -> Option<Self> {
        let allowed = sched_getaffinity(None).ok().filter(|_| flows > FEW_FLOWS && has_sysctl(STEERING))?;
        let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
        Self::among(&cpus)
    }

    /// The last one of these is the emulator's.
    fn among(cpus: &[usize]) -> Option<Self> {
        let (&emulator, others) = cpus.split_last().filter(|(_, others)| !others.is_empty())?;
        Some(Self { emulator, sysctl: (STEERING.to_string(), mask(others)) })
    }
}

/// CPUs as the kernel reads them: words of 32 bits in hexadecimal digits, the highest first, with commas between them.
fn mask(cpus: &[usize]) -> String {
    let mut words = vec![0_u32; cpus.iter().max().map_or(1, |last| last / 32 + 1)];
    for cpu in cpus {
        words[cpu / 32] |= 1 << (cpu % 32);
    }
    let mut text = String::new();
    for word in words.iter().rev() {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{word:08x}"); // a string takes all that is written
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulator_has_the_last_cpu_and_the_hosts_the_others() {
        let of = |cpus: &[usize]| Cpus::among(cpus).map(|cpus| (cpus.emulator, cpus.sysctl.1));
        assert_eq!(of(&[0, 1]), Some((1, "00000001".into())));
        assert_eq!(of(&[2, 3, 35, 40]), Some((40, "00000008,0000000c".into())));
        assert_eq!(of(&[5]), None);
        assert_eq!(of(&[]), None);
        assert_eq!(Cpus::for_flows(FEW_FLOWS), None);
    }
}
