//! Real hosts, whose packets a forwarder of the tests carries from one TUN device to the other.
//!
//! Each case runs in a new process with a single thread, as a user namespace asks for: the test binary calls itself, with the
//! name of the case in `PARSHALL_HOSTS_CASE`. Where the kernel refuses, the case says why and is skipped, unless
//! `PARSHALL_EMULATE=required`.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]
#![cfg_attr(not(target_os = "linux"), allow(unused))]

#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod endings;
#[cfg(target_os = "linux")]
mod forwarder;
#[cfg(target_os = "linux")]
mod refusals;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod support;

/// The environment variable that names the case of a child.
const CASE: &str = "PARSHALL_HOSTS_CASE";

#[cfg(target_os = "linux")]
fn main() {
    if let Ok(name) = std::env::var(CASE) {
        return run::child(&name);
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let mut failed = 0;
    for case in cases::CASES.iter().filter(|case| !case.hidden && is_wanted(case.name)) {
        failed += u32::from(!run::parent(case));
    }
    assert!(failed == 0, "{failed} cases failed");
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("hosts are for Linux");
}
