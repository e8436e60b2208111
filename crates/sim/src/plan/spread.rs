//! A value for each flow of a group, such as its RTT.

use super::{problem, Problem};
use crate::scenario::{FlowGroup, Spread};
use parshall_engine::random::Streams;
use parshall_units::Duration;
use parshall_workload::Distribution;

/// A [`Spread`] ready to be asked.
pub(super) struct SpreadValues<'a> {
    spread: &'a Spread,
    distribution: Option<Distribution>,
    group: &'a str,
    key: &'static str,
    streams: Streams,
}

impl<'a> SpreadValues<'a> {
    pub(super) fn new(
        spread: &'a Spread,
        group: &'a FlowGroup,
        streams: Streams,
        key: &'static str,
    ) -> Result<Self, Problem> {
        let mut distribution = None;
        match spread {
            Spread::List(values) if values.len() != group.count as usize => {
                let (found, count) = (values.len(), group.count);
                return Err(problem(key, format!("lists {found} values for {count} flows")));
            }
            Spread::Uniform { low, high } if low > high => {
                return Err(problem(key, "the lower end is above the upper one"));
            }
            Spread::Distribution { of, .. } => {
                distribution = Some(of.build().map_err(|error| problem(key, error))?);
            }
            _ => {}
        }
        Ok(Self { spread, distribution, group: &group.name, key, streams })
    }

    /// The largest of `count`, or what bounds them.
    pub(super) fn longest(&self, count: u32) -> u64 {
        match self.spread {
            Spread::Constant(value) => *value,
            Spread::Linear { first, .. } => (*first).max(self.get(count - 1)),
            Spread::List(values) => values.iter().copied().max().unwrap_or(0),
            Spread::Uniform { high, .. } => *high,
            Spread::Distribution { .. } => (0..count).map(|index| self.get(index)).max().unwrap_or(0),
        }
    }

    /// The smallest of `count`, or what bounds them.
    pub(super) fn shortest(&self, count: u32) -> u64 {
        match self.spread {
            Spread::Constant(value) => *value,
            Spread::Linear { first, .. } => (*first).min(self.get(count - 1)),
            Spread::List(values) => values.iter().copied().min().unwrap_or(0),
            Spread::Uniform { low, .. } => *low,
            Spread::Distribution { min_ps, .. } => *min_ps,
        }
    }

    pub(super) fn get(&self, index: u32) -> u64 {
        let draw = || self.streams.stream(self.group, self.key, u64::from(index));
        match self.spread {
            Spread::Constant(value) => *value,
            Spread::Linear { first, step } => first.saturating_add(step.saturating_mul(u64::from(index))),
            Spread::List(values) => values[index as usize],
            Spread::Uniform { low, high } => {
                let bits = rand_core::RngCore::next_u64(&mut draw());
                low + ((u128::from(bits) * u128::from(high - low)) >> 64) as u64
            }
            Spread::Distribution { min_ps, .. } => {
                let seconds = self.distribution.as_ref().map_or(0.0, |d| d.sample(&mut draw()));
                Duration::from_secs_f64(seconds).as_ps().max(*min_ps)
            }
        }
    }
}
