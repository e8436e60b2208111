//! Congestion controls that the kernel has for the time of a run, and recordings of those that it always has.

use crate::parameters::Program;
use crate::planning::control_of;
use crate::EmulationError;
use parshall_bpf::{Control, Object, Recorder, Recording};
use parshall_hosts::plan::flow_of;
use parshall_hosts::Plan;
use parshall_replay::End;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

/// The controls that a run asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Controls {
    /// BPF objects by the names that the scenario has for their controls; `None`: the one of that name that Parshall
    /// has.
    pub objects: BTreeMap<String, Option<PathBuf>>,
    /// Where the calls of all controls are written; `None`: nowhere.
    pub recording: Option<PathBuf>,
}

/// Controls that are in the kernel as long as this lives.
pub(crate) struct Loaded {
    controls: BTreeMap<String, Control>,
    recording: Option<PathBuf>,
}

impl Loaded {
    /// Loads what the groups of a plan need, `programs` with parameters among them, and changes the names in the plan
    /// to those that the kernel has.
    pub(crate) fn load(
        asked: &Controls,
        programs: &BTreeMap<usize, Program>,
        plan: &mut Plan,
    ) -> Result<Self, EmulationError> {
        let recording = if asked.recording.is_some() { Recording::On } else { Recording::Off };
        let used: BTreeSet<Arc<str>> = names(plan).map(|name| name.clone()).collect();
        let mut controls = BTreeMap::new();
        for name in used {
            let object = match (programs.values().find(|each| each.name == name), asked.objects.get(&*name)) {
                (Some(each), _) => Object::with_parameters(&each.of, each.number, &each.parameters)?,
                (None, Some(Some(path))) => Object::read(path)?,
                (None, None) if recording == Recording::Off => continue, // the kernel has it
                (None, _) => Object::built(&name)?,
            };
            controls.insert(name.to_string(), Control::load(&object, recording)?);
        }
        for name in names(plan) {
            if let Some(control) = controls.get(&**name) {
                *name = control.name().into();
            }
        }
        Ok(Self { controls, recording: asked.recording.clone() })
    }

    /// True if the kernel has all controls by itself.
    pub(crate) fn is_empty(&self) -> bool {
        self.controls.is_empty()
    }

    /// Begins to record, if that was asked for.
    pub(crate) fn record(&mut self, epoch_ns: u64) -> Result<Option<Recorder>, EmulationError> {
        let Some(path) = &self.recording else { return Ok(None) };
        Ok(Some(Recorder::begin(&mut self.controls, path, epoch_ns)?))
    }

    /// The end of what was recorded.
    pub(crate) fn finish(&self, recorder: Recorder) -> Result<End, EmulationError> {
        Ok(recorder.finish(&self.controls, |address| flow_of(Ipv4Addr::from_bits(address)))?)
    }
}

/// The names of the controls in a plan.
fn names(plan: &mut Plan) -> impl Iterator<Item = &mut Arc<str>> {
    plan.flows.iter_mut().filter_map(|flow| control_of(&mut flow.transport))
}
