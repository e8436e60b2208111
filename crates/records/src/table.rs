//! Rows in, a Parquet file out.
//!
//! Rows collect in columns; every [`BATCH_ROWS`] they are encoded, and every [`GROUP_ROWS`] the encoded
//! and compressed columns go to the file as a row group. What stays in memory is one row group and, for
//! the file's footer, a few hundred bytes a column for each group written: some 25 MB for a thousand
//! million rows.

use crate::column::{Column, ColumnType, Row};
use crate::error::RecordsError;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are encoded together.
pub(crate) const BATCH_ROWS: usize = 8192;

/// Rows of a row group.
const GROUP_ROWS: usize = 16 * BATCH_ROWS;

/// The first column of every table.
const REPETITION: Column = Column {
    name: "repetition",
    column_type: ColumnType::Uint32,
    nullable: false,
    unit: "",
    description: "The repetition's number.",
};

/// Takes the rows of one table: to a file, to memory, or nowhere.
pub struct Table<R: Row>(State<R>);

enum State<R: Row> {
    /// Rows are discarded.
    Off,
    /// Rows stay in memory, in order.
    InMemory(Vec<R>),
    Open(Box<Writer<R>>),
    /// Writing failed: the file is not to be continued.
    Failed(PathBuf, io::ErrorKind),
}

struct Writer<R: Row> {
    path: PathBuf,
    repetition: u32,
    schema: SchemaRef,
    builders: R::Builders,
    rows: usize,
    parquet: ArrowWriter<File>,
}

impl<R: Row> Table<R> {
    /// Discards its rows, at no cost.
    pub fn none() -> Self {
        Self(State::Off)
    }

    /// Keeps its rows in memory, for [`rows`](Self::rows).
    pub(crate) fn in_memory() -> Self {
        Self(State::InMemory(Vec::new()))
    }

    /// True if rows are kept: where not, the caller need not make them.
    #[inline]
    pub fn is_active(&self) -> bool {
        matches!(self.0, State::Open(_) | State::InMemory(_))
    }

    /// The rows so far of a table that is in memory; no rows of any other.
    pub fn rows(&self) -> &[R] {
        match &self.0 {
            State::InMemory(rows) => rows,
            State::Off | State::Open(_) | State::Failed(..) => &[],
        }
    }

    /// Creates the table's file in `directory`, in place of any older one.
    pub(crate) fn create(directory: &Path, repetition: u32) -> Result<Self, RecordsError> {
        Ok(Self(State::Open(Box::new(Writer::create(path::<R>(directory), repetition)?))))
    }

    /// Appends a row; it is in the file after [`Tables::finish`](crate::Tables::finish) at the latest.
    ///
    /// # Errors
    /// A number in the row is not finite (the table is as before), or the file could not be written.
    #[inline]
    pub fn push(&mut self, row: R) -> Result<(), RecordsError> {
        match &mut self.0 {
            State::Off => Ok(()),
            State::Failed(path, kind) => Err(RecordsError::io(path, (*kind).into())),
            State::InMemory(rows) => {
                row.check()?;
                rows.push(row);
                Ok(())
            }
            State::Open(writer) => {
                let result = writer.push(row);
                if let Err(RecordsError::Write { path, source }) = &result {
                    self.0 = State::Failed(path.clone(), source.kind());
                }
                result
            }
        }
    }

    /// Writes what is left; if `durable`, makes sure that it is on the disk.
    pub(crate) fn finish(self, durable: bool) -> Result<(), RecordsError> {
        match self.0 {
            State::Off | State::InMemory(_) => Ok(()),
            State::Failed(path, kind) => Err(RecordsError::io(&path, kind.into())),
            State::Open(writer) => writer.finish(durable),
        }
    }
}

impl<R: Row> Writer<R> {
    fn create(path: PathBuf, repetition: u32) -> Result<Self, RecordsError> {
        let file = File::create(&path).map_err(|error| RecordsError::io(&path, error))?;
        let schema = schema::<R>();
        let parquet = ArrowWriter::try_new(file, schema.clone(), Some(properties::<R>()))
            .map_err(|error| RecordsError::parquet(&path, error))?;
        Ok(Self { path, repetition, schema, builders: R::Builders::default(), rows: 0, parquet })
    }

    fn push(&mut self, row: R) -> Result<(), RecordsError> {
        row.check()?;
        row.append(&mut self.builders);
        self.rows += 1;
        if self.rows == BATCH_ROWS {
            self.encode()?;
        }
        Ok(())
    }

    fn encode(&mut self) -> Result<(), RecordsError> {
        let repetition = UInt32Array::from_value(self.repetition, self.rows);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(repetition)];
        columns.append(&mut R::arrays(&mut self.builders));
        self.rows = 0;
        RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(Into::into)
            .and_then(|batch| self.parquet.write(&batch))
            .map_err(|error| RecordsError::parquet(&self.path, error))
    }

    fn finish(mut self, durable: bool) -> Result<(), RecordsError> {
        if self.rows > 0 {
            self.encode()?;
        }
        self.parquet.finish().map_err(|error| RecordsError::parquet(&self.path, error))?;
        let mut flushed = self.parquet.sync();
        if durable {
            flushed = flushed.and_then(|()| self.parquet.inner().sync_all());
        }
        flushed.map_err(|error| RecordsError::io(&self.path, error))
    }
}

/// Where the table's file is.
pub(crate) fn path<R: Row>(directory: &Path) -> PathBuf {
    directory.join(R::TABLE).with_extension("parquet")
}

/// Numbers are encoded without dictionaries: it is three times as fast, and series that change little from
/// row to row take a third of the space or less.
fn properties<R: Row>() -> WriterProperties {
    let common = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    let numbers = columns::<R>().filter_map(|column| Some((column.name.into(), column.encoding()?)));
    let all = numbers.fold(common, |properties, (name, encoding): (ColumnPath, _)| {
        properties.set_column_dictionary_enabled(name.clone(), false).set_column_encoding(name, encoding)
    });
    all.build()
}

/// The columns as they are in the file.
pub(crate) fn columns<R: Row>() -> impl Iterator<Item = &'static Column> {
    std::iter::once(&REPETITION).chain(R::COLUMNS)
}

fn schema<R: Row>() -> SchemaRef {
    let fields: Vec<_> = columns::<R>().map(Column::field).collect();
    let metadata = HashMap::from([
        ("table".to_owned(), R::TABLE.to_owned()),
        ("description".to_owned(), R::DESCRIPTION.to_owned()),
    ]);
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

impl<R: Row> fmt::Debug for Table<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            State::Off => write!(f, "{} (off)", R::TABLE),
            State::InMemory(rows) => write!(f, "{} ({} rows in memory)", R::TABLE, rows.len()),
            State::Open(writer) => write!(f, "{}", writer.path.display()),
            State::Failed(path, kind) => write!(f, "{} ({kind})", path.display()),
        }
    }
}
