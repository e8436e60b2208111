//! The rows that hosts record while they run.

use parshall_records::{FlowSampleRow, RoundRow, TransferRow};

/// A row of the records.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// Of `flow_samples`.
    FlowSample(FlowSampleRow),
    /// Of `rounds`.
    Round(RoundRow),
    /// Of `transfers`.
    Transfer(TransferRow),
}
