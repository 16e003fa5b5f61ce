//! Values of the columns of tables.

use std::borrow::{Borrow, Cow};
use std::ffi::{CStr, c_void};

use hayase::columns::{self, Cell, ColumnKind, Form};

/// Column with its names.
pub struct Named {
    /// Name in Python: the name in files without the unit.
    pub name: Cow<'static, str>,
    /// Name in files.
    pub in_files: Cow<'static, str>,
    /// Values.
    pub values: Column,
}

/// Columns with their names.
pub type Columns = Vec<Named>;

/// Values of a column.
#[derive(Debug)]
pub enum Column {
    /// Numbers of ranks, nodes, links.
    U32(Vec<u32>),
    /// Bytes.
    U64(Vec<u64>),
    /// Numbers that may be missing, then -1.
    I64(Vec<i64>),
    /// Times \[s\] and rates.
    F64(Vec<f64>),
    /// Names: the offset of each and the end of the last, and the bytes of all names.
    Text(Vec<i64>, Vec<u8>),
}

impl Column {
    /// Returns an empty column with room for this number of values.
    fn new(form: Form, kind: ColumnKind, room: usize) -> Self {
        match kind {
            ColumnKind::Unsigned if form == Form::Id => Self::U32(Vec::with_capacity(room)),
            ColumnKind::Unsigned => Self::U64(Vec::with_capacity(room)),
            ColumnKind::Whole | ColumnKind::Truth => Self::I64(Vec::with_capacity(room)),
            ColumnKind::Number => Self::F64(Vec::with_capacity(room)),
            ColumnKind::Text => Self::Text(vec![0], Vec::new()),
        }
    }

    /// Adds a value.
    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::U32(values), Cell::Unsigned(value)) => values.push(value as u32),
            (Self::U64(values), Cell::Unsigned(value)) => values.push(value),
            (Self::I64(values), Cell::Whole(value)) => values.push(value),
            (Self::F64(values), Cell::Number(value)) => values.push(value),
            (Self::Text(ends, bytes), cell) => {
                if let Cell::Text(text) = cell {
                    bytes.extend_from_slice(text.as_bytes());
                }
                ends.push(bytes.len() as i64);
            }
            // The value is missing.
            (Self::U32(values), _) => values.push(u32::MAX),
            (Self::U64(values), _) => values.push(u64::MAX),
            (Self::I64(values), _) => values.push(-1),
            (Self::F64(values), _) => values.push(f64::NAN),
        }
    }

    /// Returns the address of the numbers, and the names of their type in NumPy and Arrow; of names, the
    /// address of the offsets.
    pub fn memory(&self) -> (*const c_void, &'static str, &'static CStr) {
        match self {
            Self::U32(values) => (values.as_ptr().cast(), "u4", c"I"),
            Self::U64(values) => (values.as_ptr().cast(), "u8", c"L"),
            Self::I64(values) => (values.as_ptr().cast(), "i8", c"l"),
            Self::F64(values) => (values.as_ptr().cast(), "f8", c"g"),
            Self::Text(ends, _) => (ends.as_ptr().cast(), "i8", c"U"),
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(ends, _) => ends.len() - 1,
        }
    }
}

/// Table that grows row by row during a run.
pub struct Records<R> {
    columns: columns::Columns<'static, R>,
    values: Vec<Column>,
}

impl<R> Records<R> {
    /// Returns an empty table with room for this number of rows.
    pub fn new(columns: columns::Columns<'static, R>, room: usize) -> Self {
        let values = columns.iter().map(|column| Column::new(column.form, column.kind, room)).collect();
        Self { columns, values }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &R) {
        for (column, values) in self.columns.iter().zip(&mut self.values) {
            values.push(column.value(row));
        }
    }

    /// Returns the columns.
    pub fn columns(self) -> Columns {
        let named = self.columns.iter().zip(self.values).map(|(column, values)| Named {
            name: Cow::Owned(column.label().to_owned()),
            in_files: Cow::Owned(column.name().to_owned()),
            values,
        });
        named.collect()
    }
}

/// Returns the columns of a table with these rows.
pub fn table<R, B: Borrow<R>>(columns: columns::Columns<'static, R>, rows: impl Iterator<Item = B>) -> Columns {
    let mut records = Records::new(columns, rows.size_hint().0);
    rows.for_each(|row| records.add(row.borrow()));
    records.columns()
}
