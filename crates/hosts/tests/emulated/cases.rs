//! The cases. Each is bounded by the length of its plan, a few seconds at most.

use crate::forwarder::{Forwarder, Wire};
use parshall_hosts::plan::TcpOptions;
use parshall_hosts::{FlowPlan, Hosts, HostsError, Outcome, Plan, Row, Transport};
use parshall_records::{FlowSampleRow, RoundRow, TransferRow};
use parshall_units::{Duration, Instant};
use parshall_workload::WorkloadConfig;
use rustix::time::{clock_gettime, ClockId};
use std::num::NonZeroU32;
use std::process::Child;
use std::sync::mpsc;

/// A test.
pub struct Case {
    pub name: &'static str,
    /// Not as root, even if the tests run as root.
    pub as_nobody: bool,
    pub run: fn() -> Result<(), HostsError>,
    /// What the parent looks at while the child runs; it kills the child then.
    pub outside: Option<fn(&mut Child)>,
}

const fn case(name: &'static str, run: fn() -> Result<(), HostsError>) -> Case {
    Case { name, as_nobody: false, run, outside: None }
}

pub const CASES: &[Case] = &[
    case("bulk_cubic_moves_data_and_is_recorded", bulk_cubic),
    Case { as_nobody: true, ..case("an_ordinary_user_can", bulk_cubic) },
];

const PACKET_BYTES: u32 = 1500;

/// A plan of so many seconds, for flows that are added to it.
fn plan(seconds: f64) -> Plan {
    Plan {
        flows: Vec::new(),
        mtu: PACKET_BYTES,
        warm_up: Instant::ZERO,
        end: Instant::ZERO + Duration::from_secs_f64(seconds),
        sysctls: Vec::new(),
    }
}

fn tcp(control: &str, workload: &str) -> FlowPlan {
    let options = TcpOptions {
        congestion_control: control.into(),
        persistent: true,
        pacing: None,
        send_buffer: None,
        receive_buffer: None,
        initial_window: None,
    };
    flow(workload, Transport::Tcp(options))
}

fn flow(workload: &str, transport: Transport) -> FlowPlan {
    let workload: WorkloadConfig = serde_json::from_str(workload).expect("a workload");
    let packet = NonZeroU32::new(PACKET_BYTES).expect("not zero");
    FlowPlan {
        group: "test".into(),
        start: Instant::ZERO,
        rtt_base: Duration::ZERO,
        packet_bytes: PACKET_BYTES,
        source: workload.source(packet).expect("a workload that works"),
        seed: 1,
        transport,
        samples: Some(Duration::from_millis(10)),
        rounds: true,
    }
}

const BULK: &str = r#"{"name": "bulk"}"#;

/// What a run left.
struct Ran {
    outcome: Outcome,
    samples: Vec<FlowSampleRow>,
    rounds: Vec<RoundRow>,
    transfers: Vec<TransferRow>,
}

fn run(plan: Plan, wire: Wire) -> Result<Ran, HostsError> {
    let (rows, received) = mpsc::channel();
    let mut hosts = Hosts::begin(plan, rows)?;
    let forwarder = Forwarder::start(hosts.take_tuns().expect("nobody took them"), wire);
    hosts.start(monotonic_ns());
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

fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn bulk_cubic() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.flows.push(tcp("cubic", BULK));
    let ran = run(plan, Wire::default())?;
    let row = &ran.outcome.flows[0].row;
    let goodput = row.goodput_bps.expect("this kernel counts");
    println!(
        "{:.1} Gbit/s through a plain forwarder; CPU {:.2} s of 2 s (senders), {:.2} s (receivers); {row:?}",
        goodput / 1e9,
        ran.outcome.senders_cpu_s,
        ran.outcome.receivers_cpu_s
    );
    assert!(goodput > 100e6, "{goodput} bit/s");
    assert!((ran.outcome.received_bytes as f64 * 8.0 / 2.0 / goodput - 1.0).abs() < 0.05);
    assert!((150..=200).contains(&ran.samples.len()), "{} samples", ran.samples.len());
    assert!(ran.samples.windows(2).all(|pair| pair[0].delivered_bytes <= pair[1].delivered_bytes));
    assert_eq!(ran.transfers.len(), 1);
    assert_eq!((ran.transfers[0].size_bytes, ran.transfers[0].completion_s), (None, None));
    assert!(row.mean_cwnd_packets.is_some_and(|window| window >= 10.0));
    assert!(ran.rounds.len() > 100);
    Ok(())
}
