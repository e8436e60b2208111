//! Why no BPF program can be had.

use std::io;
use std::path::PathBuf;

/// Why a control could not be loaded or recorded.
#[derive(Debug, thiserror::Error)]
pub enum BpfError {
    /// No program for this control.
    #[error("there is no BPF program of {0:?}; there are those of {1}")]
    Unknown(String, String),
    /// This library has no programs.
    #[error(
        "this Parshall was built without BPF programs; install clang and the headers of libbpf (Debian and Ubuntu: apt install clang libbpf-dev) \
         and build it again"
    )]
    NotBuilt,
    /// The kernel has no description of its types.
    #[error("this kernel has no /sys/kernel/btf/vmlinux, so that BPF programs find nothing in it; take one with CONFIG_DEBUG_INFO_BTF")]
    NoBtf,
    /// The library that loads programs is missing.
    #[error("libbpf cannot be loaded ({0}); install it (Debian and Ubuntu: apt install libbpf1, Fedora: dnf install libbpf)")]
    NoLibrary(libloading::Error),
    /// The user's file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] parshall_reading::ReadError),
    /// The user's file is something else.
    #[error("{what}: {problem}; accepted: an object of clang --target=bpf with one struct tcp_congestion_ops in SEC(\".struct_ops\")")]
    NoControl {
        /// Which.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It cannot be recorded.
    #[error("{0} records no calls; include bpf/recorder.h in it, or leave out the recording")]
    NoRecorder(String),
    /// BPF is for administrators.
    #[error("the kernel does not let this user load BPF programs; run it as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN")]
    NoRights,
    /// The kernel, or its verifier, refused.
    #[error("cannot {what}: {source}{said}")]
    Refused {
        /// What was tried.
        what: String,
        /// The answer.
        source: io::Error,
        /// What libbpf said about it, after a line break; empty if nothing.
        said: String,
    },
    /// The recording cannot be written.
    #[error("the recording {}: {source}", path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The thread that writes the recording ended.
    #[error("the thread that writes the recording ended unexpectedly")]
    Died,
}
