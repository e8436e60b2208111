//! Checks of a scenario as a whole.

use crate::scenario::{FlowGroup, Sampling, Scenario};
use crate::SimError;
use parshall_workload::WorkloadConfig;

/// Refuses a scenario that contradicts itself beyond its single links and groups.
pub(super) fn check(scenario: &Scenario) -> Result<(), SimError> {
    if scenario.warm_up_ps >= scenario.duration_ps {
        return Err(SimError::invalid("warm_up", "must end before the duration does"));
    }
    check_interval("probes.flow_samples", scenario.probes.flow_samples, scenario.duration_ps)?;
    check_interval("probes.link_samples", scenario.probes.link_samples, scenario.duration_ps)?;
    check_ends_with(scenario)?;
    crate::capture::check(scenario)?;
    crate::qlog::check(scenario)
}

/// The groups that end a simulation exist, and have a last transfer.
fn check_ends_with(scenario: &Scenario) -> Result<(), SimError> {
    for (place, &group) in scenario.ends_with.iter().enumerate() {
        let key = format!("ends_with.{place}");
        match scenario.flows.get(group as usize) {
            Some(FlowGroup { workload: WorkloadConfig::Transfer(_), .. }) => {}
            Some(_) => return Err(SimError::invalid(key, "its workload has no last transfer")),
            None => return Err(SimError::invalid(key, format!("there is no group {group}"))),
        }
    }
    Ok(())
}

/// Samples of one flow or link that a run may take; more are a mistake in the interval's unit.
const MAX_SAMPLES: u64 = 10_000_000;

/// The finest interval of samples that fit the run, 1 ns: the clock must be able to hold their widest.
const MIN_FINEST_PS: u64 = 1000;

fn check_interval(key: &str, sampling: Option<Sampling>, duration_ps: u64) -> Result<(), SimError> {
    match sampling {
        Some(Sampling::Every(interval)) if interval < (duration_ps / MAX_SAMPLES).max(1) => {
            let problem = format!("makes more than {MAX_SAMPLES} samples; take a longer interval");
            Err(SimError::invalid(key, problem))
        }
        Some(Sampling::Fitted(finest)) if finest < MIN_FINEST_PS => {
            Err(SimError::invalid(key, format!("begins at least at {MIN_FINEST_PS} ps")))
        }
        _ => Ok(()),
    }
}
