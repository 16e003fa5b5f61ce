//! Tables as Apache Parquet, which pandas, polars, DuckDB and Spark read: typed and compressed columns in
//! which missing values differ from all others.
//!
//! A file is `PAR1`, groups of rows, a description of the whole file (`FileMetaData`), its length and `PAR1`
//! again. Each column of a group of rows is one *page*: which rows have a value (run lengths or a bit each),
//! then the values one after another (`PLAIN`), compressed by zstd. This is the smallest part of the format,
//! which every reader knows. There are no dictionaries, since zstd finds repetitions.
//!
//! It is written by hand: the `parquet` crate would bring 14 crates, 0.93 MB and a tenth of the time to build
//! the program.
//!
//! Source: Apache Parquet, "File format" and `parquet.thrift` (apache/parquet-format, version 2.10), to which
//! the numbers of fields refer.

mod thrift;

use std::io::{self, Write};

use thrift::{Fields, structure, varint};

pub use crate::columns::{Cell, ColumnKind};

const MAGIC: &[u8; 4] = b"PAR1";
/// Largest number of rows of a group, which is kept in memory until it is written.
const MOST_ROWS: usize = 100_000;
/// Bytes at which a group is written, whatever the number of its rows.
const MOST_BYTES: usize = 32 << 20;
/// Compression level of zstd. Files are a third smaller than without compression, and reading is as fast.
const LEVEL: i32 = 3;

// Values of enumerations in `parquet.thrift`.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const ZSTD: i32 = 6;
const DATA_PAGE: i32 = 0;
const OPTIONAL: i32 = 1;

/// Returns the `Type` of a kind: `BOOLEAN`, `INT64`, `DOUBLE` or `BYTE_ARRAY`.
fn physical(kind: ColumnKind) -> i32 {
    match kind {
        ColumnKind::Truth => 0,
        ColumnKind::Whole | ColumnKind::Unsigned => 2,
        ColumnKind::Number => 5,
        ColumnKind::Text => 6,
    }
}

/// A column, any of whose values may be missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// Name of the column, with its unit.
    pub name: String,
    /// Type of the values.
    pub kind: ColumnKind,
}

/// Writer of a table, row by row. The same rows give the same bytes.
pub struct Writer<W> {
    writer: W,
    /// Number of bytes written.
    position: u64,
    columns: Vec<Column>,
    pending: Vec<Pending>,
    /// Number of pending rows.
    rows: usize,
    groups: Vec<Group>,
}

/// Values of a column that are not written yet.
#[derive(Default)]
struct Pending {
    /// Set for each row that has a value.
    is_there: Bits,
    /// Values that are flags; all other values are in `bytes`.
    truths: Bits,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
    set: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        self.bytes[self.len / 8] |= u8::from(bit) << (self.len % 8);
        self.len += 1;
        self.set += usize::from(bit);
    }
}

/// A group of rows that has been written.
struct Group {
    rows: usize,
    chunks: Vec<Chunk>,
}

/// A column of a group that has been written: one page.
struct Chunk {
    /// Position in the file.
    offset: u64,
    /// Size of header and page as written \[B\].
    compressed: usize,
    /// Size of header and page without compression \[B\].
    plain: usize,
    /// Number of missing values.
    nulls: usize,
}

impl<W: Write> Writer<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// Failures of the writer.
    pub fn new(mut writer: W, columns: Vec<Column>) -> io::Result<Self> {
        writer.write_all(MAGIC)?;
        let pending = columns.iter().map(|_| Pending::default()).collect();
        Ok(Self { writer, position: MAGIC.len() as u64, columns, pending, rows: 0, groups: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Failures of the writer, and values that are not of the kind of their column.
    pub fn row<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) -> io::Result<()> {
        let mut cells = cells.into_iter();
        for (column, pending) in self.columns.iter().zip(&mut self.pending) {
            let cell = cells.next().unwrap_or(Cell::Null);
            pending.is_there.push(cell != Cell::Null);
            match (column.kind, cell) {
                (_, Cell::Null) => {}
                (ColumnKind::Truth, Cell::Truth(value)) => pending.truths.push(value),
                (ColumnKind::Whole, Cell::Whole(value)) => pending.bytes.extend(value.to_le_bytes()),
                (ColumnKind::Unsigned, Cell::Unsigned(value)) => pending.bytes.extend(value.to_le_bytes()),
                (ColumnKind::Number, Cell::Number(value)) => pending.bytes.extend(value.to_le_bytes()),
                (ColumnKind::Text, Cell::Text(text)) => {
                    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
                    pending.bytes.extend(length.to_le_bytes());
                    pending.bytes.extend(text.as_bytes());
                }
                (kind, cell) => {
                    let message = format!("`{}` is {kind:?} and not {cell:?}", column.name);
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
                }
            }
        }
        self.rows += 1;
        let bytes: usize = self.pending.iter().map(|pending| pending.bytes.len()).sum();
        if self.rows == MOST_ROWS || bytes >= MOST_BYTES { self.write_group() } else { Ok(()) }
    }

    /// Ends the table. `about` has named facts about the whole table.
    ///
    /// # Errors
    /// Failures of the writer.
    pub fn finish(mut self, about: &[(&str, &str)]) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        let mut bytes = Vec::new();
        structure(&mut bytes, |file| self.describe(file, about));
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        bytes.extend(length.to_le_bytes());
        bytes.extend(MAGIC);
        self.writer.write_all(&bytes)?;
        Ok(self.writer)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(self.columns.len());
        for pending in &mut self.pending {
            let Pending { is_there, truths, bytes } = std::mem::take(pending);
            let mut page = definition_levels(&is_there);
            page.extend(&truths.bytes);
            page.extend(&bytes);
            let compressed = zstd::bulk::compress(&page, LEVEL)?;
            let mut header = Vec::new();
            structure(&mut header, |fields| describe_page(fields, is_there.len, page.len(), compressed.len()));
            self.writer.write_all(&header)?;
            self.writer.write_all(&compressed)?;
            let chunk = Chunk {
                offset: self.position,
                compressed: header.len() + compressed.len(),
                plain: header.len() + page.len(),
                nulls: is_there.len - is_there.set,
            };
            self.position += chunk.compressed as u64;
            chunks.push(chunk);
        }
        self.groups.push(Group { rows: std::mem::take(&mut self.rows), chunks });
        Ok(())
    }

    /// Writes the `FileMetaData`.
    fn describe(&self, file: &mut Fields<'_>, about: &[(&str, &str)]) {
        file.i32(1, 2);
        // The root is an element as well.
        let schema: Vec<Option<&Column>> = std::iter::once(None).chain(self.columns.iter().map(Some)).collect();
        file.structures(2, &schema, |fields, _, column| match column {
            None => {
                fields.text(4, "schema");
                fields.i32(5, self.columns.len() as i32);
            }
            Some(column) => describe_column(fields, column),
        });
        file.i64(3, self.groups.iter().map(|group| group.rows as i64).sum());
        file.structures(4, &self.groups, |fields, i, group| self.describe_group(fields, i, group));
        if !about.is_empty() {
            file.structures(5, about, |fields, _, (name, value)| {
                fields.text(1, name);
                fields.text(2, value);
            });
        }
        file.text(6, concat!("hayase version ", env!("CARGO_PKG_VERSION")));
    }

    /// Writes a `RowGroup`.
    fn describe_group(&self, fields: &mut Fields<'_>, number: usize, group: &Group) {
        let chunks: Vec<(&Column, &Chunk)> = self.columns.iter().zip(&group.chunks).collect();
        fields.structures(1, &chunks, |fields, _, (column, chunk)| {
            fields.i64(2, 0);
            fields.structure(3, |fields| {
                fields.i32(1, physical(column.kind));
                fields.i32s(2, &[PLAIN, RLE]);
                fields.texts(3, &[&column.name]);
                fields.i32(4, ZSTD);
                fields.i64(5, group.rows as i64);
                fields.i64(6, chunk.plain as i64);
                fields.i64(7, chunk.compressed as i64);
                fields.i64(9, chunk.offset as i64);
                fields.structure(12, |statistics| statistics.i64(3, chunk.nulls as i64));
            });
        });
        fields.i64(2, group.chunks.iter().map(|chunk| chunk.plain as i64).sum());
        fields.i64(3, group.rows as i64);
        fields.i64(5, group.chunks.first().map_or(0, |chunk| chunk.offset as i64));
        fields.i64(6, group.chunks.iter().map(|chunk| chunk.compressed as i64).sum());
        if let Ok(number) = i16::try_from(number) {
            fields.i16(7, number);
        }
    }
}

/// Writes a `SchemaElement`.
fn describe_column(fields: &mut Fields<'_>, column: &Column) {
    fields.i32(1, physical(column.kind));
    fields.i32(3, OPTIONAL);
    fields.text(4, &column.name);
    match column.kind {
        ColumnKind::Text => {
            fields.i32(6, 0);
            // The union `LogicalType`: a string.
            fields.structure(10, |logical| logical.structure(1, |_| {}));
        }
        ColumnKind::Unsigned => {
            fields.i32(6, 14);
            fields.structure(10, |logical| {
                logical.structure(10, |integer| {
                    integer.i8(1, 64);
                    integer.flag(2, false);
                });
            });
        }
        ColumnKind::Truth | ColumnKind::Whole | ColumnKind::Number => {}
    }
}

/// Writes a `PageHeader`.
fn describe_page(fields: &mut Fields<'_>, values: usize, plain: usize, compressed: usize) {
    fields.i32(1, DATA_PAGE);
    fields.i32(2, plain as i32);
    fields.i32(3, compressed as i32);
    fields.structure(5, |page| {
        page.i32(1, values as i32);
        page.i32(2, PLAIN);
        page.i32(3, RLE);
        page.i32(4, RLE);
    });
}

/// Returns which rows have a value, preceded by its length: one run if all are the same, else one bit per row
/// in groups of eight.
fn definition_levels(is_there: &Bits) -> Vec<u8> {
    let mut runs = Vec::new();
    if is_there.set == 0 || is_there.set == is_there.len {
        varint(&mut runs, (is_there.len as u64) << 1);
        runs.push(u8::from(is_there.set > 0));
    } else {
        varint(&mut runs, (is_there.bytes.len() as u64) << 1 | 1);
        runs.extend(&is_there.bytes);
    }
    let mut bytes = (runs.len() as u32).to_le_bytes().to_vec();
    bytes.append(&mut runs);
    bytes
}

#[cfg(test)]
mod tests;
