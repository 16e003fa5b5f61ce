//! Tables kept by columns: measured values compress better apart from the other columns.
//!
//! ```text
//! hayase-columns-1
//! # any number of comments
//! src,dst,bytes,delay          the columns
//! 462516                       rows
//! text 925031                  first column: length in bytes, then one value per line, the last without line end
//! ...
//! planes 3 ns                  whole numbers of 3 bytes: the lowest byte of all rows, then the next; and their unit
//! ```
//!
//! The reader converts such a table to CSV, so that no other code needs to know the format.
//! `tools/by_columns.py` writes it: compressed with zstd, a million measured times take two thirds of their
//! size as text.

use std::io::{self, Read};

/// First bytes of such a table.
pub(super) const MAGIC: &[u8] = b"hayase-columns-1\n";
/// Largest table \[B\]. The built-in lists of messages have five million bytes.
const MOST: u64 = 64 << 20;
/// Largest CSV text of a table \[B\].
const MOST_ROWS: u64 = 256 << 20;
/// Most bytes of a number, and of the name of a unit.
const WIDEST: usize = 8;

/// Converts the bytes after [`MAGIC`] to CSV.
pub(super) fn rows_of(bytes: impl Read) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    bytes.take(MOST + 1).read_to_end(&mut whole)?;
    if whole.len() as u64 > MOST {
        return Err(wrong("it is longer than any that is read whole"));
    }
    let mut rest = &whole[..];
    let mut csv = Vec::with_capacity(whole.len() * 2);
    let header = loop {
        let line = line(&mut rest)?;
        csv.extend_from_slice(line);
        csv.push(b'\n');
        if !line.starts_with(b"#") {
            break line;
        }
    };
    let rows = number(line(&mut rest)?)?;
    let count = header.split(|&byte| byte == b',').count();
    let mut columns = (0..count).map(|_| Column::read(&mut rest, rows)).collect::<io::Result<Vec<_>>>()?;
    if !rest.is_empty() {
        return Err(wrong("there is more behind its last column"));
    }
    for row in 0..rows {
        for (i, column) in columns.iter_mut().enumerate() {
            if i > 0 {
                csv.push(b',');
            }
            column.write(row, &mut csv)?;
        }
        csv.push(b'\n');
        if csv.len() as u64 > MOST_ROWS {
            return Err(wrong("its rows are longer than any that are read whole"));
        }
    }
    match columns.iter().all(Column::is_over) {
        true => Ok(csv),
        false => Err(wrong("a column has more values than there are rows")),
    }
}

/// A column while its values are written.
enum Column<'a> {
    /// Remaining values, one per line; `None` after the last one.
    Text(Option<&'a [u8]>),
    /// Planes of bytes, the lowest first, and the unit.
    Planes(Vec<&'a [u8]>, &'a [u8]),
}

impl<'a> Column<'a> {
    fn read(rest: &mut &'a [u8], rows: usize) -> io::Result<Self> {
        let words: Vec<&[u8]> = line(rest)?.split(|&byte| byte == b' ').collect();
        match words[..] {
            [b"text", length] => Ok(Self::Text((rows > 0).then_some(take(rest, number(length)?)?))),
            [b"planes", width, unit] if unit.len() <= WIDEST => {
                let width = Some(number(width)?).filter(|width| (1..=WIDEST).contains(width));
                let width = width.ok_or_else(|| wrong("a number has 1 to 8 bytes"))?;
                Ok(Self::Planes((0..width).map(|_| take(rest, rows)).collect::<io::Result<_>>()?, unit))
            }
            _ => Err(wrong("`text LENGTH` or `planes WIDTH UNIT` is expected before each column")),
        }
    }

    /// Writes the next value, which is that of `row`.
    fn write(&mut self, row: usize, csv: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Text(left) => {
                let values = left.ok_or_else(|| wrong("a column has fewer values than there are rows"))?;
                let end = values.iter().position(|&byte| byte == b'\n');
                csv.extend_from_slice(&values[..end.unwrap_or(values.len())]);
                *left = end.map(|end| &values[end + 1..]);
            }
            Self::Planes(planes, unit) => {
                let number = planes.iter().rev().fold(0_u64, |sum, plane| sum << 8 | u64::from(plane[row]));
                csv.extend_from_slice(number.to_string().as_bytes());
                csv.extend_from_slice(unit);
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        matches!(self, Self::Text(None) | Self::Planes(..))
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the table is kept by columns, and {what}"))
}

/// Takes the next line, without its end.
fn line<'a>(rest: &mut &'a [u8]) -> io::Result<&'a [u8]> {
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| wrong("ends before its columns"))?;
    let line = &rest[..end];
    *rest = &rest[end + 1..];
    Ok(line)
}

/// Takes the next `length` bytes.
fn take<'a>(rest: &mut &'a [u8], length: usize) -> io::Result<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length).ok_or_else(|| wrong("a column is cut off"))?;
    *rest = left;
    Ok(taken)
}

fn number(text: &[u8]) -> io::Result<usize> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| wrong("a number of rows or bytes is none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bytes: &[u8]) -> Result<String, String> {
        rows_of(bytes).map(|csv| String::from_utf8(csv).unwrap()).map_err(|error| error.to_string())
    }

    const SMALL: &[u8] =
        b"# of a program\nsrc,delay,after\n3\ntext 6\n0\n0\n15planes 2 ns\n\x01\x00\x02\x00\x00\x01text 6\n\n1:+2\n";

    #[test]
    fn columns_stand_for_rows() {
        assert_eq!(rows(SMALL).unwrap(), "# of a program\nsrc,delay,after\n0,1ns,\n0,0ns,1:+2\n15,258ns,\n");
        assert_eq!(rows(b"a,b\n0\ntext 0\nplanes 1 \n").unwrap(), "a,b\n");
        assert_eq!(rows(b"a\n1\ntext 0\n").unwrap(), "a\n\n");
        assert_eq!(rows(b"a\n1\nplanes 8 B\n\xff\xff\xff\xff\xff\xff\xff\xff").unwrap(), format!("a\n{}B\n", u64::MAX));
    }

    #[test]
    fn what_is_no_such_table_is_said() {
        for length in 0..SMALL.len() {
            assert!(rows(&SMALL[..length]).is_err(), "cut off at {length}");
        }
        for (bytes, said) in [
            (&b"a\n2\ntext 1\nx"[..], "fewer values"),
            (b"a\n1\ntext 3\nx\ny", "more values"),
            (b"a\n0\ntext 0\nmore", "behind its last"),
            (b"a\n99999999999\nplanes 1 ns\n12", "cut off"),
            (b"a\n1\nplanes 9 ns\n123456789", "1 to 8"),
            (b"a\n1\nplanes 0 ns\n", "1 to 8"),
            (b"a\n1\nplanes 1 nanoseconds\n1", "is expected before"),
            (b"a\nx\n", "is none"),
            (b"a\n-1\n", "is none"),
        ] {
            let error = rows(bytes).unwrap_err();
            assert!(error.contains(said), "{error}: {said} is expected");
        }
    }
}
