//! Running a case: in the parent, a process for it; in the child, the case itself.

use crate::cases::{Case, Skipped, CASES};
use crate::CASE;
use parshall_hosts::HostsError;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The exit code of a child whose kernel refused.
const SKIPPED: u8 = 77;

/// The user nobody.
const NOBODY: u32 = 65_534;

/// Longer than any case takes.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Starts the child of a case.
pub fn spawn(case: &Case) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe().expect("this program has a file"));
    command.env(CASE, case.name).stdout(Stdio::piped()).stderr(Stdio::piped());
    if case.as_nobody && rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.spawn()
}

/// Runs a case until it passes, at most three times; whether it passed, or was skipped for a reason.
///
/// A case runs in real time, where a machine that is busy for a moment can make it fail. A fault of ours fails each time.
pub fn parent(case: &Case) -> bool {
    let again = || {
        println!("test {} is tried again", case.name);
        attempt(case)
    };
    attempt(case) || again() || again()
}

/// Runs a case in a process of its own.
fn attempt(case: &Case) -> bool {
    let begun = Instant::now();
    let mut child = match spawn(case) {
        Ok(child) => child,
        Err(error) => {
            return verdict(case, begun, Some(SKIPPED.into()), &format!("no child starts: {error}"))
        }
    };
    if let Some(look) = case.outside {
        let looked = look(case, &mut child);
        let _ = child.kill();
        let _ = child.wait();
        return match looked {
            Ok(()) => verdict(case, begun, Some(0), ""),
            Err(Skipped(why)) => verdict(case, begun, Some(SKIPPED.into()), &why),
        };
    }
    let status = loop {
        match child.try_wait().expect("the child can be waited for") {
            Some(status) => break status.code(),
            None if begun.elapsed() > TIMEOUT => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut said = String::new();
    let _ = child.stdout.take().map(|mut out| out.read_to_string(&mut said));
    let _ = child.stderr.take().map(|mut out| out.read_to_string(&mut said));
    verdict(case, begun, status, &said)
}

/// Says how a child ended, by its exit code; whether that is well.
fn verdict(case: &Case, begun: Instant, status: Option<i32>, said: &str) -> bool {
    let skipped = status == Some(i32::from(SKIPPED));
    let required = std::env::var("PARSHALL_EMULATE").is_ok_and(|value| value == "required");
    let passed = status == Some(0) || (skipped && !required);
    let verdict = match (passed, skipped) {
        (true, true) => "skipped",
        (true, false) => "ok",
        (false, _) => "FAILED",
    };
    println!("test {} ... {verdict} ({:.1} s)\n{said}", case.name, begun.elapsed().as_secs_f64());
    passed
}

/// Runs the case of that name in this process.
pub fn child(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case has that name");
    if let Err(error) = (case.run)() {
        println!("{name}: {error}");
        // What the machine forbids has a remedy; any other error is a fault.
        let refused = matches!(error, HostsError::Refused { remedy, .. } if !remedy.is_empty());
        std::process::exit(if refused { SKIPPED.into() } else { 1 });
    }
}
