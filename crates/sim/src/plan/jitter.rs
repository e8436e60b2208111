//! From the jitter of a scenario to a path that has it.

use super::{at_key, Problem};
use crate::scenario::JitterSpec;
use parshall_engine::random::Stream;
use parshall_engine::JitteredPath;
use parshall_units::Duration;
use std::sync::Arc;

/// `key`: where the scenario has it; `random`: a stream of its own.
pub(crate) fn jittered_path(spec: &JitterSpec, key: &str, random: Stream) -> Result<JitteredPath, Problem> {
    let law = spec.distribution.build().map_err(|error| at_key(&format!("{key}.distribution"), error))?;
    let own = move |random: &mut Stream| Duration::from_secs_f64(law.sample(random));
    Ok(JitteredPath::new(spec.order, Arc::new(own), random))
}
