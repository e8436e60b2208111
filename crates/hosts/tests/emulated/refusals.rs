//! What is refused, and runs that end early.

use crate::forwarder::Forwarder;
use crate::support::{flow, monotonic_ns, options, plan, tcp, BULK};
use parshall_hosts::{Abilities, Hosts, HostsError, Plan, Transport};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Why hosts do not begin.
fn refusal(plan: Plan) -> String {
    match Hosts::begin(plan, mpsc::channel().0) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was not refused"),
    }
}

pub fn stopped() -> Result<(), HostsError> {
    let mut plan = plan(60.0);
    plan.flows.push(tcp("cubic", BULK));
    let mut hosts = Hosts::begin(plan.clone(), mpsc::channel().0)?;
    let _forwarder =
        Forwarder::start(hosts.take_tuns().expect("nobody took them"), crate::forwarder::Wire::default());
    assert!(hosts.take_tuns().is_none());
    hosts.start(monotonic_ns());
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(300));
    hosts.stop();
    let outcome = hosts.finish()?;
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(outcome.flows[0].row.goodput_bps.is_some_and(|goodput| goodput > 1e6));
    drop(Hosts::begin(plan, mpsc::channel().0)?); // never started
    assert!(begun.elapsed() < Duration::from_secs(3));
    Ok(())
}

/// The receivers' host fails, as it may open no file for a connection: the senders do not run on to the planned end.
pub fn failing() -> Result<(), HostsError> {
    let mut plan = plan(20.0);
    plan.flows.push(tcp("cubic", BULK));
    let mut hosts = Hosts::begin(plan, mpsc::channel().0)?;
    let _forwarder =
        Forwarder::start(hosts.take_tuns().expect("nobody took them"), crate::forwarder::Wire::default());
    let begun = Instant::now();
    let next = std::fs::File::open("/dev/null").expect("a free place").as_raw_fd().cast_unsigned();
    let limit = Rlimit { current: Some(u64::from(next) + 1), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).expect("fewer files are always allowed"); // one more: the sender's
    hosts.start(monotonic_ns());
    while !hosts.is_stopped() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let error = hosts.finish().expect_err("a connection cannot be accepted").to_string();
    assert!(error.starts_with("cannot accept a connection"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    Ok(())
}

/// What leaves the devices is what flows send, and nothing else.
pub fn silence() -> Result<(), HostsError> {
    let mut hosts = Hosts::begin(plan(0.7), mpsc::channel().0)?;
    let tuns = hosts.take_tuns().expect("nobody took them");
    hosts.start(monotonic_ns());
    hosts.finish()?;
    for tun in [&tuns[0].senders, &tuns[0].receivers] {
        let read = rustix::io::read(tun, &mut [0; 2000]);
        assert_eq!(read, Err(rustix::io::Errno::AGAIN));
    }
    Ok(())
}

pub fn abilities() {
    let found = Abilities::of_this_machine();
    println!("{found:?}");
    assert!(!found.administrator && !found.bpf);
    assert!(!found.congestion_controls.is_empty());
    assert_eq!(
        found.tun_problem.is_none(),
        std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok()
    );
    if found.may_begin() {
        drop(Hosts::begin(plan(1.0), mpsc::channel().0).expect("it may begin"));
    }
}

pub fn plans() {
    let with = |change: fn(&mut Plan)| {
        let mut plan = plan(1.0);
        plan.flows.push(tcp("cubic", BULK));
        change(&mut plan);
        refusal(plan)
    };
    let message = with(|plan| options(&mut plan.flows[0]).congestion_control = "vegas_of_mars".into());
    assert!(
        message.starts_with("flows[0].congestion_control: found vegas_of_mars; this kernel has "),
        "{message}"
    );
    assert!(message.contains("cubic"), "{message}");
    for (change, begins) in [
        ((|plan| plan.flows[0].packet_bytes = 1501) as fn(&mut Plan), "flows[0].packet_bytes: found 1501; "),
        (|plan| options(&mut plan.flows[0]).initial_window = Some(0), "flows[0].initial_window: found 0; "),
        (|plan| plan.mtu = 40, "mtu: found 40; "),
        (|plan| plan.warm_up = plan.end, "warm_up: found 1 s; "),
        (|plan| plan.flows = vec![tcp("cubic", BULK); 65_001], "flows: found 65001; "),
        (
            |plan| plan.flows[0] = flow(r#"{"name": "rate_controlled"}"#, Transport::Datagrams),
            "flows[0].workload: found rate_controlled; ",
        ),
        (
            |plan| plan.flows[0].transport = Transport::Datagrams,
            "flows[0].workload: found transfers over UDP; ",
        ),
        (
            |plan| plan.pairs[0].push(("kernel.hostname".into(), "x".into())),
            "sysctls: found kernel.hostname; sysctls of a network namespace begin with net.",
        ),
        (|plan| plan.flows[0].pair = 1, "pair: found 1; there are 1 pairs of hosts"),
    ] {
        let message = with(change);
        assert!(message.starts_with(begins), "{message}");
    }
}

pub fn sysctl() -> Result<(), HostsError> {
    drop(Hosts::begin(plan(1.0), mpsc::channel().0)?);
    for (name, value) in [("net.ipv4.no_such_thing", "1"), ("net.ipv4.tcp_sack", "seven")] {
        let mut plan = plan(1.0);
        plan.pairs[0].push((name.into(), value.into()));
        let message = refusal(plan);
        assert!(message.starts_with(&format!("sysctls.{name}: found {value}; ")), "{message}");
    }
    Ok(())
}

pub fn second_thread() -> Result<(), HostsError> {
    let (stop, stopped) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || stopped.recv());
    let result = Hosts::begin(plan(1.0), mpsc::channel().0);
    drop(stop);
    let _ = thread.join();
    match result {
        Err(HostsError::Threads(2)) => Ok(()),
        Ok(_) => panic!("it was not refused"),
        Err(error) => Err(error),
    }
}

pub fn buffer() -> Result<(), HostsError> {
    drop(Hosts::begin(plan(1.0), mpsc::channel().0)?);
    let mut plan = plan(1.0);
    plan.flows.push(tcp("cubic", BULK));
    options(&mut plan.flows[0]).receive_buffer = Some(1 << 30);
    let message = refusal(plan);
    assert!(
        message.starts_with("cannot make a receive buffer of 1073741824 bytes: the kernel made it "),
        "{message}"
    );
    assert!(message.ends_with("; raise the sysctl net.core.rmem_max"), "{message}");
    Ok(())
}
