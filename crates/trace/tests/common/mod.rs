//! What the tests of this crate share.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]
#![allow(dead_code)] // each test uses a part

pub mod simulated;
pub mod wire;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parshall_records::{TableSelection, Tables};
use parshall_trace::{observe, Filter, Monitor, Options, Summary, TraceError};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What was observed, with its tables.
pub struct Observed {
    pub summary: Summary,
    directory: tempfile::TempDir,
}

pub const OPTIONS: Options = Options {
    sample_every_s: Some(0.1),
    rtt_s: None,
    columns: None,
    filter: Filter { from_s: None, until_s: None, hosts: Vec::new(), ports: Vec::new() },
};

/// Observes a file with these bytes.
pub fn observe_file(bytes: &[u8]) -> Observed {
    try_observe(&[bytes], &OPTIONS).unwrap()
}

pub fn try_observe(parts: &[&[u8]], options: &Options) -> Result<Observed, TraceError> {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..parts.len()).map(|i| directory.path().join(format!("trace{i}"))).collect();
    for (path, bytes) in paths.iter().zip(parts) {
        fs::write(path, bytes).unwrap();
    }
    let mut tables = Tables::create(directory.path(), 0, TableSelection::ALL).unwrap();
    let summary = observe(&paths, options, &mut tables, &Monitor::default())?;
    tables.finish().unwrap();
    Ok(Observed { summary, directory })
}

impl Observed {
    fn batches(&self, table: &str) -> Vec<RecordBatch> {
        let path: &Path = self.directory.path();
        let file = File::open(path.join(table).with_extension("parquet")).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        reader.map(Result::unwrap).collect()
    }

    /// A column of numbers or flags; what is null is NaN.
    pub fn column(&self, table: &str, name: &str) -> Vec<f64> {
        let mut values = Vec::new();
        for batch in self.batches(table) {
            let column = &batch[name];
            if let Some(array) = column.as_primitive_opt::<Float64Type>() {
                values.extend(array.iter().map(|value| value.unwrap_or(f64::NAN)));
            } else if let Some(array) = column.as_primitive_opt::<UInt64Type>() {
                values.extend(array.iter().map(|value| value.map_or(f64::NAN, |value| value as f64)));
            } else if let Some(array) = column.as_primitive_opt::<UInt32Type>() {
                values.extend(array.iter().map(|value| value.map_or(f64::NAN, f64::from)));
            } else {
                let array = column.as_boolean();
                values.extend(
                    array.iter().map(|value| value.map_or(f64::NAN, |flag| f64::from(u8::from(flag)))),
                );
            }
        }
        values
    }

    pub fn text(&self, table: &str, name: &str) -> Vec<String> {
        let batches = self.batches(table);
        let texts =
            batches.iter().flat_map(|batch| batch[name].as_string::<i32>().iter().collect::<Vec<_>>());
        texts.map(|text| text.unwrap().to_owned()).collect()
    }

    /// The value of the first row.
    pub fn first(&self, table: &str, name: &str) -> f64 {
        self.column(table, name)[0]
    }
}
