//! Bytes as a resolved scenario in JSON, which is refused or runs.

use parshall_records::Tables;
use parshall_sim::{simulate, Monitor, Scenario, SimError};

/// Events of a run: enough for slow starts, losses and timeouts of a few flows.
const EVENTS: u64 = 1 << 15;

/// Flows of a run; more of them only use up memory and time.
const FLOWS: u64 = 1000;

/// Runs the scenario; `None`: it is none, has too many flows, or is refused.
///
/// # Panics
/// A refusal says nothing, or a result contradicts itself.
pub fn run(bytes: &[u8]) -> Option<()> {
    let scenario: Scenario = serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
    let flows: u64 = scenario.flows.iter().map(|group| u64::from(group.count)).sum();
    if flows > FLOWS {
        return None;
    }
    let monitor = Monitor { most_events: Some(EVENTS), ..Monitor::default() };
    match simulate(&scenario, 0, &mut Tables::none(), &monitor) {
        Ok(_) | Err(SimError::Interrupted { .. }) => Some(()),
        Err(error) => {
            assert!(error.to_string().len() > 10, "{error}");
            None
        }
    }
}
