//! The records do not depend on who steps.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

use super::Simulation;
use crate::testing::{everything, everything_with_jitter, read};
use crate::{simulate, Monitor, Summary};
use parshall_records::Tables;
use parshall_units::{Duration, Instant};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The bytes of all files below a directory, by their names.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.file_name().unwrap().to_string_lossy().into(), std::fs::read(path).unwrap());
        }
    }
    found
}

/// What a scenario writes if `step` drives it, and what it tells.
fn written(
    scenario: &Value,
    step: impl FnOnce(Simulation, &Monitor) -> (Summary, Tables),
) -> (BTreeMap<String, Vec<u8>>, String) {
    let scenario = read(scenario);
    let directory = tempfile::tempdir().unwrap();
    let tables = Tables::create(directory.path(), 0, scenario.probes.tables()).unwrap();
    let (mut summary, tables) = step(Simulation::begin(&scenario, 0, tables).unwrap(), &Monitor::default());
    tables.close().unwrap();
    (summary.cpu_s, summary.wall_s) = (None, None);
    (files(directory.path()), format!("{summary:?}"))
}

#[test]
fn many_small_steps_give_the_bytes_of_one_run() {
    for scenario in [everything(), everything_with_jitter()] {
        steps_change_nothing(&scenario);
    }
}

fn steps_change_nothing(scenario: &Value) {
    let at_once = written(scenario, |simulation, monitor| simulation.finish(monitor).unwrap());
    let names: Vec<_> = at_once.0.keys().cloned().collect();
    for name in ["flows.parquet", "link_samples.parquet", "rounds.parquet", "forth.pcap", "paced-8.sqlog"] {
        assert!(names.iter().any(|found| found == name), "{name} is not among {names:?}");
    }
    for step in [Duration::from_ps(333_333_333), Duration::from_millis(7), Duration::from_millis(10_000)] {
        let stepped = written(scenario, |mut simulation, monitor| {
            let mut now = Instant::ZERO;
            while simulation.next_deadline().is_some() {
                now += step;
                simulation.advance(now, monitor).unwrap();
                assert!(simulation.next_deadline().is_none_or(|next| next >= now));
            }
            simulation.finish(monitor).unwrap()
        });
        assert!(stepped == at_once, "steps of {step}");
    }
    let by_event = written(scenario, |mut simulation, monitor| {
        while let Some(next) = simulation.next_deadline() {
            simulation.advance(next + Duration::from_ps(1), monitor).unwrap();
        }
        simulation.finish(monitor).unwrap()
    });
    assert!(by_event == at_once, "one event after the other");
}

#[test]
fn to_simulate_is_one_step() {
    let scenario = read(&everything());
    let mut tables = Tables::none();
    let mut summary = simulate(&scenario, 0, &mut tables, &Monitor::default()).unwrap();
    (summary.cpu_s, summary.wall_s) = (None, None);
    let (_, stepped) = written(&everything(), |simulation, monitor| simulation.finish(monitor).unwrap());
    assert_eq!(format!("{summary:?}"), stepped);
}
