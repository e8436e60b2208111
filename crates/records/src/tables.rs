//! The tables of one repetition, as files of one directory.

use crate::column::{Column, Row};
use crate::error::RecordsError;
use crate::schema::{
    DelayHistogramRow, FlowRow, FlowSampleRow, GroupRow, GroupSampleRow, InternalRow, LatencyHistogramRow,
    LinkRow, LinkSampleRow, RoundRow, TraceArrivalRow, TraceEventRow, TraceFlowRow, TraceLimitRow,
    TracePeriodRow, TraceWindowRow, TransferRow,
};
use crate::table::{columns, path, Table};
use serde::Serialize;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Which of the optional tables are written; `flows`, `links` and `delay_histogram` always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // independent switches
pub struct TableSelection {
    /// `transfers`.
    pub transfers: bool,
    /// `rounds`.
    pub rounds: bool,
    /// `flow_samples`.
    pub flow_samples: bool,
    /// `link_samples`.
    pub link_samples: bool,
    /// `group_samples`.
    pub group_samples: bool,
    /// `groups` and `latency_histogram`.
    pub latency: bool,
    /// `internals`.
    pub internals: bool,
    /// `trace_flows`, `trace_limits`, `trace_periods`, `trace_windows`, `trace_events` and `trace_arrivals`.
    pub trace_flows: bool,
}

impl TableSelection {
    /// Every table.
    pub const ALL: Self = Self {
        transfers: true,
        rounds: true,
        flow_samples: true,
        link_samples: true,
        group_samples: true,
        latency: true,
        internals: true,
        trace_flows: true,
    };
}

/// A table of the schema, for people and for other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableDescription {
    /// Its name, and its file's without the extension.
    pub name: &'static str,
    /// The meaning of a row.
    pub description: &'static str,
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

/// The one list of tables.
macro_rules! tables {
    ($($field:ident: $row:ident, $written:expr;)*) => {
        /// The tables of one repetition.
        #[derive(Debug)]
        pub struct Tables {
            /// Where the files are; `None`: nowhere.
            directory: Option<Box<Path>>,
            $(
                #[doc = concat!("Rows of [`", stringify!($row), "`].")]
                pub $field: Table<$row>,
            )*
        }

        impl Tables {
            /// Creates the files in `directory`, which is made if it is not there. What an interrupted
            /// attempt left in it is replaced; a table that is not selected has no file.
            ///
            /// # Errors
            /// The directory or a file cannot be written.
            pub fn create(
                directory: &Path,
                repetition: u32,
                selection: TableSelection,
            ) -> Result<Self, RecordsError> {
                fs::create_dir_all(directory).map_err(|error| RecordsError::io(directory, error))?;
                Ok(Self {
                    $($field: open(directory, repetition, $written(selection))?,)*
                    directory: Some(directory.into()),
                })
            }

            /// Keeps all rows in memory; a table that is not selected discards its rows.
            pub fn in_memory(selection: TableSelection) -> Self {
                Self { directory: None, $($field: in_memory($written(selection)),)* }
            }

            /// Discards all rows, at no cost.
            pub fn none() -> Self {
                Self { directory: None, $($field: Table::none(),)* }
            }

            /// Where the files are; `None`: nowhere.
            pub fn directory(&self) -> Option<&Path> {
                self.directory.as_deref()
            }

            /// Completes the files and makes sure that they are on the disk.
            ///
            /// # Errors
            /// A file cannot be written.
            pub fn finish(self) -> Result<(), RecordsError> {
                $(self.$field.finish(true)?;)*
                self.directory.map_or(Ok(()), |directory| sync(&directory))
            }

            /// Completes the files, without waiting for the disk: for tables that are read at once and not kept.
            ///
            /// # Errors
            /// A file cannot be written.
            pub fn close(self) -> Result<(), RecordsError> {
                $(self.$field.finish(false)?;)*
                Ok(())
            }
        }

        /// Every table, with its columns.
        pub fn schema_catalog() -> Vec<TableDescription> {
            vec![$(describe::<$row>(),)*]
        }
    };
}

tables! {
    flows: FlowRow, always;
    links: LinkRow, always;
    delay_histogram: DelayHistogramRow, always;
    transfers: TransferRow, |selection: TableSelection| selection.transfers;
    rounds: RoundRow, |selection: TableSelection| selection.rounds;
    flow_samples: FlowSampleRow, |selection: TableSelection| selection.flow_samples;
    link_samples: LinkSampleRow, |selection: TableSelection| selection.link_samples;
    group_samples: GroupSampleRow, |selection: TableSelection| selection.group_samples;
    groups: GroupRow, |selection: TableSelection| selection.latency;
    latency_histogram: LatencyHistogramRow, |selection: TableSelection| selection.latency;
    internals: InternalRow, |selection: TableSelection| selection.internals;
    trace_flows: TraceFlowRow, |selection: TableSelection| selection.trace_flows;
    trace_limits: TraceLimitRow, |selection: TableSelection| selection.trace_flows;
    trace_periods: TracePeriodRow, |selection: TableSelection| selection.trace_flows;
    trace_windows: TraceWindowRow, |selection: TableSelection| selection.trace_flows;
    trace_events: TraceEventRow, |selection: TableSelection| selection.trace_flows;
    trace_arrivals: TraceArrivalRow, |selection: TableSelection| selection.trace_flows;
}

fn always(_: TableSelection) -> bool {
    true
}

fn open<R: Row>(directory: &Path, repetition: u32, written: bool) -> Result<Table<R>, RecordsError> {
    if written {
        return Table::create(directory, repetition);
    }
    let path = path::<R>(directory);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RecordsError::io(&path, error)),
        _ => Ok(Table::none()),
    }
}

fn in_memory<R: Row>(kept: bool) -> Table<R> {
    if kept {
        Table::in_memory()
    } else {
        Table::none()
    }
}

/// Makes sure that the directory's entries are on the disk, on file systems that can be asked to.
#[expect(clippy::disallowed_methods, reason = "a directory of ours, of which nothing is read")]
fn sync(directory: &Path) -> Result<(), RecordsError> {
    match File::open(directory).and_then(|opened| opened.sync_all()) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Err(RecordsError::io(directory, error))
        }
        _ => Ok(()),
    }
}

fn describe<R: Row>() -> TableDescription {
    TableDescription {
        name: R::TABLE,
        description: R::DESCRIPTION,
        columns: columns::<R>().copied().collect(),
    }
}
