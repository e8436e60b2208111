//! The jitter of flows' own parts of paths ([`parshall_engine::jitter`]).

use parshall_engine::JitteredPath;

/// The jitter of a flow's own parts of its path: there, and back.
#[derive(Debug, Default)]
pub(crate) struct OwnJitter {
    pub(crate) forth: Option<JitteredPath>,
    pub(crate) back: Option<JitteredPath>,
}

impl OwnJitter {
    /// The same of a flow that comes later, as those of open loops do.
    pub(crate) fn of_another(&mut self) -> Self {
        let [forth, back] =
            [&mut self.forth, &mut self.back].map(|path| path.as_mut().map(JitteredPath::another));
        Self { forth, back }
    }
}

#[cfg(test)]
mod tests;
