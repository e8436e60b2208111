//! Groups whose control is a program of `bpf/` with parameters of the scenario.
//!
//! | control | parameters |
//! | --- | --- |
//! | `multiple_time_scale` | [`steering`] |
//! | `cubic_linux`, `cubic_2005` | [`cubic`] |
//!
//! A program has one set of parameters. Groups with the same share one, unless the connections of a group share what
//! they learn, which is for that group.

use crate::refusal::Refusal;
use crate::{cubic, steering};
use parshall_congestion::{ControlConfig, Sharing};
use parshall_hosts::HostsError;
use parshall_sim::Scenario;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A group's program.
#[derive(Clone)]
pub(crate) struct Program {
    /// The name in the recording of its calls, and in the plan.
    pub(crate) name: Arc<str>,
    /// Which one it is, in `bpf/`.
    pub(crate) of: String,
    /// Which of those of the process, from 1.
    pub(crate) number: usize,
    /// Its `struct parameters`.
    pub(crate) parameters: Vec<u8>,
}

/// The programs of the groups of real hosts that have one with parameters, by the group's number.
pub(crate) fn programs(scenario: &Scenario) -> Result<BTreeMap<usize, Program>, HostsError> {
    let mut found = BTreeMap::<usize, Program>::new();
    for (group, flows) in scenario.flows.iter().enumerate().filter(|(_, flows)| flows.external) {
        let Some(control) = &flows.congestion_control else { continue };
        let Some(parameters) = parameters(control) else { continue };
        let parameters = parameters.map_err(|(key, value, accepted)| HostsError::Plan {
            key: format!("flows.{group}.congestion_control.{key}"),
            found: value,
            accepted: format!(
                "the kernel's program {accepted}; or write endpoint = \"simulated\" for this group"
            ),
        })?;
        let others: Vec<_> = found.values().filter(|each| each.of == control.name()).collect();
        let same = others.iter().find(|each| each.parameters == parameters && !learns_as_one(control));
        let program = same.map_or_else(
            || {
                let of = control.name().to_string();
                let number = 1 + others.iter().map(|each| each.number).max().unwrap_or(0);
                let name = if number == 1 { of.as_str().into() } else { format!("{of}_{number}").into() };
                Program { name, of, number, parameters: parameters.clone() }
            },
            |program| (*program).clone(),
        );
        found.insert(group, program);
    }
    Ok(found)
}

/// The parameters of a control's program; `None`: it has no program with parameters.
fn parameters(control: &ControlConfig) -> Option<Result<Vec<u8>, Refusal>> {
    match control {
        ControlConfig::MultipleTimeScale(config) => Some(steering::parameters(config)),
        ControlConfig::CubicLinux(config) => Some(cubic::of_linux(config)),
        ControlConfig::Cubic2005(config) => Some(cubic::of_2005(config)),
        _ => None,
    }
}

/// True if all connections of the group share what they learn.
fn learns_as_one(control: &ControlConfig) -> bool {
    matches!(control, ControlConfig::MultipleTimeScale(config) if config.shared == Sharing::Group)
}
