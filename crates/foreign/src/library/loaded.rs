//! A library in memory.

use super::abi::Table;

/// The library and its table of functions; it stays in memory as long as one of its controls exists.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(super) table: Table,
    pub(super) _library: libloading::Library,
}

impl Loaded {
    pub(super) fn table(&self) -> &Table {
        &self.table
    }
}
