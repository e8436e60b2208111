//! Hosts and emulator, from the start to the end.

use crate::cpus::Cpus;
use crate::planning::plan;
use crate::reporting::{report, Numbers};
use crate::validity::Validity;
use crate::EmulationError;
use parshall_emulator::{monotonic_ns, Emulator, Journal, Prefix, Ran, Replayed, Settings, Side};
use parshall_hosts::plan::{PREFIX_BITS, RECEIVERS, SENDERS};
use parshall_hosts::{Hosts, HostsError, Row, Tuns};
use parshall_records::{RecordsError, Tables};
use parshall_sim::{Monitor, Scenario, SimError, Simulation, Summary};
use parshall_units::Instant;
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::mpsc;

/// Time until the start, for both hosts to see it coming.
const START_IN_NS: u64 = 20_000_000;

/// What comes of an emulation.
#[derive(Debug, Serialize)]
pub struct Emulated {
    /// The totals, as of a simulation.
    #[serde(flatten)]
    pub summary: Summary,
    /// How far it can be believed.
    pub emulation: Validity,
}

/// Runs one repetition of a scenario in real time, and writes its records to `tables`, which it gives back to be completed.
///
/// # Errors
/// [`EmulationError`]: the scenario asks for what cannot be emulated, the kernel refuses, or the run was cancelled.
pub fn emulate(
    scenario: &Scenario,
    repetition: u32,
    tables: Tables,
    monitor: &Monitor,
) -> Result<(Emulated, Tables), EmulationError> {
    let (emulated, tables, _) = run(scenario, repetition, tables, monitor, false)?;
    Ok((emulated, tables))
}

/// Emulates one repetition of a scenario, without records, and hands what came from the hosts once more into its network: in one go, without
/// a clock. The queues must decide the same.
///
/// # Errors
/// As [`emulate`].
pub fn emulate_and_replay(
    scenario: &Scenario,
    repetition: u32,
    monitor: &Monitor,
) -> Result<(Emulated, Replayed), EmulationError> {
    let (emulated, _, journal) = run(scenario, repetition, Tables::none(), monitor, true)?;
    let again = Simulation::begin(scenario, repetition, Tables::none())?;
    let replayed = journal.unwrap_or_default().replay(again, monitor)?;
    Ok((emulated, replayed))
}

fn run(
    scenario: &Scenario,
    repetition: u32,
    tables: Tables,
    monitor: &Monitor,
    journal: bool,
) -> Result<(Emulated, Tables, Option<Journal>), EmulationError> {
    let asked_ns = monotonic_ns();
    let simulation = Simulation::begin(scenario, repetition, tables)?;
    let numbers = Numbers::of(&simulation);
    let (sender, rows) = mpsc::channel();
    let mut plan = plan(scenario, &simulation)?;
    let cpus = Cpus::for_flows(plan.flows.len());
    plan.sysctls.extend(cpus.iter().map(|cpus| cpus.sysctl.clone()));
    let mut hosts = Hosts::begin(plan, sender)?;
    let Tuns { senders, receivers } = hosts.take_tuns().ok_or(HostsError::Died("senders'"))?;
    let ready_ns = monotonic_ns();
    let begin_ns = ready_ns + START_IN_NS;
    let emulator = Emulator::new(
        simulation,
        Side::new(senders, Prefix::new(SENDERS, u32::from(PREFIX_BITS))),
        Side::new(receivers, Prefix::new(RECEIVERS, u32::from(PREFIX_BITS))),
        Settings {
            begin_ns: Some(begin_ns),
            cpu: cpus.map(|cpus| cpus.emulator),
            journal,
            ..Settings::default()
        },
    )?;
    hosts.start(begin_ns);
    let flows = numbers.flows();
    // Rows wait until the end: to encode them while packets are due would make these late.
    let Ran { mut simulation, measured, journal, devices, .. } =
        emulator.run(monitor, |simulation, now| {
            if !scenario.ends_with.is_empty() && hosts.done() == flows {
                finish_all(simulation, flows, now);
            }
            ControlFlow::Continue(())
        })?;
    hosts.stop();
    let outcome = hosts.finish()?;
    drop(devices); // not before the hosts have ended
    write_rows(&mut simulation, &rows, &numbers).map_err(SimError::Records)?;
    report(&mut simulation, &outcome);
    let (summary, tables) = simulation.finish(monitor)?;
    let emulation = Validity::new(measured, &outcome, (ready_ns - asked_ns) as f64 / 1e9);
    Ok((Emulated { summary, emulation }, tables, journal))
}

/// All flows have done what they had to do.
fn finish_all(simulation: &mut Simulation, flows: u32, now: Instant) {
    (0..flows).for_each(|flow| simulation.finished(flow, now));
}

/// Writes what the hosts have recorded.
fn write_rows(
    simulation: &mut Simulation,
    rows: &mpsc::Receiver<Row>,
    numbers: &Numbers,
) -> Result<(), RecordsError> {
    let tables = simulation.tables();
    for row in rows.try_iter() {
        match row {
            Row::FlowSample(mut row) => {
                row.flow = numbers.of_flow(row.flow);
                tables.flow_samples.push(row)?;
            }
            Row::Round(mut row) => {
                row.flow = numbers.of_flow(row.flow);
                tables.rounds.push(row)?;
            }
            Row::Transfer(row) if row.size_bytes.is_none() => {} // without end: no transfer of the records
            Row::Transfer(mut row) => {
                row.flow = numbers.of_flow(row.flow);
                tables.transfers.push(row)?;
            }
        }
    }
    Ok(())
}
