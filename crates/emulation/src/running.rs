//! Hosts and emulator, from the start to the end.

use crate::controls::{Controls, Loaded};
use crate::cpus::Cpus;
use crate::parameters;
use crate::planning::{plan, OwnLimits};
use crate::programs::{Programs, ProgramsEnded, Visit};
use crate::reporting::{report, Numbers};
use crate::validity::Validity;
use crate::EmulationError;
use parshall_hosts::plan::{PREFIX_BITS, RECEIVERS, SENDERS};
use parshall_hosts::{Hosts, HostsError, Row, Tuns};
use parshall_realtime::{monotonic_ns, Emulator, Journal, Pair, Prefix, Ran, Replayed, Settings, Side};
use parshall_records::{RecordsError, Tables};
use parshall_replay::End;
use parshall_sim::{Monitor, Scenario, SimError, Simulation, Summary};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::mpsc;

/// Time until the start, for both hosts to see it coming.
const START_IN_NS: u64 = 20_000_000;

/// The results of an emulation.
#[derive(Debug, Serialize)]
pub struct Emulated {
    /// The totals, as of a simulation.
    #[serde(flatten)]
    pub summary: Summary,
    /// Its validity.
    pub emulation: Validity,
    /// The ends of the programs, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramsEnded>,
    /// The end of the recording of the kernel's controls, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<End>,
}

/// The inputs of a run beside its scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extras {
    /// Programs in the place of a group's workload.
    pub programs: Option<Programs>,
    /// Congestion controls that the kernel has for the time of the run, and whether calls are recorded.
    #[serde(default)]
    pub controls: Controls,
}

/// Runs one repetition of a scenario in real time, and writes its records to `tables`, which it gives back to be
/// completed. With programs it ends when their client does, if that is before the scenario's end.
///
/// # Errors
/// [`EmulationError`]: the scenario asks for what cannot be emulated, the kernel refuses, or the run was cancelled.
pub fn emulate(
    scenario: &Scenario,
    repetition: u32,
    tables: Tables,
    monitor: &Monitor,
    extras: &Extras,
) -> Result<(Emulated, Tables), EmulationError> {
    let (emulated, tables, _) = run(scenario, repetition, tables, monitor, extras, false)?;
    Ok((emulated, tables))
}

/// Emulates one repetition of a scenario, without records, and hands what came from the hosts once more into its
/// network: in one go, without a clock. The queues must decide the same.
///
/// # Errors
/// As [`emulate`].
pub fn emulate_and_replay(
    scenario: &Scenario,
    repetition: u32,
    monitor: &Monitor,
) -> Result<(Emulated, Replayed), EmulationError> {
    let (emulated, _, journal) =
        run(scenario, repetition, Tables::none(), monitor, &Extras::default(), true)?;
    let again = Simulation::begin(scenario, repetition, Tables::none())?;
    let replayed = journal.unwrap_or_default().replay(again, monitor)?;
    Ok((emulated, replayed))
}

fn run(
    scenario: &Scenario,
    repetition: u32,
    tables: Tables,
    monitor: &Monitor,
    extras: &Extras,
    journal: bool,
) -> Result<(Emulated, Tables, Option<Journal>), EmulationError> {
    let asked_ns = monotonic_ns();
    let mut simulation = Simulation::begin(scenario, repetition, tables)?;
    let numbers = Numbers::of(&simulation);
    let (sender, rows) = mpsc::channel();
    let programs = extras.programs.as_ref();
    let kernel_programs = parameters::programs(scenario)?;
    let mut plan = plan(scenario, &simulation, programs, &kernel_programs)?;
    let pair_of = plan.flows.iter().map(|flow| flow.pair).collect();
    let own_limits = OwnLimits::of(scenario, &plan);
    let mut controls = Loaded::load(&extras.controls, &kernel_programs, &mut plan)?;
    let cpus = if controls.is_empty() { Cpus::for_flows(plan.connections()) } else { None };
    if let Some(cpus) = &cpus {
        plan.pairs.iter_mut().for_each(|sysctls| sysctls.push(cpus.sysctl.clone()));
    }
    let mut hosts = Hosts::begin(plan, sender)?;
    simulation.capture_in_background()?; // not before: a user namespace is for a process with a single thread
    let tuns = hosts.take_tuns().ok_or(HostsError::Died("senders'"))?;
    let set_up_ns = monotonic_ns() - asked_ns;
    let counted = programs.map_or((0, 0), |programs| flows_of_programs(scenario, programs));
    let mut visit = programs.map(|programs| Visit::begin(programs, &hosts, counted.0)).transpose()?;
    let begin_ns = monotonic_ns() + START_IN_NS;
    let emulator = Emulator::new(
        simulation,
        tuns.into_iter().map(pair).collect(),
        pair_of,
        Settings {
            begin_ns: Some(begin_ns),
            cpu: cpus.map(|cpus| cpus.emulator),
            counted,
            journal,
            echo: true,
            ..Settings::default()
        },
    )?;
    let recorder = controls.record(begin_ns)?;
    hosts.start(begin_ns);
    if let Some(visit) = &mut visit {
        visit.begin_client(&hosts, begin_ns)?;
    }
    let mut done = 0;
    // Rows wait until the end: to encode them while packets are due would make these late.
    let Ran { mut simulation, measured, journal, devices, .. } =
        emulator.run(monitor, |simulation, now| {
            if !scenario.ends_with.is_empty() && hosts.done() > done {
                done = hosts.done();
                (0..numbers.flows())
                    .filter(|&flow| hosts.is_done(flow))
                    .for_each(|flow| simulation.finished(flow, now));
            }
            // Nobody has stopped the hosts: if they are, one of them has failed, and `finish` returns its error.
            if hosts.is_stopped() || visit.as_ref().is_some_and(Visit::is_over) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
    hosts.stop();
    let programs = visit.map(Visit::end).transpose()?;
    let outcome = hosts.finish()?;
    drop(devices); // not before the hosts have ended
    let recording = recorder.map(|recorder| controls.finish(recorder)).transpose()?;
    write_rows(&mut simulation, &rows, &numbers).map_err(SimError::Records)?;
    report(&mut simulation, &outcome);
    let left_out = simulation.packets_left_out();
    let (summary, tables) = simulation.finish(monitor)?;
    let emulation = Validity::new(measured, (&outcome, &own_limits), left_out, set_up_ns as f64 / 1e9);
    Ok((Emulated { summary, emulation, programs, recording }, tables, journal))
}

/// The flows of the programs' group among the external ones: the first, and the one after the last.
fn flows_of_programs(scenario: &Scenario, programs: &Programs) -> (u32, u32) {
    let (before, from) = scenario.flows.split_at(programs.group as usize);
    let first = before.iter().filter(|group| group.external).map(|group| group.count).sum();
    (first, first + from.first().map_or(0, |group| group.count))
}

/// The devices of a pair of hosts, and the addresses behind them.
fn pair(Tuns { senders, receivers }: Tuns) -> Pair {
    let side = |device, network| Side::new(device, Prefix::new(network, u32::from(PREFIX_BITS)));
    Pair { senders: side(senders, SENDERS), receivers: side(receivers, RECEIVERS) }
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
