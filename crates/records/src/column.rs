//! From a row type to Arrow: what a column is, and the macro that declares a table.

use crate::error::RecordsError;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use parquet::basic::Encoding;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name, with the unit as a suffix where it has one.
    pub name: &'static str,
    /// Its type.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// True if it can be null.
    pub nullable: bool,
    /// Its unit; empty for names, indices and flags, 1 for ratios.
    pub unit: &'static str,
    /// Its meaning.
    pub description: &'static str,
}

/// The type of a column, by its Arrow name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// 32 bits, unsigned.
    Uint32,
    /// 64 bits, unsigned.
    Uint64,
    /// 64 bits, floating.
    Double,
    /// A flag.
    Bool,
    /// UTF-8.
    String,
}

impl Column {
    /// Returns the encoding of a column of numbers; `None` for others, which keep the writer's
    /// choice.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        match self.column_type {
            ColumnType::Uint32 | ColumnType::Uint64 => Some(Encoding::DELTA_BINARY_PACKED),
            ColumnType::Double => Some(Encoding::BYTE_STREAM_SPLIT),
            ColumnType::Bool | ColumnType::String => None,
        }
    }

    /// The Arrow field; description and unit are its metadata.
    pub(crate) fn field(&self) -> Field {
        let data_type = match self.column_type {
            ColumnType::Uint32 => DataType::UInt32,
            ColumnType::Uint64 => DataType::UInt64,
            ColumnType::Double => DataType::Float64,
            ColumnType::Bool => DataType::Boolean,
            ColumnType::String => DataType::Utf8,
        };
        let metadata = HashMap::from([
            ("description".to_owned(), self.description.to_owned()),
            ("unit".to_owned(), self.unit.to_owned()),
        ]);
        Field::new(self.name, data_type, self.nullable).with_metadata(metadata)
    }
}

/// A row of a table; implemented by the [`schema`](crate::schema)'s row types.
pub trait Row: Sized {
    /// The table's name, and its file's without the extension.
    const TABLE: &'static str;
    /// What a row is.
    const DESCRIPTION: &'static str;
    /// The columns after `repetition`, which every table has and which [`Table`](crate::Table) fills in.
    const COLUMNS: &'static [Column];
    /// A builder for each column.
    type Builders: Default + Send;

    /// Refuses a row that no table may hold.
    ///
    /// # Errors
    /// [`RecordsError::NotFinite`]: a number is NaN or infinite.
    fn check(&self) -> Result<(), RecordsError>;

    /// Appends the row to the columns.
    fn append(self, builders: &mut Self::Builders);

    /// The columns' arrays, in order; the builders are empty afterwards.
    fn arrays(builders: &mut Self::Builders) -> Vec<ArrayRef>;
}

/// A type that a row's field can have.
pub(crate) trait Cell {
    /// Collects a column of it.
    type Builder: ArrayBuilder + Default;
    /// The column's type.
    const TYPE: ColumnType;
    /// True if it can be null.
    const NULLABLE: bool = false;

    /// The number in it that is not finite, if there is one.
    fn not_finite(&self) -> Option<f64> {
        None
    }

    /// Appends it to its column.
    fn append(self, builder: &mut Self::Builder);
}

impl Cell for u32 {
    type Builder = UInt32Builder;
    const TYPE: ColumnType = ColumnType::Uint32;

    fn append(self, builder: &mut UInt32Builder) {
        builder.append_value(self);
    }
}

impl Cell for Option<u32> {
    type Builder = UInt32Builder;
    const TYPE: ColumnType = ColumnType::Uint32;
    const NULLABLE: bool = true;

    fn append(self, builder: &mut UInt32Builder) {
        builder.append_option(self);
    }
}

impl Cell for u64 {
    type Builder = UInt64Builder;
    const TYPE: ColumnType = ColumnType::Uint64;

    fn append(self, builder: &mut UInt64Builder) {
        builder.append_value(self);
    }
}

impl Cell for Option<u64> {
    type Builder = UInt64Builder;
    const TYPE: ColumnType = ColumnType::Uint64;
    const NULLABLE: bool = true;

    fn append(self, builder: &mut UInt64Builder) {
        builder.append_option(self);
    }
}

impl Cell for f64 {
    type Builder = Float64Builder;
    const TYPE: ColumnType = ColumnType::Double;

    fn not_finite(&self) -> Option<f64> {
        (!self.is_finite()).then_some(*self)
    }

    fn append(self, builder: &mut Float64Builder) {
        builder.append_value(self);
    }
}

impl Cell for Option<f64> {
    type Builder = Float64Builder;
    const TYPE: ColumnType = ColumnType::Double;
    const NULLABLE: bool = true;

    fn not_finite(&self) -> Option<f64> {
        self.filter(|value| !value.is_finite())
    }

    fn append(self, builder: &mut Float64Builder) {
        builder.append_option(self);
    }
}

impl Cell for bool {
    type Builder = BooleanBuilder;
    const TYPE: ColumnType = ColumnType::Bool;

    fn append(self, builder: &mut BooleanBuilder) {
        builder.append_value(self);
    }
}

/// A name, shared by the rows that have it.
impl Cell for Arc<str> {
    type Builder = StringBuilder;
    const TYPE: ColumnType = ColumnType::String;

    fn append(self, builder: &mut StringBuilder) {
        builder.append_value(self);
    }
}

/// Declares a table in one place: the row type, its columns with their types, units and descriptions, and how
/// rows become Arrow arrays.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        pub struct $row:ident in $table:literal {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty, $unit:literal;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $row {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        const _: () = {
            #[derive(Default)]
            pub struct Builders {
                $($field: <$type as $crate::column::Cell>::Builder,)+
            }

            impl $crate::column::Row for $row {
                const TABLE: &'static str = $table;
                const DESCRIPTION: &'static str = concat!($($about),+).trim_ascii();
                const COLUMNS: &'static [$crate::column::Column] = &[
                    $($crate::column::Column {
                        name: stringify!($field),
                        column_type: <$type as $crate::column::Cell>::TYPE,
                        nullable: <$type as $crate::column::Cell>::NULLABLE,
                        unit: $unit,
                        description: concat!($($doc),+).trim_ascii(),
                    },)+
                ];
                type Builders = Builders;

                fn check(&self) -> Result<(), $crate::RecordsError> {
                    $(if let Some(value) = $crate::column::Cell::not_finite(&self.$field) {
                        let (table, column) = ($table, stringify!($field));
                        return Err($crate::RecordsError::NotFinite { table, column, value });
                    })+
                    Ok(())
                }

                fn append(self, builders: &mut Builders) {
                    $($crate::column::Cell::append(self.$field, &mut builders.$field);)+
                }

                fn arrays(builders: &mut Builders) -> Vec<arrow_array::ArrayRef> {
                    vec![$(arrow_array::builder::ArrayBuilder::finish(&mut builders.$field),)+]
                }
            }
        };
    };
}
pub(crate) use table;
