//! Records: what any instrument measured, in one schema.
//!
//! Tables are Parquet files; every column has a description and a unit, which travel in the
//! file as field metadata. A simulation pushes rows, a batch at a time is encoded, and full row groups go to
//! disk, so memory does not grow with simulated time.
//!
//! | module | what |
//! | --- | --- |
//! | [`schema`] | the tables: one row type each |
//! | [`Table`] | rows in, a Parquet file out (or rows in memory) |
//! | [`Tables`] | the tables of one repetition |
//! | [`DelayHistogram`] | percentiles of delays in constant memory |
//!
//! ```
//! use parshall_records::{schema::RoundRow, TableSelection, Tables};
//!
//! let directory = tempfile::tempdir()?;
//! let selection = TableSelection { rounds: true, ..TableSelection::default() };
//! let mut tables = Tables::create(directory.path(), 0, selection)?;
//! tables.rounds.push(RoundRow { flow: 0, round: 0, start_s: 0.0, window_packets: 10, lost: false })?;
//! tables.finish()?;
//! assert!(directory.path().join("rounds.parquet").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod column;
mod error;
mod histogram;
pub mod schema;
mod table;
mod tables;

pub use column::{Column, ColumnType, Row};
pub use error::RecordsError;
pub use histogram::DelayHistogram;
pub use schema::{
    DelayHistogramRow, FlowRow, FlowSampleRow, GroupRow, GroupSampleRow, InternalRow, LatencyHistogramRow,
    LinkRow, LinkSampleRow, RoundRow, TraceArrivalRow, TraceEventRow, TraceFlowRow, TraceLimitRow,
    TracePeriodRow, TraceWindowRow, TransferRow,
};
pub use table::Table;
pub use tables::{schema_catalog, TableDescription, TableSelection, Tables};
