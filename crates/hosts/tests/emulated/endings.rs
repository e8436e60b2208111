//! What is left when a process is killed: nothing.

use crate::cases::{case, Case, Skipped};
use crate::forwarder::{Forwarder, Wire};
use crate::run::spawn;
use crate::support::{monotonic_ns, plan, tcp, BULK};
use crate::CASE;
use parshall_hosts::{die_with_parent, Hosts, HostsError};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

pub const KILLED: Case =
    Case { outside: Some(kill_at_any_time), ..case("nothing_is_left_of_hosts_after_sigkill", run_for_long) };

pub const KILLED_WITH_PARENT: Case = Case {
    outside: Some(|_, parent| {
        kill_the_parent(parent);
        Ok(())
    }),
    ..case("a_process_dies_with_its_parent", || {
        have_a_child();
        Ok(())
    })
};

pub const SLEEPER: Case = Case { hidden: true, ..case("sleeper", sleep_until_the_parent_dies) };

/// Longer than anything takes that is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

fn say(word: &str) {
    println!("{word}");
    let _ = std::io::stdout().flush();
}

/// The next line that a child says.
fn hear(child: &mut Child) -> String {
    let mut line = String::new();
    let _ = BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line);
    line.trim().to_string()
}

fn run_for_long() -> Result<(), HostsError> {
    let mut plan = plan(60.0);
    plan.flows = vec![tcp("cubic", BULK); 20];
    let mut hosts = Hosts::begin(plan, mpsc::channel().0)?;
    let _forwarder = Forwarder::start(hosts.take_tuns().expect("nobody took them"), Wire::default());
    hosts.start(monotonic_ns());
    std::thread::sleep(Duration::from_millis(300));
    say("runs");
    hosts.finish().map(drop)
}

/// The network and user namespaces of all threads and open files below `/proc/PID`.
fn namespaces(process: &str) -> BTreeSet<PathBuf> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let kinds = tasks.flat_map(|task| ["net", "user"].map(|kind| task.path().join("ns").join(kind)));
    let files =
        fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten().map(|file| file.path());
    kinds
        .chain(files)
        .filter_map(|link| fs::read_link(link).ok())
        .filter(|target| is_namespace(target))
        .collect()
}

fn is_namespace(target: &std::path::Path) -> bool {
    target.to_str().is_some_and(|text| text.starts_with("net:[") || text.starts_with("user:["))
}

/// Processes, by their numbers.
fn processes() -> impl Iterator<Item = String> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name.parse::<u32>().is_ok())
}

/// Links of this process's own network namespace.
fn links() -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/net/dev").expect("links can be listed");
    text.lines()
        .skip(2)
        .filter_map(|line| line.split(':').next())
        .map(|name| name.trim().to_string())
        .collect()
}

/// Kills children of the same case earlier, while they make their namespaces; then this one.
fn kill_at_any_time(case: &Case, child: &mut Child) -> Result<(), Skipped> {
    look_and_kill(child)?;
    let own = namespaces("self");
    for after_ms in [0, 3, 10, 20, 40, 80, 160] {
        let mut child = spawn(case).expect("as before");
        std::thread::sleep(Duration::from_millis(after_ms));
        let made = namespaces(&child.id().to_string()).difference(&own).cloned().collect();
        kill(&mut child, &made);
    }
    Ok(())
}

/// A namespace lives as long as something refers to it: a process, an open file, a mount. Nothing does.
fn look_and_kill(child: &mut Child) -> Result<(), Skipped> {
    let links_before = links();
    let own = namespaces("self");
    match hear(child).as_str() {
        "runs" => {}
        refused => return Err(Skipped(refused.into())),
    }
    let made: BTreeSet<PathBuf> = namespaces(&child.id().to_string()).difference(&own).cloned().collect();
    assert!(made.len() >= 2, "{made:?}");
    assert_eq!(links(), links_before, "no device among those of the machine");
    kill(child, &made);
    assert_eq!(links(), links_before);
    Ok(())
}

/// Kills a child; nothing refers to the namespaces that it made.
fn kill(child: &mut Child, made: &BTreeSet<PathBuf>) {
    child.kill().expect("the child can be killed");
    child.wait().expect("the child can be waited for");
    for process in processes() {
        let left: Vec<_> = namespaces(&process).intersection(made).cloned().collect();
        assert!(left.is_empty(), "process {process} is in {left:?}");
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts can be listed");
    assert!(!made.iter().any(|namespace| mounts.contains(namespace.to_str().expect("a name"))));
}

fn have_a_child() {
    let program = std::env::current_exe().expect("this program has a file");
    let parent = std::process::id().to_string();
    let mut child = Command::new(program)
        .env(CASE, SLEEPER.name)
        .env("PARENT", parent)
        .spawn()
        .expect("the sleeper starts");
    let _ = child.wait();
}

fn sleep_until_the_parent_dies() -> Result<(), HostsError> {
    let parent = std::env::var("PARENT").ok().and_then(|id| id.parse().ok()).expect("the parent's number");
    assert!(die_with_parent(parent + 1).is_err(), "another parent was taken for its own");
    die_with_parent(parent)?;
    say(&std::process::id().to_string());
    std::thread::sleep(PATIENCE);
    Ok(())
}

fn kill_the_parent(parent: &mut Child) {
    let sleeper: u32 = hear(parent).parse().expect("the number of its child");
    let lives =
        || fs::read_to_string(format!("/proc/{sleeper}/stat")).is_ok_and(|text| !text.contains(") Z "));
    assert!(lives());
    parent.kill().expect("the parent can be killed");
    parent.wait().expect("the parent can be waited for");
    let begun = Instant::now();
    while lives() {
        assert!(begun.elapsed() < PATIENCE / 2, "process {sleeper} outlives its parent");
        std::thread::sleep(Duration::from_millis(5));
    }
}
