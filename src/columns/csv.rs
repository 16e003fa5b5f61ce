//! Tables as CSV: a header, and a line for each row.
//!
//! Numbers are in the units that the names of columns give (s, B, B/s), as the shortest text that reads back
//! to the same value. Infinite numbers are `inf`, and unknown values are empty.

use std::borrow::Borrow;
use std::io::{self, Write};

use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter};

use super::{Cell, Column, Columns};

/// Writes a table.
///
/// # Errors
/// Failures of `writer`.
pub fn write<R, B: Borrow<R>>(
    columns: Columns<'_, R>,
    rows: impl IntoIterator<Item = B>,
    writer: impl Write,
) -> io::Result<()> {
    let mut lines = Lines::new(columns, writer)?;
    rows.into_iter().for_each(|row| lines.write(row.borrow()));
    lines.finish().map(drop)
}

/// Table that grows line by line during a run. The first failure is kept for [`finish`](Self::finish), and
/// nothing is written after it.
///
/// Messages of a run are written by the million, so a line allocates nothing; use a buffered writer.
pub struct Lines<'a, R, W> {
    columns: Columns<'a, R>,
    writer: W,
    error: Option<io::Error>,
}

impl<'a, R, W: Write> Lines<'a, R, W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Failures of `writer`.
    pub fn new(columns: Columns<'a, R>, mut writer: W) -> io::Result<Self> {
        line(&mut writer, &columns, |writer, column: &Column<'_, R>| text(writer, column.name()))?;
        Ok(Self { columns, writer, error: None })
    }

    /// Writes one line.
    pub fn write(&mut self, row: &R) {
        if self.error.is_none() {
            let Self { writer, columns, .. } = self;
            let write = |writer: &mut W, value| match value {
                Cell::Number(value) if !columns.has_exponents => write!(writer, "{value}"),
                value => cell(writer, &value),
            };
            self.error = line(writer, &*columns, |writer, column| write(writer, column.value(row))).err();
        }
    }

    /// True if a write has failed, so that further writes are useless.
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// Returns the writer after all lines are written.
    ///
    /// # Errors
    /// The first failure of the writer.
    pub fn finish(self) -> io::Result<W> {
        self.error.map_or(Ok(self.writer), Err)
    }
}

/// Writes a line with one field for each item, separated by commas.
///
/// # Errors
/// Failures of `write` and `writer`.
pub fn line<W: Write + ?Sized, T>(
    writer: &mut W,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            writer.write_all(b",")?;
        }
        write(writer, item)?;
    }
    writer.write_all(b"\n")
}

/// Writes a cell.
fn cell(writer: &mut impl Write, value: &Cell<'_>) -> io::Result<()> {
    match value {
        Cell::Null => Ok(()),
        Cell::Truth(value) => write!(writer, "{value}"),
        Cell::Whole(value) => CompactFormatter.write_i64(writer, *value),
        Cell::Unsigned(value) => CompactFormatter.write_u64(writer, *value),
        Cell::Number(value) => number(writer, *value),
        Cell::Text(value) => text(writer, value),
    }
}

/// Writes the shortest decimal text that reads back to `value`, a whole number without a fraction.
fn number(writer: &mut impl Write, value: f64) -> io::Result<()> {
    // Below 2^53 every integer is exact, so its digits are the shortest text.
    if (0.0..9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0 {
        CompactFormatter.write_u64(writer, value as u64)
    } else if value.is_finite() {
        CompactFormatter.write_f64(writer, value)
    } else {
        write!(
            writer,
            "{}",
            if value.is_nan() {
                "nan"
            } else if value > 0.0 {
                "inf"
            } else {
                "-inf"
            }
        )
    }
}

/// Writes a text, in quotes if it has a comma, a quote or a newline.
///
/// # Errors
/// Failures of `writer`.
pub fn text(writer: &mut (impl Write + ?Sized), value: &str) -> io::Result<()> {
    if value.contains([',', '"', '\n', '\r']) { quoted(writer, value) } else { writer.write_all(value.as_bytes()) }
}

/// Writes a text in quotes.
///
/// # Errors
/// Failures of `writer`.
pub fn quoted(writer: &mut (impl Write + ?Sized), value: &str) -> io::Result<()> {
    write!(writer, "\"{}\"", value.replace('"', "\"\""))
}

/// Writes a value of JSON: a text without its quotes, nothing for `null`, a list or an object as JSON.
///
/// # Errors
/// Failures of `writer`.
pub fn json(writer: &mut (impl Write + ?Sized), value: &Value) -> io::Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::String(value) => text(writer, value),
        value => text(writer, &value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_shortest_text_that_reads_back_the_same() {
        let text = |value| {
            let mut text = Vec::new();
            number(&mut text, value).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(text(20e-6), "0.00002");
        assert_eq!(text(0.0691), "0.0691");
        assert_eq!(text(1e9), "1000000000");
        assert_eq!(text(0.0), "0");
        assert_eq!(text(f64::INFINITY), "inf");
        for value in [1e9 / 3.0, 0.1 + 0.2, 5e-324, 1e300, 1e-7 / 3.0] {
            assert_eq!(text(value).parse(), Ok(value));
        }
    }
}
