//! Congestion controls for the Linux kernel as BPF programs (struct_ops): loaded for a time, and recorded.
//!
//! A control is registered under a name of its own, which has the process's number, so that runs do not meet. It is
//! held by a BPF link, which the kernel drops with the process, however that ends. Programs come from `bpf/`, whose
//! objects are part of this library where there was clang when it was built, or from a file of the user.
//!
//! | file | what |
//! | --- | --- |
//! | [`control`] | a control in the kernel |
//! | [`object`] | what an object says of itself, and its name for this process |
//! | [`recorder`] | what recorded controls write, into a file |
//! | [`libbpf`] | the library that loads programs, which is looked for when it is needed |
//!
//! Linux only; elsewhere the crate is empty.

#![cfg(target_os = "linux")]

mod control;
mod error;
mod libbpf;
mod object;
mod recorder;

pub use control::{Control, Recording};
pub use error::BpfError;
pub use object::Object;
pub use recorder::Recorder;

/// Objects of `bpf/` that this library has, by the names of their controls.
const BUILT: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// Names of the controls whose programs this library has; none if there was no clang when it was built.
pub fn built() -> impl Iterator<Item = &'static str> {
    BUILT.iter().map(|(name, _)| *name)
}
