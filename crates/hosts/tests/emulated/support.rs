//! Plans, and running them.

use crate::forwarder::{Forwarder, Wire};
use parshall_hosts::plan::TcpOptions;
use parshall_hosts::{FlowPlan, Hosts, HostsError, Outcome, Plan, Row, Sampling, Transport};
use parshall_records::{FlowSampleRow, RoundRow, TransferRow};
use parshall_units::{Duration, Instant};
use parshall_workload::{Source, WorkloadConfig};
use rustix::time::{clock_gettime, ClockId};
use std::num::NonZeroU32;
use std::sync::mpsc;

pub const PACKET_BYTES: u32 = 1500;

/// A plan of so many seconds, for flows that are added to it.
pub fn plan(seconds: f64) -> Plan {
    Plan {
        flows: Vec::new(),
        mtu: PACKET_BYTES,
        warm_up: Instant::ZERO,
        end: Instant::ZERO + Duration::from_secs_f64(seconds),
        pairs: vec![Vec::new()],
    }
}

pub fn tcp(control: &str, workload: &str) -> FlowPlan {
    let options = TcpOptions {
        congestion_control: control.into(),
        sets_rate: control == "bbr",
        persistent: true,
        streams: 1,
        pacing: None,
        send_buffer: None,
        receive_buffer: None,
        initial_window: None,
    };
    flow(workload, Transport::Tcp(options))
}

pub fn flow(workload: &str, transport: Transport) -> FlowPlan {
    FlowPlan {
        group: "test".into(),
        pair: 0,
        dscp: 0,
        start: Instant::ZERO,
        rtt_base: Duration::ZERO,
        packet_bytes: PACKET_BYTES,
        source: source(workload),
        seed: 1,
        transport,
        samples: Some(Sampling::Every(Duration::from_millis(10))),
        rounds: true,
    }
}

pub const BULK: &str = r#"{"name": "bulk"}"#;

/// What a workload of a scenario draws from.
pub fn source(workload: &str) -> Source {
    let workload: WorkloadConfig = serde_json::from_str(workload).expect("a workload");
    let packet = NonZeroU32::new(PACKET_BYTES).expect("not zero");
    workload.source(packet).expect("a workload that works")
}

/// Changes the options of a flow's sockets.
pub fn options(flow: &mut FlowPlan) -> &mut TcpOptions {
    match &mut flow.transport {
        Transport::Tcp(options) => options,
        _ => panic!("only TCP has options"),
    }
}

/// What a run left.
pub struct Ran {
    pub outcome: Outcome,
    pub samples: Vec<FlowSampleRow>,
    pub rounds: Vec<RoundRow>,
    pub transfers: Vec<TransferRow>,
}

/// Runs a plan to its end.
pub fn run(plan: Plan, wire: Wire) -> Result<Ran, HostsError> {
    run_until(plan, wire, u32::MAX)
}

/// Runs a plan of transfers until all flows have sent theirs.
pub fn run_until_done(plan: Plan, wire: Wire) -> Result<Ran, HostsError> {
    let flows = plan.flows.len() as u32;
    run_until(plan, wire, flows)
}

/// Runs a plan until so many flows are done, or to its end.
fn run_until(plan: Plan, wire: Wire, done: u32) -> Result<Ran, HostsError> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs_f64(plan.end.as_secs_f64());
    let (rows, received) = mpsc::channel();
    let mut hosts = Hosts::begin(plan, rows)?;
    let forwarder = Forwarder::start(hosts.take_tuns().expect("nobody took them"), wire);
    hosts.start(monotonic_ns());
    while hosts.done() < done && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    if hosts.done() >= done {
        hosts.stop();
    }
    let outcome = hosts.finish()?;
    drop(forwarder);
    let mut ran = Ran { outcome, samples: vec![], rounds: vec![], transfers: vec![] };
    for row in received {
        match row {
            Row::FlowSample(row) => ran.samples.push(row),
            Row::Round(row) => ran.rounds.push(row),
            Row::Transfer(row) => ran.transfers.push(row),
        }
    }
    Ok(ran)
}

pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
