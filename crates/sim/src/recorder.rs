//! Where records go.

use parshall_records::{RecordsError, Tables};

/// The tables, and the first error in writing to them.
pub(crate) struct Recorder {
    pub(crate) tables: Tables,
    error: Option<RecordsError>,
}

impl Recorder {
    /// Nothing is recorded.
    pub(crate) fn new() -> Self {
        Self { tables: Tables::none(), error: None }
    }

    /// Writes to the records; the first error ends the run at the next check.
    pub(crate) fn record(&mut self, write: impl FnOnce(&mut Tables) -> Result<(), RecordsError>) {
        if let Err(error) = write(&mut self.tables) {
            self.error.get_or_insert(error);
        }
    }

    pub(crate) fn take_error(&mut self) -> Result<(), RecordsError> {
        self.error.take().map_or(Ok(()), Err)
    }
}
